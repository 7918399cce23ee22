package postlist_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/postlist"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// An unconfirmed account is shown instead of a failure, for its own post only.
func TestListUnconfirmed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		doubtful, failed := w.Draft(t, "in doubt", time.Time{}), w.Draft(t, "failed", time.Time{})
		for id, state := range map[string]post.TargetState{doubtful: post.TargetUnconfirmed,
			failed: post.TargetFailed} {
			must.NoError(t, w.DB.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE post_targets SET state = ? WHERE post_id = ?`, string(state), id)
				return err
			}))
		}
		found := must.Get(postlist.DetailsOf(t.Context(), w.DB, w.Call.TeamID, []string{doubtful, failed}))(t)
		if len(found) != 2 || !found[doubtful].Unconfirmed || found[failed].Unconfirmed {
			t.Errorf("they are shown as %+v", found)
		}
	})
}

func TestListStates(t *testing.T) {
	t.Parallel()
	unconfirmed := post.Status(post.TargetUnconfirmed)
	for _, c := range []struct {
		status   post.Status
		doubtful bool
		want     []post.Status
	}{
		{post.Failed, false, []post.Status{post.Failed}},
		{post.Failed, true, []post.Status{unconfirmed}},
		{post.PartiallyPublished, true, []post.Status{post.PartiallyPublished, unconfirmed}},
		{post.Processing, true, []post.Status{post.Processing}},
		{post.Draft, false, []post.Status{post.Draft}},
	} {
		if diff := cmp.Diff(c.want, postlist.Details{Unconfirmed: c.doubtful}.States(c.status)); diff != "" {
			t.Errorf("%s, doubtful %v: %s", c.status, c.doubtful, diff)
		}
	}
}
