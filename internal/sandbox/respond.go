package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"
)

const (
	maxBody       = 150 << 10        // bytes, as the genuine Bluesky server accepts
	bodyTimeout   = 15 * time.Second // for all of it
	uploadTimeout = 10 * time.Minute // for a whole file
)

// Errors of a client.
var (
	errBodyTooLarge   = errors.New("PayloadTooLarge: request entity too large")
	errBodyUnreadable = errors.New("InvalidRequest: The body could not be read")
)

// internalError is the answer if the sandbox itself fails.
var internalError = map[string]string{"error": "InternalServerError", "message": "Internal Server Error"}

// bufferBody reads the whole body within bodyTimeout, so that nothing later waits for the client.
func bufferBody(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer can; the body is bounded all the same
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = control.SetReadDeadline(time.Time{})
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errBodyTooLarge
	}
	if err != nil {
		return errBodyUnreadable
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// allowUpload gives a client time to send a file, until the returned function is called.
func allowUpload(w http.ResponseWriter) func() {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // not every writer can; files are bounded all the same
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

// uploadError returns the client's error if saving its file failed with err, and nil if the sandbox failed.
func uploadError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errBodyTooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return errBodyUnreadable
	}
	return nil
}

// apiCall is a call of a network's API. Its answer is written as JSON unless it is an http.Handler.
type apiCall = func(*http.Request) (any, error)

// handle returns a handler that reads the whole request, makes the call, and passes its result to write. A request that
// cannot be read fails with unreadable.
func handle(
	unreadable error, call apiCall, write func(w http.ResponseWriter, r *http.Request, answer any, err error),
) http.HandlerFunc {
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
			err = unreadable
		} else {
			answer, err = call(r)
		}
		write(w, r, answer, err)
	}
}

// respond writes the result of a call unless it is JSON, for which it returns false. Errors of type E are refusals. Any
// other error is logged and refused as internal.
func respond[E error](
	w http.ResponseWriter, r *http.Request, platform string, answer any, err error, internal E, refuse func(E),
) bool {
	handler, isHandler := answer.(http.Handler)
	refused, isRefused := errors.AsType[E](err)
	switch {
	case errors.Is(err, errLost):
		cut(w)
	case isRefused:
		refuse(refused)
	case err != nil:
		slog.Error("sandbox: call failed", "platform", platform, "path", r.URL.Path, "err", err)
		refuse(internal)
	case isHandler:
		handler.ServeHTTP(w, r)
	default:
		return false
	}
	return true
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		slog.Error("sandbox: writing an answer", "err", err)
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that disconnected gets no answer, as with a real network
}

// cut closes the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's own way to close such a connection
	}
	_ = conn.Close()
}
