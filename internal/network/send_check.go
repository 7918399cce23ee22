package network

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

type sendCheckKey struct{}

// WithSendCheck makes a Committing call check, before each part of its body is sent, whether it may still be sent. DNS,
// connecting and writing can take longer than the caller's right to send lasts. If the check fails, the body stays
// incomplete, so the network cannot act on it.
func WithSendCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, sendCheckKey{}, check)
}

// checkBeforeSending makes the request run the check at each read of its body. Without the body, the header has no
// effect at a network.
func checkBeforeSending(ctx context.Context, r *http.Request) {
	check, ok := ctx.Value(sendCheckKey{}).(func() error)
	if !ok || r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &checkedBody{r.Body, check}
	if getBody := r.GetBody; getBody != nil { // used by the transport to retry on another connection
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := getBody()
			return &checkedBody{body, check}, err
		}
	}
}

// checkedBody is a request body that runs the check at each read.
type checkedBody struct {
	io.ReadCloser

	check func() error
}

func (a *checkedBody) Read(p []byte) (int, error) {
	if err := a.check(); err != nil {
		return 0, fmt.Errorf("continuing to send: %w", err)
	}
	return a.ReadCloser.Read(p) //nolint:wrapcheck // io.EOF must stay unwrapped
}
