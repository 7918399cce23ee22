package analysis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/words"
)

// SettledAge is the age at which a post has received most of its reactions. Younger posts would seem to perform worse.
const SettledAge = 48 * time.Hour

// post is a post with derived fields.
type post struct {
	*provider.Post

	format     string  // empty if unknown
	timed      bool    // whether the time is known
	young      bool    // whether the post is still receiving reactions
	engagement float64 // valid if counted
	counted    bool    // whether its reactions are known and settled
	hashtags   []int   // indexes in figures.hashtags
}

// figures holds the prepared input of the analysis.
type figures struct {
	posts            []post // posts without a time first, then by time
	counts           []string
	followers        *int64
	zone             *time.Location
	measuredAt       time.Time
	hashtags         []string       // used hashtags, sorted
	words            map[string]int // number of posts by word in the caption
	missingReactions int            // settled posts with hidden reactions
	young            int
}

// prepare sorts the posts, removes duplicates, and decides which posts are counted.
func prepare(in ProfileInput) *figures {
	all := &figures{followers: valid(in.Account.Followers), zone: in.Zone, measuredAt: in.At}
	if all.zone == nil {
		all.zone = time.UTC
	}
	all.posts = sortUnique(in.Posts)
	for i := range all.posts {
		p := &all.posts[i]
		p.format = knownFormat(p.Format)
		future := !in.At.IsZero() && p.TakenAt.After(in.At)
		p.timed = !p.TakenAt.IsZero() && !future
		p.young = future || p.timed && !in.At.IsZero() && in.At.Sub(p.TakenAt) < SettledAge
		if p.young {
			all.young++
		}
	}
	all.countReactions()
	all.readCaptions()
	return all
}

// countDated returns the number of posts with a known time.
func (f *figures) countDated() int {
	n := 0
	for _, p := range f.posts {
		if p.timed {
			n++
		}
	}
	return n
}

func knownFormat(format string) string {
	switch format {
	case provider.FormatImage, provider.FormatVideo, provider.FormatReel, provider.FormatCarousel:
		return format
	}
	return ""
}

// sortUnique returns the distinct posts in a deterministic order.
func sortUnique(given []provider.Post) []post {
	sorted := make([]*provider.Post, len(given))
	for i := range given {
		sorted[i] = &given[i]
	}
	slices.SortFunc(sorted, comparePosts)
	posts := make([]post, 0, len(given))
	seen := make(map[string]bool, len(given))
	for _, p := range sorted {
		if p.ID == "" || !seen[p.ID] {
			seen[p.ID] = true
			posts = append(posts, post{Post: p})
		}
	}
	return posts
}

// comparePosts is a total order of posts.
func comparePosts(a, b *provider.Post) int {
	if order := cmp.Or(a.TakenAt.Compare(b.TakenAt), cmp.Compare(a.ID, b.ID)); order != 0 {
		return order
	}
	figure := func(a, b *int64) int {
		if a == nil || b == nil {
			return cmp.Compare(presence(a), presence(b))
		}
		return cmp.Compare(*a, *b)
	}
	return cmp.Or(
		cmp.Compare(a.Format, b.Format), cmp.Compare(a.Caption, b.Caption), slices.Compare(a.Hashtags, b.Hashtags),
		figure(a.Likes, b.Likes), figure(a.Comments, b.Comments), figure(a.Shares, b.Shares), figure(a.Views, b.Views),
	)
}

func presence(figure *int64) int {
	if figure == nil {
		return 0
	}
	return 1
}

// valid returns the figure, or nil if it is negative.
func valid(figure *int64) *int64 {
	if figure == nil || *figure < 0 {
		return nil
	}
	return figure
}

// reactions are the figures that can make up engagement.
var reactions = []struct {
	name string
	of   func(*provider.Post) *int64
}{
	{"likes", func(p *provider.Post) *int64 { return valid(p.Likes) }},
	{"comments", func(p *provider.Post) *int64 { return valid(p.Comments) }},
	{"shares", func(p *provider.Post) *int64 { return valid(p.Shares) }},
}

// countReactions decides which figures make up engagement and adds them up. Posts must be comparable. Therefore a
// figure is used if more than half of the posts have it, and only posts with all used figures are counted.
func (f *figures) countReactions() {
	counts, posts := f.reactionCounts()
	var used []int
	f.counts = []string{}
	for k, reaction := range reactions {
		if 2*counts[k] > posts {
			used = append(used, k)
			f.counts = append(f.counts, reaction.name)
		}
	}
	for i := range f.posts {
		p := &f.posts[i]
		if p.young {
			continue
		}
		p.engagement, p.counted = sumReactions(p.Post, used)
		if !p.counted {
			f.missingReactions++
		}
	}
}

// reactionCounts returns the number of settled posts with each reaction, and with any reaction.
func (f *figures) reactionCounts() ([]int, int) {
	each, posts := make([]int, len(reactions)), 0
	for _, p := range f.posts {
		one := 0
		for k, reaction := range reactions {
			if !p.young && reaction.of(p.Post) != nil {
				each[k]++
				one = 1
			}
		}
		posts += one
	}
	return each, posts
}

// sumReactions returns the sum of these reactions. It reports false if a reaction is unknown or there are no reactions.
func sumReactions(p *provider.Post, used []int) (float64, bool) {
	total := 0.0
	for _, k := range used {
		figure := reactions[k].of(p)
		if figure == nil {
			return 0, false
		}
		total += float64(*figure)
	}
	return total, len(used) > 0
}

// readCaptions finds the hashtags of each post, from the provider and the caption, and counts the words.
func (f *figures) readCaptions() {
	read := captionReader{words: map[string]int{}, normalized: map[string]string{}}
	names := make([][]string, len(f.posts))
	places := map[string]int{}
	for i, p := range f.posts {
		names[i] = read.post(p.Post)
		for _, name := range names[i] {
			places[name] = 0
		}
	}
	f.words = read.words
	f.hashtags = slices.Sorted(maps.Keys(places))
	for i, name := range f.hashtags {
		places[name] = i
	}
	for i := range f.posts {
		f.posts[i].hashtags = make([]int, len(names[i]))
		for k, name := range names[i] {
			f.posts[i].hashtags[k] = places[name]
		}
		slices.Sort(f.posts[i].hashtags)
	}
}

// captionReader parses the captions of posts.
type captionReader struct {
	words      map[string]int    // number of posts by word in the caption
	normalized map[string]string // normalized hashtags by the provider's spelling
}

// post counts the words of a post and returns its hashtags.
func (r *captionReader) post(p *provider.Post) []string {
	caption := words.Parse(p.Caption)
	for _, word := range caption.Words {
		r.words[word]++
	}
	names := caption.Hashtags
	for _, hashtag := range p.Hashtags {
		name, seen := r.normalized[hashtag]
		if !seen {
			name, _ = provider.ParseHashtag(hashtag) // "" if invalid
			r.normalized[hashtag] = name
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
