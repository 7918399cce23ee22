package analytics

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	maxExcerpt = 300  // characters
	maxID      = 300  // characters
	maxURL     = 2000 // characters
)

// store stores the result of a complete run.
func (r *collectionRun) store(ctx context.Context, tx *db.Tx, collected network.Collection, since time.Time) error {
	if err := r.storePosts(ctx, tx, collected.Posts); err != nil {
		return err
	}
	if err := r.storeFollowers(ctx, tx, collected.Followers); err != nil {
		return err
	}
	completeSince := since
	if len(collected.Posts) >= maxPostsPerRun {
		oldest := slices.MinFunc(collected.Posts, func(a, b network.CollectedPost) int { return a.PostedAt.Compare(b.PostedAt) })
		completeSince = later(since, oldest.PostedAt)
	}
	if err := r.deleteMissing(ctx, tx, completeSince); err != nil {
		return err
	}
	switch contiguous := !r.collectedAt.IsZero() && !completeSince.After(r.collectedAt); {
	case !contiguous:
		r.knownFrom = completeSince
	case completeSince.Before(r.knownFrom):
		r.knownFrom = completeSince
	}
	r.collectedAt, r.failureCount, r.lastErrorClass = tx.Now(), 0, ""
	return nil
}

// storePosts stores the metrics of posts. If the network omits a metric that it provided earlier, the earlier value is
// kept. Invalid posts are skipped.
func (r *collectionRun) storePosts(ctx context.Context, tx *db.Tx, posts []network.CollectedPost) error {
	for _, p := range posts {
		if p.ID == "" || len(p.ID) > maxID || p.PostedAt.IsZero() || p.PostedAt.After(tx.Now().Add(overlap)) {
			continue
		}
		_, err := tx.Exec(ctx, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url,
			reach, views, likes, comments, shares, saves, clicks, collected_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account_id, network_id) DO UPDATE SET
			posted_at = excluded.posted_at, format = excluded.format, excerpt = excluded.excerpt, url = excluded.url,
			reach = COALESCE(excluded.reach, account_posts.reach), views = COALESCE(excluded.views,
			account_posts.views),
			likes = COALESCE(excluded.likes, account_posts.likes), comments = COALESCE(excluded.comments,
			account_posts.comments),
			shares = COALESCE(excluded.shares, account_posts.shares), saves = COALESCE(excluded.saves,
			account_posts.saves),
			clicks = COALESCE(excluded.clicks, account_posts.clicks), collected_at = excluded.collected_at`,
			r.account, p.ID, db.Micros(p.PostedAt), knownFormat(p.Format), network.Clip(p.Text, maxExcerpt),
			safeURL(p.URL),
			toNull(p.Reach), toNull(p.Views), toNull(p.Likes), toNull(p.Comments), toNull(p.Shares), toNull(p.Saves),
			toNull(p.Clicks), db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("storing metrics of account %d: %w", r.account, err)
		}
	}
	return nil
}

// safeURL returns a URL that is safe to show as a link, or "" if the text is not one.
func safeURL(text string) string {
	if len(text) > maxURL {
		return ""
	}
	return network.WebURL(text)
}

// toNull converts a metric to a nullable column value. Networks return −1 for unknown metrics.
func toNull(n *int64) sql.NullInt64 {
	if n == nil || *n < 0 {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: *n, Valid: true}
}

// deleteMissing deletes posts newer than completeSince that the network omitted in this run and in the previous one.
// They were probably deleted on the network.
func (r *collectionRun) deleteMissing(ctx context.Context, tx *db.Tx, completeSince time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM account_posts WHERE account_id = ? AND posted_at > ? AND collected_at < ?`,
		r.account, db.Micros(completeSince), db.Micros(r.collectedAt))
	if err != nil {
		return fmt.Errorf("deleting missing posts of account %d: %w", r.account, err)
	}
	return nil
}

func (r *collectionRun) storeFollowers(ctx context.Context, tx *db.Tx, followers *int64) error {
	n := toNull(followers)
	if !n.Valid {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (account_id, day) DO UPDATE SET followers = excluded.followers, measured_at = excluded.measured_at`,
		r.account, dayOf(tx.Now(), r.zone), n.Int64, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("storing the followers of account %d: %w", r.account, err)
	}
	return nil
}

// deleteExpired deletes metrics that the plan no longer keeps. It keeps follower counts for one more day, because
// changes are computed from them.
func (r *collectionRun) deleteExpired(ctx context.Context, tx *db.Tx) error {
	first := firstDay(tx.Now(), r.zone, r.retentionDays)
	if _, err := tx.Exec(ctx, `DELETE FROM account_posts WHERE account_id = ? AND posted_at < ?`, r.account,
		db.Micros(first)); err != nil {
		return fmt.Errorf("deleting posts of account %d: %w", r.account, err)
	}
	oldestDay := dayBefore(first, r.zone)
	if r.retentionDays == 0 {
		oldestDay = dayOf(first, r.zone)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM account_days WHERE account_id = ? AND day < ?`, r.account,
		oldestDay); err != nil {
		return fmt.Errorf("deleting days of account %d: %w", r.account, err)
	}
	switch {
	case r.retentionDays == 0: // The plan keeps no metrics.
		r.collectedAt, r.knownFrom = time.Time{}, time.Time{}
	case !r.knownFrom.IsZero():
		r.knownFrom = later(r.knownFrom, first)
	}
	return nil
}

// collectionState is the state of an account's collection.
type collectionState struct {
	collectedAt, knownFrom time.Time          // as in collectionRun
	failureCount           int                // consecutive failed runs
	lastErrorClass         network.ErrorClass // class of the error that ended the last run, or ""
}

func (s *Service) readState(ctx context.Context, team, account int64) (collectionState, error) {
	states, err := db.All(ctx, s.db, func(rows *sql.Rows, st *collectionState) error {
		var collectedAt, knownFrom int64
		err := rows.Scan(&collectedAt, &knownFrom, &st.failureCount, &st.lastErrorClass)
		st.collectedAt, st.knownFrom = db.Time(collectedAt), db.Time(knownFrom)
		return err
	}, `SELECT c.collected_at, c.known_from, c.fails, c.failed_by FROM account_collections c
		JOIN social_accounts a ON a.id = c.account_id WHERE a.team_id = ? AND a.id = ?`, team, account)
	if err != nil {
		return collectionState{}, fmt.Errorf("reading the state of a collection: %w", err)
	}
	if len(states) == 0 {
		return collectionState{}, nil
	}
	return states[0], nil
}

// storedPost is a post without its text.
type storedPost struct {
	id       string
	postedAt time.Time
	format   string
	url      string
	counts   AccountAnalyticsBestPostCounts
}

// maxAnalyzed is the maximum number of posts in an analysis.
const maxAnalyzed = 20_000

const postsQuery = `SELECT p.network_id, p.posted_at, p.format, p.url, p.reach, p.views, p.likes, p.comments,
	p.shares, p.saves, p.clicks
	FROM social_accounts a JOIN account_posts p ON p.account_id = a.id WHERE a.team_id = ? AND p.account_id = ?
	AND p.posted_at >= ? AND p.posted_at <= ? ORDER BY p.posted_at DESC LIMIT ?`

// readPosts returns the posts of an account between two times, newest first.
func (s *Service) readPosts(ctx context.Context, team, account int64, from, to time.Time) ([]storedPost, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *storedPost) error {
		var at int64
		counts := &p.counts
		err := rows.Scan(&p.id, &at, &p.format, &p.url, &counts.Reach, &counts.Views, &counts.Likes, &counts.Comments, &counts.Shares,
			&counts.Saves, &counts.Clicks)
		p.postedAt = db.Time(at)
		return err
	}, postsQuery, team, account, db.Micros(from), db.Micros(to), maxAnalyzed)
	if err != nil {
		return nil, fmt.Errorf("reading an account's posts: %w", err)
	}
	return posts, nil
}

func (s *Service) excerpt(ctx context.Context, team, account int64, id string) (string, error) {
	var text string
	err := s.db.QueryRow(ctx, `SELECT p.excerpt FROM social_accounts a JOIN account_posts p ON p.account_id = a.id
		WHERE a.team_id = ? AND p.account_id = ? AND p.network_id = ?`, team, account, id).Scan(&text)
	if err != nil {
		return "", fmt.Errorf("reading a post's text: %w", err)
	}
	return text, nil
}

// followerCount is the number of followers on a day.
type followerCount struct {
	day       string // YYYY-MM-DD
	followers int64
	at        time.Time // of the measurement
}

const daysQuery = `SELECT d.day, d.followers, d.measured_at FROM social_accounts a
	JOIN account_days d ON d.account_id = a.id WHERE a.team_id = ? AND d.account_id = ? 
	AND d.day >= COALESCE((SELECT MAX(b.day) FROM account_days b WHERE b.account_id = ? AND b.day <= ?), '') ORDER BY d.day`

// dailyCounts returns an account's daily follower counts, sorted by day. It starts with the newest count that is not
// later than the day in before, if there is one, and omits older counts.
func (s *Service) dailyCounts(ctx context.Context, team, account int64, before string) ([]followerCount, error) {
	counts, err := db.All(ctx, s.db, func(rows *sql.Rows, m *followerCount) error {
		var at int64
		err := rows.Scan(&m.day, &m.followers, &at)
		m.at = db.Time(at)
		return err
	}, daysQuery, team, account, account, before)
	if err != nil {
		return nil, fmt.Errorf("reading an account's followers: %w", err)
	}
	return counts, nil
}
