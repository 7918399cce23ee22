package sandbox

import (
	"errors"
	"net/http"
)

// youtubeError is a refusal of Google's APIs.
type youtubeError struct {
	status                        int
	domain, reason, name, message string
}

func (e *youtubeError) Error() string { return e.message }

// youtubeTokenError is a refusal of a token (RFC 6749, section 5.2).
type youtubeTokenError struct {
	status        int
	code, message string
}

func (e *youtubeTokenError) Error() string { return e.message }

var (
	errYouTubeToken = &youtubeError{
		http.StatusUnauthorized, "global", "authError", "UNAUTHENTICATED",
		"Request had invalid authentication credentials.",
	}
	errYouTubeScope = &youtubeError{
		http.StatusForbidden, "global", "insufficientPermissions", "PERMISSION_DENIED",
		"Request had insufficient authentication scopes.",
	}
	errYouTubeRate = &youtubeError{
		http.StatusForbidden, "usageLimits", "rateLimitExceeded", "RESOURCE_EXHAUSTED",
		"The request cannot be completed because you have sent too many requests.",
	}
	errYouTubeInternal = &youtubeError{
		http.StatusInternalServerError, "youtube.coreErrorDomain", "backendError", "INTERNAL",
		"Internal error encountered.",
	}
	errYouTubeNoUpload = &youtubeError{
		http.StatusNotFound, "global", "notFound", "NOT_FOUND", "The upload session was not found.",
	}
	errYouTubeNoFile = &youtubeError{http.StatusNotFound, "global", "notFound", "NOT_FOUND", "There is no such file."}
)

// youtubeInvalid returns the refusal of an invalid request.
func youtubeInvalid(reason, message string) *youtubeError {
	return &youtubeError{http.StatusBadRequest, "youtube.video", reason, "INVALID_ARGUMENT", message}
}

// google returns the handler of a call.
func (n *youtube) google(call apiCall) http.HandlerFunc {
	return handle(youtubeInvalid("badRequest", "The request cannot be read."), call, writeYouTube)
}

// writeYouTube writes the result of a call.
func writeYouTube(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if refused, ok := errors.AsType[*youtubeTokenError](err); ok {
		writeJSON(w, refused.status, map[string]string{"error": refused.code, "error_description": refused.message})
		return
	}
	refuse := func(e *youtubeError) { e.write(w) }
	if !respond(w, r, youtubeName, answer, err, errYouTubeInternal, refuse) {
		writeJSON(w, http.StatusOK, answer)
	}
}

func (e *youtubeError) write(w http.ResponseWriter) {
	if e == errYouTubeRate {
		w.Header().Set("Retry-After", "2")
	}
	writeJSON(w, e.status, map[string]any{"error": map[string]any{
		"code": e.status, "message": e.message, "status": e.name,
		"errors": []map[string]string{{"message": e.message, "domain": e.domain, "reason": e.reason}},
	}})
}

func (n *youtube) nowhere(*http.Request) (any, error) {
	return nil, &youtubeError{
		http.StatusNotFound, "global", "notFound", "NOT_FOUND", "The requested URL was not found on this server.",
	}
}
