package hashtaganalysis

import (
	"cmp"
	"slices"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/words"
)

// maxClockSkew is how far a network's clock may be ahead of ours.
const maxClockSkew = 5 * time.Minute

// measuredPosts are the posts of a measurement, each once in each list.
type measuredPosts struct {
	at          time.Time
	top, recent []provider.Post
	all         []provider.Post // of both lists
}

func newMeasuredPosts(f provider.HashtagFigures) measuredPosts {
	s := measuredPosts{at: f.MeasuredAt, top: uniquePosts(f.Top), recent: uniquePosts(f.Recent)}
	s.all = uniquePosts(slices.Concat(s.top, s.recent))
	return s
}

// uniquePosts are posts without those that come twice, by their ids.
func uniquePosts(posts []provider.Post) []provider.Post {
	out := make([]provider.Post, 0, len(posts))
	places := make(map[string]int, len(posts))
	for _, p := range posts {
		place, seen := places[p.ID]
		switch {
		case !seen:
			places[p.ID] = len(out)
			out = append(out, p)
		case isPreferred(p, out[place]):
			out[place] = p
		}
	}
	return out
}

// isPreferred says which of two posts with one id stays, whichever comes first: that which tells figures, and larger ones.
func isPreferred(a, b provider.Post) bool {
	return cmp.Or(compareFigures(a.Likes, b.Likes), compareFigures(a.Comments, b.Comments), compareFigures(a.Views, b.Views), a.TakenAt.Compare(b.TakenAt),
		cmp.Compare(a.Format, b.Format), cmp.Compare(a.Caption, b.Caption), slices.Compare(a.Hashtags, b.Hashtags)) > 0
}

// compareFigures compares figures; one that was not told comes before all.
func compareFigures(a, b *int64) int {
	if a == nil || b == nil {
		return cmp.Compare(presence(a), presence(b))
	}
	return cmp.Compare(*a, *b)
}

func presence(figure *int64) int {
	if figure == nil {
		return 0
	}
	return 1
}

// age is how old a post is, in days. It is false where nobody told when it was posted, or where that is yet to come.
func (s measuredPosts) age(p provider.Post) (float64, bool) {
	if p.TakenAt.IsZero() || s.at.IsZero() || p.TakenAt.After(s.at.Add(maxClockSkew)) {
		return 0, false
	}
	return max(0, days(s.at.Sub(p.TakenAt))), true
}

// ages are how old the posts are whose time is known, in days, the youngest first.
func (s measuredPosts) ages(posts []provider.Post) []float64 {
	var out []float64
	for _, p := range posts {
		if age, known := s.age(p); known {
			out = append(out, age)
		}
	}
	slices.Sort(out)
	return out
}

// times are when the posts were posted whose time is known, the newest first.
func (s measuredPosts) times(posts []provider.Post) []time.Time {
	var out []time.Time
	for _, p := range posts {
		if _, known := s.age(p); known {
			out = append(out, p.TakenAt)
		}
	}
	slices.SortFunc(out, func(a, b time.Time) int { return b.Compare(a) })
	return out
}

// captions are what stands in the posts' captions.
type captions struct {
	tags  map[string][]string // by the posts' ids
	words map[string]int      // posts whose caption has the word
}

// readCaptions takes the captions of all posts apart.
func (s measuredPosts) readCaptions() captions {
	out := captions{tags: make(map[string][]string, len(s.all)), words: map[string]int{}}
	for _, p := range s.all {
		caption := words.Parse(p.Caption)
		out.tags[p.ID] = mergeHashtags(caption.Hashtags, p.Hashtags)
		for _, word := range caption.Words {
			out.words[word]++
		}
	}
	return out
}

// mergeHashtags are the hashtags of a caption and those that the source told of the post, each once.
func mergeHashtags(tags, told []string) []string {
	for _, text := range told {
		if tag, err := provider.Hashtag(text); err == nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func days(d time.Duration) float64 { return d.Hours() / 24 }
