package postlist_test

import (
	"context"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// LastFailure returns the newest failure of an account, but only to the account's team.
func TestLastFailureOfAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		for _, caption := range []string{"first", "forbidden", "last"} {
			id := w.Draft(t, caption, time.Time{})
			if caption == "forbidden" {
				must.NoError(t, w.DB.InTx(t.Context(), "test.failed", func(ctx context.Context, tx *db.Tx) error {
					_, err := tx.Exec(ctx, `UPDATE post_targets SET state = 'failed', published_at = 0, error_code = 'rejected_content'
						WHERE post_id = ?`, id)
					return err
				}))
			}
		}
		if got, err := postlist.LastFailure(t.Context(), w.DB, w.Call.TeamID, w.Account); err != nil ||
			got.ErrorCode != "rejected_content" || got.PostID == "" {
			t.Errorf("%+v (%v)", got, err)
		}
		if got, err := postlist.LastFailure(t.Context(), w.DB, w.Call.TeamID+1, w.Account); err != nil || got.PostID != "" {
			t.Errorf("another team got %+v (%v)", got, err)
		}
	})
}
