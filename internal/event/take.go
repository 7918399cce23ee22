package event

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pressroom/internal/db"
)

// Entry is an event as the operator reads it and takes it along: ids alone, no names.
type Entry struct {
	ID        int64           `json:"id"`
	At        time.Time       `json:"at"`
	Team      int64           `json:"team_id,omitempty"`   // 0 for what is no team's
	Person    int64           `json:"person_id,omitempty"` // 0 for the service itself and for the operator
	Key       int64           `json:"key_id,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Kind      string          `json:"kind"`
	Subject   string          `json:"subject"`
	Detail    json.RawMessage `json:"detail"`
}

// Part is which events the operator asks for.
type Part struct {
	Team   int64 // this one's alone; every team's, and those of none, where 0
	Above  int64 // those with a higher id, the oldest first
	Below  int64 // in place of Above: those with a lower id, the newest first; with both 0 it is the newest of all
	Oldest bool  // the oldest first, from Above on
	Most   int
}

// Entries reads events for the operator.
func Entries(ctx context.Context, q db.Querier, part Part) ([]Entry, error) {
	where, order, args := `id > ?`, `id`, []any{part.Above}
	if !part.Oldest {
		order = `id DESC`
		if part.Below > 0 {
			where, args = `id < ?`, []any{part.Below}
		}
	}
	if part.Team > 0 {
		where, args = where+` AND team_id = ?`, append(args, part.Team)
	}
	out, err := db.AllOf(ctx, q, part.Most, func(rows *sql.Rows, e *Entry) error {
		var at int64
		var detail string
		err := rows.Scan(&e.ID, &at, &e.Team, &e.Person, &e.Key, &e.RequestID, &e.Kind, &e.Subject, &detail)
		e.At, e.Detail = db.Time(at), json.RawMessage(detail)
		return err
	}, `SELECT id, at, team_id, person_id, key_id, request_id, kind, subject, detail FROM events WHERE `+where+` ORDER BY `+order+` LIMIT ?`, append(args, part.Most)...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return out, nil
}
