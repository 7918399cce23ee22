package credit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Item is a transfer in the team's statement.
type Item struct {
	ID        int64
	At        time.Time
	Kind      Kind
	Operation string  // the paid operation; empty for the operator's adjustments
	Person    string  // who called the operation or turned on automatic work; empty for the operator
	Key       string  // name of the API key or assistant; empty in the app and for automatic work
	Assistant bool    // Key is an assistant's connection
	Automatic bool    // charged for the automatic refresh of a report
	Job       string  // ID of the work's job, if it still exists
	Subject   Subject // zero if the work has no subject
	Reference string  // set by the operator
	Note      string  // set by the operator
	Amount    int64   // reserved, granted or withdrawn
	Charged   int64   // by the settlement; 0 for other kinds
	Change    int64   // change in available credits
	Balance   int64   // available credits afterwards
}

// Subject is the profile, hashtag or keyword that paid work is about.
type Subject struct {
	Kind     string // kind of the report: profile or hashtag; empty for other work
	Report   string // ID of the report, if it still exists
	Platform string
	Name     string // normalized user name, hashtag or keyword
}

// RefundedCredits returns the credits refunded by the settlement.
func (i Item) RefundedCredits() int64 {
	if i.Kind != KindSettle {
		return 0
	}
	return i.Amount - i.Charged
}

// Position is a position in a statement, directly after the transfer with this time and ID.
type Position struct {
	At time.Time
	ID int64
}

// StatementQuery selects a part of a statement.
type StatementQuery struct {
	From, To time.Time // To is exclusive
	After    Position  // end of the previous page; zero for the first page
	Limit    int       // maximum number of items
}

// Items returns the transfers that query selects from a team's statement, newest first.
func (s *Service) Items(ctx context.Context, team int64, query StatementQuery) ([]Item, error) {
	args := []any{team, db.Micros(query.From), db.Micros(query.To)}
	positionCondition := ""
	if query.After.ID > 0 {
		positionCondition = ` AND (t.created_at, t.id) < (?, ?)`
		args = append(args, db.Micros(query.After.At), query.After.ID)
	}
	out, err := db.AllSized(ctx, s.db, query.Limit, scanItem,
		itemsQuery+positionCondition+` ORDER BY t.created_at DESC, t.id DESC LIMIT ?`, append(args, query.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading the statement of team %d: %w", team, err)
	}
	return out, s.addSubjects(ctx, team, out)
}

// ChargedIn returns the credits that a team was charged from query.From to query.To.
func (s *Service) ChargedIn(ctx context.Context, team int64, query StatementQuery) (int64, error) {
	var out int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(SUM(e.amount), 0) FROM ledger_transfers t
		JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'spent'
		WHERE t.team_id = ? AND t.created_at >= ? AND t.created_at < ?`,
		team, db.Micros(query.From), db.Micros(query.To)).Scan(&out)
	if err != nil {
		return 0, fmt.Errorf("adding up the charges of team %d: %w", team, err)
	}
	return out, nil
}

// addSubjects adds the subjects of work that is not settled yet. For settled work, saveSubject has already stored them.
func (s *Service) addSubjects(ctx context.Context, team int64, items []Item) error {
	args := []any{team}
	for _, i := range items {
		if i.Job != "" && i.Subject.Name == "" {
			args = append(args, i.Job)
		}
	}
	if len(args) == 1 {
		return nil
	}
	type row struct {
		job     string
		subject Subject
	}
	subjectRows, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.job, &r.subject.Kind, &r.subject.Report, &r.subject.Platform, &r.subject.Name)
	}, subjectsQuery+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return fmt.Errorf("reading the subjects of team %d: %w", team, err)
	}
	subjectByJob := map[string]Subject{}
	for _, r := range subjectRows {
		subjectByJob[r.job] = r.subject
	}
	for i := range items {
		if items[i].Subject.Name == "" {
			items[i].Subject = subjectByJob[items[i].Job]
		}
	}
	return nil
}

const (
	// subjectColumns selects the subjects of a team's jobs.
	subjectColumns = `COALESCE(r.kind, ''), COALESCE(r.id, ''), COALESCE(r.platform, h.platform, m.platform, ''),
		COALESCE(r.subject, h.words, m.username, '')
	FROM jobs j LEFT JOIN reports r ON r.id = j.subject AND r.team_id = j.team_id
	LEFT JOIN hashtag_search_jobs h ON h.job_id = j.id
	LEFT JOIN media_downloads m ON m.job_id = j.id WHERE j.team_id = ? `
	subjectsQuery = `SELECT j.id, ` + subjectColumns + `AND j.id IN (`
	// insertSubject uses the index jobs_of_reservation.
	insertSubject = `INSERT INTO paid_subjects (reservation_id, team_id, kind, report_id, platform, subject)
		SELECT j.reservation_id, j.team_id, ` + subjectColumns + `AND j.reservation_id = ? AND j.reservation_id > 0
			AND COALESCE(r.subject, h.words, m.username, '') <> '' ORDER BY j.id LIMIT 1`
)

// saveSubject stores the subject of paid work for the statement, because jobs are deleted later.
func saveSubject(ctx context.Context, tx *db.Tx, team, reservation int64) error {
	if _, err := tx.Exec(ctx, insertSubject, team, reservation); err != nil {
		return fmt.Errorf("saving the subject of reservation %d: %w", reservation, err)
	}
	return nil
}

// itemsQuery uses the index ledger_transfers_by_time. An automatic charge has neither a key nor an Idempotency-Key.
const itemsQuery = `SELECT t.id, t.created_at, t.kind, COALESCE(r.operation, ''), COALESCE(p.name, ''),
	COALESCE(k.name, ''), CASE WHEN k.kind = 'assistant' THEN 1 ELSE 0 END,
	CASE WHEN r.key_id = 0 AND r.idempotency_key = '' THEN 1 ELSE 0 END,
	COALESCE((SELECT j.id FROM jobs j WHERE j.reservation_id = t.reservation_id AND j.reservation_id > 0
		ORDER BY j.id LIMIT 1), ''),
	t.reference, t.note, COALESCE(r.amount, 0), COALESCE(r.charged, 0), COALESCE(e.amount, 0), t.balance,
	COALESCE(s.kind, ''), COALESCE((SELECT o.id FROM reports o
		WHERE o.id = s.report_id AND o.team_id = t.team_id), ''), COALESCE(s.platform, ''), COALESCE(s.subject, '')
	FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
	LEFT JOIN reservations r ON r.id = t.reservation_id LEFT JOIN people p ON p.id = r.person_id
	LEFT JOIN api_keys k ON k.id = r.key_id
	LEFT JOIN paid_subjects s ON s.reservation_id = t.reservation_id
	WHERE t.team_id = ? AND t.created_at >= ? AND t.created_at < ?`

func scanItem(rows *sql.Rows, i *Item) error {
	var at, assistant, automatic int64
	var kind string
	err := rows.Scan(&i.ID, &at, &kind, &i.Operation, &i.Person, &i.Key, &assistant, &automatic, &i.Job, &i.Reference,
		&i.Note, &i.Amount, &i.Charged, &i.Change, &i.Balance,
		&i.Subject.Kind, &i.Subject.Report, &i.Subject.Platform, &i.Subject.Name)
	i.At, i.Kind, i.Assistant, i.Automatic = db.Time(at), Kind(kind), assistant > 0, automatic > 0
	switch i.Kind {
	case KindGrant, KindWithdraw:
		i.Amount = max(i.Change, -i.Change)
	case KindReserve:
		i.Charged = 0 // the settlement has the charge
	case KindSettle:
	}
	return err
}

// FirstTransferAt returns the time of a team's first transfer, or the zero time if there is none.
func (s *Service) FirstTransferAt(ctx context.Context, team int64) (time.Time, error) {
	var firstAt int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MIN(created_at), 0) FROM ledger_transfers WHERE team_id = ?`, team).
		Scan(&firstAt)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the first transfer of team %d: %w", team, err)
	}
	return db.Time(firstAt), nil
}
