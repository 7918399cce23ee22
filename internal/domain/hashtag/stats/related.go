package stats

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"pressroom/internal/platform/db"
)

// One call reads no more posts than mostHere and mostElsewhere together.
const (
	maxSeeds          = 10
	maxTargetPosts    = 2000
	maxReferencePosts = 3000
)

const (
	// targetQuery are the posts that were met under a hashtag, the newest first.
	targetQuery = `SELECT p.id, p.hashtags, p.found_by FROM hashtags h JOIN hashtag_links l ON l.hashtag_id = h.id JOIN hashtag_posts p ON p.id = l.post_id
		WHERE h.platform = ? AND h.hashtag = ? AND l.found = 1 ORDER BY l.post_id DESC LIMIT ?`
	// referenceQuery is a fair sample of all posts.
	referenceQuery = `SELECT id, hashtags, found_by FROM hashtag_posts WHERE platform = ? ORDER BY dice LIMIT ?`
)

// RelatedTo is which hashtags stand beside others more often than elsewhere, those that belong to them most first. It looks at
// the first ten of those asked for.
//
// Of posts that were met under another hashtag, more carry what belongs to that one than of posts in general. So what
// stands beside a hashtag is counted in posts that were met under that very one, and how often something is elsewhere in
// posts that were not met under it. docs/scoring.md has the reasons.
func (s *Store) RelatedTo(ctx context.Context, platform string, tags []string, most int) ([]Related, error) {
	tags = tags[:min(len(tags), maxSeeds)]
	here := map[int64]storedPost{}
	for _, name := range tags {
		posts, err := s.readPosts(ctx, targetQuery, platform, name, maxTargetPosts/len(tags))
		if err != nil {
			return nil, err
		}
		for _, p := range posts {
			here[p.id] = p
		}
	}
	if len(here) == 0 {
		return []Related{}, nil
	}
	sample, err := s.readPosts(ctx, referenceQuery, platform, maxReferencePosts)
	if err != nil {
		return nil, err
	}
	related := rankRelated(here, sample, tags)
	related = related[:min(len(related), max(0, most))]
	return related, s.addFigures(ctx, platform, related)
}

func (s *Store) readPosts(ctx context.Context, query string, args ...any) ([]storedPost, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *storedPost) error {
		var carried, found string
		err := rows.Scan(&p.id, &carried, &found)
		p.hashtags, p.foundUnder = strings.Fields(carried), strings.Fields(found)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading which hashtags posts carry: %w", err)
	}
	return posts, nil
}

// minSupport is how many posts have to carry a hashtag beside one of those asked for before anything is claimed.
const minSupport = 5

// familywiseError is how often anything at all may be claimed wrongly of what stands beside some hashtags.
const familywiseError = 0.025

// rankRelated works out what belongs to the asked hashtags. All hashtags count as looked at that are on enough posts, here or
// elsewhere, to be claimed: how many those are does not depend on where they are, so that chance cannot choose among them.
func rankRelated(here map[int64]storedPost, sample []storedPost, asked []string) []Related {
	with := map[string]int{}
	for _, p := range here {
		for _, name := range p.hashtags {
			with[name]++
		}
	}
	elsewhere := countReference(sample, asked)
	looked := 0
	for _, name := range union(sortedKeys(with), sortedKeys(elsewhere.carrying)) {
		if with[name]+elsewhere.carrying[name]-elsewhere.foundUnder[name] >= minSupport && !slices.Contains(asked, name) {
			looked++
		}
	}
	out := []Related{}
	least := map[string]float64{}
	for name, posts := range with {
		if posts < minSupport || slices.Contains(asked, name) {
			continue
		}
		l := newLift(posts, len(here), elsewhere.carrying[name]-elsewhere.foundUnder[name], elsewhere.posts-elsewhere.foundUnder[name])
		if least[name] = l.lowerBound(familywiseError / float64(looked)); least[name] > 1 {
			out = append(out, Related{Figures: Figures{Hashtag: name}, Support: posts, Share: float64(posts) / float64(len(here)), Lift: l.estimate()})
		}
	}
	slices.SortFunc(out, func(a, b Related) int {
		return cmp.Or(cmp.Compare(least[b.Hashtag], least[a.Hashtag]), b.Support-a.Support, cmp.Compare(a.Hashtag, b.Hashtag))
	})
	return out
}

// referenceCounts is what a sample shows of posts that carry none of the asked hashtags.
type referenceCounts struct {
	posts                int
	carrying, foundUnder map[string]int // posts that carry a hashtag, and those of them that were met under it
}

func countReference(sample []storedPost, asked []string) referenceCounts {
	out := referenceCounts{carrying: map[string]int{}, foundUnder: map[string]int{}}
	for _, p := range sample {
		if slices.ContainsFunc(p.hashtags, func(name string) bool { return slices.Contains(asked, name) }) {
			continue
		}
		out.posts++
		for _, name := range p.hashtags {
			out.carrying[name]++
		}
		for _, name := range p.foundUnder {
			out.foundUnder[name]++
		}
	}
	return out
}

// addFigures adds what is known of the related hashtags.
func (s *Store) addFigures(ctx context.Context, platform string, related []Related) error {
	tags := make([]string, len(related))
	for i, r := range related {
		tags[i] = r.Hashtag
	}
	found, err := s.Get(ctx, s.db, platform, tags)
	if err != nil {
		return err
	}
	for i := range related {
		r := &related[i]
		r.Platform = platform
		if f, ok := found[r.Hashtag]; ok {
			r.Figures = f
		}
	}
	return nil
}
