package analytics_test

import (
	"context"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
)

// A post's metrics are summed over its accounts. Metrics that no network reports are missing, and so are other teams'
// posts.
func TestSumByPost(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		team := w.teamOf(account)
		w.must(w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for _, s := range []struct {
				text string
				args []any
			}{
				{`INSERT INTO social_accounts (id, team_id, platform, network_id, username, display_name, connection_state,
					sealed_grant, created_at, updated_at) VALUES (900, ?, 'instagram', 'second', 'b', 'b', 'connected', '', 1,
					1)`, []any{team}},
				{`INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, created_at, updated_at) VALUES
					('seen', ?, 1, 'published', '', '', 1, 1), ('unseen', ?, 1, 'published', '', '', 1, 1)`,
					[]any{team, team}},
				{`INSERT INTO post_targets (post_id, account_id, position, network_id) VALUES ('seen', ?, 0, 'n1'),
					('seen', 900, 1, 'n2'), ('unseen', ?, 0, 'n3')`, []any{account, account}},
				{`INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views, likes,
					collected_at) VALUES (?, 'n1', 1, 'image', '', '', 40, 3, 1), (900, 'n2', 1, 'image', '', '', 2, NULL, 1)`,
					[]any{account}},
			} {
				if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
					return err
				}
			}
			return nil
		}))
		sums, err := w.service.SumByPost(t.Context(), team, []string{"seen", "unseen"})
		w.must(err)
		got := sums["seen"]
		if len(sums) != 1 || got.Views == nil || *got.Views != 42 || got.Likes == nil || *got.Likes != 3 ||
			got.Comments != nil {
			t.Errorf("%+v", sums)
		}
		each, err := w.service.FiguresOfPost(t.Context(), team, "seen")
		w.must(err)
		if first, second := each[account], each[900]; len(each) != 2 || *first.Views != 40 || *first.Likes != 3 ||
			*second.Views != 2 || second.Likes != nil {
			t.Errorf("%+v", each)
		}
		if other, err := w.service.FiguresOfPost(t.Context(), team+1, "seen"); err != nil || len(other) > 0 {
			t.Errorf("another team has %v (%v)", other, err)
		}
		for _, ids := range [][]string{{"seen"}, nil} {
			if other, err := w.service.SumByPost(t.Context(), team+1, ids); err != nil || len(other) > 0 {
				t.Errorf("another team has %v (%v)", other, err)
			}
		}
	})
}
