package sandbox

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
)

// tiktokError is a refusal as TikTok's API makes it.
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

func tiktokBadRequest(code, message string) *tiktokError {
	return &tiktokError{http.StatusBadRequest, code, message}
}

func tiktokInvalid(message string) *tiktokError { return tiktokBadRequest("invalid_params", message) }

// api answers with what do comes to, in the API's envelope or, where that is an http.Handler, by it.
func (n *tiktok) api(do func(*http.Request) (any, error)) http.HandlerFunc {
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
			err = tiktokInvalid("The request cannot be read")
		} else {
			answer, err = do(r)
		}
		if err == nil {
			if _, isRaw := answer.(http.Handler); !isRaw {
				answer = tiktokEnvelope(answer, &tiktokError{code: "ok"})
			}
		}
		n.write(w, r, answer, err, func(refused *tiktokError) any { return tiktokEnvelope(struct{}{}, refused) })
	}
}

func tiktokEnvelope(data any, said *tiktokError) any {
	return map[string]any{
		"data": data, "error": map[string]any{"code": said.code, "message": said.message, "log_id": newID()},
	}
}

// write answers, with a refusal in the form that it has there.
func (n *tiktok) write(w http.ResponseWriter, r *http.Request, answer any, err error, form func(*tiktokError) any) {
	raw, isRaw := answer.(http.Handler)
	refused, isRefused := errors.AsType[*tiktokError](err)
	switch {
	case errors.Is(err, errCut):
		cut(w)
		return
	case err != nil && !isRefused:
		slog.Error("sandbox: answering a call", "platform", tiktokName, "path", r.URL.Path, "err", err)
		refused = errTikTokInternal
	case err == nil && isRaw:
		raw.ServeHTTP(w, r)
		return
	}
	if refused == nil {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	if refused == errTikTokRate {
		w.Header().Set("Retry-After", "2") // that the network tells it so is not confirmed
	}
	writeJSON(w, refused.status, form(refused))
}

func (n *tiktok) nowhere(*http.Request) (any, error) {
	return nil, &tiktokError{http.StatusNotFound, "unsupported_path", "Unsupported path"}
}

// readTikTok reads a request's JSON.
func readTikTok(r *http.Request, into any) error {
	if json.NewDecoder(r.Body).Decode(into) != nil {
		return tiktokInvalid("The body is not JSON of the right types")
	}
	return nil
}

// tiktokPick keeps the fields that were asked for.
func tiktokPick(fields []string, all map[string]any) map[string]any {
	picked := map[string]any{}
	for _, field := range fields {
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}

// mediaFile gives out a file that a post shows.
func (n *tiktok) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), tiktokName, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = &tiktokError{http.StatusNotFound, "unsupported_path", "There is no such file"}
		}
		return err
	})
	return n.blobAnswer(blob), err
}
