package auditlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Event is a recorded event, with the name of the person who caused it and the name of the API key that was used.
type Event struct {
	ID      int64
	At      time.Time
	Person  string // empty for the service itself and for the operator
	Key     string // name of the API key or assistant
	Kind    string
	Subject string // ID of the affected item
	Detail  map[string]any

	Assistant bool // Key names an assistant's connection, not an API key
}

// Page selects events of a team.
type Page struct {
	Kind     string    // only this kind; empty for every kind
	Person   int64     // only events by this person; 0 for everybody
	Since    time.Time // only events recorded at or after this time; zero for no limit
	Until    time.Time // only events recorded before this time; zero for no limit
	BeforeID int64     // only events with a lower ID; 0 for no limit
	Limit    int       // maximum number of events
}

// where returns the SQL condition that selects the page's events of a team, and the arguments of the condition.
func (page Page) where(team int64) (string, []any) {
	where, args := `e.team_id = ?`, []any{team}
	if page.Kind != "" {
		where, args = where+` AND e.kind = ?`, append(args, page.Kind)
	}
	if page.Person > 0 {
		where, args = where+` AND e.person_id = ?`, append(args, page.Person)
	}
	if !page.Since.IsZero() {
		where, args = where+` AND e.at >= ?`, append(args, db.Micros(page.Since))
	}
	if !page.Until.IsZero() {
		where, args = where+` AND e.at < ?`, append(args, db.Micros(page.Until))
	}
	if page.BeforeID > 0 {
		where, args = where+` AND e.id < ?`, append(args, page.BeforeID)
	}
	return where, args
}

// List returns a team's events, newest first.
func List(ctx context.Context, q db.Querier, team int64, page Page) ([]Event, error) {
	where, args := page.where(team)
	out, err := db.AllSized(ctx, q, page.Limit, scan,
		`SELECT e.id, e.at, COALESCE(p.name, ''), COALESCE(k.name, ''),
			CASE WHEN k.kind = 'assistant' THEN 1 ELSE 0 END, e.kind, e.subject, e.detail
		FROM events e LEFT JOIN people p ON p.id = e.person_id
		LEFT JOIN api_keys k ON k.id = e.key_id AND k.team_id = e.team_id
		WHERE `+where+` ORDER BY e.id DESC LIMIT ?`, append(args, page.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading the events of team %d: %w", team, err)
	}
	return out, nil
}

func scan(rows *sql.Rows, e *Event) error {
	var at, assistant int64
	var detail string
	if err := rows.Scan(&e.ID, &at, &e.Person, &e.Key, &assistant, &e.Kind, &e.Subject, &detail); err != nil {
		return err
	}
	e.At, e.Assistant = db.Time(at), assistant > 0
	if err := json.Unmarshal([]byte(detail), &e.Detail); err != nil {
		return fmt.Errorf("reading the detail of event %d: %w", e.ID, err)
	}
	return nil
}
