package post_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// checkSummary runs an operation and checks that its summary contains the parts.
func (w *env) checkSummary(t *testing.T, tool string, args map[string]any, parts ...string) {
	t.Helper()
	out := must.Get(w.Try(t, tool, args))(t)
	for _, part := range parts {
		if !strings.Contains(out.Summary, part) {
			t.Errorf("summary of %s is %q, want it to contain %q", tool, out.Summary, part)
		}
	}
}

// recordResult stores a result for a post's account, as package delivery does.
func (w *env) recordResult(t *testing.T, id string, r post.Result) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "test.result", func(ctx context.Context, tx *db.Tx) error {
		_, _, err := w.RecordResult(ctx, tx, w.Call.TeamID, id, w.Account, r)
		return err
	}))
}

// If a call sends nothing, its summary lists the skipped accounts and the reasons.
func TestSummaryListsSkippedAccounts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "once", time.Time{})
		args := map[string]any{"post_id": id}
		if out, err := w.Try(t, "publish_post", args); err != nil || out.Summary != "" {
			t.Errorf("summary of the first call: %q (%v)", out.Summary, err)
		}
		w.checkSummary(t, "publish_post", args, "already_submitted", "nothing was sent again", "job social_post:")
		w.checkSummary(t, "retry_post", args, "nothing was sent again", "Skipped accounts: 1; not_failed: 1 (account 1)")
		w.recordResult(t, id, post.Result{State: post.TargetUnconfirmed, ErrorCode: "not_confirmed"})
		w.checkSummary(t, "retry_post", args, "nothing was sent again", "unconfirmed: 1 (account 1)")
		w.WantSent(t, "once")
		w.recordResult(t, id, post.Result{State: post.TargetFailed, ErrorCode: "network_error"})
		if out, err := w.Try(t, "retry_post", args); err != nil || out.Summary != "" {
			t.Errorf("summary of a successful retry: %q (%v)", out.Summary, err)
		}
	})
}

// The summary of a failed post suggests the next step, because the post can no longer be changed.
func TestSummarySuggestsNextStep(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "refused", time.Time{})
		w.Do(t, "publish_post", map[string]any{"post_id": id})
		for code, want := range map[string]string{"network_error": "call retry_post after the cause is fixed: account " +
			"1 (network_error)", "rejected_content": "create another post for these with create_post: account 1 " +
			"(rejected_content)"} {
			w.recordResult(t, id, post.Result{State: post.TargetFailed, ErrorCode: code})
			w.checkSummary(t, "get_post", map[string]any{"id": id}, id+" is failed.", want)
			w.checkSummary(t, "validate_post", map[string]any{"post_id": id}, "can no longer be changed", want)
		}
	})
}

// The summary states when a post is published or what prevents its publication.
func TestValidationSummary(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "well", time.Time{})
		getArgs, args := map[string]any{"id": id}, map[string]any{"post_id": id}
		w.checkSummary(t, "validate_post", args, "it would go out as it is.")
		w.checkSummary(t, "update_post", map[string]any{"id": id, "caption": "forbidden"}, "Blocking problems: 1.")
		w.checkSummary(t, "validate_post", args, "it would not go out as it is.", "Blocking problems: 1.")
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "well"})
		at := posttest.Noon.Add(posttest.Day)
		w.checkSummary(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at.Format(time.RFC3339)}, id+
			" is scheduled for 2026-11-22T12:00:00+01:00.")
		for approval, want := range map[post.Approval]string{post.Waiting: "needs the client's approval",
			post.Rejected: "The client rejected it"} {
			must.NoError(t, w.DB.InTx(t.Context(), "test.approval", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE posts SET approval = ? WHERE id = ?`, string(approval), id)
				return err
			}))
			w.checkSummary(t, "get_post", getArgs, id+" is scheduled for ", want)
			w.checkSummary(t, "validate_post", args, "it would not go out as it is.", want)
		}
		w.Exec(t, `UPDATE posts SET approval = 'approved' WHERE id = ?`, id)
		_, err := w.Try(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at.Format(time.RFC3339)})
		if err == nil || !strings.Contains(err.Error(), "update_post, PATCH /posts/{id}") {
			t.Errorf("scheduled again: %v", err)
		}
	})
}
