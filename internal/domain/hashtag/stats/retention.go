package stats

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// postTTL is how long a post is stored after it was last found.
	postTTL = 90 * 24 * time.Hour
	// maxPostsPerHashtag limits the stored posts per hashtag. The condition of the index hashtags_crowded contains the
	// same number.
	maxPostsPerHashtag = 1000
	// Batch sizes of one sweep.
	sweepPosts    = 500
	sweepHashtags = 20
)

// Sweep deletes a batch of old posts, and unlinks excess posts from hashtags that have more than maxPostsPerHashtag.
// Posts that were not found under the hashtag are unlinked first, then the oldest. It returns the number of deleted
// posts and links.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	deletedCount, err := s.deleteOldPosts(ctx)
	if err != nil {
		return 0, fmt.Errorf("deleting old posts: %w", err)
	}
	hashtagIDs, err := queryIDs(ctx, s.db, crowdedQuery, sweepHashtags)
	if err != nil {
		return 0, fmt.Errorf("finding crowded hashtags: %w", err)
	}
	for _, id := range hashtagIDs {
		n, err := s.trimHashtag(ctx, id)
		if err != nil {
			return 0, fmt.Errorf("trimming a crowded hashtag: %w", err)
		}
		deletedCount += n
	}
	return deletedCount, nil
}

const (
	oldPostsQuery = `SELECT id FROM hashtag_posts WHERE seen_at <= ? ORDER BY seen_at LIMIT ?`
	crowdedQuery  = `SELECT id FROM hashtags WHERE seen > 1000 ORDER BY id LIMIT ?`
	excessQuery   = `SELECT post_id FROM hashtag_links WHERE hashtag_id = ? ORDER BY found, post_id LIMIT ?`
)

// inKeysCondition matches IDs in a JSON object built by keySet.
const inKeysCondition = `IN (SELECT CAST(key AS BIGINT) FROM json_each(?))`

func queryIDs(ctx context.Context, q db.Querier, query string, args ...any) ([]int64, error) {
	return db.All(ctx, q, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) }, query, args...)
}

func keySet(ids []int64) (string, error) {
	set := make(map[int64]int, len(ids))
	for _, id := range ids {
		set[id] = 0
	}
	return toJSON(set)
}

// deleteOldPosts deletes posts that were not found again within postTTL.
func (s *Store) deleteOldPosts(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "hashtag.forget", func(ctx context.Context, tx *db.Tx) error {
		until := db.Micros(tx.Now().Add(-postTTL))
		postIDs, err := queryIDs(ctx, tx, `SELECT id FROM hashtag_posts WHERE id IN (`+oldPostsQuery+`) AND seen_at <= ?
			ORDER BY platform, post`+s.db.ForUpdate(), until, sweepPosts, until)
		if err != nil || len(postIDs) == 0 {
			return err
		}
		list, err := keySet(postIDs)
		if err != nil {
			return err
		}
		if _, err := queryIDs(ctx, tx, `SELECT id FROM hashtags WHERE id IN (SELECT hashtag_id FROM hashtag_links
			WHERE post_id `+inKeysCondition+`) ORDER BY platform, hashtag`+s.db.ForUpdate(), list); err != nil {
			return err
		}
		counts := map[int64]int64{}
		if err := deleteLinks(ctx, tx, counts, `post_id `+inKeysCondition, list); err != nil {
			return err
		}
		n = int64(len(postIDs))
		if err := deletePosts(ctx, tx, postIDs); err != nil {
			return err
		}
		return addToCounts(ctx, tx, counts)
	})
	return n, err
}

// trimHashtag unlinks a batch of the excess posts of a hashtag and deletes the posts that have no links left. It
// returns the number of deleted links.
func (s *Store) trimHashtag(ctx context.Context, hashtag int64) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "hashtag.thin", func(ctx context.Context, tx *db.Tx) error {
		n = 0
		var seen int64
		if err := tx.QueryRow(ctx, `SELECT seen FROM hashtags WHERE id = ?`, hashtag).Scan(&seen); err != nil {
			return err
		}
		posts, err := queryIDs(ctx, tx, excessQuery, hashtag, max(0, min(seen-maxPostsPerHashtag, sweepPosts)))
		if err != nil || len(posts) == 0 {
			return err
		}
		list, err := keySet(posts)
		if err != nil {
			return err
		}
		if _, err := queryIDs(ctx, tx, `SELECT id FROM hashtag_posts WHERE id `+inKeysCondition+`
			ORDER BY platform, post`+s.db.ForUpdate(), list); err != nil {
			return err
		}
		// Skip the batch if another node has trimmed the hashtag meanwhile.
		var seenNow int64
		if err := tx.QueryRow(ctx, `SELECT seen FROM hashtags WHERE id = ?`+s.db.ForUpdate(), hashtag).
			Scan(&seenNow); err != nil || seenNow < seen {
			return err
		}
		counts := map[int64]int64{}
		if err := deleteLinks(ctx, tx, counts, `hashtag_id = ? AND post_id `+inKeysCondition, hashtag, list); err != nil {
			return err
		}
		n = -counts[hashtag]
		unlinkedIDs, err := queryIDs(ctx, tx, `SELECT id FROM hashtag_posts WHERE id `+inKeysCondition+` AND NOT EXISTS (SELECT 1
			FROM hashtag_links WHERE post_id = hashtag_posts.id)`, list)
		if err != nil {
			return err
		}
		if err := deletePosts(ctx, tx, unlinkedIDs); err != nil {
			return err
		}
		return addToCounts(ctx, tx, counts)
	})
	return n, err
}

// deletePosts deletes posts without links.
func deletePosts(ctx context.Context, tx *db.Tx, posts []int64) error {
	if len(posts) == 0 {
		return nil
	}
	list, err := keySet(posts)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM hashtag_posts WHERE id `+inKeysCondition, list); err != nil {
		return fmt.Errorf("deleting posts: %w", err)
	}
	return nil
}
