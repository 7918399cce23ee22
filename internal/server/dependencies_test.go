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

// The log is told when what a node depends on ceases to answer and when it answers again, once each, and nothing of a
// node that ends.
func TestOutagesBeginAndEndInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var down error
		d := &dependencies{last: map[string]answer{}, log: slog.New(slog.NewTextHandler(&log, nil)),
			ask: map[string]func(context.Context) error{
				"database": func(ctx context.Context) error {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return down
				},
			}}
		said := func() string {
			defer log.Reset()
			d.check(t.Context())
			<-time.After(checkEvery)
			return log.String()
		}
		if got := said(); got != "" {
			t.Errorf("while all is well: %s", got)
		}
		down = errSilent
		if got := said(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "does not answer") ||
			!strings.Contains(got, "dependency=database") {
			t.Errorf("as it ceases to answer: %s", got)
		}
		if got := said(); got != "" {
			t.Errorf("while it does not: %s", got)
		}
		down = nil
		if got := said(); !strings.Contains(got, "answers again") || !strings.Contains(got, "after=30s") {
			t.Errorf("as it answers again: %s", got)
		}
		ending, end := context.WithCancel(t.Context())
		end()
		if d.check(ending); log.Len() > 0 {
			t.Errorf("as the node ends: %s", log.String())
		}
	})
}
