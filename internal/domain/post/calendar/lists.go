package calendar

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// ListRecent returns a team's posts that are being published or were published on at least one account, newest first.
// It omits posts later than before.
func ListRecent(ctx context.Context, d *db.DB, team int64, before time.Time, limit int) ([]Entry, error) {
	entries, err := queryEntries(ctx, d, team, recentQuery, db.Micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("listing recent posts of team %d: %w", team, err)
	}
	return entries, nil
}

// recentQuery scans the index of slots.
const recentQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.slot_at > 0 AND p.slot_at <= ?
	AND p.status IN ('processing', 'published', 'partially_published')
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListFailed returns a team's posts that failed on at least one account after a time, newest first. It includes all
// posts with an unconfirmed account, because a person must check them.
func ListFailed(ctx context.Context, d *db.DB, team int64, after time.Time, limit int) ([]Entry, error) {
	entries, err := queryEntries(ctx, d, team, failedQuery, db.Micros(after), string(post.TargetUnconfirmed), limit)
	if err != nil {
		return nil, fmt.Errorf("listing failed posts of team %d: %w", team, err)
	}
	return entries, nil
}

// failedQuery scans an index that contains only failed posts.
const failedQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('failed', 'partially_published') AND p.archived_at = 0 AND (p.slot_at > ?
	OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = ?))
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListOverdueDrafts returns a team's drafts with a planned time in the past, latest first. They are not published
// automatically, so a person must decide about them. It omits templates.
func ListOverdueDrafts(ctx context.Context, d *db.DB, team int64, before time.Time, limit int) ([]Entry, error) {
	entries, err := queryEntries(ctx, d, team, overdueDraftsQuery, db.Micros(before), limit)
	if err != nil {
		return nil, fmt.Errorf("listing overdue drafts of team %d: %w", team, err)
	}
	return entries, nil
}

// overdueDraftsQuery scans an index that contains only drafts with a time.
const overdueDraftsQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status = 'draft' AND p.is_template = 0
	AND p.slot_at > 0 AND p.slot_at <= ? ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListAwaitingApproval returns a team's posts that await the client's approval, newest first. It includes posts that
// were due before they were approved.
func ListAwaitingApproval(ctx context.Context, d *db.DB, team int64, limit int) ([]Entry, error) {
	entries, err := queryEntries(ctx, d, team, awaitingApprovalQuery, post.CodeMissedApproval, limit)
	if err != nil {
		return nil, fmt.Errorf("listing posts that await approval in team %d: %w", team, err)
	}
	return entries, nil
}

// awaitingApprovalQuery scans the index of states. It selects a failed post only if it was not approved in time.
const awaitingApprovalQuery = `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('draft', 'scheduled', 'failed')
	AND p.approval = 'waiting' AND p.is_template = 0
	AND (p.status <> 'failed' OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.error_code = ?))
	ORDER BY p.id DESC LIMIT ?`
