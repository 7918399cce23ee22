package delivery

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// maxOtherPublications bounds what a network's list is compared with: no network lists more of an account's newest posts.
const maxOtherPublications = 500

// sendHistory reads how a publication was committed without an answer before this attempt, and what else of ours the account
// shows. A network that does not answer may still work on what it was sent, so looks without an answer count as well. A
// commit whose end nobody wrote may have been sent as late as its lease was lost: it counts from the attempt after it. It
// is true where some commit got no answer at all, not even a failure.
func sendHistory(ctx context.Context, q db.Querier, d delivery, attempt int64) (network.Tried, bool, error) {
	var first, last, silent int64
	err := q.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN call = 'commit' AND network_code = '' THEN 1 ELSE 0 END), 0), COALESCE(MIN(CASE WHEN call = 'commit' THEN started_at END), 0),
			COALESCE(MAX(CASE WHEN ended_at > started_at THEN ended_at WHEN call = 'commit' THEN COALESCE(next, started_at) ELSE started_at END), 0)
		FROM (SELECT id, call, started_at, ended_at, result, network_code, LEAD(started_at) OVER (ORDER BY id) AS next FROM delivery_attempts WHERE delivery_id = ?) tried
		WHERE id <> ? AND (call = 'commit' AND result IN ('', ?, ?) OR call = 'resolve' AND result IN ('', ?))`,
		d.ID, attempt, string(network.Uncertain), string(network.Processing), string(network.Transient)).Scan(&silent, &first, &last)
	if err != nil {
		return network.Tried{}, false, fmt.Errorf("reading when %s was committed: %w", d.ID, err)
	}
	out := network.Tried{First: db.Time(first), Last: db.Time(last)}
	out.Others, err = otherPublications(ctx, q, d)
	return out, silent > 0, err
}

// otherPublications reads what else of ours the account shows.
func otherPublications(ctx context.Context, q db.Querier, d delivery) ([]string, error) {
	found, err := db.All(ctx, q, func(rows *sql.Rows, r *[2]string) error { return rows.Scan(&r[0], &r[1]) },
		`SELECT network_id, permalink FROM deliveries WHERE account_id = ? AND network_id <> '' AND id <> ? ORDER BY id DESC LIMIT ?`, d.AccountID, d.ID, maxOtherPublications)
	if err != nil {
		return nil, fmt.Errorf("reading what else an account shows: %w", err)
	}
	var out []string
	for _, other := range found {
		out = append(out, other[:]...)
	}
	return out, nil
}
