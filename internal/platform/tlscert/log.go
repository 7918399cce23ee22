package tlscert

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapped is the program's log as the ACME library writes to one.
func zapped(log *slog.Logger) *zap.Logger { return zap.New(&core{log: log}) }

// core passes the library's lines on.
type core struct {
	log *slog.Logger
}

// Enabled tells whether a line of the level is wanted.
func (c *core) Enabled(level zapcore.Level) bool {
	return c.log.Enabled(context.Background(), levelOf(level))
}

// With is the same with fields.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{log: slog.New(c.log.Handler().WithAttrs(attrs(fields)))}
}

// Check says that the line is to be written where it is wanted.
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write passes a line on.
func (c *core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	c.log.LogAttrs(context.Background(), levelOf(entry.Level), "certificates: "+entry.Message, attrs(fields)...)
	return nil
}

// Sync has nothing to do.
func (*core) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	encoder := zapcore.NewMapObjectEncoder()
	out := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		f.AddTo(encoder)
		if value, ok := encoder.Fields[f.Key]; ok {
			out = append(out, slog.Any(f.Key, value))
		}
	}
	return out
}

// levelOf: what the library tells of its daily work is of no interest but to those who look for something.
func levelOf(level zapcore.Level) slog.Level {
	switch {
	case level >= zapcore.ErrorLevel:
		return slog.LevelError
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
