package server

import (
	"context"
	"log/slog"
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
	s.last[what] = saying{at: time.Now()}
	return last.unsaid, true
}

// outageEvery is how often the log is told that the same thing fails for want of the database or the store of files: many
// parts meet it several times a second.
const outageEvery = 30 * time.Second

// failed tells the log of what failed.
func (s *Server) failed(ctx context.Context, what string, err error) {
	said := []any{"error", err}
	if away(err) {
		unsaid, due := s.outage.due(what)
		if !due {
			return
		}
		if unsaid > 0 {
			said = append(said, "unsaid", unsaid)
		}
	}
	s.cfg.Log.ErrorContext(ctx, what, said...)
}

// quiet is a log for libraries that say much: what warns or is worse, and of lines that are alike one in a while.
func quiet(log *slog.Logger) *slog.Logger {
	return slog.New(&quieted{log.Handler(), newSparing(outageEvery)})
}

type quieted struct {
	slog.Handler
	told *sparing // of messages
}

// Enabled tells whether a line of a level is passed on.
func (q *quieted) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle passes a line on where none like it was told a while ago.
func (q *quieted) Handle(ctx context.Context, record slog.Record) error {
	unsaid, due := q.told.due(record.Message)
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
