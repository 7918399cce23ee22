package server

import (
	"context"

	"pressroom.example/pressroom/internal/platform/tracing"
)

// openTracer returns a tracer. It returns nil if no trace collector is configured, and for commands that only read.
func openTracer(ctx context.Context, cfg Config) (*tracing.Tracer, error) {
	if cfg.ReadOnlyFiles {
		return nil, nil //nolint:nilnil // a nil tracer does nothing
	}
	return tracing.Open(ctx, tracing.Options{Version: cfg.Version, Role: string(cfg.Role), Log: cfg.Log})
}
