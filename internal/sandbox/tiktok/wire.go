package tiktok

import (
	"encoding/json"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
)

// apiError is an error response of TikTok's API.
type apiError struct {
	status        int
	code, message string
}

func (e *apiError) Error() string { return e.message }

var (
	errToken = &apiError{
		http.StatusUnauthorized, "access_token_invalid", "The access token is invalid or not found in the request.",
	}
	errRateLimited = &apiError{
		http.StatusTooManyRequests, "rate_limit_exceeded", "The API rate limit was exceeded. Please try again later.",
	}
	errInternal = &apiError{
		http.StatusInternalServerError, "internal_error", "Something is wrong. Please try again later.",
	}
)

var errNoFile = &apiError{http.StatusNotFound, "unsupported_path", "File not found"}

func badRequest(code, message string) *apiError {
	return &apiError{http.StatusBadRequest, code, message}
}

func invalidParams(message string) *apiError { return badRequest("invalid_params", message) }

// handle returns a handler that writes the result of a call in the API's envelope.
func (n *Network) handle(call base.Call) http.HandlerFunc {
	write := func(w http.ResponseWriter, r *http.Request, result any, err error) {
		if _, isHandler := result.(http.Handler); err == nil && !isHandler {
			result = envelope(result, &apiError{code: "ok"})
		}
		n.write(w, r, result, err, func(apiErr *apiError) any { return envelope(struct{}{}, apiErr) })
	}
	return base.Handle(invalidParams("The request cannot be read"), call, write)
}

func envelope(data any, result *apiError) any {
	return map[string]any{
		"data": data, "error": map[string]any{"code": result.code, "message": result.message, "log_id": base.NewID()},
	}
}

// write writes the result of a call. errorBody returns the body of an error response.
func (n *Network) write(w http.ResponseWriter, r *http.Request, result any, err error, errorBody func(*apiError) any) {
	reject := func(e *apiError) {
		if e == errRateLimited {
			w.Header().Set("Retry-After", "2") // the real TikTok may not send this header
		}
		base.WriteJSON(w, e.status, errorBody(e))
	}
	if !base.Respond(w, r, Name, result, err, errInternal, reject) {
		base.WriteJSON(w, http.StatusOK, result)
	}
}

// oauthError returns the body of an error of the token endpoints.
func oauthError(e *apiError) any {
	return map[string]any{"error": e.code, "error_description": e.message, "log_id": base.NewID()}
}

func (n *Network) notFound(*http.Request) (any, error) {
	return nil, &apiError{http.StatusNotFound, "unsupported_path", "Unsupported path"}
}

// readBody parses a request's JSON.
func readBody(r *http.Request, out any) error {
	if json.NewDecoder(r.Body).Decode(out) != nil {
		return invalidParams("The body is not valid JSON or a member has the wrong type")
	}
	return nil
}

// pickFields returns the requested fields.
func pickFields(fields []string, values map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range fields {
		if value, ok := values[field]; ok {
			out[field] = value
		}
	}
	return out
}
