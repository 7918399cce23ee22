package stats

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/platform/db"
)

// One call of RelatedTo reads at most maxTargetPosts plus maxReferencePosts posts.
const (
	maxSeeds          = 10
	maxTargetPosts    = 2000
	maxReferencePosts = 3000
)

const (
	// targetQuery selects the posts found under a hashtag, newest first.
	targetQuery = `SELECT p.id, p.hashtags, p.found_by FROM hashtags h JOIN hashtag_links l ON l.hashtag_id = h.id
		JOIN hashtag_posts p ON p.id = l.post_id
		WHERE h.platform = ? AND h.hashtag = ? AND l.found = 1 ORDER BY l.post_id DESC LIMIT ?`
	// referenceQuery selects a random sample of all posts.
	referenceQuery = `SELECT id, hashtags, found_by FROM hashtag_posts WHERE platform = ? ORDER BY dice LIMIT ?`
)

// RelatedTo returns the hashtags that are more frequent in posts with the given hashtags than in other posts. It orders
// them by the lower confidence bound of the lift. It uses only the first ten of the given hashtags, which are called
// seeds.
//
// Posts found under a hashtag are a biased sample: hashtags related to it are overrepresented. The target sample
// therefore contains the posts found under a seed hashtag. The reference frequency of a hashtag is counted only in
// posts that were not found under that hashtag. See docs/scoring.md.
func (s *Store) RelatedTo(ctx context.Context, platform string, tags []string, limit int) ([]RelatedHashtag, error) {
	tags = tags[:min(len(tags), maxSeeds)]
	target := map[int64]storedPost{}
	for _, name := range tags {
		posts, err := s.readPosts(ctx, targetQuery, platform, name, maxTargetPosts/len(tags))
		if err != nil {
			return nil, err
		}
		for _, p := range posts {
			target[p.id] = p
		}
	}
	if len(target) == 0 {
		return []RelatedHashtag{}, nil
	}
	sample, err := s.readPosts(ctx, referenceQuery, platform, maxReferencePosts)
	if err != nil {
		return nil, err
	}
	related := rankRelated(target, sample, tags)
	related = related[:min(len(related), max(0, limit))]
	return related, s.addStatistics(ctx, platform, related)
}

func (s *Store) readPosts(ctx context.Context, query string, args ...any) ([]storedPost, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *storedPost) error {
		var hashtags, foundUnder string
		err := rows.Scan(&p.id, &hashtags, &foundUnder)
		p.hashtags, p.foundUnder = strings.Fields(hashtags), strings.Fields(foundUnder)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the hashtags of posts: %w", err)
	}
	return posts, nil
}

// minSupport is the minimum number of target posts that must contain a hashtag before it is reported as related.
const minSupport = 5

// familywiseError is the maximum probability of at least one false positive among the related hashtags of a call.
const familywiseError = 0.025

// rankRelated tests for each hashtag with enough posts whether it is related to the seeds, with a Bonferroni
// correction. A hashtag is tested if its target and reference posts together reach minSupport. The number of tests
// therefore does not depend on which hashtags are frequent in the target.
func rankRelated(target map[int64]storedPost, sample []storedPost, seeds []string) []RelatedHashtag {
	countByTag := map[string]int{}
	for _, p := range target {
		for _, name := range p.hashtags {
			countByTag[name]++
		}
	}
	reference := countReference(sample, seeds)
	tests := 0
	for _, name := range union(sortedKeys(countByTag), sortedKeys(reference.containing)) {
		if countByTag[name]+reference.containing[name]-reference.foundUnder[name] >= minSupport && !slices.Contains(seeds,
			name) {
			tests++
		}
	}
	out := []RelatedHashtag{}
	lowerBounds := map[string]float64{}
	for name, posts := range countByTag {
		if posts < minSupport || slices.Contains(seeds, name) {
			continue
		}
		l := newLift(posts, len(target), reference.containing[name]-reference.foundUnder[name],
			reference.posts-reference.foundUnder[name])
		if lowerBounds[name] = l.lowerBound(familywiseError / float64(tests)); lowerBounds[name] > 1 {
			out = append(out, RelatedHashtag{Statistics: Statistics{Hashtag: name}, Support: posts,
				Share: float64(posts) / float64(len(target)), Lift: l.estimate()})
		}
	}
	slices.SortFunc(out, func(a, b RelatedHashtag) int {
		return cmp.Or(cmp.Compare(lowerBounds[b.Hashtag], lowerBounds[a.Hashtag]), b.Support-a.Support, cmp.Compare(a.Hashtag,
			b.Hashtag))
	})
	return out
}

// referenceCounts counts hashtags in the sampled posts that have no seed hashtag.
type referenceCounts struct {
	posts                  int
	containing, foundUnder map[string]int // number of posts that contain a hashtag, and how many of them were found under it
}

func countReference(sample []storedPost, seeds []string) referenceCounts {
	out := referenceCounts{containing: map[string]int{}, foundUnder: map[string]int{}}
	for _, p := range sample {
		if slices.ContainsFunc(p.hashtags, func(name string) bool { return slices.Contains(seeds, name) }) {
			continue
		}
		out.posts++
		for _, name := range p.hashtags {
			out.containing[name]++
		}
		for _, name := range p.foundUnder {
			out.foundUnder[name]++
		}
	}
	return out
}

// addStatistics adds the known statistics of the related hashtags.
func (s *Store) addStatistics(ctx context.Context, platform string, related []RelatedHashtag) error {
	tags := make([]string, len(related))
	for i, r := range related {
		tags[i] = r.Hashtag
	}
	statistics, err := s.Get(ctx, s.db, platform, tags)
	if err != nil {
		return err
	}
	for i := range related {
		r := &related[i]
		r.Platform = platform
		if f, ok := statistics[r.Hashtag]; ok {
			r.Statistics = f
		}
	}
	return nil
}
