package analytics

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// AccountPost is an account's post with its metrics. Its text is shortened and untrusted.
type AccountPost struct {
	ID      string // the network's ID
	At      time.Time
	Format  string
	URL     string
	Excerpt string
	Counts  AccountAnalyticsBestPostCounts
}

// PostPosition is a position in a list of posts, directly after the post with this time and ID.
type PostPosition struct {
	At time.Time
	ID string
}

const pageColumns = `SELECT p.network_id, p.posted_at, p.format, p.url, p.excerpt, p.reach, p.views, p.likes,
	p.comments, p.shares, p.saves, p.clicks
	FROM social_accounts a JOIN account_posts p ON p.account_id = a.id
	WHERE a.team_id = ? AND p.account_id = ? AND p.posted_at >= ? AND `

const pageQuery = pageColumns + `(p.posted_at, p.network_id) < (?, ?)
	ORDER BY p.posted_at DESC, p.network_id DESC LIMIT ?`

// Posts returns up to limit stored posts of a team's account, newest first. It returns only posts published since a
// time, and only those after a position in the list.
func (s *Service) Posts(ctx context.Context, team, account int64, since time.Time, after PostPosition,
	limit int) ([]AccountPost, error) {
	return s.listPosts(ctx, account, limit, pageQuery, team, account, db.Micros(since), db.Micros(after.At), after.ID, limit)
}

// SortMetrics are the metrics that PostsByMetric can sort posts by.
var SortMetrics = []string{"engagement", "reach", "views", "likes", "comments", "shares", "saves"}

// PostsByMetric returns the stored posts of a team's account in a period, sorted by one of SortMetrics in descending
// order.
func (s *Service) PostsByMetric(ctx context.Context, team, account int64, in Period, metric string, offset, limit int,
) ([]AccountPost, error) {
	if !slices.Contains(SortMetrics, metric) {
		return nil, fmt.Errorf("posts cannot be sorted by %q", metric)
	}
	sortExpression := "p." + metric
	if metric == "engagement" {
		sortExpression = engagementSum
	}
	return s.listPosts(ctx, account, limit, pageColumns+`p.posted_at < ? ORDER BY COALESCE(`+sortExpression+`, -1) DESC,
		p.posted_at DESC, p.network_id DESC LIMIT ? OFFSET ?`, team, account, db.Micros(in.Start()), db.Micros(in.End()), limit, offset)
}

func (s *Service) listPosts(ctx context.Context, account int64, limit int, query string, args ...any) ([]AccountPost, error) {
	found, err := db.AllSized(ctx, s.db, limit, func(rows *sql.Rows, p *AccountPost) error {
		var at int64
		counts := &p.Counts
		err := rows.Scan(&p.ID, &at, &p.Format, &p.URL, &p.Excerpt, &counts.Reach, &counts.Views, &counts.Likes, &counts.Comments,
			&counts.Shares, &counts.Saves, &counts.Clicks)
		p.At = db.Time(at)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the posts of account %d: %w", account, err)
	}
	return found, nil
}
