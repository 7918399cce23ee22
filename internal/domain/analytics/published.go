package analytics

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// PostMetrics holds a post's metrics for a chart by day.
type PostMetrics struct {
	AccountID  int64
	At         time.Time
	Views      *int64 // nil if the network does not report views
	Engagement *int64 // likes, comments, shares and saves; nil if the network reports none
}

// engagementSum is an SQL expression for a post's engagement. The alias of account_posts must be p.
const engagementSum = `CASE WHEN p.likes IS NULL AND p.comments IS NULL AND p.shares IS NULL AND p.saves IS NULL THEN NULL
	ELSE COALESCE(p.likes, 0) + COALESCE(p.comments, 0) + COALESCE(p.shares, 0) + COALESCE(p.saves, 0) END`

// ListPostMetrics returns the metrics of the stored posts of a team's accounts between two times, newest first.
func (s *Service) ListPostMetrics(ctx context.Context, team int64, accounts []int64, from, to time.Time) ([]PostMetrics, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, p *PostMetrics) error {
		var at int64
		err := rows.Scan(&p.AccountID, &at, &p.Views, &p.Engagement)
		p.At = db.Time(at)
		return err
	}, `SELECT p.account_id, p.posted_at, p.views, `+engagementSum+` FROM account_posts p
		JOIN social_accounts a ON a.id = p.account_id AND a.team_id = ?
		WHERE p.posted_at >= ? AND p.posted_at < ? AND p.account_id IN (`+db.Placeholders(len(accounts))+`)
		ORDER BY p.posted_at DESC LIMIT ?`,
		append([]any{team, db.Micros(from)}, append(db.Args(db.Micros(to), accounts), maxAnalyzed)...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of posts: %w", err)
	}
	return out, nil
}

// TopPost is one of the posts with the most engagement. Its metrics are sums over all accounts that it was published
// to.
type TopPost struct {
	AccountPost
	OwnPost

	AccountID  int64
	Platform   string
	Username   string
	Accounts   int      // number of accounts that it was published to
	Platforms  []string // distinct platforms of these accounts
	Engagement *int64   // nil if the networks report none
}

// OwnPost identifies the team's post in pressroom that was published as an account's post. It is zero for posts that
// were published outside pressroom.
type OwnPost struct {
	PostID  string
	Picture int64 // ID of the first media item if it is an image
	IsVideo bool  // whether the first media item is a video
}

// maxTargets is an upper bound for the number of accounts that a typical post is published to.
const maxTargets = 12

// TopPosts returns the posts of a team's accounts between two times with the most engagement, best first. Posts with
// the same engagement are sorted by views. TopPosts omits posts that have neither. Of the others, it returns at most
// half, so that none is below the median. A post that was published to several accounts appears once, with the sums of
// its metrics.
func (s *Service) TopPosts(
	ctx context.Context, team int64, accounts []int64, from, to time.Time, limit int,
) ([]TopPost, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, p *TopPost) error {
		var at int64
		counts := &p.Counts
		err := rows.Scan(&p.AccountID, &p.Platform, &p.Username, &p.ID, &at, &p.Format, &p.URL, &p.Excerpt, &counts.Views, &counts.Likes,
			&counts.Comments, &p.Engagement)
		p.At, p.Accounts, p.Platforms = db.Time(at), 1, []string{p.Platform}
		return err
	}, `SELECT account_id, platform, username, network_id, posted_at, format, url, excerpt, views, likes, comments, engagement
		FROM (SELECT p.account_id, a.platform, a.username, p.network_id, p.posted_at, p.format, p.url, p.excerpt, p.views,
		p.likes, p.comments, `+engagementSum+` AS engagement FROM account_posts p
		JOIN social_accounts a ON a.id = p.account_id AND a.team_id = ?
		WHERE p.posted_at >= ? AND p.posted_at < ? AND p.account_id IN (`+db.Placeholders(len(accounts))+`)) ranked
		WHERE engagement > 0 OR views > 0 ORDER BY COALESCE(engagement, 0) DESC, COALESCE(views, 0) DESC,
		posted_at DESC, network_id LIMIT ?`,
		append([]any{team, db.Micros(from)}, append(db.Args(db.Micros(to), accounts), 2*maxTargets*limit)...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the best posts: %w", err)
	}
	if err := s.addOwnPosts(ctx, team, out); err != nil {
		return nil, err
	}
	seen := map[string]bool{"": false}
	out = slices.DeleteFunc(out, func(p TopPost) bool {
		isDuplicate := seen[p.PostID]
		seen[p.PostID] = p.PostID != ""
		return isDuplicate
	})
	if err := s.addOtherAccounts(ctx, team, accounts, out); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b TopPost) int {
		return cmp.Or(compareMetrics(b.Engagement, a.Engagement), compareMetrics(b.Counts.Views, a.Counts.Views))
	})
	return out[:min((len(out)+1)/2, limit)], nil
}

// addOtherAccounts adds the metrics of the other accounts that the team's posts were published to.
func (s *Service) addOtherAccounts(ctx context.Context, team int64, accounts []int64, posts []TopPost) error {
	postsByID := map[string]*TopPost{}
	for i, p := range posts {
		if p.PostID != "" {
			postsByID[p.PostID] = &posts[i]
		}
	}
	if len(postsByID) == 0 {
		return nil
	}
	args := db.Args(team, slices.Sorted(maps.Keys(postsByID)))
	for _, id := range accounts {
		args = append(args, id)
	}
	otherPosts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *TopPost) error {
		counts := &p.Counts
		return rows.Scan(&p.PostID, &p.AccountID, &p.Platform, &counts.Views, &counts.Likes, &counts.Comments, &p.Engagement)
	}, `SELECT t.post_id, p.account_id, a.platform, p.views, p.likes, p.comments, `+engagementSum+` FROM post_targets t
		JOIN account_posts p ON p.account_id = t.account_id AND p.network_id = t.network_id
		JOIN social_accounts a ON a.id = p.account_id AND a.team_id = ?
		WHERE t.post_id IN (`+db.Placeholders(len(postsByID))+`) AND t.account_id IN (`+db.Placeholders(len(accounts))+`)
		ORDER BY t.post_id, t.position`, args...)
	if err != nil {
		return fmt.Errorf("reading the other accounts of the best posts: %w", err)
	}
	for _, o := range otherPosts {
		p := postsByID[o.PostID]
		if o.AccountID == p.AccountID {
			continue
		}
		p.Accounts++
		if !slices.Contains(p.Platforms, o.Platform) {
			p.Platforms = append(p.Platforms, o.Platform)
		}
		p.Engagement = plus(p.Engagement, o.Engagement)
		p.Counts.Views = plus(p.Counts.Views, o.Counts.Views)
		p.Counts.Likes = plus(p.Counts.Likes, o.Counts.Likes)
		p.Counts.Comments = plus(p.Counts.Comments, o.Counts.Comments)
	}
	return nil
}

// compareMetrics compares two metrics. A nil metric counts as 0.
func compareMetrics(a, b *int64) int {
	zero := new(int64)
	return cmp.Compare(*cmp.Or(a, zero), *cmp.Or(b, zero))
}

// addOwnPosts sets the OwnPost of each post that was published with pressroom.
func (s *Service) addOwnPosts(ctx context.Context, team int64, posts []TopPost) error {
	ids := map[int64][]string{}
	for _, p := range posts {
		ids[p.AccountID] = append(ids[p.AccountID], p.ID)
	}
	for account, postIDs := range ids {
		ownPosts, err := s.OwnPosts(ctx, team, account, postIDs)
		if err != nil {
			return err
		}
		for i, p := range posts {
			if p.AccountID == account {
				posts[i].OwnPost = ownPosts[p.ID]
			}
		}
	}
	return nil
}

// OwnPosts returns the team's posts that were published as an account's posts. The keys are network IDs. Posts that
// were published outside pressroom are omitted.
func (s *Service) OwnPosts(ctx context.Context, team, account int64, ids []string) (map[string]OwnPost, error) {
	out := map[string]OwnPost{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		OwnPost
		id string
	}
	ownPosts, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var media int64
		var kind string
		err := rows.Scan(&r.id, &r.PostID, &media, &kind)
		if r.IsVideo = kind == "video"; kind == "image" {
			r.Picture = media
		}
		return err
	}, `SELECT t.network_id, t.post_id, COALESCE(m.id, 0), COALESCE(m.kind, '') FROM post_targets t
		JOIN posts p ON p.id = t.post_id AND p.team_id = ?
		LEFT JOIN post_media x ON x.post_id = t.post_id AND x.position = 0
		LEFT JOIN media m ON m.id = x.media_id AND (m.thumbnail <> '' OR m.kind = 'video')
		WHERE t.account_id = ? AND t.network_id IN (`+db.Placeholders(len(ids))+`)`,
		append([]any{team}, db.Args(account, ids)...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the posts of account %d in the app: %w", account, err)
	}
	for _, r := range ownPosts {
		out[r.id] = r.OwnPost
	}
	return out, nil
}

// LastPosts returns, for each of a team's accounts, when its newest known post was published. Accounts without known
// posts are omitted.
func (s *Service) LastPosts(ctx context.Context, team int64) (map[int64]time.Time, error) {
	type lastPost struct{ account, at int64 }
	lastPosts, err := db.All(ctx, s.db, func(rows *sql.Rows, l *lastPost) error { return rows.Scan(&l.account, &l.at) },
		`SELECT a.id, MAX(p.posted_at) FROM social_accounts a JOIN account_posts p ON p.account_id = a.id
		WHERE a.team_id = ? GROUP BY a.id`, team)
	if err != nil {
		return nil, fmt.Errorf("reading the newest posts of team %d: %w", team, err)
	}
	out := map[int64]time.Time{}
	for _, l := range lastPosts {
		out[l.account] = db.Time(l.at)
	}
	return out, nil
}
