package analysis

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/words"
)

// SettledAge is the age from which on a post has gathered most of its reactions. A younger one would count as a bad one.
const SettledAge = 48 * time.Hour

// post is a post as the analysis sees it.
type post struct {
	*provider.Post

	format     string  // empty where it is none that is known
	timed      bool    // whether it is known when it was made
	young      bool    // it still gathers reactions
	engagement float64 // where counted
	counted    bool    // its reactions are told and settled
	hashtags   []int   // places in figures.hashtags
}

// figures is all that the parts of the analysis look at.
type figures struct {
	posts            []post // the oldest first; those without a time before them
	counts           []string
	followers        *int64
	zone             *time.Location
	at               time.Time
	hashtags         []string       // those in use, by name
	words            map[string]int // of the captions, with the posts that have each
	missingReactions int            // settled posts whose reactions are not told
	young            int
}

// prepare sorts the posts, leaves out repetitions and says which count.
func prepare(in ProfileInput) *figures {
	all := &figures{followers: valid(in.Account.Followers), zone: in.Zone, at: in.At}
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

// countDated returns how many posts there are whose time is known.
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

// sortUnique lists every post once, in an order that depends on the posts alone.
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

// comparePosts brings any two posts that differ into an order.
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

// valid is a figure, or nil where it is not told or cannot be meant.
func valid(figure *int64) *int64 {
	if figure == nil || *figure < 0 {
		return nil
	}
	return figure
}

// reactions are the figures of a post that can make up its engagement.
var reactions = []struct {
	name string
	of   func(*provider.Post) *int64
}{
	{"likes", func(p *provider.Post) *int64 { return valid(p.Likes) }},
	{"comments", func(p *provider.Post) *int64 { return valid(p.Comments) }},
	{"shares", func(p *provider.Post) *int64 { return valid(p.Shares) }},
}

// countReactions decides which figures make up engagement, and adds them up. Posts are only compared where the same was told
// of them: comments alone are no match for likes and comments. So a figure is taken where more than half of the posts
// tell it, and a post counts that tells all that are taken.
func (f *figures) countReactions() {
	tells, some := f.reactionCounts()
	var taken []int
	f.counts = []string{}
	for k, reaction := range reactions {
		if 2*tells[k] > some {
			taken = append(taken, k)
			f.counts = append(f.counts, reaction.name)
		}
	}
	for i := range f.posts {
		p := &f.posts[i]
		if p.young {
			continue
		}
		p.engagement, p.counted = sumReactions(p.Post, taken)
		if !p.counted {
			f.missingReactions++
		}
	}
}

// reactionCounts counts the settled posts that tell each reaction, and those that tell any.
func (f *figures) reactionCounts() ([]int, int) {
	each, some := make([]int, len(reactions)), 0
	for _, p := range f.posts {
		one := 0
		for k, reaction := range reactions {
			if !p.young && reaction.of(p.Post) != nil {
				each[k]++
				one = 1
			}
		}
		some += one
	}
	return each, some
}

// sumReactions adds up these reactions. It says false where one of them is not told, and where there are none.
func sumReactions(p *provider.Post, taken []int) (float64, bool) {
	total := 0.0
	for _, k := range taken {
		figure := reactions[k].of(p)
		if figure == nil {
			return 0, false
		}
		total += float64(*figure)
	}
	return total, len(taken) > 0
}

// readCaptions finds the hashtags of every post, those that the source told and those of its caption, and counts the words.
func (f *figures) readCaptions() {
	read := captionReader{words: map[string]int{}, told: map[string]string{}}
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

// captionReader takes the captions of posts apart.
type captionReader struct {
	words map[string]int    // posts whose caption has the word
	told  map[string]string // hashtags by the form in which a source told them
}

// post counts the words of a post and lists its hashtags.
func (r *captionReader) post(p *provider.Post) []string {
	caption := words.Parse(p.Caption)
	for _, word := range caption.Words {
		r.words[word]++
	}
	names := caption.Hashtags
	for _, hashtag := range p.Hashtags {
		name, seen := r.told[hashtag]
		if !seen {
			name, _ = provider.Hashtag(hashtag) // what is none has no name
			r.told[hashtag] = name
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
