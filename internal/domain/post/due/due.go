// Package due lists and counts posts that are due.
package due

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// MayPublishSQL is an SQL condition on posts. It selects posts whose team may publish: the team is not closed,
// publishing is not paused for the team or the service, and the database is not on hold. Other scheduled posts wait.
const MayPublishSQL = restoreguard.NotHeld + ` AND ` + NotPausedSQL

// NotPausedSQL is MayPublishSQL without the check that the database is not on hold.
const NotPausedSQL = `EXISTS (SELECT 1 FROM teams t WHERE t.id = posts.team_id AND t.closed_at = 0)
	AND NOT EXISTS (SELECT 1 FROM pauses x WHERE x.action IN ('everything', 'publish') AND (x.scope = 'service'
	OR x.scope = 'team' AND x.target = posts.team_id))`

// List returns the IDs of due posts, earliest first.
func List(ctx context.Context, d *db.DB, limit int) ([]string, error) {
	rows, err := d.Query(ctx, `SELECT id FROM posts WHERE status = 'scheduled' AND is_template = 0
		AND scheduled_at <= ? AND `+MayPublishSQL+` ORDER BY scheduled_at LIMIT ?`, db.Micros(d.Now()), limit)
	if err != nil {
		return nil, fmt.Errorf("listing due posts: %w", err)
	}
	defer rows.Close()
	ids := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("listing due posts: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Count is the number of due posts that have not been submitted.
type Count struct {
	Blocked bool // whether the posts may not be published now; see MayPublishSQL
	Posts   int64
	Oldest  time.Time // scheduled time of the earliest of these posts
}

// CountAll counts the due posts of all teams. It returns one count for blocked posts and one for the other posts.
func CountAll(ctx context.Context, d *db.DB) ([]Count, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, c *Count) error {
		var held, oldest int64
		err := rows.Scan(&held, &c.Posts, &oldest)
		c.Blocked, c.Oldest = held > 0, db.Time(oldest)
		return err
	}, `SELECT held, COUNT(*), MIN(scheduled_at) FROM (SELECT scheduled_at, CASE WHEN `+MayPublishSQL+` THEN 0
		ELSE 1 END AS held FROM posts
		WHERE status = 'scheduled' AND is_template = 0 AND scheduled_at <= ?) AS due GROUP BY held ORDER BY held`,
		db.Micros(d.Now()))
	if err != nil {
		return nil, fmt.Errorf("counting due posts: %w", err)
	}
	return out, nil
}

// LateCount counts posts that were due before a time and have not been submitted.
type LateCount struct {
	Posts   int64     // posts of teams that may publish
	Oldest  time.Time // scheduled time of the earliest of these posts; zero if there is none
	Blocked int64     // posts that may not be published now; see MayPublishSQL
}

// maxLate is the maximum number of late posts that are counted.
const maxLate = 1000

// CountLate counts late posts across all teams, up to maxLate.
func CountLate(ctx context.Context, d *db.DB, before time.Time) (LateCount, error) {
	var out LateCount
	var oldest int64
	err := d.QueryRow(ctx, `SELECT COUNT(*) FILTER (WHERE flows), COALESCE(MIN(scheduled_at) FILTER (WHERE flows),
		0), COUNT(*) FILTER (WHERE NOT flows)
		FROM (SELECT scheduled_at, `+MayPublishSQL+` AS flows FROM posts WHERE status = 'scheduled'
			AND is_template = 0 AND scheduled_at < ? ORDER BY scheduled_at LIMIT ?) late`,
		db.Micros(before), maxLate).Scan(&out.Posts, &oldest, &out.Blocked)
	if err != nil {
		return out, fmt.Errorf("counting late posts: %w", err)
	}
	out.Oldest = db.Time(oldest)
	return out, nil
}
