package postlist_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Details.Unconfirmed is set only for posts with an unconfirmed account.
func TestListUnconfirmed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		unconfirmed, failed := w.Draft(t, "unconfirmed", time.Time{}), w.Draft(t, "failed", time.Time{})
		for id, state := range map[string]post.TargetState{unconfirmed: post.TargetUnconfirmed,
			failed: post.TargetFailed} {
			must.NoError(t, w.DB.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE post_targets SET state = ? WHERE post_id = ?`, string(state), id)
				return err
			}))
		}
		found := must.Get(postlist.ListDetails(t.Context(), w.DB, w.Call.TeamID, []string{unconfirmed, failed}))(t)
		if len(found) != 2 || !found[unconfirmed].Unconfirmed || found[failed].Unconfirmed {
			t.Errorf("details: %+v", found)
		}
	})
}

func TestListStates(t *testing.T) {
	t.Parallel()
	unconfirmedStatus := post.Status(post.TargetUnconfirmed)
	for _, c := range []struct {
		status      post.Status
		unconfirmed bool
		want        []post.Status
	}{
		{post.Failed, false, []post.Status{post.Failed}},
		{post.Failed, true, []post.Status{unconfirmedStatus}},
		{post.PartiallyPublished, true, []post.Status{post.PartiallyPublished, unconfirmedStatus}},
		{post.Processing, true, []post.Status{post.Processing}},
		{post.Draft, false, []post.Status{post.Draft}},
	} {
		if diff := cmp.Diff(c.want, postlist.Details{Unconfirmed: c.unconfirmed}.States(c.status)); diff != "" {
			t.Errorf("%s, unconfirmed %v: %s", c.status, c.unconfirmed, diff)
		}
	}
}
