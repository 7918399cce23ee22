package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"time"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminEvents struct {
		Export adminEventsExport `cmd:"" help:"Print the audit log as JSON lines, oldest event first. To continue an export, set --after."`
	}
	adminEventsExport struct {
		storeFlags
		Team  int64  `help:"Team ID; all events if omitted."`
		Since string `help:"Earliest time: 2026-11-22, 2026-11-22T08:00:00Z, or an age such as 24h."`
		After int64  `help:"Start after this event: the ID of the last event of an earlier export."`
	}
)

// Run streams the audit log to standard output.
func (c adminEventsExport) Run(ctx context.Context, log *slog.Logger) error {
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return err
	}
	if c.Team < 0 || c.After < 0 {
		return errors.New("--team and --after must be positive IDs")
	}
	return openExisting(ctx, c.storeFlags, log, func(s *server.Server) error {
		out := bufio.NewWriter(os.Stdout)
		enc := json.NewEncoder(out)
		err := s.Events(ctx, auditlog.Filter{Team: c.Team, Since: since, AfterID: c.After}, func(e auditlog.Entry) error {
			return enc.Encode(e)
		})
		return errors.Join(err, out.Flush())
	})
}

// parseSince parses a day, a time or an age, and returns the time. It returns the zero time if text is empty.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return time.Time{},
			errors.New("--since must be a day such as 2026-11-22, a time such as 2026-11-22T08:00:00Z, or an age " +
				"such as 24h")
	}
	return now.Add(-age), nil
}
