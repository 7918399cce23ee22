package base

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
)

// MaxBody is the maximum size of a request's body in bytes, as the genuine Bluesky server accepts.
const MaxBody = 150 << 10

const (
	bodyTimeout   = 15 * time.Second // for the whole body
	uploadTimeout = 10 * time.Minute // for a whole file
)

// Errors of a client.
var (
	ErrBodyTooLarge   = errors.New("PayloadTooLarge: request entity too large")
	ErrBodyUnreadable = errors.New("InvalidRequest: The body could not be read")
)

// InternalError is the response if the sandbox itself fails.
var InternalError = map[string]string{"error": "InternalServerError", "message": "Internal Server Error"}

// BufferBody reads the whole body within bodyTimeout, so that nothing later waits for the client.
func BufferBody(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported by every writer, but the size of the body is limited anyway
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return ErrBodyTooLarge
	}
	if err != nil {
		return ErrBodyUnreadable
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// AllowUpload gives a client time to send a file, until the returned function is called.
func AllowUpload(w http.ResponseWriter) func() {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // not supported by every writer, but the size of files is limited anyway
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

// UploadError returns the client's error if saving its file failed with err, and nil if the sandbox failed.
func UploadError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return ErrBodyTooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrBodyUnreadable
	}
	return nil
}

// Call is a call to a network's API. Its result is sent as JSON unless it is an http.Handler.
type Call = func(*http.Request) (any, error)

// Handle returns a handler that reads the whole request, makes the call, and passes its result to write. A request that
// cannot be read fails with unreadable.
func Handle(
	unreadable error, call Call, write func(w http.ResponseWriter, r *http.Request, answer any, err error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := WorkContext(r)
		defer cancel()
		r = r.WithContext(ctx)
		var answer any
		err := BufferBody(w, r)
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

// Respond sends the result of a call, except a JSON result, for which it returns false. Errors of type E are sent to
// the client. Any other error is logged and sent as an internal error.
func Respond[E error](
	w http.ResponseWriter, r *http.Request, platform string, answer any, err error, internal E, refuse func(E),
) bool {
	handler, isHandler := answer.(http.Handler)
	refused, isRefused := errors.AsType[E](err)
	switch {
	case errors.Is(err, marker.ErrLost):
		Cut(w)
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

// WriteJSON writes answer as JSON.
func WriteJSON(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		slog.Error("sandbox: writing an answer", "err", err)
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have disconnected
}

// Cut closes the connection without a response.
func Cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // makes net/http close the connection
	}
	_ = conn.Close()
}
