package tlscert

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapLogger returns a zap logger for the ACME library that writes to log.
func zapLogger(log *slog.Logger) *zap.Logger { return zap.New(newCore(log)) }

// core forwards entries to slog.
type core struct {
	zapcore.LevelEnabler

	log *slog.Logger
}

func newCore(log *slog.Logger) *core {
	enabled := func(level zapcore.Level) bool { return log.Enabled(context.Background(), levelOf(level)) }
	return &core{zap.LevelEnablerFunc(enabled), log}
}

// With returns a core that adds the fields to every entry.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return newCore(slog.New(c.log.Handler().WithAttrs(attrs(fields))))
}

// Check adds the core to the entry if its level is enabled.
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write logs the entry.
func (c *core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	c.log.LogAttrs(context.Background(), levelOf(entry.Level), "certificates: "+entry.Message, attrs(fields)...)
	return nil
}

// Sync does nothing.
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

// levelOf returns the slog level for an entry. The library's routine messages become debug messages.
func levelOf(level zapcore.Level) slog.Level {
	switch {
	case level >= zapcore.ErrorLevel:
		return slog.LevelError
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
