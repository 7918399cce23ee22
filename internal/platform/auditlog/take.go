package auditlog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
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
	Team   int64     // this one's alone; every team's, and those of none, where 0
	Above  int64     // those with a higher id, the oldest first
	Below  int64     // in place of Above: those with a lower id, the newest first; with both 0 it is the newest of all
	Oldest bool      // the oldest first, from Above on
	Since  time.Time // what was recorded before is left out; nothing where zero
	UpTo   int64     // what has a higher id is left out; nothing where 0
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
	if !part.Since.IsZero() {
		where, args = where+` AND at >= ?`, append(args, db.Micros(part.Since))
	}
	if part.UpTo > 0 {
		where, args = where+` AND id <= ?`, append(args, part.UpTo)
	}
	out, err := db.AllOf(ctx, q, part.Most, func(rows *sql.Rows, e *Entry) error {
		var at int64
		var detail string
		err := rows.Scan(&e.ID, &at, &e.Team, &e.Person, &e.Key, &e.RequestID, &e.Kind, &e.Subject, &detail)
		e.At, e.Detail = db.Time(at), json.RawMessage(detail)
		return err
	}, `SELECT id, at, team_id, person_id, key_id, request_id, kind, subject, detail FROM events WHERE `+where+
		` ORDER BY `+order+` LIMIT ?`, append(args, part.Most)...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return out, nil
}

const (
	settledAfter = 2 * time.Minute // more than twice as long as a transaction may take
	settledBatch = 1000
)

// Settled is the id up to which no event can come any more: whoever reads up to it, and later from it on, misses none.
// With SQLite, which writes one transaction after the other, it is the newest of all. PostgreSQL hands out ids before
// their transactions end, so that one may come to stand below others that were read already: it is the newest id
// before the first event of the last two minutes, by the start of its transaction.
func Settled(ctx context.Context, d *db.DB) (int64, error) {
	if !d.Postgres() {
		return newest(ctx, d)
	}
	limit := d.Now().Add(-settledAfter)
	settled, err := newest(ctx, d)
	for below := settled + 1; err == nil && below > 1; {
		var found []Entry
		found, err = Entries(ctx, d, Part{Below: below, Most: settledBatch})
		below = 0
		for _, e := range found { // the newest first
			if e.At.After(limit) {
				settled, below = e.ID-1, e.ID
			}
		}
	}
	return settled, err
}

func newest(ctx context.Context, d *db.DB) (int64, error) {
	var id int64
	if err := d.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM events`).Scan(&id); err != nil {
		return 0, fmt.Errorf("looking for the newest event: %w", err)
	}
	return id, nil
}

// Each yields the entries of a part, the oldest first and each once, a batch at a time, up to those that are settled.
func Each(ctx context.Context, d *db.DB, part Part, yield func(Entry) error) error {
	upTo, err := Settled(ctx, d)
	if err != nil || upTo == 0 {
		return err
	}
	part.Oldest, part.Below, part.UpTo, part.Most = true, 0, upTo, settledBatch
	for {
		found, err := Entries(ctx, d, part)
		if err != nil {
			return err
		}
		for _, e := range found {
			if err := yield(e); err != nil {
				return err
			}
		}
		if len(found) < part.Most {
			return nil
		}
		part.Above = found[len(found)-1].ID
	}
}
