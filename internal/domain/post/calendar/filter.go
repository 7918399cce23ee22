package calendar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/platform/db"
)

// Filter selects posts. The zero Filter selects all posts.
type Filter struct {
	Account int64  // only posts for this account; 0 for all
	Network string // only posts for accounts of this platform; empty for all
	State   State
}

// State selects posts by status. The empty State selects all posts.
type State string

// The states.
const (
	Drafts    State = "draft"
	Scheduled State = "scheduled" // includes posts that are being published
	Waiting   State = "waiting"   // awaiting the client's approval
	Published State = "published" // on at least one account
	Failed    State = "failed"    // on at least one account
)

// States returns all states, in the order of a post's life cycle.
func States() []State { return []State{Drafts, Waiting, Scheduled, Published, Failed} }

// stateConditions are the SQL conditions of the states.
var stateConditions = map[State]string{
	Drafts:    ` AND p.status = 'draft'`,
	Waiting:   ` AND p.approval = 'waiting' AND p.status IN ('draft', 'scheduled')`,
	Scheduled: ` AND p.status IN ('scheduled', 'processing')`,
	Published: ` AND p.status IN ('published', 'partially_published')`,
	Failed:    ` AND p.status IN ('failed', 'partially_published')`,
}

// condition returns an SQL condition on posts p and its arguments. The condition is empty or begins with AND. It counts
// accounts instead of using EXISTS, because PostgreSQL turns EXISTS into a join that reads all posts of the account for
// each span.
func (f Filter) condition() (string, []any) {
	text, args := stateConditions[f.State], []any{}
	if f.Account > 0 {
		text += ` AND (SELECT COUNT(*) FROM post_targets t WHERE t.post_id = p.id AND t.account_id = ?) > 0`
		args = append(args, f.Account)
	}
	if f.Network != "" {
		text += ` AND (SELECT COUNT(*) FROM post_targets t JOIN social_accounts a ON a.id = t.account_id
			WHERE t.post_id = p.id AND a.platform = ?) > 0`
		args = append(args, f.Network)
	}
	return text, args
}

// includesOccurrences reports whether the filter can select future occurrences.
func (f Filter) includesOccurrences() bool { return f.State == "" || f.State == Scheduled }

// filterOccurrences removes future occurrences that the filter does not select by account or network.
func (f Filter) filterOccurrences(ctx context.Context, d *db.DB, entries []Entry) ([]Entry, error) {
	f.State = ""
	selected, args := f.condition()
	if selected == "" || len(entries) == 0 {
		return entries, nil
	}
	templates := map[string]bool{}
	for _, entry := range entries {
		if !templates[entry.PostID] {
			templates[entry.PostID] = true
			args = append(args, entry.PostID)
		}
	}
	ids, err := db.All(ctx, d, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT p.id FROM posts p WHERE TRUE`+selected+` AND p.id IN (`+db.Placeholders(len(templates))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("filtering the series of a calendar: %w", err)
	}
	return slices.DeleteFunc(entries, func(entry Entry) bool { return !slices.Contains(ids, entry.PostID) }), nil
}

// ListPlanned returns a team's drafts that are planned for a date but have no time. from and to are dates in the format
// 2026-03-29. to is exclusive.
func ListPlanned(ctx context.Context, d *db.DB, team int64, f Filter, from, to string, limit int) ([]Entry, error) {
	if f.State != "" && f.State != Drafts && f.State != Waiting {
		return nil, nil
	}
	selected, values := f.condition()
	entries, err := queryEntries(ctx, d, team, plannedQuery(selected), append(append([]any{from, to}, values...), limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing drafts planned for a date: %w", err)
	}
	return entries, nil
}

// plannedQuery scans the index of drafts without a time.
func plannedQuery(selected string) string {
	return `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.planned_day >= ? AND p.planned_day < ?
		AND p.status = 'draft' AND p.slot_at = 0 AND p.is_template = 0` + selected + `
		ORDER BY p.planned_day, p.id LIMIT ?`
}

// ListUnplanned returns a team's drafts without a time or date, newest first. It ignores the state of the filter.
func ListUnplanned(ctx context.Context, d *db.DB, team int64, f Filter, limit int) ([]Entry, error) {
	f.State = ""
	selected, values := f.condition()
	entries, err := queryEntries(ctx, d, team, unplannedQuery(selected), append(values, limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing drafts without a date: %w", err)
	}
	return entries, nil
}

// unplannedQuery scans the index of drafts without a time. It omits skipped occurrences, because nobody needs to plan
// them.
func unplannedQuery(selected string) string {
	return `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.planned_day = ''
		AND p.status = 'draft' AND p.slot_at = 0 AND p.is_template = 0 AND p.skipped = 0` + selected + `
		ORDER BY p.id DESC LIMIT ?`
}
