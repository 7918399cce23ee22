package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/domain/job"
	"pressroom/internal/platform/db"
)

// search is what a team looks for, as it is stored.
type search struct {
	id        int64
	job       string // of the search under way; empty while none is
	resultOf  string // the job whose result is served again; empty where a part of it is missing
	paidUntil time.Time
}

// isPaid tells whether the team has paid for the keyword.
func (r search) isPaid(now time.Time) bool { return now.Before(r.paidUntil) }

// lockKeyword holds the row of a team's keyword for the transaction and makes it where there is none, so that two calls
// cannot both pay.
func lockKeyword(ctx context.Context, tx *db.Tx, team int64, platform string, k keyword) (search, error) {
	var r search
	var until int64
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_searches (team_id, platform, keyword) VALUES (?, ?, ?)
		ON CONFLICT (team_id, platform, keyword) DO UPDATE SET keyword = excluded.keyword`, team, platform, k.key())
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT id, job_id, result_of, paid_until FROM hashtag_searches WHERE team_id = ? AND platform = ? AND keyword = ?`, team, platform, k.key()).
			Scan(&r.id, &r.job, &r.resultOf, &until)
	}
	if err != nil {
		return r, fmt.Errorf("claiming a hashtag search: %w", err)
	}
	r.paidUntil = db.Time(until)
	return r, nil
}

// task is what a job has to do.
type task struct {
	search    int64
	team      int64
	platform  string
	words     keyword
	paidUntil time.Time // until when it is paid for by something else; zero where it is paid for itself
}

func (t task) insert(ctx context.Context, tx *db.Tx, id string) error {
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words, covered_until) VALUES (?, ?, ?, ?, ?)`,
		id, t.search, t.platform, t.words.String(), db.Micros(t.paidUntil))
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE hashtag_searches SET job_id = ? WHERE id = ? AND team_id = ?`, id, t.search, t.team)
	}
	if err != nil {
		return fmt.Errorf("writing what a search looks for: %w", err)
	}
	return nil
}

// readTask reads what a job has to do.
func readTask(ctx context.Context, q db.Querier, r job.Record) (task, error) {
	t := task{team: r.TeamID}
	var words string
	var covered int64
	err := q.QueryRow(ctx, `SELECT search_id, platform, words, covered_until FROM hashtag_search_jobs WHERE job_id = ?`, r.ID).Scan(&t.search, &t.platform, &words, &covered)
	if err != nil {
		return t, fmt.Errorf("reading what job %s looks for: %w", r.ID, err)
	}
	t.words, t.paidUntil = parseKeyword(words), db.Time(covered)
	return t, nil
}

// readAnswers are what the source said to a job so far: for each hashtag whether there is one.
func readAnswers(ctx context.Context, q db.Querier, id string) (map[string]bool, error) {
	type answer struct {
		hashtag string
		found   int64
	}
	all, err := db.All(ctx, q, func(rows *sql.Rows, a *answer) error { return rows.Scan(&a.hashtag, &a.found) },
		`SELECT hashtag, found FROM hashtag_search_answers WHERE job_id = ?`, id)
	if err != nil {
		return nil, fmt.Errorf("reading what a source said to job %s: %w", id, err)
	}
	out := map[string]bool{}
	for _, a := range all {
		out[a.hashtag] = a.found != 0
	}
	return out, nil
}

// saveAnswer keeps what a source said, and gives how much it has said to the job so far.
func saveAnswer(ctx context.Context, tx *db.Tx, id, hashtag string, found bool) (int64, error) {
	is := 0
	if found {
		is = 1
	}
	var told int64
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_answers (job_id, hashtag, found) VALUES (?, ?, ?)`, id, hashtag, is)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_search_answers WHERE job_id = ?`, id).Scan(&told)
	}
	if err != nil {
		return 0, fmt.Errorf("keeping what a source said: %w", err)
	}
	return told, nil
}

// The parts of a result.
const (
	partHashtags   = "hashtags"
	partIncomplete = "incomplete"
	partRelated    = "related"
)

// row is one hashtag of a result, as it is stored.
type row struct {
	part     string
	position int
	measured time.Time
	entry    any
}

const rowsPerInsert = 100 // in one statement

// saveRows writes what a job found.
func saveRows(ctx context.Context, tx *db.Tx, id string, rows []row) error {
	for part := range slices.Chunk(rows, rowsPerInsert) {
		args := make([]any, 0, 5*len(part))
		for _, r := range part {
			raw, err := json.Marshal(r.entry)
			if err != nil {
				return fmt.Errorf("writing what a search found: %w", err)
			}
			args = append(args, id, r.part, r.position, db.Micros(r.measured), string(raw))
		}
		_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_results (job_id, part, position, measured_at, entry) VALUES `+
			strings.TrimSuffix(strings.Repeat("("+db.Marks(5)+"), ", len(part)), ", "), args...)
		if err != nil {
			return fmt.Errorf("keeping what a search found: %w", err)
		}
	}
	return nil
}

// saveNotes writes what a job has to say.
func saveNotes(ctx context.Context, tx *db.Tx, id string, notes []string) error {
	raw, err := json.Marshal(notes)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE hashtag_search_jobs SET notes = ? WHERE job_id = ?`, string(raw), id)
	}
	if err != nil {
		return fmt.Errorf("keeping the notes of job %s: %w", id, err)
	}
	return nil
}

// readNotes reads what a job has to say.
func readNotes(ctx context.Context, q db.Querier, id string) ([]string, error) {
	var text string
	err := q.QueryRow(ctx, `SELECT notes FROM hashtag_search_jobs WHERE job_id = ?`, id).Scan(&text)
	var out []string
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the notes of job %s: %w", id, err)
	}
	return out, nil
}

// copyResult gives a job what another one found.
func copyResult(ctx context.Context, tx *db.Tx, from, to string) error {
	for _, statement := range []string{
		`INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words, covered_until, notes) SELECT ?, search_id, platform, words, covered_until, notes FROM hashtag_search_jobs WHERE job_id = ?`,
		`INSERT INTO hashtag_search_results (job_id, part, position, measured_at, entry) SELECT ?, part, position, measured_at, entry FROM hashtag_search_results WHERE job_id = ?`,
	} {
		if _, err := tx.Exec(ctx, statement, to, from); err != nil {
			return fmt.Errorf("serving what job %s found: %w", from, err)
		}
	}
	return nil
}

const sweepBatch = 1000

// expiredQuery lists keywords that nothing is paid for any more and nobody looks for now.
const expiredQuery = `SELECT id FROM hashtag_searches WHERE job_id = '' AND paid_until <= ? ORDER BY paid_until LIMIT ?`

// Sweep forgets keywords whose time is over. What was found stays with the record of its job.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "search.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM hashtag_searches WHERE job_id = '' AND paid_until <= ? AND id IN (`+expiredQuery+`)`, db.Micros(tx.Now()), db.Micros(tx.Now()), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping hashtag searches: %w", err)
	}
	return n, nil
}
