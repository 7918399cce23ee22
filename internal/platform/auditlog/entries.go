package auditlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Entry is an event in the operator's list or export. It contains IDs instead of names.
type Entry struct {
	ID        int64           `json:"id"`
	At        time.Time       `json:"at"`
	Team      int64           `json:"team_id,omitempty"`   // 0 if the event belongs to no team
	Person    int64           `json:"person_id,omitempty"` // 0 for the service itself and for the operator
	Key       int64           `json:"key_id,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Kind      string          `json:"kind"`
	Subject   string          `json:"subject"`
	Detail    json.RawMessage `json:"detail"`
}

// Filter selects events for the operator.
type Filter struct {
	Team        int64     // only events of this team; 0 for all events
	Kind        string    // only this kind; empty for every kind
	Person      int64     // only events by this person; 0 for everybody
	Subject     string    // only events about the item with this ID; empty for all items
	AfterID     int64     // only events with a higher ID
	BeforeID    int64     // only events with a lower ID, if sorted newest first; 0 for no limit
	OldestFirst bool      // whether to return the oldest events first; otherwise the newest come first
	Since       time.Time // only events recorded at or after this time; zero for no limit
	Until       time.Time // only events recorded before this time; zero for no limit
	UpToID      int64     // only events up to this ID; 0 for no limit
	Limit       int       // maximum number of events
}

// condition is an SQL condition with the value for its placeholder.
type condition struct {
	text  string
	value any
}

// conditions returns a condition for each field that is set, except AfterID, BeforeID, OldestFirst and Limit.
func (f Filter) conditions() []condition {
	var out []condition
	add := func(set bool, text string, value any) {
		if set {
			out = append(out, condition{text, value})
		}
	}
	add(f.Team > 0, `team_id = ?`, f.Team)
	add(f.Kind != "", `kind = ?`, f.Kind)
	add(f.Person > 0, `person_id > 0 AND person_id = ?`, f.Person) // repeats the condition of the partial index
	add(f.Subject != "", `subject = ?`, f.Subject)
	add(!f.Since.IsZero(), `at >= ?`, db.Micros(f.Since))
	add(!f.Until.IsZero(), `at < ?`, db.Micros(f.Until))
	add(f.UpToID > 0, `id <= ?`, f.UpToID)
	return out
}

// Last returns the newest event of the given kind that belongs to no team, and reports whether such an event exists.
func Last(ctx context.Context, q db.Querier, kind string) (Entry, bool, error) {
	e := Entry{Kind: kind}
	var at int64
	var detail string
	err := q.QueryRow(ctx, `SELECT id, at, person_id, subject, detail FROM events WHERE team_id = 0 AND kind = ?
		ORDER BY id DESC LIMIT 1`, kind).Scan(&e.ID, &at, &e.Person, &e.Subject, &detail)
	e.At, e.Detail = db.Time(at), json.RawMessage(detail)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("reading the last %s event: %w", kind, err)
	}
	return e, true, nil
}

// boundMargin is longer than any transaction, and longer than any usual backward adjustment of a clock.
const boundMargin = time.Hour

// boundIDs returns the filter with ID limits that follow from Since and Until, so that the query reads only this range
// of IDs. Events that are more than boundMargin apart have the same order by time and by ID.
func (f Filter) boundIDs(ctx context.Context, q db.Querier) (Filter, error) {
	if !f.Since.IsZero() {
		id, err := firstID(ctx, q, `at < ? ORDER BY at DESC, id DESC`, f.Since.Add(-boundMargin))
		if err != nil {
			return f, err
		}
		f.AfterID = max(f.AfterID, id)
	}
	if !f.Until.IsZero() {
		id, err := firstID(ctx, q, `at >= ? ORDER BY at, id`, f.Until.Add(boundMargin))
		if err != nil {
			return f, err
		}
		if id > 0 && (f.UpToID == 0 || id < f.UpToID) {
			f.UpToID = id
		}
	}
	return f, nil
}

// firstID returns the ID of the first event that a condition selects, or 0 if it selects none. condition compares the
// time of an event with a placeholder, whose value is at, and ends with an ORDER BY clause.
func firstID(ctx context.Context, q db.Querier, condition string, at time.Time) (int64, error) {
	var id int64
	err := q.QueryRow(ctx, `SELECT id FROM events WHERE `+condition+` LIMIT 1`, db.Micros(at)).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("finding the first event in a time range: %w", err)
	}
	return id, nil
}

// where returns the SQL condition that selects the filter's events, and the arguments of the condition.
func (f Filter) where() (string, []any) {
	where, args := `id > ?`, []any{f.AfterID}
	if !f.OldestFirst && f.BeforeID > 0 {
		where, args = where+` AND id < ?`, append(args, f.BeforeID)
	}
	for _, c := range f.conditions() {
		where, args = where+` AND `+c.text, append(args, c.value)
	}
	return where, args
}

// query returns the SQL query for the filter's events, and the arguments of the query.
func (f Filter) query() (string, []any) {
	where, args := f.where()
	order := `id DESC`
	if f.OldestFirst {
		order = `id`
	}
	return `SELECT id, at, team_id, person_id, key_id, request_id, kind, subject, detail FROM events WHERE ` + where +
		` ORDER BY ` + order + ` LIMIT ?`, append(args, f.Limit)
}

// Entries returns the events that filter selects, for the operator.
func Entries(ctx context.Context, q db.Querier, filter Filter) ([]Entry, error) {
	filter, err := filter.boundIDs(ctx, q)
	if err != nil {
		return nil, err
	}
	query, args := filter.query()
	out, err := db.AllSized(ctx, q, filter.Limit, func(rows *sql.Rows, e *Entry) error {
		var at int64
		var detail string
		err := rows.Scan(&e.ID, &at, &e.Team, &e.Person, &e.Key, &e.RequestID, &e.Kind, &e.Subject, &detail)
		e.At, e.Detail = db.Time(at), json.RawMessage(detail)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return out, nil
}

const (
	watermarkDelay = 2 * time.Minute // more than twice the maximum duration of a transaction
	batchSize      = 1000
)

// watermark returns the ID up to which the log is complete. No event with a lower or equal ID can still appear.
// PostgreSQL assigns IDs before transactions commit, so an event may appear after events with higher IDs were read.
// With PostgreSQL, the watermark is therefore lower than the ID of every event of the last watermarkDelay. With SQLite,
// the watermark is the newest ID, because only one transaction writes at a time.
func watermark(ctx context.Context, d *db.DB) (int64, error) {
	if !d.Postgres() {
		return newestID(ctx, d)
	}
	limit := d.Now().Add(-watermarkDelay)
	id, err := newestID(ctx, d)
	for beforeID := id + 1; err == nil && beforeID > 1; {
		var entries []Entry
		entries, err = Entries(ctx, d, Filter{BeforeID: beforeID, Limit: batchSize})
		beforeID = 0
		for _, e := range entries { // newest first
			if e.At.After(limit) {
				id, beforeID = e.ID-1, e.ID
			}
		}
	}
	return id, err
}

func newestID(ctx context.Context, d *db.DB) (int64, error) {
	var id int64
	if err := d.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM events`).Scan(&id); err != nil {
		return 0, fmt.Errorf("reading the newest event id: %w", err)
	}
	return id, nil
}

// Each calls yield for each event that filter selects, up to the watermark, oldest first. It reads events in batches.
func Each(ctx context.Context, d *db.DB, filter Filter, yield func(Entry) error) error {
	maxID, err := watermark(ctx, d)
	if err != nil || maxID == 0 {
		return err
	}
	filter.OldestFirst, filter.BeforeID, filter.UpToID, filter.Limit = true, 0, maxID, batchSize
	for {
		entries, err := Entries(ctx, d, filter)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		if len(entries) < filter.Limit {
			return nil
		}
		filter.AfterID = entries[len(entries)-1].ID
	}
}
