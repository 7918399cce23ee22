package authn

import (
	"context"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A slow refresh must not replace a newer version with an older one.
func TestCacheVersion(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		c := newKeyCache(d)
		for range 300 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { must.NoError(t, c.refresh(t.Context())) })
			}
			var want int64
			must.NoError(t, d.InTx(t.Context(), "test.revoke", func(ctx context.Context, tx *db.Tx) error {
				return tx.QueryRow(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1 RETURNING version`).
					Scan(&want)
			}))
			must.NoError(t, c.refresh(t.Context()))
			all.Wait()
			if got := c.version.Load(); got != want {
				t.Fatalf("version %d, want %d", got, want)
			}
		}
	})
}
