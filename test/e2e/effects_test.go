package e2e

import (
	"context"
	"fmt"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// rows counts the rows that a call added, changed or deleted.
type rows struct {
	posts, targets, events, keys, jobs, deliveries      int
	reservations, transfers, wallets, paid              int
	attached, media, folders, storage                   int // attached: media of posts
	batches, links, imports, downloads, items, stranded int // stranded: blobs without an item
	reports, makings, holds                             int // makings: report jobs
	lists, tags                                         int // tags: hashtags of lists
	searches, looks, found                              int // looks: jobs of searches; found: jobs with a result
}

// footprint has the rows of a team in each table, formatted as text. It excludes free calls, because every
// successful call changes their count.
type footprint [28]map[string]bool

var footprintOf = [28]string{
	`SELECT * FROM posts WHERE team_id = ?`,
	`SELECT * FROM post_targets WHERE post_id IN (SELECT id FROM posts WHERE team_id = ?)`,
	`SELECT * FROM events WHERE team_id = ?`,
	`SELECT * FROM idempotency_records WHERE answer IS NOT NULL AND key_id IN (SELECT id FROM api_keys WHERE team_id = ?)`,
	`SELECT * FROM jobs WHERE team_id = ?`,
	`SELECT * FROM deliveries WHERE team_id = ?`,
	`SELECT * FROM reservations WHERE team_id = ?`,
	`SELECT t.*, e.account, e.amount FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id WHERE t.team_id = ?`,
	`SELECT * FROM wallets WHERE team_id = ?`,
	`SELECT * FROM paid_requests WHERE key_id IN (SELECT id FROM api_keys WHERE team_id = ?)`,
	`SELECT * FROM post_media WHERE post_id IN (SELECT id FROM posts WHERE team_id = ?)`,
	`SELECT * FROM media WHERE team_id = ?`,
	`SELECT * FROM media_folders WHERE team_id = ?`,
	`SELECT * FROM storage WHERE team_id = ? AND used_bytes > 0`,
	`SELECT * FROM upload_batches WHERE team_id = ?`,
	`SELECT * FROM upload_files WHERE team_id = ?`,
	`SELECT * FROM media_imports WHERE team_id = ?`,
	`SELECT * FROM media_downloads WHERE team_id = ?`,
	`SELECT * FROM media_download_items WHERE job_id IN (SELECT id FROM jobs WHERE team_id = ?)`,
	`SELECT * FROM media_pending WHERE blob LIKE CAST(CAST(? AS BIGINT) AS TEXT) || '/%'`,
	`SELECT * FROM reports WHERE team_id = ?`,
	`SELECT m.* FROM report_jobs m JOIN jobs j ON j.id = m.job_id WHERE j.team_id = ?`,
	`SELECT * FROM credit_holds WHERE team_id = ?`,
	`SELECT * FROM hashtag_lists WHERE team_id = ?`,
	`SELECT i.* FROM hashtag_list_items i JOIN hashtag_lists l ON l.id = i.list_id WHERE l.team_id = ?`,
	`SELECT * FROM hashtag_searches WHERE team_id = ?`,
	`SELECT l.* FROM hashtag_search_jobs l JOIN jobs j ON j.id = l.job_id WHERE j.team_id = ?`,
	// The number of results depends on earlier searches by all teams.
	`SELECT DISTINCT r.job_id FROM hashtag_search_results r JOIN jobs j ON j.id = r.job_id WHERE j.team_id = ?`,
}

// freeCalls selects a team's count of free calls.
const freeCalls = `SELECT starts_at, ends_at, used FROM free_calls WHERE team_id = ?`

// footprint waits until the team's jobs have finished and returns the team's rows. It ignores open upload batches,
// which wait for clients.
func (w *env) footprint() footprint {
	w.t.Helper()
	w.until("the team's work to end", func() bool { return w.count(unfinishedJobs, w.team) == 0 })
	var f footprint
	for i, query := range footprintOf {
		f[i] = w.texts(query, w.team)
	}
	return f
}

// unfinishedJobs selects the unfinished jobs of a team, except open upload batches.
const unfinishedJobs = `jobs WHERE team_id = ? AND finished_at = 0 AND id NOT IN (SELECT job_id FROM upload_batches)`

// texts returns the rows of a query, each formatted as text.
func (w *env) texts(query string, args ...any) map[string]bool {
	w.t.Helper()
	found := must.Get(w.db.Query(context.Background(), query, args...))(w.t)
	defer found.Close()
	columns := must.Get(found.Columns())(w.t)
	out := map[string]bool{}
	for found.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		must.NoError(w.t, found.Scan(into...))
		for i, value := range values {
			if raw, ok := value.([]byte); ok {
				values[i] = string(raw)
			}
		}
		out[fmt.Sprint(values...)] = true
	}
	must.NoError(w.t, found.Err())
	return out
}

// changesSince returns how many rows of each table were added, changed or deleted after an earlier footprint.
func (f footprint) changesSince(before footprint) rows {
	var n [28]int
	for i := range f {
		for row := range f[i] {
			if !before[i][row] {
				n[i]++
			}
		}
		n[i] += max(0, len(before[i])-len(f[i]))
	}
	return rows{
		n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12], n[13], n[14], n[15], n[16],
		n[17], n[18], n[19], n[20], n[21], n[22], n[23], n[24], n[25], n[26], n[27],
	}
}

// The comparison of footprints detects added, changed and deleted rows.
func TestEffectsDetected(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		before := w.footprint()
		id := w.draft("seen")
		if got := w.footprint().changesSince(before); got != (rows{posts: 1, targets: 1, events: 1}) {
			t.Errorf("after creating a draft: %+v", got)
		}
		before = w.footprint()
		w.exec("DELETE FROM post_targets WHERE post_id = ?", id)
		w.exec("UPDATE posts SET caption = 'other' WHERE id = ?", id)
		if got := w.footprint().changesSince(before); got != (rows{posts: 1, targets: 1}) {
			t.Errorf("after changing one row and deleting another: %+v", got)
		}
	})
}
