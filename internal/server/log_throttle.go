package server

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// sparing has what is told again and again be told once in a while.
type sparing struct {
	every time.Duration

	mu   sync.Mutex
	last map[string]saying
}

// saying is when something was told last, and how often it was kept back since.
type saying struct {
	at     time.Time
	unsaid int
}

func newSparing(every time.Duration) *sparing {
	return &sparing{every: every, last: map[string]saying{}}
}

// manySayings is how many are remembered before those that are due again are forgotten.
const manySayings = 1000

// due tells whether something is to be told now, and how often it was kept back since it was told last.
func (s *sparing) due(what string) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, told := s.last[what]
	if told && time.Since(last.at) < s.every {
		last.unsaid++
		s.last[what] = last
		return 0, false
	}
	if len(s.last) >= manySayings {
		maps.DeleteFunc(s.last, func(_ string, one saying) bool { return time.Since(one.at) >= s.every })
	}
	s.last[what] = saying{at: time.Now()}
	return last.unsaid, true
}

// outageEvery is how often the log is told that the same thing fails for want of the database or the store of files:
// many parts meet it several times a second.
const outageEvery = 30 * time.Second

// failed tells the log of what failed. What differs from what was told before is told at once: an outage says the same
// each time.
func (s *Server) failed(ctx context.Context, what string, err error) {
	said := []any{"error", err}
	if away(err) {
		unsaid, due := s.outage.due(what + ": " + err.Error())
		if !due {
			return
		}
		if unsaid > 0 {
			said = append(said, "unsaid", unsaid)
		}
	}
	s.cfg.Log.ErrorContext(ctx, what, said...)
}

// quiet is a log for the queue's library, which says much: what warns or is worse, and the same once in a while. What
// is about one job is told each time.
func quiet(log *slog.Logger) *slog.Logger {
	return slog.New(&quieted{log.Handler(), newSparing(outageEvery)})
}

type quieted struct {
	slog.Handler
	told *sparing // of messages and their errors
}

// Enabled tells whether a line of a level is passed on.
func (q *quieted) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle passes a line on where the same was not told a while ago.
func (q *quieted) Handle(ctx context.Context, record slog.Record) error {
	said, ofJob := record.Message, false
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "job_id":
			ofJob = true
		case "err", "error":
			said += ": " + a.Value.String()
		}
		return true
	})
	if ofJob {
		return q.Handler.Handle(ctx, record) //nolint:wrapcheck // it is passed on as it is
	}
	unsaid, due := q.told.due(said)
	if !due {
		return nil
	}
	if unsaid > 0 {
		record = record.Clone()
		record.AddAttrs(slog.Int("unsaid", unsaid))
	}
	return q.Handler.Handle(ctx, record) //nolint:wrapcheck // it is passed on as it is
}

// WithAttrs is the same with attributes.
func (q *quieted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quieted{q.Handler.WithAttrs(attrs), q.told}
}

// WithGroup is the same within a group.
func (q *quieted) WithGroup(name string) slog.Handler {
	return &quieted{q.Handler.WithGroup(name), q.told}
}
