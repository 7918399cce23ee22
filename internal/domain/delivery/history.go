package delivery

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// maxOtherPublications is the maximum number of our own posts to compare with a network's list of an account's posts.
// No network lists more posts.
const maxOtherPublications = 500

// commitHistory returns the times of a delivery's inconclusive commits before this attempt, and the IDs of our other
// posts on the account. It also reports whether a commit got no response at all.
//
// Lookups without a response count too, because the network may still be processing the request. If a node crashed
// during a commit, the commit counts as lasting until the next attempt, because the node may have sent the request at
// any time until it lost the lease.
func commitHistory(ctx context.Context, q db.Querier, d delivery, attemptID int64) (network.CommitHistory, bool, error) {
	var firstAt, lastAt, unanswered, undecided int64
	err := q.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN call = 'commit' AND network_code = '' THEN 1
		ELSE 0 END), 0), COALESCE(SUM(CASE WHEN call = 'commit' AND result <> ? THEN 1 ELSE 0 END), 0),
			COALESCE(MIN(CASE WHEN call = 'commit' THEN started_at END), 0),
			COALESCE(MAX(CASE WHEN ended_at > started_at THEN ended_at WHEN call = 'commit' THEN COALESCE(next,
			started_at) ELSE started_at END), 0)
		FROM (SELECT id, call, started_at, ended_at, result, network_code, LEAD(started_at) OVER (ORDER BY id) AS next
		FROM delivery_attempts WHERE delivery_id = ?) tried
		WHERE id <> ? AND (call = 'commit' AND result IN ('', ?, ?) OR call = 'resolve' AND result IN ('', ?))`,
		string(network.Processing), d.ID, attemptID, string(network.OutcomeUnknown), string(network.Processing),
		string(network.Transient)).Scan(&unanswered, &undecided, &firstAt, &lastAt)
	if err != nil {
		return network.CommitHistory{}, false, fmt.Errorf("reading when %s was committed: %w", d.ID, err)
	}
	out := network.CommitHistory{First: db.Time(firstAt), Last: db.Time(lastAt), Undecided: undecided > 0}
	out.OtherPosts, err = otherPublications(ctx, q, d)
	return out, unanswered > 0, err
}

// otherPublications returns the network IDs and permalinks of our other posts on the account.
func otherPublications(ctx context.Context, q db.Querier, d delivery) ([]string, error) {
	publications, err := db.All(ctx, q, func(rows *sql.Rows, r *[2]string) error { return rows.Scan(&r[0], &r[1]) },
		`SELECT network_id, permalink FROM deliveries WHERE account_id = ? AND network_id <> '' AND id <> ?
			ORDER BY id DESC LIMIT ?`, d.AccountID, d.ID, maxOtherPublications)
	if err != nil {
		return nil, fmt.Errorf("listing other publications: %w", err)
	}
	var out []string
	for _, other := range publications {
		out = append(out, other[:]...)
	}
	return out, nil
}
