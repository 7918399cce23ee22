package pipeline_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// A call that times out while the database responds is an internal error, because a retry would not help.
func TestTimeoutIsNotUnavailable(t *testing.T) {
	t.Parallel()
	broken := errors.New("the connection broke")
	for name, c := range map[string]struct {
		answers bool
		err     error // nil to wait for the timeout
		code    apierr.Code
	}{
		"the database hangs":         {false, nil, apierr.Unavailable},
		"a statement takes too long": {true, nil, apierr.Internal},
		"database lost, then back":   {true, broken, apierr.Unavailable},
		"database lost":              {false, broken, apierr.Unavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			op := operation.Define(operation.Spec{
				Tool: "read_it", Method: http.MethodGet, Path: "/it", Summary: "Reads", Description: "Reads.",
				Needs: access.Read, Success: http.StatusOK, Unmetered: true,
			}, func(ctx context.Context, _ operation.Call, _ struct{}) (operation.Response[struct{}], error) {
				if c.err != nil {
					return operation.Response[struct{}]{}, c.err
				}
				<-ctx.Done()
				return operation.Response[struct{}]{}, ctx.Err()
			})
			who := access.Actor{TeamID: 1, KeyID: 1, Level: access.ReadOnly, Capabilities: []access.Capability{access.Read}, Zone: time.UTC}
			p := pipeline.New(pipeline.Ports{
				Keys: &changing{&who}, Rates: unlimited{}, Healthy: func() bool { return c.answers },
				Unavailable: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, broken) },
			}, time.Now)
			_, err := p.Call(t.Context(), pipeline.Request{Operation: &op, Credential: "a key",
				Arguments: func() (operation.Arguments, error) {
					return operation.Arguments{}, nil
				}})
			if apierr.FromError(err).Code != c.code {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		})
	}
}
