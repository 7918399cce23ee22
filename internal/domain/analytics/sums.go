package analytics

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// PostSums are the metrics of a post, summed over its accounts. A metric that no network reports is nil. Engagement is
// the sum of likes, comments, shares and saves.
type PostSums struct{ Views, Likes, Comments, Shares, Engagement *int64 }

// Plus returns the sum of each metric. A nil metric counts as 0, unless both are nil.
func (s PostSums) Plus(o PostSums) PostSums {
	return PostSums{plus(s.Views, o.Views), plus(s.Likes, o.Likes), plus(s.Comments, o.Comments), plus(s.Shares, o.Shares),
		plus(s.Engagement, o.Engagement)}
}

func plus(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}

// Any reports whether at least one metric is known.
func (s PostSums) Any() bool { return s != PostSums{} }

// EngagementRate returns the total engagement divided by the total views of the posts that have both metrics. It
// reports false if there are no views.
func EngagementRate(metrics []PostSums) (float64, bool) {
	var engagement, views int64
	for _, m := range metrics {
		if m.Engagement != nil && m.Views != nil {
			engagement, views = engagement+*m.Engagement, views+*m.Views
		}
	}
	if views == 0 {
		return 0, false
	}
	return float64(engagement) / float64(views), true
}

// SumByPost returns the collected metrics of a team's posts. The keys are post IDs. Posts without metrics are omitted.
func (s *Service) SumByPost(ctx context.Context, team int64, posts []string) (map[string]PostSums, error) {
	out := map[string]PostSums{}
	if len(posts) == 0 {
		return out, nil
	}
	type row struct {
		PostSums
		id string
	}
	sums, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.id, &r.Views, &r.Likes, &r.Comments, &r.Shares, &r.Engagement)
	}, `SELECT t.post_id, CAST(SUM(p.views) AS BIGINT), CAST(SUM(p.likes) AS BIGINT), CAST(SUM(p.comments) AS BIGINT),
		CAST(SUM(p.shares) AS BIGINT), CAST(SUM(`+engagementSum+`) AS BIGINT)
		FROM post_targets t JOIN social_accounts a ON a.id = t.account_id
		JOIN account_posts p ON p.account_id = t.account_id AND p.network_id = t.network_id
		WHERE a.team_id = ? AND t.network_id <> '' AND t.post_id IN (`+db.Placeholders(len(posts))+`) GROUP BY t.post_id`,
		db.Args(team, posts)...)
	if err != nil {
		return nil, fmt.Errorf("summing the metrics of posts: %w", err)
	}
	for _, r := range sums {
		out[r.id] = r.PostSums
	}
	return out, nil
}

// MetricsByAccount returns the collected metrics of a team's post. The keys are account IDs. Accounts without metrics
// are omitted.
func (s *Service) MetricsByAccount(ctx context.Context, team int64, post string) (map[int64]PostSums, error) {
	type row struct {
		PostSums
		account int64
	}
	metrics, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.account, &r.Views, &r.Likes, &r.Comments, &r.Shares, &r.Engagement)
	}, `SELECT t.account_id, p.views, p.likes, p.comments, p.shares, `+engagementSum+`
		FROM post_targets t
		JOIN social_accounts a ON a.id = t.account_id AND a.team_id = ?
		JOIN account_posts p ON p.account_id = t.account_id AND p.network_id = t.network_id
		WHERE t.post_id = ? AND t.network_id <> ''`, team, post)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of a post: %w", err)
	}
	out := map[int64]PostSums{}
	for _, r := range metrics {
		out[r.account] = r.PostSums
	}
	return out, nil
}

// minUsualPosts is the minimum number of posts with a metric that is needed to compute the metric's usual value.
const minUsualPosts = 3

// UsualByAccount returns, for each account of a team's post, the median of each metric over the account's other recent
// posts. It reads at most 200 posts of an account, from the last 90 days. A metric is nil if fewer than 3 posts have
// it.
func (s *Service) UsualByAccount(ctx context.Context, team int64, post string) (map[int64]PostSums, error) {
	type target struct {
		account   int64
		networkID string
	}
	targets, err := db.All(ctx, s.db, func(rows *sql.Rows, t *target) error {
		return rows.Scan(&t.account, &t.networkID)
	}, `SELECT t.account_id, t.network_id FROM post_targets t JOIN social_accounts a ON a.id = t.account_id AND a.team_id = ?
		WHERE t.post_id = ? AND t.network_id <> ''`, team, post)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of a post: %w", err)
	}
	out := map[int64]PostSums{}
	for _, t := range targets {
		posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *PostSums) error {
			return rows.Scan(&p.Views, &p.Likes, &p.Comments, &p.Shares, &p.Engagement)
		}, usualQuery, t.account, t.networkID, db.Micros(s.db.Now().Add(-usualPostPeriod)), maxUsualPosts)
		if err != nil {
			return nil, fmt.Errorf("reading the metrics of other posts: %w", err)
		}
		out[t.account] = PostSums{
			Views:      medianOf(posts, func(s PostSums) *int64 { return s.Views }),
			Likes:      medianOf(posts, func(s PostSums) *int64 { return s.Likes }),
			Comments:   medianOf(posts, func(s PostSums) *int64 { return s.Comments }),
			Shares:     medianOf(posts, func(s PostSums) *int64 { return s.Shares }),
			Engagement: medianOf(posts, func(s PostSums) *int64 { return s.Engagement }),
		}
	}
	return out, nil
}

const usualQuery = `SELECT p.views, p.likes, p.comments, p.shares, ` + engagementSum + ` FROM account_posts p
	WHERE p.account_id = ? AND p.network_id <> ? AND p.posted_at > ? ORDER BY p.posted_at DESC LIMIT ?`

// maxUsualPosts is the maximum number of posts of each account that are compared with a post.
const maxUsualPosts = 200

// usualPostPeriod is the maximum age of posts that are compared with a post.
const usualPostPeriod = 90 * 24 * time.Hour

// medianOf returns the median of a metric over the posts that have it, or nil if too few posts have it.
func medianOf(posts []PostSums, metric func(PostSums) *int64) *int64 {
	var values []int64
	for _, p := range posts {
		if value := metric(p); value != nil {
			values = append(values, *value)
		}
	}
	if len(values) < minUsualPosts {
		return nil
	}
	slices.Sort(values)
	half := len(values) / 2
	median := values[half]
	if len(values)%2 == 0 {
		median = (values[half-1] + values[half]) / 2
	}
	return &median
}
