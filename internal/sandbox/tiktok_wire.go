package sandbox

import (
	"encoding/json"
	"net/http"
)

// tiktokError is a refusal of TikTok's API.
type tiktokError struct {
	status        int
	code, message string
}

func (e *tiktokError) Error() string { return e.message }

var (
	errTikTokToken = &tiktokError{
		http.StatusUnauthorized, "access_token_invalid", "The access token is invalid or not found in the request.",
	}
	errTikTokRate = &tiktokError{
		http.StatusTooManyRequests, "rate_limit_exceeded", "The API rate limit was exceeded. Please try again later.",
	}
	errTikTokInternal = &tiktokError{
		http.StatusInternalServerError, "internal_error", "Something is wrong. Please try again later.",
	}
)

var errTikTokNoFile = &tiktokError{http.StatusNotFound, "unsupported_path", "There is no such file"}

func tiktokBadRequest(code, message string) *tiktokError {
	return &tiktokError{http.StatusBadRequest, code, message}
}

func tiktokInvalid(message string) *tiktokError { return tiktokBadRequest("invalid_params", message) }

// api returns the handler of a call, whose answer is written in the API's envelope.
func (n *tiktok) api(call apiCall) http.HandlerFunc {
	write := func(w http.ResponseWriter, r *http.Request, answer any, err error) {
		if _, isHandler := answer.(http.Handler); err == nil && !isHandler {
			answer = tiktokEnvelope(answer, &tiktokError{code: "ok"})
		}
		n.write(w, r, answer, err, func(refused *tiktokError) any { return tiktokEnvelope(struct{}{}, refused) })
	}
	return handle(tiktokInvalid("The request cannot be read"), call, write)
}

func tiktokEnvelope(data any, said *tiktokError) any {
	return map[string]any{
		"data": data, "error": map[string]any{"code": said.code, "message": said.message, "log_id": newID()},
	}
}

// write answers a call; form returns the body of a refusal.
func (n *tiktok) write(w http.ResponseWriter, r *http.Request, answer any, err error, form func(*tiktokError) any) {
	refuse := func(e *tiktokError) {
		if e == errTikTokRate {
			w.Header().Set("Retry-After", "2") // that the network sends it is not confirmed
		}
		writeJSON(w, e.status, form(e))
	}
	if !respond(w, r, tiktokName, answer, err, errTikTokInternal, refuse) {
		writeJSON(w, http.StatusOK, answer)
	}
}

// tiktokOAuthRefusal returns the body of a refusal by the token endpoints.
func tiktokOAuthRefusal(e *tiktokError) any {
	return map[string]any{"error": e.code, "error_description": e.message, "log_id": newID()}
}

func (n *tiktok) nowhere(*http.Request) (any, error) {
	return nil, &tiktokError{http.StatusNotFound, "unsupported_path", "Unsupported path"}
}

// readTikTok parses a request's JSON.
func readTikTok(r *http.Request, into any) error {
	if json.NewDecoder(r.Body).Decode(into) != nil {
		return tiktokInvalid("The body is not JSON of the right types")
	}
	return nil
}

// tiktokPick returns the requested fields.
func tiktokPick(fields []string, all map[string]any) map[string]any {
	picked := map[string]any{}
	for _, field := range fields {
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}
