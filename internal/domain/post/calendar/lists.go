package calendar

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// ListRecent returns a team's last posts that were sent, or should have been, before a time, the newest first.
func ListRecent(ctx context.Context, d *db.DB, team int64, before time.Time, limit int) ([]Entry, error) {
	entries, err := entriesOf(ctx, d, team, recentQuery, db.Micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("listing recent posts of team %d: %w", team, err)
	}
	return entries, nil
}

// recentQuery walks the index of times.
const recentQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.slot_at > 0 AND p.slot_at <= ?
	AND p.status IN ('processing', 'published', 'partially_published', 'failed')
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListFailed returns a team's posts that failed, on all accounts or on some, after a time, the newest first. Posts
// whose outcome is unknown are always included, because they wait for a person's decision.
func ListFailed(ctx context.Context, d *db.DB, team int64, after time.Time, limit int) ([]Entry, error) {
	entries, err := entriesOf(ctx, d, team, failedQuery, db.Micros(after), string(post.TargetUnconfirmed), limit)
	if err != nil {
		return nil, fmt.Errorf("listing failed posts of team %d: %w", team, err)
	}
	return entries, nil
}

// failedQuery walks an index that contains only failed posts.
const failedQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('failed', 'partially_published') AND p.archived_at = 0 AND (p.slot_at > ?
	OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = ?))
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListOverdueDrafts returns a team's drafts whose time has passed, the latest first. Nothing sends them
// anymore, so a person must decide. Templates are omitted.
func ListOverdueDrafts(ctx context.Context, d *db.DB, team int64, before time.Time, limit int) ([]Entry, error) {
	entries, err := entriesOf(ctx, d, team, overdueDraftsQuery, db.Micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("listing overdue drafts of team %d: %w", team, err)
	}
	return entries, nil
}

// overdueDraftsQuery walks an index that contains only such drafts.
const overdueDraftsQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status = 'draft' AND p.is_template = 0
	AND p.slot_at > 0 AND p.slot_at <= ? ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListAwaitingApproval returns a team's posts that wait for the client, the newest first, including those whose
// time has passed. A post without a time has a zero At.
func ListAwaitingApproval(ctx context.Context, d *db.DB, team int64, limit int) ([]Entry, error) {
	entries, err := entriesOf(ctx, d, team, awaitingApprovalQuery, post.CodeMissedApproval, limit)
	if err != nil {
		return nil, fmt.Errorf("listing posts that await approval in team %d: %w", team, err)
	}
	return entries, nil
}

// awaitingApprovalQuery walks the index of states. Of the failed posts it selects only those that were not
// approved in time.
const awaitingApprovalQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('draft', 'scheduled', 'failed')
	AND p.approval = 'waiting' AND p.is_template = 0
	AND (p.status <> 'failed' OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.error_code = ?))
	ORDER BY p.id DESC LIMIT ?`
