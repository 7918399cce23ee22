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

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
)

// search is the stored state of a team's keyword.
type search struct {
	id        int64
	jobID     string // ID of the running job, or empty
	resultOf  string // ID of the job whose result later searches get; empty if there is none
	paidUntil time.Time
}

// isPaid reports whether the team has paid for the keyword and the data window has not ended.
func (r search) isPaid(now time.Time) bool { return now.Before(r.paidUntil) }

// lockKeyword inserts or locks the row of a team's keyword, so that only one of several concurrent calls is charged.
func lockKeyword(ctx context.Context, tx *db.Tx, team int64, platform string, k keyword) (search, error) {
	var r search
	var paidUntil int64
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_searches (team_id, platform, keyword) VALUES (?, ?, ?)
		ON CONFLICT (team_id, platform, keyword) DO UPDATE SET keyword = excluded.keyword`, team, platform, k.key())
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT id, job_id, result_of, paid_until FROM hashtag_searches WHERE team_id = ?
			AND platform = ? AND keyword = ?`, team, platform, k.key()).
			Scan(&r.id, &r.jobID, &r.resultOf, &paidUntil)
	}
	if err != nil {
		return r, fmt.Errorf("locking a keyword: %w", err)
	}
	r.paidUntil = db.Time(paidUntil)
	return r, nil
}

// task describes the work of a search job.
type task struct {
	search    int64
	team      int64
	platform  string
	words     keyword
	paidUntil time.Time // set if an earlier payment covers the search
}

func (t task) insert(ctx context.Context, tx *db.Tx, id string) error {
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words, covered_until)
		VALUES (?, ?, ?, ?, ?)`,
		id, t.search, t.platform, t.words.String(), db.Micros(t.paidUntil))
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE hashtag_searches SET job_id = ? WHERE id = ? AND team_id = ?`, id, t.search,
			t.team)
	}
	if err != nil {
		return fmt.Errorf("storing the task of a search: %w", err)
	}
	return nil
}

// readTask returns the task of a job.
func readTask(ctx context.Context, q db.Querier, r job.Record) (task, error) {
	t := task{team: r.TeamID}
	var words string
	var paidUntil int64
	err := q.QueryRow(ctx, `SELECT search_id, platform, words, covered_until FROM hashtag_search_jobs WHERE job_id = ?`,
		r.ID).Scan(&t.search, &t.platform, &words, &paidUntil)
	if err != nil {
		return t, fmt.Errorf("reading the task of job %s: %w", r.ID, err)
	}
	t.words, t.paidUntil = parseKeyword(words), db.Time(paidUntil)
	return t, nil
}

// readAnswers returns the hashtags for which the provider has responded to a job so far, and whether each of them
// exists.
func readAnswers(ctx context.Context, q db.Querier, id string) (map[string]bool, error) {
	type answer struct {
		hashtag string
		found   int64
	}
	answers, err := db.All(ctx, q, func(rows *sql.Rows, a *answer) error { return rows.Scan(&a.hashtag, &a.found) },
		`SELECT hashtag, found FROM hashtag_search_answers WHERE job_id = ?`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the answers for job %s: %w", id, err)
	}
	out := map[string]bool{}
	for _, a := range answers {
		out[a.hashtag] = a.found != 0
	}
	return out, nil
}

// saveAnswer stores whether the provider found a hashtag, and returns the job's number of answers so far.
func saveAnswer(ctx context.Context, tx *db.Tx, id, hashtag string, found bool) (int64, error) {
	foundInt := 0
	if found {
		foundInt = 1
	}
	var answerCount int64
	_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_answers (job_id, hashtag, found) VALUES (?, ?, ?)`, id, hashtag,
		foundInt)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_search_answers WHERE job_id = ?`, id).Scan(&answerCount)
	}
	if err != nil {
		return 0, fmt.Errorf("storing an answer: %w", err)
	}
	return answerCount, nil
}

// The parts of a result.
const (
	partHashtags   = "hashtags"
	partIncomplete = "incomplete"
	partRelated    = "related"
)

// row is a hashtag of a result to store.
type row struct {
	part       string
	position   int
	measuredAt time.Time
	entry      any
}

const rowsPerInsert = 100

// saveRows stores the result of a job.
func saveRows(ctx context.Context, tx *db.Tx, id string, rows []row) error {
	for part := range slices.Chunk(rows, rowsPerInsert) {
		args := make([]any, 0, 5*len(part))
		for _, r := range part {
			raw, err := json.Marshal(r.entry)
			if err != nil {
				return fmt.Errorf("encoding the result of a search: %w", err)
			}
			args = append(args, id, r.part, r.position, db.Micros(r.measuredAt), string(raw))
		}
		_, err := tx.Exec(ctx, `INSERT INTO hashtag_search_results (job_id, part, position, measured_at, entry)
			VALUES `+
			strings.TrimSuffix(strings.Repeat("("+db.Placeholders(5)+"), ", len(part)), ", "), args...)
		if err != nil {
			return fmt.Errorf("storing the result of a search: %w", err)
		}
	}
	return nil
}

// saveNotes stores the notes of a job.
func saveNotes(ctx context.Context, tx *db.Tx, id string, notes []string) error {
	raw, err := json.Marshal(notes)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE hashtag_search_jobs SET notes = ? WHERE job_id = ?`, string(raw), id)
	}
	if err != nil {
		return fmt.Errorf("storing the notes of job %s: %w", id, err)
	}
	return nil
}

// readNotes returns the notes of a job.
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

// copyResult copies the result of one job to another.
func copyResult(ctx context.Context, tx *db.Tx, sourceID, targetID string) error {
	for _, statement := range []string{
		`INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words, covered_until, notes)
			SELECT ?, search_id, platform, words, covered_until, notes FROM hashtag_search_jobs WHERE job_id = ?`,
		`INSERT INTO hashtag_search_results (job_id, part, position, measured_at, entry)
			SELECT ?, part, position, measured_at, entry FROM hashtag_search_results WHERE job_id = ?`,
	} {
		if _, err := tx.Exec(ctx, statement, targetID, sourceID); err != nil {
			return fmt.Errorf("copying the result of job %s: %w", sourceID, err)
		}
	}
	return nil
}

const sweepBatch = 1000

// expiredQuery selects keywords that are no longer paid for and not being searched.
const expiredQuery = `SELECT id FROM hashtag_searches WHERE job_id = '' AND paid_until <= ? ORDER BY paid_until LIMIT ?`

// Sweep deletes a batch of expired keywords and returns how many it deleted. Results are kept as long as their jobs.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "search.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM hashtag_searches WHERE job_id = '' AND paid_until <= ?
			AND id IN (`+expiredQuery+`)`, db.Micros(tx.Now()), db.Micros(tx.Now()), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping hashtag searches: %w", err)
	}
	return n, nil
}
