// Package calendar lists a team's posts by time. It provides the calendar, which includes the future occurrences of
// series, and lists of recent, failed, overdue and unapproved posts.
package calendar

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/recurrence"
	"pressroom.example/pressroom/internal/platform/db"
)

// Entry is a post in the calendar.
type Entry struct {
	At             time.Time // zero for a draft without a time
	Day            string    // planned date of a draft without a time, such as 2026-03-29; may be empty
	PostID         string    // ID of the template for a future occurrence without a post
	IsOccurrence   bool      // whether this is a future occurrence of a series without a post
	InSeries       bool
	Status         post.Status
	ClientApproval post.Approval // state of the client's approval; empty for future occurrences and in Occurrences
	Excerpt        string
	Accounts       []post.PostEntryAccount
	Changed        time.Time // when the post was last changed; zero for a future occurrence
}

// Span is a time range of the calendar, such as a day.
type Span struct {
	From, To time.Time
	Entries  []Entry // earliest first
	More     bool    // whether the span has more posts than the limit
}

const maxSeries = 100 // maximum number of a team's series whose future occurrences are listed

// Spans returns a team's posts by publication, scheduled or planned time. It includes the occurrences that series will
// create within post.MaxLookahead. Span i extends from bounds[i] to bounds[i+1] and has at most limit posts.
func Spans(ctx context.Context, d *db.DB, team int64, f Filter, bounds []time.Time, limit int) ([]Span, error) {
	spans := make([]Span, len(bounds)-1)
	for i := range spans {
		spans[i] = Span{From: bounds[i], To: bounds[i+1]}
	}
	entries, err := listEntries(ctx, d, team, f, spans, limit)
	if err != nil {
		return nil, err
	}
	if f.includesOccurrences() {
		future, err := listFutureOccurrences(ctx, d, team, 0, bounds[0], bounds[len(bounds)-1], len(spans)*(limit+1))
		if err != nil {
			return nil, err
		}
		if future, err = f.filterOccurrences(ctx, d, future); err != nil {
			return nil, err
		}
		entries = append(entries, future...)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.PostID, b.PostID))
	})
	for _, entry := range entries {
		at, found := slices.BinarySearchFunc(spans, entry.At, func(span Span, at time.Time) int {
			return span.From.Compare(at)
		})
		if !found {
			at--
		}
		if span := &spans[at]; len(span.Entries) < limit {
			span.Entries = append(span.Entries, entry)
		} else {
			span.More = true
		}
	}
	return spans, addAccounts(ctx, d, team, spans)
}

// listEntries reads limit+1 posts per span, to detect whether a span has more posts than limit.
func listEntries(ctx context.Context, d *db.DB, team int64, f Filter, spans []Span, limit int) ([]Entry, error) {
	text, args := slotsQuery(team, f, spans, limit)
	out, err := db.All(ctx, d, scanEntry, text, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the calendar: %w", err)
	}
	return out, nil
}

// entryColumns are the columns that scanEntry reads.
const entryColumns = `p.id, p.status, p.excerpt, p.slot_at, p.series_id, p.approval, p.updated_at, p.planned_day`

func scanEntry(rows *sql.Rows, entry *Entry) error {
	var at, series, changed int64
	err := rows.Scan(&entry.PostID, &entry.Status, &entry.Excerpt, &at, &series, &entry.ClientApproval, &changed, &entry.Day)
	entry.At, entry.InSeries, entry.Changed = db.Time(at), series != 0, db.Time(changed)
	return err
}

// queryEntries runs a query that selects entryColumns, and returns the posts with their accounts. The team is the first
// argument of the query.
func queryEntries(ctx context.Context, d *db.DB, team int64, query string, args ...any) ([]Entry, error) {
	entries, err := db.All(ctx, d, scanEntry, query, db.Args(team, args)...)
	if err != nil {
		return nil, err
	}
	return entries, addAccounts(ctx, d, team, []Span{{Entries: entries}})
}

// slotsQuery returns a query that scans a short range of an index for each span. The condition of the partial index
// comes last, because SQLite uses the first of several bounds.
func slotsQuery(team int64, f Filter, spans []Span, limit int) (string, []any) {
	parts, args := make([]string, len(spans)), []any{}
	selected, values := f.condition()
	for i, span := range spans {
		parts[i] = `SELECT id, status, excerpt, slot_at, series_id, approval, updated_at, planned_day
			FROM (SELECT ` + entryColumns + ` FROM posts p
			WHERE p.team_id = ? AND p.slot_at >= ? AND p.slot_at < ? AND p.slot_at > 0` + selected + `
			ORDER BY p.slot_at, p.id LIMIT ?) AS span`
		args = append(args, team, db.Micros(span.From), db.Micros(span.To))
		args = append(append(args, values...), limit+1)
	}
	return strings.Join(parts, ` UNION ALL `), args
}

// listFutureOccurrences returns the occurrences that a team's running series will create between two times, at most
// limit per series. If series is not 0, it returns only the occurrences of that series.
func listFutureOccurrences(ctx context.Context, d *db.DB, team, series int64, from, to time.Time, limit int) ([]Entry, error) {
	if last := d.Now().Add(post.MaxLookahead); to.After(last) {
		to = last
	}
	if !from.Before(to) {
		return nil, nil
	}
	type runningSeries struct {
		template, excerpt, rule, zone, start string
		last                                 int64
	}
	running, err := db.All(ctx, d, func(rows *sql.Rows, r *runningSeries) error {
		return rows.Scan(&r.template, &r.rule, &r.zone, &r.start, &r.last, &r.excerpt)
	}, runningSeriesQuery, team, series, series, maxSeries)
	if err != nil {
		return nil, fmt.Errorf("listing running series: %w", err)
	}
	out := []Entry{}
	for _, r := range running {
		recurring, err := recurrence.Load(r.rule, r.start, r.zone)
		if err != nil {
			return nil, err
		}
		after := db.Time(r.last) // Earlier occurrences already exist or were skipped.
		if before := from.Add(-time.Microsecond); before.After(after) {
			after = before
		}
		n := 0
		for at := range recurring.After(after) {
			if n++; !at.Before(to) || n > limit {
				break
			}
			out = append(out, Entry{At: at, PostID: r.template, IsOccurrence: true, InSeries: true, Status: post.Scheduled,
				Excerpt: r.excerpt})
		}
	}
	return out, nil
}

const runningSeriesQuery = `SELECT r.template_id, r.rule, r.timezone, r.starts_at, r.last_at, p.excerpt
	FROM post_series r JOIN posts p ON p.id = r.template_id
	WHERE r.team_id = ? AND r.wake_at > 0 AND (r.id = ? OR ? = 0) ORDER BY r.id LIMIT ?`

// addAccounts adds the accounts of the posts in the spans.
func addAccounts(ctx context.Context, d *db.DB, team int64, spans []Span) error {
	ids := []string{}
	for _, span := range spans {
		for _, entry := range span.Entries {
			ids = append(ids, entry.PostID)
		}
	}
	slices.Sort(ids)
	accounts, err := post.ListAccounts(ctx, d, team, slices.Compact(ids))
	if err != nil {
		return err
	}
	for _, span := range spans {
		for n := range span.Entries {
			span.Entries[n].Accounts = accounts[span.Entries[n].PostID]
		}
	}
	return nil
}

// Occurrences returns the next occurrences of a series: first the scheduled posts, then future occurrences.
func Occurrences(ctx context.Context, d *db.DB, team, series int64, limit int) ([]Entry, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, entry *Entry) error {
		var at int64
		err := rows.Scan(&entry.PostID, &entry.Excerpt, &at)
		entry.At, entry.Status, entry.InSeries = db.Time(at), post.Scheduled, true
		return err
	}, `SELECT p.id, p.excerpt, p.scheduled_at FROM posts p WHERE p.series_id = ? AND p.team_id = ?
		AND p.occurs_at > 0 AND p.status = 'scheduled' ORDER BY p.scheduled_at LIMIT ?`, series, team, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the occurrences of a series: %w", err)
	}
	future, err := listFutureOccurrences(ctx, d, team, series, d.Now(), d.Now().Add(post.MaxLookahead), limit)
	if err != nil {
		return nil, err
	}
	out = append(out, future...)
	return out[:min(len(out), limit)], nil
}
