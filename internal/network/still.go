package network

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

type stillKey struct{}

// Still has a Committing call ask whether it may be made still, as each part of its body is about to be written:
// looking an address up, connecting to it and writing can take longer than the caller's right to send lasts. Where it
// may not, the body does not come whole, and a network cannot act on it.
func Still(ctx context.Context, may func() error) context.Context {
	return context.WithValue(ctx, stillKey{}, may)
}

// askFirst makes a request ask whenever its body is read. What stands before a body is nothing to a network without it.
func askFirst(ctx context.Context, r *http.Request) {
	may, ok := ctx.Value(stillKey{}).(func() error)
	if !ok || r.Body == nil || r.Body == http.NoBody {
		return
	}
	r.Body = &asking{r.Body, may}
	if again := r.GetBody; again != nil { // by which the transport repeats what a connection lost unread
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return &asking{body, may}, err
		}
	}
}

// asking is a body that asks whenever it is read.
type asking struct {
	io.ReadCloser

	may func() error
}

func (a *asking) Read(p []byte) (int, error) {
	if err := a.may(); err != nil {
		return 0, fmt.Errorf("sending on: %w", err)
	}
	return a.ReadCloser.Read(p) //nolint:wrapcheck // the end of the body has to stay what it is
}
