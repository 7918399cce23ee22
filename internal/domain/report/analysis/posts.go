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

// post is a post of the provider with derived fields.
type post struct {
	*provider.Post

	format     string  // empty if unknown
	hasTime    bool    // whether the time is known
	isYoung    bool    // whether the post is younger than SettledAge
	engagement float64 // sum of the counted reactions; valid if isCounted
	isCounted  bool    // whether the engagement is known and the post is not young
	hashtags   []int   // indexes in profile.hashtags
}

// profile is the prepared input of the analysis.
type profile struct {
	posts            []post   // posts without a time first, then by time
	counts           []string // names of the reactions that make up engagement
	followers        *int64
	zone             *time.Location
	measuredAt       time.Time
	hashtags         []string       // used hashtags, sorted
	words            map[string]int // number of posts by word in the caption
	missingReactions int            // number of settled posts that lack some of the reactions in counts
	youngCount       int            // number of young posts
}

// prepare sorts the posts, removes duplicates, and decides which posts are counted.
func prepare(in ProfileInput) *profile {
	prof := &profile{followers: valid(in.Account.Followers), zone: in.Zone, measuredAt: in.At}
	if prof.zone == nil {
		prof.zone = time.UTC
	}
	prof.posts = sortUnique(in.Posts)
	for i := range prof.posts {
		p := &prof.posts[i]
		p.format = knownFormat(p.Format)
		isFuture := !in.At.IsZero() && p.TakenAt.After(in.At)
		p.hasTime = !p.TakenAt.IsZero() && !isFuture
		p.isYoung = isFuture || p.hasTime && !in.At.IsZero() && in.At.Sub(p.TakenAt) < SettledAge
		if p.isYoung {
			prof.youngCount++
		}
	}
	prof.countReactions()
	prof.readCaptions()
	return prof
}

// countDated returns the number of posts with a known time.
func (prof *profile) countDated() int {
	n := 0
	for _, p := range prof.posts {
		if p.hasTime {
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
func sortUnique(unsorted []provider.Post) []post {
	sorted := make([]*provider.Post, len(unsorted))
	for i := range unsorted {
		sorted[i] = &unsorted[i]
	}
	slices.SortFunc(sorted, comparePosts)
	posts := make([]post, 0, len(unsorted))
	seen := make(map[string]bool, len(unsorted))
	for _, p := range sorted {
		if p.ID == "" || !seen[p.ID] {
			seen[p.ID] = true
			posts = append(posts, post{Post: p})
		}
	}
	return posts
}

// comparePosts defines a total order of posts.
func comparePosts(a, b *provider.Post) int {
	if order := cmp.Or(a.TakenAt.Compare(b.TakenAt), cmp.Compare(a.ID, b.ID)); order != 0 {
		return order
	}
	compare := func(a, b *int64) int {
		if a == nil || b == nil {
			return cmp.Compare(knownRank(a), knownRank(b))
		}
		return cmp.Compare(*a, *b)
	}
	return cmp.Or(
		cmp.Compare(a.Format, b.Format), cmp.Compare(a.Caption, b.Caption), slices.Compare(a.Hashtags, b.Hashtags),
		compare(a.Likes, b.Likes), compare(a.Comments, b.Comments), compare(a.Shares, b.Shares), compare(a.Views, b.Views),
	)
}

// knownRank returns 1 if the metric is known and 0 otherwise.
func knownRank(metric *int64) int {
	if metric == nil {
		return 0
	}
	return 1
}

// valid returns the metric, or nil if it is negative.
func valid(metric *int64) *int64 {
	if metric == nil || *metric < 0 {
		return nil
	}
	return metric
}

// reactions are the metrics that can make up engagement.
var reactions = []struct {
	name string
	of   func(*provider.Post) *int64
}{
	{"likes", func(p *provider.Post) *int64 { return valid(p.Likes) }},
	{"comments", func(p *provider.Post) *int64 { return valid(p.Comments) }},
	{"shares", func(p *provider.Post) *int64 { return valid(p.Shares) }},
}

// countReactions decides which reactions make up engagement and adds them up. To keep posts comparable, it uses a
// reaction if it is known for more than half of the settled posts with any known reaction, and it counts only posts for
// which all used reactions are known.
func (prof *profile) countReactions() {
	counts, posts := prof.reactionCounts()
	var used []int
	prof.counts = []string{}
	for k, reaction := range reactions {
		if 2*counts[k] > posts {
			used = append(used, k)
			prof.counts = append(prof.counts, reaction.name)
		}
	}
	for i := range prof.posts {
		p := &prof.posts[i]
		if p.isYoung {
			continue
		}
		p.engagement, p.isCounted = sumReactions(p.Post, used)
		if !p.isCounted {
			prof.missingReactions++
		}
	}
}

// reactionCounts returns the number of settled posts with each reaction, and with any reaction.
func (prof *profile) reactionCounts() ([]int, int) {
	counts, posts := make([]int, len(reactions)), 0
	for _, p := range prof.posts {
		hasAny := 0
		for k, reaction := range reactions {
			if !p.isYoung && reaction.of(p.Post) != nil {
				counts[k]++
				hasAny = 1
			}
		}
		posts += hasAny
	}
	return counts, posts
}

// sumReactions returns the sum of the reactions with the given indexes. It reports false if one of them is unknown or
// used is empty.
func sumReactions(p *provider.Post, used []int) (float64, bool) {
	total := 0.0
	for _, k := range used {
		metric := reactions[k].of(p)
		if metric == nil {
			return 0, false
		}
		total += float64(*metric)
	}
	return total, len(used) > 0
}

// readCaptions sets the hashtags of each post, from the provider and the caption, and counts the words in captions.
func (prof *profile) readCaptions() {
	reader := captionReader{words: map[string]int{}, normalized: map[string]string{}}
	names := make([][]string, len(prof.posts))
	indexes := map[string]int{}
	for i, p := range prof.posts {
		names[i] = reader.readPost(p.Post)
		for _, name := range names[i] {
			indexes[name] = 0
		}
	}
	prof.words = reader.words
	prof.hashtags = slices.Sorted(maps.Keys(indexes))
	for i, name := range prof.hashtags {
		indexes[name] = i
	}
	for i := range prof.posts {
		prof.posts[i].hashtags = make([]int, len(names[i]))
		for k, name := range names[i] {
			prof.posts[i].hashtags[k] = indexes[name]
		}
		slices.Sort(prof.posts[i].hashtags)
	}
}

// captionReader parses the captions of posts.
type captionReader struct {
	words      map[string]int    // number of posts by word in the caption
	normalized map[string]string // normalized hashtags by the provider's spelling
}

// readPost counts the words of a post and returns its hashtags.
func (r *captionReader) readPost(p *provider.Post) []string {
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
