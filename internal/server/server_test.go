package server_test

import (
	"log/slog"
	"sync"
	"testing"

	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// Nodes that start at once on an empty database all come up.
func TestNodesStartTogether(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		cfg := server.Config{Database: url, Log: slog.New(slog.DiscardHandler)}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				d, err := server.OpenDatabase(t.Context(), cfg)
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}
