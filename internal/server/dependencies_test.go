package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An outage is logged when it begins and when it ends, but not on a node that is stopping.
func TestLogOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var down error
		d := &dependencies{lastResults: map[string]checkResult{}, log: slog.New(slog.NewTextHandler(&log, nil)),
			checks: map[string]func(context.Context) error{
				"database": func(ctx context.Context) error {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return down
				},
			}}
		logged := func() string {
			defer log.Reset()
			d.check(t.Context())
			<-time.After(checkInterval)
			return log.String()
		}
		if got := logged(); got != "" {
			t.Errorf("without an outage: %s", got)
		}
		down = errNoResponse
		if got := logged(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "dependency is down") ||
			!strings.Contains(got, "dependency=database") {
			t.Errorf("at the start of an outage: %s", got)
		}
		if got := logged(); got != "" {
			t.Errorf("during the outage: %s", got)
		}
		down = nil
		if got := logged(); !strings.Contains(got, "is up again") || !strings.Contains(got, "after=30s") {
			t.Errorf("at the end of the outage: %s", got)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if d.check(stopped); log.Len() > 0 {
			t.Errorf("as the node stops: %s", log.String())
		}
	})
}
