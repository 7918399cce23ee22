package calendar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pressroom/internal/platform/db"
)

// Filter selects posts. The zero Filter selects all.
type Filter struct {
	Account int64  // only posts for this account; 0 for all
	Network string // only posts for accounts of this platform; empty for all
	State   State
}

// State is a group of posts; empty for all.
type State string

// The states.
const (
	Drafts    State = "draft"
	Scheduled State = "scheduled" // also those being published
	Waiting   State = "waiting"   // for the client's approval
	Published State = "published" // on all accounts or on some
	Failed    State = "failed"    // on all accounts or on some
)

// States returns all states, in the order in which a post passes through them.
func States() []State { return []State{Drafts, Waiting, Scheduled, Published, Failed} }

// stateConditions are the SQL conditions of the states.
var stateConditions = map[State]string{
	Drafts:    ` AND p.status = 'draft'`,
	Waiting:   ` AND p.approval = 'waiting' AND p.status IN ('draft', 'scheduled')`,
	Scheduled: ` AND p.status IN ('scheduled', 'processing')`,
	Published: ` AND p.status IN ('published', 'partially_published')`,
	Failed:    ` AND p.status IN ('failed', 'partially_published')`,
}

// condition returns an SQL condition on posts p, which begins with AND unless it is empty, and its arguments. It counts
// accounts, because PostgreSQL turns EXISTS into a join that reads all the account's posts for each span.
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

// includesOccurrences reports whether the filter may select what series will create.
func (f Filter) includesOccurrences() bool { return f.State == "" || f.State == Scheduled }

// filterOccurrences removes the occurrences of series whose accounts the filter does not select.
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

// ListPlanned returns a team's drafts that are planned for a date but have no time, from one date to before another,
// each as 2026-03-29.
func ListPlanned(ctx context.Context, d *db.DB, team int64, f Filter, from, to string, limit int) ([]Entry, error) {
	if f.State != "" && f.State != Drafts && f.State != Waiting {
		return nil, nil
	}
	selected, values := f.condition()
	entries, err := entriesOf(ctx, d, team, plannedQuery(selected), append(append([]any{from, to}, values...), limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing drafts planned for a date: %w", err)
	}
	return entries, nil
}

// plannedQuery walks the index of drafts without a time.
func plannedQuery(selected string) string {
	return `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.planned_day >= ? AND p.planned_day < ?
		AND p.status = 'draft' AND p.slot_at = 0 AND p.is_template = 0` + selected + `
		ORDER BY p.planned_day, p.id LIMIT ?`
}

// ListUnplanned returns a team's drafts without a time and a date, the newest first.
func ListUnplanned(ctx context.Context, d *db.DB, team int64, f Filter, limit int) ([]Entry, error) {
	f.State = ""
	selected, values := f.condition()
	entries, err := entriesOf(ctx, d, team, unplannedQuery(selected), append(values, limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing drafts without a date: %w", err)
	}
	return entries, nil
}

// unplannedQuery walks the index of drafts without a time. A skipped occurrence of a series is none to plan.
func unplannedQuery(selected string) string {
	return `SELECT ` + entryColumns + ` FROM posts p WHERE p.team_id = ? AND p.planned_day = ''
		AND p.status = 'draft' AND p.slot_at = 0 AND p.is_template = 0 AND p.skipped = 0` + selected + `
		ORDER BY p.id DESC LIMIT ?`
}
