package pipeline_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// changing authenticates every credential as an actor that a test can change.
type changing struct {
	actor *access.Actor // nil if it is revoked
}

func (c *changing) Authenticate(context.Context, string) (*access.Actor, error) {
	if c.actor == nil {
		return nil, apierr.New(apierr.Unauthorized, "Send a key.")
	}
	return c.actor, nil
}

// unlimited is a Rates without limits.
type unlimited struct{}

func (unlimited) Take(_ context.Context, scope pipeline.Scope, _ int64) pipeline.Rate {
	return pipeline.Rate{Scope: scope}
}

// A caller that is rejected during a wait gets neither progress reports nor the answer.
func TestWaitReauthorizes(t *testing.T) {
	t.Parallel()
	reader := access.Actor{TeamID: 1, KeyID: 1, Level: access.ReadOnly, Capabilities: []access.Capability{access.Read}, Zone: time.UTC}
	closed, bereft := reader, reader
	closed.Gates.TeamOff = true
	bereft.Level, bereft.Capabilities = access.Full, []access.Capability{access.Write}
	for name, c := range map[string]struct {
		then    *access.Actor
		code    apierr.Code
		reports int
	}{
		"still authorized":      {&reader, "", 2},
		"revoked":               {nil, apierr.Unauthorized, 1},
		"the team's access off": {&closed, apierr.TeamAccessDisabled, 1},
		"capability revoked":    {&bereft, apierr.ReadNotAllowed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, reports := &changing{&reader}, 0
			ended := errors.New("the wait was not ended")
			op := operation.Define(operation.Spec{
				Tool: "watch_it", Method: http.MethodGet, Path: "/it", Summary: "Watches", Description: "Waits.",
				Needs: access.Read, Success: http.StatusOK, Unmetered: true, MayWait: true,
			}, func(ctx context.Context, call operation.Call, _ struct{}) (operation.Response[struct{}], error) {
				call.OnProgress(operation.Progress{Done: 1})
				keys.actor = c.then
				call.OnProgress(operation.Progress{Done: 2})
				ended = ctx.Err()
				return operation.Response[struct{}]{App: "/it"}, nil
			})
			pipe := pipeline.New(pipeline.Ports{Keys: keys, Rates: unlimited{}}, time.Now)
			got, err := pipe.Call(t.Context(), pipeline.Request{
				Operation: &op, Credential: "a key", OnProgress: func(operation.Progress) { reports++ },
				Arguments: func() (operation.Arguments, error) { return operation.Arguments{}, nil },
			})
			if c.code == "" && (err != nil || got.App != "/it" || ended != nil) ||
				c.code != "" && (!apierr.Is(err, c.code) || got.App != "" || ended == nil) {
				t.Errorf("answered %+v, %v; the wait: %v", got.Result, err, ended)
			}
			if reports != c.reports {
				t.Errorf("%d progress reports, want %d", reports, c.reports)
			}
		})
	}
}
