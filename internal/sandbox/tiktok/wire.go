package tiktok

import (
	"encoding/json"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
)

// apiError is a refusal of TikTok's API.
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

var errNoFile = &apiError{http.StatusNotFound, "unsupported_path", "There is no such file"}

func badRequest(code, message string) *apiError {
	return &apiError{http.StatusBadRequest, code, message}
}

func invalid(message string) *apiError { return badRequest("invalid_params", message) }

// handle returns the handler of a call, whose answer is written in the API's envelope.
func (n *Network) handle(call base.Call) http.HandlerFunc {
	write := func(w http.ResponseWriter, r *http.Request, answer any, err error) {
		if _, isHandler := answer.(http.Handler); err == nil && !isHandler {
			answer = envelope(answer, &apiError{code: "ok"})
		}
		n.write(w, r, answer, err, func(refused *apiError) any { return envelope(struct{}{}, refused) })
	}
	return base.Handle(invalid("The request cannot be read"), call, write)
}

func envelope(data any, said *apiError) any {
	return map[string]any{
		"data": data, "error": map[string]any{"code": said.code, "message": said.message, "log_id": base.NewID()},
	}
}

// write answers a call; form returns the body of a refusal.
func (n *Network) write(w http.ResponseWriter, r *http.Request, answer any, err error, form func(*apiError) any) {
	refuse := func(e *apiError) {
		if e == errRateLimited {
			w.Header().Set("Retry-After", "2") // that the network sends it is not confirmed
		}
		base.WriteJSON(w, e.status, form(e))
	}
	if !base.Respond(w, r, Name, answer, err, errInternal, refuse) {
		base.WriteJSON(w, http.StatusOK, answer)
	}
}

// oauthRefusal returns the body of a refusal by the token endpoints.
func oauthRefusal(e *apiError) any {
	return map[string]any{"error": e.code, "error_description": e.message, "log_id": base.NewID()}
}

func (n *Network) notFound(*http.Request) (any, error) {
	return nil, &apiError{http.StatusNotFound, "unsupported_path", "Unsupported path"}
}

// readBody parses a request's JSON.
func readBody(r *http.Request, into any) error {
	if json.NewDecoder(r.Body).Decode(into) != nil {
		return invalid("The body is not JSON of the right types")
	}
	return nil
}

// pickFields returns the requested fields.
func pickFields(fields []string, all map[string]any) map[string]any {
	picked := map[string]any{}
	for _, field := range fields {
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}
