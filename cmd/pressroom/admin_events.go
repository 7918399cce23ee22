package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"time"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/server"
)

type (
	adminEvents struct {
		Export adminEventsExport `cmd:"" help:"Print the record, the oldest first, as one JSON object a line. Go on later with the id of the last line: no event is missed and none comes twice. With PostgreSQL the last two minutes are left for the next time."`
	}
	adminEventsExport struct {
		storeFlags
		Team  int64  `help:"Id of the team; every team's, and what is no team's, where left out."`
		Since string `help:"When it begins: 2026-11-22, 2026-11-22T08:00:00Z, or how long ago, such as 24h."`
		After int64  `help:"Id of the last event that you have."`
	}
)

// Run writes the record to standard output as it is read.
func (c adminEventsExport) Run(ctx context.Context, log *slog.Logger) error {
	since, err := instant(c.Since, time.Now())
	if err != nil {
		return err
	}
	if c.Team < 0 || c.After < 0 {
		return errors.New("--team and --after are ids, which are above 0")
	}
	return open(ctx, c.storeFlags, log, func(s *server.Server) error {
		out := bufio.NewWriter(os.Stdout)
		lines := json.NewEncoder(out)
		err := s.Events(ctx, auditlog.Part{Team: c.Team, Since: since, Above: c.After}, func(e auditlog.Entry) error { return lines.Encode(e) })
		return errors.Join(err, out.Flush())
	})
}

// instant reads a day, an instant, or how long ago something was; the zero time where nothing is said.
func instant(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago < 0 {
		return time.Time{}, errors.New("--since is a day such as 2026-11-22, an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 24h")
	}
	return now.Add(-ago), nil
}
