package network

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

type sendCheckKey struct{}

// WithSendCheck returns a context. A call with this context and PurposeCommit runs check before it sends each part of
// its body. The caller's lease may expire while the call resolves the host, connects or writes. If check fails, the
// body remains incomplete, and the network cannot act on it.
func WithSendCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, sendCheckKey{}, check)
}

// checkBeforeSending makes the request run the check before each read of its body. Networks ignore a request without
// its body.
func checkBeforeSending(ctx context.Context, r *http.Request) {
	check, ok := ctx.Value(sendCheckKey{}).(func() error)
	if !ok || r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &checkedBody{r.Body, check}
	if getBody := r.GetBody; getBody != nil { // The transport uses it to retry on another connection.
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := getBody()
			return &checkedBody{body, check}, err
		}
	}
}

// checkedBody is a request body that runs a check before each read.
type checkedBody struct {
	io.ReadCloser

	check func() error
}

func (b *checkedBody) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, fmt.Errorf("continuing to send: %w", err)
	}
	return b.ReadCloser.Read(p) //nolint:wrapcheck // io.EOF must stay unwrapped
}
