package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
)

// youtubeError is a refusal in the form of Google's APIs.
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

// youtubeInvalid is a request that cannot be done as it is.
func youtubeInvalid(reason, message string) *youtubeError {
	return &youtubeError{http.StatusBadRequest, "youtube.video", reason, "INVALID_ARGUMENT", message}
}

// google answers with what do comes to.
func (n *youtube) google(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		r = r.WithContext(ctx)
		var answer any
		err := bufferBody(w, r)
		if err == nil {
			err = r.ParseForm()
		}
		if err != nil {
			err = youtubeInvalid("badRequest", "The request cannot be read.")
		} else {
			answer, err = do(r)
		}
		writeYouTube(w, r, answer, err)
	}
}

// writeYouTube writes an answer as JSON or, where it is an http.Handler, by it.
func writeYouTube(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if errors.Is(err, errCut) {
		cut(w)
		return
	}
	if refused, ok := errors.AsType[*youtubeTokenError](err); ok {
		writeJSON(w, refused.status, map[string]string{"error": refused.code, "error_description": refused.message})
		return
	}
	refused, isRefused := errors.AsType[*youtubeError](err)
	if err != nil && !isRefused {
		slog.Error("sandbox: answering a YouTube call", "path", r.URL.Path, "err", err)
		refused = errYouTubeInternal
	}
	switch raw, isRaw := answer.(http.Handler); {
	case refused != nil:
		refused.write(w)
	case isRaw:
		raw.ServeHTTP(w, r)
	default:
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
