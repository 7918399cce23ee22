package youtube

import (
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
)

// apiError is an error response of Google's APIs.
type apiError struct {
	status                        int
	domain, reason, name, message string
}

func (e *apiError) Error() string { return e.message }

// tokenError is an error response of the token endpoint (RFC 6749, section 5.2).
type tokenError struct {
	status        int
	code, message string
}

func (e *tokenError) Error() string { return e.message }

var (
	errToken = &apiError{
		http.StatusUnauthorized, "global", "authError", "UNAUTHENTICATED",
		"Request had invalid authentication credentials.",
	}
	errScope = &apiError{
		http.StatusForbidden, "global", "insufficientPermissions", "PERMISSION_DENIED",
		"Request had insufficient authentication scopes.",
	}
	errRateLimited = &apiError{
		http.StatusForbidden, "usageLimits", "rateLimitExceeded", "RESOURCE_EXHAUSTED",
		"The request cannot be completed because you have sent too many requests.",
	}
	errInternal = &apiError{
		http.StatusInternalServerError, "youtube.coreErrorDomain", "backendError", "INTERNAL",
		"Internal error encountered.",
	}
	errNoUpload = &apiError{
		http.StatusNotFound, "global", "notFound", "NOT_FOUND", "The upload session was not found.",
	}
	errNoPlaylist = &apiError{
		http.StatusNotFound, "youtube.playlistItem", "playlistNotFound", "NOT_FOUND",
		"The playlist identified with the request's playlistId parameter cannot be found.",
	}
	errNoVideo = &apiError{
		http.StatusNotFound, "youtube.video", "videoNotFound", "NOT_FOUND",
		"The video that you are trying to use cannot be found.",
	}
	errThumbnail = &apiError{
		http.StatusForbidden, "youtube.thumbnail", "forbidden", "PERMISSION_DENIED",
		"The authenticated user doesn't have permissions to upload and set custom video thumbnails.",
	}
	errImage = &apiError{
		http.StatusBadRequest, "youtube.thumbnail", "invalidImage", "INVALID_ARGUMENT",
		"The provided image content is invalid.",
	}
	errNoFile = &apiError{http.StatusNotFound, "global", "notFound", "NOT_FOUND", "File not found."}
)

// invalidRequest returns the error for an invalid request.
func invalidRequest(reason, message string) *apiError {
	return &apiError{http.StatusBadRequest, "youtube.video", reason, "INVALID_ARGUMENT", message}
}

func (n *Network) handle(call base.Call) http.HandlerFunc {
	return base.Handle(invalidRequest("badRequest", "The request cannot be read."), call, write)
}

func write(w http.ResponseWriter, r *http.Request, result any, err error) {
	if rejected, ok := errors.AsType[*tokenError](err); ok {
		body := map[string]string{"error": rejected.code, "error_description": rejected.message}
		base.WriteJSON(w, rejected.status, body)
		return
	}
	reject := func(e *apiError) { e.write(w) }
	if !base.Respond(w, r, Name, result, err, errInternal, reject) {
		base.WriteJSON(w, http.StatusOK, result)
	}
}

func (e *apiError) write(w http.ResponseWriter) {
	if e == errRateLimited {
		w.Header().Set("Retry-After", "2")
	}
	base.WriteJSON(w, e.status, map[string]any{"error": map[string]any{
		"code": e.status, "message": e.message, "status": e.name,
		"errors": []map[string]string{{"message": e.message, "domain": e.domain, "reason": e.reason}},
	}})
}

func (n *Network) notFound(*http.Request) (any, error) {
	return nil, &apiError{
		http.StatusNotFound, "global", "notFound", "NOT_FOUND", "The requested URL was not found on this server.",
	}
}
