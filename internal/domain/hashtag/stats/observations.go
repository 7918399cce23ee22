package stats

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/provider"
	caption "pressroom.example/pressroom/internal/domain/report/words"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// maxHashtagsPerPost limits the hashtags stored per post. Instagram allows 30.
	maxHashtagsPerPost = 40
	// maxFinders limits the number of hashtags under which a post is recorded as found.
	maxFinders     = 10
	maxPostIDBytes = 100
)

// TaggedPost is a post with its hashtags.
type TaggedPost struct {
	ID       string   // assigned by the network
	Hashtags []string // distinct and sorted
}

// taggedPosts returns the distinct posts with their hashtags from the provider and from the caption. It adds the
// hashtag under which the posts were found, unless it is empty.
func taggedPosts(posts []provider.Post, foundTag string) []TaggedPost {
	hashtagsByPost := make(map[string][]string, len(posts))
	for _, p := range posts {
		if p.ID == "" || len(p.ID) > maxPostIDBytes {
			continue
		}
		tags := caption.Hashtags(p.Caption)
		for _, text := range p.Hashtags {
			if name, err := provider.ParseHashtag(text); err == nil && !slices.Contains(tags, name) {
				tags = append(tags, name)
			}
		}
		tags = tags[:min(len(tags), maxHashtagsPerPost)]
		if foundTag != "" {
			tags = append(tags, foundTag)
		}
		hashtagsByPost[p.ID] = union(hashtagsByPost[p.ID], tags)
	}
	out := make([]TaggedPost, 0, len(hashtagsByPost))
	for _, id := range sortedKeys(hashtagsByPost) {
		out = append(out, TaggedPost{ID: id, Hashtags: hashtagsByPost[id]})
	}
	return out
}

// union returns the distinct names in a and b, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// RecordPosts stores the hashtags of posts that were not found by hashtag, for example posts of a profile. A known post
// is updated.
func (s *Store) RecordPosts(ctx context.Context, tx *db.Tx, platform string, posts []provider.Post) error {
	return s.updatePosts(ctx, tx, platform, taggedPosts(posts, ""), "")
}

// updatePosts stores the hashtags of posts. foundTag is the hashtag under which the posts were found, or empty.
func (s *Store) updatePosts(ctx context.Context, tx *db.Tx, platform string, posts []TaggedPost, foundTag string) error {
	if len(posts) == 0 {
		return nil
	}
	hashtagsByPost := make(map[string][]string, len(posts))
	for _, p := range posts {
		hashtagsByPost[p.ID] = p.Hashtags
	}
	storedPosts, err := s.lockPosts(ctx, tx, platform, hashtagsByPost)
	if err != nil {
		return err
	}
	c := changes{posts: map[string]postRow{}, changedHashtags: map[string]bool{}}
	for _, post := range storedPosts {
		c.diff(post, hashtagsByPost[post.networkID], foundTag)
	}
	ids, err := s.lockHashtags(ctx, tx, platform, sortedKeys(c.changedHashtags))
	if err != nil {
		return err
	}
	return c.write(ctx, tx, ids)
}

// storedPost is a stored post with its hashtags and the hashtags under which it was found.
type storedPost struct {
	id                   int64
	networkID            string // assigned by the network
	hashtags, foundUnder []string
}

// lockPosts inserts new posts that have hashtags and locks the rows of all posts. To avoid deadlocks, all transactions
// lock posts in the same order, and before hashtags.
func (s *Store) lockPosts(ctx context.Context, tx *db.Tx, platform string,
	hashtagsByPost map[string][]string) ([]storedPost, error) {
	shuffleKeys := make(map[string]int64, len(hashtagsByPost))
	for post, tags := range hashtagsByPost {
		if len(tags) > 0 {
			shuffleKeys[post] = shuffleKey(platform, post)
		}
	}
	list, err := toJSON(shuffleKeys)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO hashtag_posts (platform, post, dice, seen_at)
		SELECT ?, key, CAST(CAST(value AS TEXT) AS BIGINT), CAST(? AS BIGINT)
		FROM json_each(?) WHERE true ORDER BY key ON CONFLICT DO NOTHING`, platform, db.Micros(tx.Now()), list)
	if err != nil {
		return nil, fmt.Errorf("adding posts: %w", err)
	}
	if list, err = toJSON(positions(sortedKeys(hashtagsByPost))); err != nil {
		return nil, err
	}
	rows, err := db.AllSized(ctx, tx, len(hashtagsByPost), func(rows *sql.Rows, p *storedPost) error {
		var tags, found string
		err := rows.Scan(&p.id, &p.networkID, &tags, &found)
		p.hashtags, p.foundUnder = strings.Fields(tags), strings.Fields(found)
		return err
	}, `SELECT id, post, hashtags, found_by FROM hashtag_posts WHERE platform = ? AND post IN (SELECT key
		FROM json_each(?)) ORDER BY post`+s.db.ForUpdate(), platform, list)
	if err != nil {
		return nil, fmt.Errorf("reading posts: %w", err)
	}
	return rows, nil
}

// shuffleKey returns a deterministic pseudorandom number that is not negative. Ordering by it shuffles posts.
func shuffleKey(platform, post string) int64 {
	sum := sha256.Sum256([]byte(platform + " " + post))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// changes collects the row changes for a batch of posts.
type changes struct {
	posts                                     map[string]postRow // by ID, as text
	untaggedPosts                             []int64            // posts without hashtags
	changedHashtags                           map[string]bool    // hashtags whose links change
	addedLinks, removedLinks, newlyFoundLinks []link
}

type postRow struct {
	ID       int64  `json:"i"`
	Hashtags string `json:"h"`
	FoundBy  string `json:"f"`
}

// link connects a post with a hashtag.
type link struct {
	post  int64
	name  string
	found int64 // 1 if the post was found under the hashtag, otherwise 0
}

// diff adds the changes between a stored post and its current hashtags. foundTag is the hashtag under which the post
// was found now, or empty.
func (c *changes) diff(p storedPost, hashtags []string, foundTag string) {
	foundUnder := p.foundUnder
	if foundTag != "" && len(foundUnder) < maxFinders {
		foundUnder = union(foundUnder, []string{foundTag})
	}
	hashtags = union(hashtags, foundUnder) // a post may be listed under a hashtag that is not in its caption
	for _, name := range hashtags {
		switch l := (link{post: p.id, name: name, found: db.BoolToInt(slices.Contains(foundUnder, name))}); {
		case !slices.Contains(p.hashtags, name):
			c.addLink(&c.addedLinks, l)
		case l.found == 1 && !slices.Contains(p.foundUnder, name):
			c.addLink(&c.newlyFoundLinks, l)
		}
	}
	for _, name := range p.hashtags {
		if !slices.Contains(hashtags, name) {
			c.addLink(&c.removedLinks, link{post: p.id, name: name})
		}
	}
	if len(hashtags) == 0 {
		c.untaggedPosts = append(c.untaggedPosts, p.id)
		return
	}
	c.posts[strconv.FormatInt(p.id, 10)] = postRow{ID: p.id, Hashtags: strings.Join(hashtags, " "),
		FoundBy: strings.Join(foundUnder, " ")}
}

func (c *changes) addLink(list *[]link, l link) {
	*list = append(*list, l)
	c.changedHashtags[l.name] = true
}

// linksJSON returns links as an object for json_each.
func linksJSON(links []link, ids map[string]int64) (string, error) {
	type pair struct {
		Post    int64 `json:"p"`
		Hashtag int64 `json:"h"`
		Found   int64 `json:"f"`
	}
	rows := make(map[string]pair, len(links))
	for i, l := range links {
		rows[strconv.Itoa(i)] = pair{l.post, ids[l.name], l.found}
	}
	return toJSON(rows)
}

// linkRowsQuery selects the IDs of posts and hashtags from the result of linksJSON.
const linkRowsQuery = `SELECT CAST(value ->> 'p' AS BIGINT), CAST(value ->> 'h' AS BIGINT) FROM json_each(?)`

// write applies the changes. The caller must have locked all affected rows. ids maps the affected hashtags to their
// IDs.
func (c *changes) write(ctx context.Context, tx *db.Tx, ids map[string]int64) error {
	counts := map[int64]int64{}
	for _, l := range c.addedLinks {
		counts[ids[l.name]]++
	}
	for _, step := range []struct {
		links []link
		text  string
	}{
		{c.addedLinks, `INSERT INTO hashtag_links (post_id, hashtag_id, found)
			SELECT CAST(value ->> 'p' AS BIGINT), CAST(value ->> 'h' AS BIGINT), CAST(value ->> 'f' AS BIGINT)
			FROM json_each(?)`},
		{c.newlyFoundLinks, `UPDATE hashtag_links SET found = 1 WHERE (post_id, hashtag_id) IN (` + linkRowsQuery + `)`},
	} {
		list, err := linksJSON(step.links, ids)
		if err != nil {
			return err
		}
		if len(step.links) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, step.text, list); err != nil {
			return fmt.Errorf("linking hashtags with posts: %w", err)
		}
	}
	if len(c.removedLinks) > 0 {
		list, err := linksJSON(c.removedLinks, ids)
		if err != nil {
			return err
		}
		if err := deleteLinks(ctx, tx, counts, `(post_id, hashtag_id) IN (`+linkRowsQuery+`)`, list); err != nil {
			return err
		}
	}
	if err := addToCounts(ctx, tx, counts); err != nil {
		return err
	}
	if err := deletePosts(ctx, tx, c.untaggedPosts); err != nil {
		return err
	}
	return c.writePosts(ctx, tx)
}

func (c *changes) writePosts(ctx context.Context, tx *db.Tx) error {
	list, err := toJSON(c.posts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE hashtag_posts SET hashtags = w.tags, found_by = w.finders, seen_at = ?
		FROM (SELECT CAST(value ->> 'i' AS BIGINT) AS post_id, value ->> 'h' AS tags, value ->> 'f' AS finders
		FROM json_each(?)) w WHERE id = w.post_id`, db.Micros(tx.Now()), list)
	if err != nil {
		return fmt.Errorf("updating posts: %w", err)
	}
	return nil
}

// deleteLinks deletes the links that match condition, and decrements the counts of their hashtags.
func deleteLinks(ctx context.Context, tx *db.Tx, counts map[int64]int64, condition string, args ...any) error {
	hashtagIDs, err := db.All(ctx, tx, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`DELETE FROM hashtag_links WHERE `+condition+` RETURNING hashtag_id`, args...)
	if err != nil {
		return fmt.Errorf("unlinking hashtags from posts: %w", err)
	}
	for _, id := range hashtagIDs {
		counts[id]--
	}
	return nil
}

// addToCounts adds counts to the hashtags' numbers of posts, by hashtag ID, and deletes the hashtags that are no longer
// used.
func addToCounts(ctx context.Context, tx *db.Tx, counts map[int64]int64) error {
	maps.DeleteFunc(counts, func(_, n int64) bool { return n == 0 })
	if len(counts) == 0 {
		return nil
	}
	list, err := toJSON(counts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE hashtags SET seen = seen + w.more
		FROM (SELECT CAST(key AS BIGINT) AS hashtag_id, CAST(CAST(value AS TEXT) AS BIGINT) AS more FROM json_each(?)) w
		WHERE id = w.hashtag_id`, list)
	if err != nil {
		return fmt.Errorf("updating post counts of hashtags: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM hashtags WHERE id IN (SELECT CAST(key AS BIGINT) FROM json_each(?))
		AND `+unusedCondition, list)
	if err != nil {
		return fmt.Errorf("deleting hashtags: %w", err)
	}
	return nil
}

// unusedCondition is an SQL condition for hashtags that have no requests and no data.
const unusedCondition = `seen = 0 AND due_at = 0 AND measured_at = 0`
