package server

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// throttle limits how often the same message is logged.
type throttle struct {
	interval time.Duration

	mu   sync.Mutex
	last map[string]logEntry
}

// logEntry records when a message was last logged, and how often it has been suppressed since then.
type logEntry struct {
	at         time.Time
	suppressed int
}

func newThrottle(interval time.Duration) *throttle {
	return &throttle{interval: interval, last: map[string]logEntry{}}
}

// maxThrottled is the number of stored messages at which expired messages are removed.
const maxThrottled = 1000

// allow reports whether a message may be logged now. It also returns how often the message was suppressed since it was
// last logged.
func (t *throttle) allow(message string) (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, found := t.last[message]
	if found && time.Since(last.at) < t.interval {
		last.suppressed++
		t.last[message] = last
		return 0, false
	}
	if len(t.last) >= maxThrottled {
		maps.DeleteFunc(t.last, func(_ string, l logEntry) bool { return time.Since(l.at) >= t.interval })
	}
	t.last[message] = logEntry{at: time.Now()}
	return last.suppressed, true
}

// outageInterval is the minimum time between two log entries of the same error while the database or file store is
// unreachable. Otherwise, many parts of the program would log the error several times per second.
const outageInterval = 30 * time.Second

// logError logs an error. During an outage, it throttles repeated errors.
func (s *Server) logError(ctx context.Context, message string, err error) {
	attrs := []any{"error", err}
	if isUnavailable(err) {
		suppressed, ok := s.outageThrottle.allow(message + ": " + err.Error())
		if !ok {
			return
		}
		if suppressed > 0 {
			attrs = append(attrs, "suppressed", suppressed)
		}
	}
	s.cfg.Log.ErrorContext(ctx, message, attrs...)
}

// quietLogger returns a logger for the queue library. It logs only warnings and errors, and throttles the ones without
// a job ID.
func quietLogger(log *slog.Logger) *slog.Logger {
	return slog.New(&quietHandler{log.Handler(), newThrottle(outageInterval)})
}

type quietHandler struct {
	slog.Handler
	throttle *throttle
}

// Enabled reports whether a level is logged.
func (q *quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle logs a record unless it is throttled.
func (q *quietHandler) Handle(ctx context.Context, record slog.Record) error {
	message, aboutJob := record.Message, false
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "job_id":
			aboutJob = true
		case "err", "error":
			message += ": " + a.Value.String()
		}
		return true
	})
	if aboutJob {
		return q.Handler.Handle(ctx, record) //nolint:wrapcheck // the handler's own error
	}
	suppressed, ok := q.throttle.allow(message)
	if !ok {
		return nil
	}
	if suppressed > 0 {
		record = record.Clone()
		record.AddAttrs(slog.Int("suppressed", suppressed))
	}
	return q.Handler.Handle(ctx, record) //nolint:wrapcheck // the handler's own error
}

// WithAttrs returns a handler with attributes.
func (q *quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quietHandler{q.Handler.WithAttrs(attrs), q.throttle}
}

// WithGroup returns a handler with a group.
func (q *quietHandler) WithGroup(name string) slog.Handler {
	return &quietHandler{q.Handler.WithGroup(name), q.throttle}
}
