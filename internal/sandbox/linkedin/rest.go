package linkedin

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
)

// apiError is an error in one of LinkedIn's formats.
type apiError struct {
	status         int
	body           map[string]any
	sendRetryAfter bool // whether to send Retry-After
}

func (e *apiError) Error() string {
	text, _ := e.body["message"].(string)
	return text
}

func newAPIError(status, serviceCode int, code, message string) *apiError {
	body := map[string]any{"status": status, "code": code, "message": message}
	if serviceCode != 0 {
		body["serviceErrorCode"] = serviceCode
	}
	return &apiError{status: status, body: body}
}

// newInputError returns the error for an invalid post.
func newInputError(code, description, message string) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, body: map[string]any{
		"status": http.StatusUnprocessableEntity, "message": message,
		"errorDetailType": "com.linkedin.common.error.BadRequest",
		"errorDetails": map[string]any{
			"inputErrors": []any{map[string]any{"code": code, "description": description, "input": map[string]any{}}},
		},
	}}
}

// newTokenError returns an error for the token endpoint (RFC 6749, section 5.2).
func newTokenError(status int, name, description string) *apiError {
	return &apiError{status: status, body: map[string]any{"error": name, "error_description": description}}
}

func invalidRequest(message string) *apiError {
	return newAPIError(http.StatusBadRequest, 0, "ILLEGAL_ARGUMENT", message)
}

var (
	errRevoked = newAPIError(http.StatusUnauthorized, 65601, "REVOKED_ACCESS_TOKEN",
		"The token used in the request has been revoked by the user")
	errExpired = newAPIError(http.StatusUnauthorized, 65602, "EXPIRED_ACCESS_TOKEN",
		"The token used in the request has expired")
	errToken  = newAPIError(http.StatusUnauthorized, 65600, "INVALID_ACCESS_TOKEN", "Invalid access token")
	errDenied = newAPIError(http.StatusForbidden, 100, "ACCESS_DENIED",
		"Not enough permissions to access this resource")
	errNotFound = newAPIError(http.StatusNotFound, 0, "NOT_FOUND", "Could not find entity")
	errInternal = newAPIError(http.StatusInternalServerError, 0, "INTERNAL_SERVER_ERROR",
		"Internal Server Error")
	errRateLimited = &apiError{
		status: http.StatusTooManyRequests, sendRetryAfter: true,
		body: map[string]any{
			"status": http.StatusTooManyRequests, "serviceErrorCode": 101, "code": "TOO_MANY_REQUESTS",
			"message": "Resource level throttle limit for calls to this resource is reached.",
		},
	}
)

// handle returns a handler that calls do. The handler does not parse the form, because do may have to parse a Rest.li
// query.
func (n *Network) handle(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := base.WorkContext(r)
		defer cancel()
		r = r.WithContext(ctx)
		if base.BufferBody(w, r) != nil {
			write(w, r, nil, invalidRequest("The request cannot be read"))
			return
		}
		result, err := do(r)
		write(w, r, result, err)
	}
}

func write(w http.ResponseWriter, r *http.Request, result any, err error) {
	reject := func(e *apiError) {
		if e.sendRetryAfter {
			w.Header().Set("Retry-After", "2")
		}
		base.WriteJSON(w, e.status, e.body)
	}
	if !base.Respond(w, r, Name, result, err, errInternal, reject) {
		base.WriteJSON(w, http.StatusOK, result)
	}
}

func (n *Network) notFound(*http.Request) (any, error) {
	return nil, newAPIError(http.StatusNotFound, 0, "RESOURCE_NOT_FOUND", "No virtual resource found")
}

// The oldest and newest supported versions of the API.
const (
	oldestVersion = "202601"
	newestVersion = "202612"
)

// requireVersion returns a call that returns an error unless the request has a supported version.
func requireVersion(do func(*http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		version := r.Header.Get("LinkedIn-Version")
		_, err := time.Parse("200601", version)
		switch {
		case version == "":
			return nil, newAPIError(http.StatusBadRequest, 0, "VERSION_MISSING",
				"A version must be present. Please specify a version by adding the LinkedIn-Version header.")
		case err != nil || version < oldestVersion || version > newestVersion:
			return nil, newAPIError(http.StatusUpgradeRequired, 0, "NONEXISTENT_VERSION",
				"Requested version is not active")
		case r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
			return nil, invalidRequest("X-Restli-Protocol-Version must be 2.0.0")
		}
		return do(r)
	}
}

// readBody parses the request's body. It returns an error for unknown members.
func readBody(r *http.Request, out any) error {
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err := body.Decode(out)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "unknown field"): // the decoder has no error type for unknown members
		return newAPIError(http.StatusForbidden, 100, "ACCESS_DENIED", "Unpermitted fields present in REQUEST_BODY")
	}
	return invalidRequest("The body cannot be read")
}
