package delivery

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// If a network refuses the operator's app, the log says so once, even if only a lookup finds out.
func TestLogUnapprovedApp(t *testing.T) {
	t.Parallel()
	refused := step{verdict: network.Absent, class: network.Unapproved}
	for name, n := range map[string]*scriptedNetwork{
		"at the commit":     {commits: []step{{class: network.Unapproved}}},
		"at the lookup":     {commits: []step{lostNotSent}, resolves: []step{refused}},
		"after unconfirmed": {commits: []step{lostNotSent}, resolves: append(repeatStep(maxLookups, unknownAnswer), refused)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(noon)
			s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, n)
			var lines bytes.Buffer
			s.log = slog.New(slog.NewTextHandler(&lines, nil))
			s.deliver(t, time.Hour)
			if got := s.outcome(t); got.code != "app_not_approved" ||
				strings.Count(lines.String(), "does not accept this installation's app") != 1 ||
				!strings.Contains(lines.String(), "next_step=") {
				t.Errorf("%+v, log %s", got, lines.String())
			}
		})
	}
}
