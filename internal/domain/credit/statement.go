package credit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// Item is a transfer as the team's people read it: who did what, and what it came to.
type Item struct {
	ID        int64
	At        time.Time
	Kind      Kind
	Operation string // what was paid for; empty for the operator's bookings
	Person    string // who did it or switched it on; empty for the operator
	// the API key, or the assistant, by which it was asked for; empty in the app and for automatic work
	Key       string
	Assistant bool   // it was an assistant's connection, and no key
	Automatic bool   // nobody asked for it: tracking did
	Job       string // where the record of the work is still kept
	Of        Worked // zero where it was about nothing that has a name
	Reference string // the operator's
	Note      string // the operator's
	Amount    int64  // what was set aside, granted or withdrawn; at the end of work what had been set aside
	Charged   int64  // at the end of work
	Change    int64  // of the credits available
	Balance   int64  // credits available after it
}

// Worked is what paid work was about: a profile, a hashtag or a keyword.
type Worked struct {
	Kind     string // of a report: profile or hashtag
	Report   string // its id, where the work is a report that is still kept
	Platform string
	Subject  string // the user name, hashtag or keyword, normalised
}

// Refunded is what came back at the end of work.
func (i Item) Refunded() int64 {
	if i.Kind != Settled {
		return 0
	}
	return i.Amount - i.Charged
}

// Position is a place in a statement: right after the transfer of this time and id.
type Position struct {
	At time.Time
	ID int64
}

// Span is which part of a statement is asked for.
type Span struct {
	From, To time.Time // To itself is not in it
	After    Position  // where an earlier part ended; the zero value for the newest
	Most     int       // lines
}

// Items lists a team's transfers of a span, the newest first.
func (s *Service) Items(ctx context.Context, team int64, span Span) ([]Item, error) {
	args := []any{team, db.Micros(span.From), db.Micros(span.To)}
	before := ""
	if span.After.ID > 0 {
		before = ` AND (t.created_at, t.id) < (?, ?)`
		args = append(args, db.Micros(span.After.At), span.After.ID)
	}
	out, err := db.AllSized(ctx, s.db, span.Most, scanItem,
		itemsOf+before+` ORDER BY t.created_at DESC, t.id DESC LIMIT ?`, append(args, span.Most)...)
	if err != nil {
		return nil, fmt.Errorf("reading the statement of team %d: %w", team, err)
	}
	return out, s.about(ctx, team, out)
}

// about adds what work is about that has not ended.
func (s *Service) about(ctx context.Context, team int64, items []Item) error {
	args := []any{team}
	for _, i := range items {
		if i.Job != "" && i.Of.Subject == "" {
			args = append(args, i.Job)
		}
	}
	if len(args) == 1 {
		return nil
	}
	type known struct {
		job string
		of  Worked
	}
	all, err := db.All(ctx, s.db, func(rows *sql.Rows, k *known) error {
		return rows.Scan(&k.job, &k.of.Kind, &k.of.Report, &k.of.Platform, &k.of.Subject)
	}, aboutOf+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return fmt.Errorf("reading what the work of team %d was about: %w", team, err)
	}
	of := map[string]Worked{}
	for _, k := range all {
		of[k.job] = k.of
	}
	for i := range items {
		if items[i].Of.Subject == "" {
			items[i].Of = of[items[i].Job]
		}
	}
	return nil
}

const (
	// workOf is what the record of work tells of what it is about.
	workOf = `COALESCE(r.kind, ''), COALESCE(r.id, ''), COALESCE(r.platform, h.platform, m.platform, ''), COALESCE(r.subject, h.words, m.username, '')
	FROM jobs j LEFT JOIN reports r ON r.id = j.subject AND r.team_id = j.team_id LEFT JOIN hashtag_search_jobs h ON h.job_id = j.id
	LEFT JOIN media_downloads m ON m.job_id = j.id WHERE j.team_id = ? `
	aboutOf = `SELECT j.id, ` + workOf + `AND j.id IN (`
	// keptAbout keeps it for good, by the index jobs_of_reservation.
	keptAbout = `INSERT INTO paid_subjects (reservation_id, team_id, kind, report_id, platform, subject) SELECT
		j.reservation_id, j.team_id, ` + workOf +
		`AND j.reservation_id = ? AND j.reservation_id > 0 AND COALESCE(r.subject, h.words, m.username, '') <> '' ORDER BY j.id LIMIT 1`
)

// keepAbout keeps what paid work was about, as it ends.
func keepAbout(ctx context.Context, tx *db.Tx, team, reservation int64) error {
	if _, err := tx.Exec(ctx, keptAbout, team, reservation); err != nil {
		return fmt.Errorf("keeping what reservation %d was about: %w", reservation, err)
	}
	return nil
}

// itemsOf reads by the index ledger_transfers_by_time. An automatic charge has neither a key nor an Idempotency-Key.
const itemsOf = `SELECT t.id, t.created_at, t.kind, COALESCE(r.operation, ''), COALESCE(p.name, ''), COALESCE(k.name,
		''), CASE WHEN k.kind = 'assistant' THEN 1 ELSE 0 END,
	CASE WHEN r.key_id = 0 AND r.idempotency_key = '' THEN 1 ELSE 0 END,
	COALESCE((SELECT j.id FROM jobs j WHERE j.reservation_id = t.reservation_id AND j.reservation_id > 0
		ORDER BY j.id LIMIT 1), ''),
	t.reference, t.note, COALESCE(r.amount, 0), COALESCE(r.charged, 0), COALESCE(e.amount, 0), t.balance,
	COALESCE(s.kind, ''), COALESCE((SELECT o.id FROM reports o
		WHERE o.id = s.report_id AND o.team_id = t.team_id), ''), COALESCE(s.platform, ''), COALESCE(s.subject, '')
	FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
	LEFT JOIN reservations r ON r.id = t.reservation_id LEFT JOIN people p ON p.id = r.person_id LEFT
		JOIN api_keys k ON k.id = r.key_id
	LEFT JOIN paid_subjects s ON s.reservation_id = t.reservation_id
	WHERE t.team_id = ? AND t.created_at >= ? AND t.created_at < ?`

func scanItem(rows *sql.Rows, i *Item) error {
	var at, assistant, automatic int64
	var kind string
	err := rows.Scan(&i.ID, &at, &kind, &i.Operation, &i.Person, &i.Key, &assistant, &automatic, &i.Job, &i.Reference,
		&i.Note, &i.Amount, &i.Charged, &i.Change, &i.Balance,
		&i.Of.Kind, &i.Of.Report, &i.Of.Platform, &i.Of.Subject)
	i.At, i.Kind, i.Assistant, i.Automatic = db.Time(at), Kind(kind), assistant > 0, automatic > 0
	switch i.Kind {
	case Granted, Withdrawn:
		i.Amount = max(i.Change, -i.Change)
	case Reserved:
		i.Charged = 0 // what it came to is told where it ends
	case Settled:
	}
	return err
}

// Begins is when a team's first transfer was; the zero time where there is none.
func (s *Service) Begins(ctx context.Context, team int64) (time.Time, error) {
	var first int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MIN(created_at), 0) FROM ledger_transfers WHERE team_id = ?`, team).
		Scan(&first)
	if err != nil {
		return time.Time{}, fmt.Errorf("looking for the first transfer of team %d: %w", team, err)
	}
	return db.Time(first), nil
}
