package post_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// connectSecond connects another account of the team.
func (w *env) connectSecond(t *testing.T) int64 {
	t.Helper()
	var id int64
	must.NoError(t, w.DB.InTx(t.Context(), "test.account", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
			connection_state, sealed_grant, created_at, updated_at)
			VALUES (?, 'bluesky', 'did:test:2', 'pier.test', 'pier.test', 'connected', ?, 1, 1) RETURNING id`,
			w.Call.TeamID, []byte{}).Scan(&id)
	}))
	return id
}

// RemoveAccount changes only scheduled posts. A post with another account stays scheduled. A post without another
// account becomes a draft.
func TestRemoveAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := w.connectSecond(t)
		soon := posttest.Noon.Add(posttest.Day).Format(time.RFC3339)
		both, _ := w.Do(t, "create_post", map[string]any{"caption": "both", "account_ids": []int64{w.Account,
			other}})["id"].(string)
		single, unrelated := w.Draft(t, "single", time.Time{}), w.Draft(t, "unrelated", time.Time{})
		draft := w.Draft(t, "draft", time.Time{})
		w.Do(t, "update_post", map[string]any{"id": unrelated, "account_ids": []int64{other}})
		for _, id := range []string{both, single, unrelated} {
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": soon})
		}
		if n, err := w.CountUpcoming(t.Context(), w.Call.TeamID, w.Account); err != nil ||
			n != (post.Upcoming{Posts: 2}) {
			t.Errorf("got %+v upcoming posts, want 2 (%v)", n, err)
		}
		if n, err := w.CountUpcoming(t.Context(), w.Call.TeamID+1, w.Account); err != nil || n.Any() {
			t.Errorf("another team got %+v upcoming posts (%v)", n, err)
		}
		call := w.Call
		call.Now = w.Clock.Now()
		if n, err := w.RemoveAccount(t.Context(), call, w.Account); err != nil || n != (post.Upcoming{Posts: 2}) {
			t.Fatalf("removed from %+v, want 2 posts (%v)", n, err)
		}
		for id, want := range map[string]string{both: "scheduled", single: "draft", unrelated: "scheduled",
			draft: "draft"} {
			if got := w.Do(t, "get_post", map[string]any{"id": id})["status"]; got != want {
				t.Errorf("%s is %v, want %s", id, got, want)
			}
		}
		var remaining, count int64
		must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT MAX(account_id), COUNT(*) FROM post_targets WHERE post_id = ?`,
			both).Scan(&remaining, &count))
		if count != 1 || remaining != other {
			t.Errorf("the post has %d accounts, including %d", count, remaining)
		}
		if n, err := w.RemoveAccount(t.Context(), call, w.Account); err != nil || n.Any() {
			t.Errorf("second call: %+v (%v)", n, err)
		}
		for tool, args := range map[string]map[string]any{"publish_post": {"post_id": single},
			"schedule_post": {"post_id": single, "scheduled_at": soon}} {
			if _, err := w.Try(t, tool, args); apierr.FromError(err).Code != apierr.PreflightBlocked ||
				!strings.Contains(apierr.FromError(err).Detail, "accounts_missing") {
				t.Errorf("%s of a post without accounts: %v", tool, err)
			}
		}

		viewer := *w.Call.Actor
		viewer.Capabilities = access.RoleCapabilities(access.Viewer)
		call.Actor = &viewer
		if _, err := w.RemoveAccount(t.Context(), call, other); apierr.FromError(err).Code != apierr.PublishNotAllowed {
			t.Errorf("RemoveAccount by a viewer: %v", err)
		}
	})
}
