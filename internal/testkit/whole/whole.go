// Package whole lets the databases of tests be what the whole program finds after its start, the queue's tables among
// it. It is imported for that effect.
package whole

import (
	"context"
	"log/slog"

	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

func init() { //nolint:gochecknoinits // tests import it for that
	testkit.Migrate = func(ctx context.Context, url string) error {
		d, err := server.OpenDatabase(ctx, server.Config{Database: url, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return d.Close()
	}
}
