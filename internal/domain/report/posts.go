package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// The lists of a report's posts.
const (
	listPosts  = "posts"  // of a profile
	listTop    = "top"    // top posts of a hashtag, as ranked by the network
	listRecent = "recent" // newest posts of a hashtag
)

const (
	postsPerInsert = 200    // maximum number of posts per INSERT statement
	maxPosts       = 10_000 // maximum number of stored posts per report
)

// savePosts stores the posts of a measurement. Posts of a hashtag replace the stored posts. Posts of a profile are
// added or updated, and stored posts that the provider no longer returns are kept. At most the newest maxPosts are
// kept.
func savePosts(ctx context.Context, tx *db.Tx, report string, m measurement) error {
	if m.replacesPosts {
		if _, err := tx.Exec(ctx, `DELETE FROM report_posts WHERE report_id = ?`, report); err != nil {
			return fmt.Errorf("replacing the posts of report %s: %w", report, err)
		}
	}
	for list, posts := range m.posts {
		for batch := range slices.Chunk(posts, postsPerInsert) {
			if err := insertPosts(ctx, tx, report, list, batch); err != nil {
				return err
			}
		}
	}
	_, err := tx.Exec(ctx, `DELETE FROM report_posts WHERE report_id = ? AND (taken_at, post) < (SELECT taken_at, post
		FROM report_posts WHERE report_id = ? ORDER BY taken_at DESC, post DESC LIMIT 1 OFFSET ?)`,
		report, report, maxPosts-1)
	if err != nil {
		return fmt.Errorf("deleting the oldest posts of report %s: %w", report, err)
	}
	return nil
}

func insertPosts(ctx context.Context, tx *db.Tx, report, list string, posts []provider.Post) error {
	args := make([]any, 0, 13*len(posts))
	for _, p := range posts {
		args = append(args, report, list, p.ID, db.Micros(p.TakenAt), p.Format, p.Caption, p.URL, p.Likes, p.Comments,
			p.Shares, p.Views, p.Duration.Microseconds())
	}
	row := "(" + db.Placeholders(12) + ")"
	_, err := tx.Exec(ctx,
		`INSERT INTO report_posts (report_id, shown, post, taken_at, format, caption, url, likes, comments, shares,
		views, duration) VALUES `+
			strings.TrimSuffix(strings.Repeat(row+", ", len(posts)), ", ")+`
		ON CONFLICT (report_id, shown, post) DO UPDATE
		SET taken_at = excluded.taken_at, format = excluded.format, caption = excluded.caption, url = excluded.url,
			likes = excluded.likes, comments = excluded.comments, shares = excluded.shares,
			views = excluded.views, duration = excluded.duration`, args...)
	if err != nil {
		return fmt.Errorf("storing posts of report %s: %w", report, err)
	}
	return nil
}

// listedPost is a post with the list it belongs to.
type listedPost struct {
	provider.Post

	list string
}

const postColumns = `shown, post, taken_at, format, caption, url, likes, comments, shares, views, duration`

func scanPost(rows *sql.Rows, p *listedPost) error {
	var takenAt, duration int64
	err := rows.Scan(&p.list, &p.ID, &takenAt, &p.Format, &p.Caption, &p.URL, &p.Likes, &p.Comments, &p.Shares, &p.Views,
		&duration)
	p.TakenAt, p.Duration = db.Time(takenAt), time.Duration(duration)*time.Microsecond
	return err
}

// postsQuery selects a page of a report's posts, newest first.
const postsQuery = `SELECT ` + postColumns + ` FROM report_posts WHERE report_id = ? AND (taken_at, post) < (?, ?)
	ORDER BY taken_at DESC, post DESC LIMIT ?`

func (s *Service) posts(ctx context.Context, report string, after position, limit int) ([]listedPost, error) {
	out, err := db.All(ctx, s.db, scanPost, postsQuery, report, after.publishedAt, after.post, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the posts of report %s: %w", report, err)
	}
	return out, nil
}
