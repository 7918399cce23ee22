package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// linkedinError is a refusal in one of LinkedIn's forms.
type linkedinError struct {
	status int
	body   map[string]any
	again  bool // whether Retry-After is sent
}

func (e *linkedinError) Error() string {
	text, _ := e.body["message"].(string)
	return text
}

func refuseLinkedin(status, service int, code, message string) *linkedinError {
	body := map[string]any{"status": status, "code": code, "message": message}
	if service != 0 {
		body["serviceErrorCode"] = service
	}
	return &linkedinError{status: status, body: body}
}

// refuseLinkedinInput returns the refusal of a post.
func refuseLinkedinInput(code, description, message string) *linkedinError {
	return &linkedinError{status: http.StatusUnprocessableEntity, body: map[string]any{
		"status": http.StatusUnprocessableEntity, "message": message,
		"errorDetailType": "com.linkedin.common.error.BadRequest",
		"errorDetails": map[string]any{
			"inputErrors": []any{map[string]any{"code": code, "description": description, "input": map[string]any{}}},
		},
	}}
}

// refuseLinkedinToken returns a refusal of the token endpoint (RFC 6749, section 5.2).
func refuseLinkedinToken(status int, name, description string) *linkedinError {
	return &linkedinError{status: status, body: map[string]any{"error": name, "error_description": description}}
}

func linkedinInvalid(message string) *linkedinError {
	return refuseLinkedin(http.StatusBadRequest, 0, "ILLEGAL_ARGUMENT", message)
}

var (
	errLinkedinRevoked = refuseLinkedin(http.StatusUnauthorized, 65601, "REVOKED_ACCESS_TOKEN",
		"The token used in the request has been revoked by the user")
	errLinkedinExpired = refuseLinkedin(http.StatusUnauthorized, 65602, "EXPIRED_ACCESS_TOKEN",
		"The token used in the request has expired")
	errLinkedinToken  = refuseLinkedin(http.StatusUnauthorized, 65600, "INVALID_ACCESS_TOKEN", "Invalid access token")
	errLinkedinDenied = refuseLinkedin(http.StatusForbidden, 100, "ACCESS_DENIED",
		"Not enough permissions to access this resource")
	errLinkedinMissing  = refuseLinkedin(http.StatusNotFound, 0, "NOT_FOUND", "Could not find entity")
	errLinkedinInternal = refuseLinkedin(http.StatusInternalServerError, 0, "INTERNAL_SERVER_ERROR",
		"Internal Server Error")
	errLinkedinRate = &linkedinError{
		status: http.StatusTooManyRequests, again: true,
		body: map[string]any{
			"status": http.StatusTooManyRequests, "serviceErrorCode": 101, "code": "TOO_MANY_REQUESTS",
			"message": "Resource level throttle limit for calls to this resource is reached.",
		},
	}
)

// answer returns the handler of a call. It does not parse the form, as Rest.li queries are read raw.
func (n *linkedin) answer(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		r = r.WithContext(ctx)
		var answer any
		err := bufferBody(w, r)
		if err != nil {
			err = linkedinInvalid("The request cannot be read")
		} else {
			answer, err = do(r)
		}
		writeLinkedin(w, r, answer, err)
	}
}

func writeLinkedin(w http.ResponseWriter, r *http.Request, answer any, err error) {
	refuse := func(e *linkedinError) {
		if e.again {
			w.Header().Set("Retry-After", "2")
		}
		writeJSON(w, e.status, e.body)
	}
	if !respond(w, r, linkedinName, answer, err, errLinkedinInternal, refuse) {
		writeJSON(w, http.StatusOK, answer)
	}
}

func (n *linkedin) nowhere(*http.Request) (any, error) {
	return nil, refuseLinkedin(http.StatusNotFound, 0, "RESOURCE_NOT_FOUND", "No virtual resource found")
}

// Oldest and newest supported version of the API.
const (
	linkedinOldest = "202601"
	linkedinNewest = "202612"
)

// linkedinVersioned refuses calls without a supported version.
func linkedinVersioned(do func(*http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		version := r.Header.Get("LinkedIn-Version")
		_, err := time.Parse("200601", version)
		switch {
		case version == "":
			return nil, refuseLinkedin(http.StatusBadRequest, 0, "VERSION_MISSING",
				"A version must be present. Please specify a version by adding the LinkedIn-Version header.")
		case err != nil || version < linkedinOldest || version > linkedinNewest:
			return nil, refuseLinkedin(http.StatusUpgradeRequired, 0, "NONEXISTENT_VERSION",
				"Requested version is not active")
		case r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
			return nil, linkedinInvalid("X-Restli-Protocol-Version has to be 2.0.0")
		}
		return do(r)
	}
}

// readLinkedin parses a body, which must have no members other than those of out.
func readLinkedin(r *http.Request, out any) error {
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err := body.Decode(out)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "unknown field"): // the decoder has no error value for it
		return refuseLinkedin(http.StatusForbidden, 100, "ACCESS_DENIED", "Unpermitted fields present in REQUEST_BODY")
	}
	return linkedinInvalid("The body cannot be read")
}
