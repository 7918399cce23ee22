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

// MaxBody is the maximum size of a request's body in bytes. The real Bluesky server has the same limit.
const MaxBody = 150 << 10

const (
	bodyTimeout   = 15 * time.Second // for the whole body
	uploadTimeout = 10 * time.Minute // for a whole file
)

// The errors for requests whose body is too large or cannot be read.
var (
	ErrBodyTooLarge   = errors.New("PayloadTooLarge: request entity too large")
	ErrBodyUnreadable = errors.New("InvalidRequest: The body could not be read")
)

// InternalError is the response that the sandbox sends if it fails itself.
var InternalError = map[string]string{"error": "InternalServerError", "message": "Internal Server Error"}

// BufferBody reads the whole body into memory, so that handlers never wait for the client. It returns an error if this
// takes longer than bodyTimeout.
func BufferBody(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // best effort; MaxBody still applies
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

// AllowUpload extends the read deadline, so that a client can send a large file. The returned function removes the
// deadline.
func AllowUpload(w http.ResponseWriter) func() {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // best effort; callers limit the size
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

// UploadError returns the error to send to the client. err is the error from saving an upload. If the client did not
// cause err, UploadError returns nil.
func UploadError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return ErrBodyTooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrBodyUnreadable
	}
	return nil
}

// Call handles a request to a network's API. If its result is an http.Handler, that handler responds. Any other result
// is sent as JSON.
type Call = func(*http.Request) (any, error)

// ReadForm buffers the body and parses the form of a request.
func ReadForm(w http.ResponseWriter, r *http.Request) error {
	if err := BufferBody(w, r); err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return ErrBodyUnreadable
	}
	return nil
}

// Handle returns a handler that reads the whole request, makes the call, and passes the result to write. If the request
// cannot be read, the handler passes errUnreadable to write.
func Handle(
	errUnreadable error, call Call, write func(w http.ResponseWriter, r *http.Request, result any, err error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := WorkContext(r)
		defer cancel()
		r = r.WithContext(ctx)
		if ReadForm(w, r) != nil {
			write(w, r, nil, errUnreadable)
			return
		}
		result, err := call(r)
		write(w, r, result, err)
	}
}

// Respond sends the result of a call and returns true. It passes an error of type E to reject, which sends it to the
// client. It logs any other error, and passes errInternal to reject instead. If the result must be sent as JSON,
// Respond sends nothing and returns false. The caller must then send the result.
func Respond[E error](
	w http.ResponseWriter, r *http.Request, platform string, result any, err error, errInternal E, reject func(E),
) bool {
	handler, isHandler := result.(http.Handler)
	clientErr, isClientErr := errors.AsType[E](err)
	switch {
	case errors.Is(err, marker.ErrLost):
		CloseConnection(w)
	case isClientErr:
		reject(clientErr)
	case err != nil:
		slog.Error("sandbox: call failed", "platform", platform, "path", r.URL.Path, "err", err)
		reject(errInternal)
	case isHandler:
		handler.ServeHTTP(w, r)
	default:
		return false
	}
	return true
}

// WriteJSON writes result as a JSON response.
func WriteJSON(w http.ResponseWriter, status int, result any) {
	body, err := json.Marshal(result)
	if err != nil {
		slog.Error("sandbox: encoding a response failed", "err", err)
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have disconnected
}

// CloseConnection closes the connection without a response.
func CloseConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection
	}
	_ = conn.Close()
}
