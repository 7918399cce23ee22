package post_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// says runs an operation and checks that its summary contains these parts.
func (w *env) says(t *testing.T, tool string, args map[string]any, parts ...string) {
	t.Helper()
	out := must.Get(w.Try(t, tool, args))(t)
	for _, part := range parts {
		if !strings.Contains(out.Summary, part) {
			t.Errorf("%s says %q, which lacks %q", tool, out.Summary, part)
		}
	}
}

// settle stores a result of a post's account, as the delivery does.
func (w *env) settle(t *testing.T, id string, r post.Result) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "test.settle", func(ctx context.Context, tx *db.Tx) error {
		return w.RecordResult(ctx, tx, w.Call.TeamID, id, w.Account, r)
	}))
}

// A call that sends nothing says so, with the skipped accounts and reasons.
func TestSummaryOfSkipped(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "once", time.Time{})
		its := map[string]any{"post_id": id}
		if out, err := w.Try(t, "publish_post", its); err != nil || out.Summary != "" {
			t.Errorf("the first time: %q (%v)", out.Summary, err)
		}
		w.says(t, "publish_post", its, "already_submitted", "nothing was sent again", "job social_post:")
		w.says(t, "retry_post", its, "nothing was sent again", "Skipped accounts: 1; not_failed: 1 (account 1)")
		w.settle(t, id, post.Result{State: post.TargetUnconfirmed, ErrorCode: "not_confirmed"})
		w.says(t, "retry_post", its, "nothing was sent again", "unconfirmed: 1 (account 1)")
		w.WantSent(t, "once")
		w.settle(t, id, post.Result{State: post.TargetFailed, ErrorCode: "network_error"})
		if out, err := w.Try(t, "retry_post", its); err != nil || out.Summary != "" {
			t.Errorf("what is sent again: %q (%v)", out.Summary, err)
		}
	})
}

// A failed post states the next step, because it can no longer be changed.
func TestSummaryOfNextSteps(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "refused", time.Time{})
		w.Do(t, "publish_post", map[string]any{"post_id": id})
		for code, want := range map[string]string{"network_error": "call retry_post after the cause is fixed: account " +
			"1 (network_error)", "rejected_content": "create another post for these with create_post: account 1 " +
			"(rejected_content)"} {
			w.settle(t, id, post.Result{State: post.TargetFailed, ErrorCode: code})
			w.says(t, "get_post", map[string]any{"id": id}, id+" is failed.", want)
			w.says(t, "validate_post", map[string]any{"post_id": id}, "can no longer be changed", want)
		}
	})
}

// The summary has the time of publication, or what prevents it.
func TestVerdictShown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "well", time.Time{})
		of, its := map[string]any{"id": id}, map[string]any{"post_id": id}
		w.says(t, "validate_post", its, "it would go out as it is.")
		w.says(t, "update_post", map[string]any{"id": id, "caption": "forbidden"}, "Blocking problems: 1.")
		w.says(t, "validate_post", its, "it would not go out as it is.", "Blocking problems: 1.")
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "well"})
		at := posttest.Noon.Add(posttest.Day)
		w.says(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at.Format(time.RFC3339)}, id+
			" is scheduled for 2026-11-22T12:00:00+01:00.")
		for approval, want := range map[post.Approval]string{post.Waiting: "needs the client's approval",
			post.Rejected: "The client rejected it"} {
			must.NoError(t, w.DB.InTx(t.Context(), "test.approval", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE posts SET approval = ? WHERE id = ?`, string(approval), id)
				return err
			}))
			w.says(t, "get_post", of, id+" is scheduled for ", want)
			w.says(t, "validate_post", its, "it would not go out as it is.", want)
		}
		w.Exec(t, `UPDATE posts SET approval = 'approved' WHERE id = ?`, id)
		_, err := w.Try(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at.Format(time.RFC3339)})
		if err == nil || !strings.Contains(err.Error(), "update_post, PATCH /posts/{id}") {
			t.Errorf("scheduled again: %v", err)
		}
	})
}
