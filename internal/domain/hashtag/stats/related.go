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
	mostAsked     = 10
	mostHere      = 2000
	mostElsewhere = 3000
)

const (
	// hereQuery are the posts that were met under a hashtag, the newest first.
	hereQuery = `SELECT p.id, p.hashtags, p.found_by FROM hashtags h JOIN hashtag_links l ON l.hashtag_id = h.id JOIN hashtag_posts p ON p.id = l.post_id
		WHERE h.platform = ? AND h.hashtag = ? AND l.found = 1 ORDER BY l.post_id DESC LIMIT ?`
	// sampleQuery is a fair sample of all posts.
	sampleQuery = `SELECT id, hashtags, found_by FROM hashtag_posts WHERE platform = ? ORDER BY dice LIMIT ?`
)

// Beside is which hashtags stand beside others more often than elsewhere, those that belong to them most first. It looks at
// the first ten of those asked for.
//
// Of posts that were met under another hashtag, more carry what belongs to that one than of posts in general. So what
// stands beside a hashtag is counted in posts that were met under that very one, and how often something is elsewhere in
// posts that were not met under it. docs/scoring.md has the reasons.
func (s *Store) Beside(ctx context.Context, platform string, tags []string, most int) ([]Related, error) {
	tags = tags[:min(len(tags), mostAsked)]
	here := map[int64]met{}
	for _, name := range tags {
		posts, err := s.posts(ctx, hereQuery, platform, name, mostHere/len(tags))
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
	sample, err := s.posts(ctx, sampleQuery, platform, mostElsewhere)
	if err != nil {
		return nil, err
	}
	related := relate(here, sample, tags)
	related = related[:min(len(related), max(0, most))]
	return related, s.figuresOf(ctx, platform, related)
}

func (s *Store) posts(ctx context.Context, query string, args ...any) ([]met, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *met) error {
		var carried, found string
		err := rows.Scan(&p.id, &carried, &found)
		p.hashtags, p.found = strings.Fields(carried), strings.Fields(found)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading which hashtags posts carry: %w", err)
	}
	return posts, nil
}

// support is how many posts have to carry a hashtag beside one of those asked for before anything is claimed.
const support = 5

// doubt is how often anything at all may be claimed wrongly of what stands beside some hashtags.
const doubt = 0.025

// relate works out what belongs to the asked hashtags. All hashtags count as looked at that are on enough posts, here or
// elsewhere, to be claimed: how many those are does not depend on where they are, so that chance cannot choose among them.
func relate(here map[int64]met, sample []met, asked []string) []Related {
	with := map[string]int{}
	for _, p := range here {
		for _, name := range p.hashtags {
			with[name]++
		}
	}
	elsewhere := countElsewhere(sample, asked)
	looked := 0
	for _, name := range union(names(with), names(elsewhere.with)) {
		if with[name]+elsewhere.with[name]-elsewhere.own[name] >= support && !slices.Contains(asked, name) {
			looked++
		}
	}
	out := []Related{}
	least := map[string]float64{}
	for name, posts := range with {
		if posts < support || slices.Contains(asked, name) {
			continue
		}
		l := lifted(posts, len(here), elsewhere.with[name]-elsewhere.own[name], elsewhere.of-elsewhere.own[name])
		if least[name] = l.least(doubt / float64(looked)); least[name] > 1 {
			out = append(out, Related{Figures: Figures{Hashtag: name}, Support: posts, Share: float64(posts) / float64(len(here)), Lift: l.value()})
		}
	}
	slices.SortFunc(out, func(a, b Related) int {
		return cmp.Or(cmp.Compare(least[b.Hashtag], least[a.Hashtag]), b.Support-a.Support, cmp.Compare(a.Hashtag, b.Hashtag))
	})
	return out
}

// rest is what a sample shows of posts that carry none of the asked hashtags.
type rest struct {
	of        int
	with, own map[string]int // posts that carry a hashtag, and those of them that were met under it
}

func countElsewhere(sample []met, asked []string) rest {
	out := rest{with: map[string]int{}, own: map[string]int{}}
	for _, p := range sample {
		if slices.ContainsFunc(p.hashtags, func(name string) bool { return slices.Contains(asked, name) }) {
			continue
		}
		out.of++
		for _, name := range p.hashtags {
			out.with[name]++
		}
		for _, name := range p.found {
			out.own[name]++
		}
	}
	return out
}

// figuresOf adds what is known of the related hashtags.
func (s *Store) figuresOf(ctx context.Context, platform string, related []Related) error {
	tags := make([]string, len(related))
	for i, r := range related {
		tags[i] = r.Hashtag
	}
	found, err := s.Of(ctx, s.db, platform, tags)
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
