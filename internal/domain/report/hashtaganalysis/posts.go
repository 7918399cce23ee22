package hashtaganalysis

import (
	"cmp"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/words"
)

// maxClockSkew is how far a network's clock may be ahead. Later times are invalid.
const maxClockSkew = 5 * time.Minute

// measuredPosts holds the distinct posts of a measurement.
type measuredPosts struct {
	at          time.Time
	top, recent []provider.Post
	posts       []provider.Post // from both lists
}

func newMeasuredPosts(f provider.HashtagMetrics) measuredPosts {
	s := measuredPosts{at: f.MeasuredAt, top: uniquePosts(f.Top), recent: uniquePosts(f.Recent)}
	s.posts = uniquePosts(slices.Concat(s.top, s.recent))
	return s
}

// uniquePosts removes duplicate posts by ID.
func uniquePosts(posts []provider.Post) []provider.Post {
	out := make([]provider.Post, 0, len(posts))
	indexes := make(map[string]int, len(posts))
	for _, p := range posts {
		index, seen := indexes[p.ID]
		switch {
		case !seen:
			indexes[p.ID] = len(out)
			out = append(out, p)
		case isPreferred(p, out[index]):
			out[index] = p
		}
	}
	return out
}

// isPreferred reports whether to keep post a instead of post b, which has the same ID. It prefers known and larger
// metrics. The result does not depend on the order of the posts.
func isPreferred(a, b provider.Post) bool {
	return cmp.Or(compareMetrics(a.Likes, b.Likes), compareMetrics(a.Comments, b.Comments), compareMetrics(a.Views,
		b.Views), a.TakenAt.Compare(b.TakenAt),
		cmp.Compare(a.Format, b.Format), cmp.Compare(a.Caption, b.Caption), slices.Compare(a.Hashtags, b.Hashtags)) > 0
}

// compareMetrics compares two values of a metric. An unknown value is less than any known value.
func compareMetrics(a, b *int64) int {
	if a == nil || b == nil {
		return cmp.Compare(isKnown(a), isKnown(b))
	}
	return cmp.Compare(*a, *b)
}

// isKnown returns 1 if the metric is known and 0 otherwise.
func isKnown(metric *int64) int {
	if metric == nil {
		return 0
	}
	return 1
}

// age returns the age of a post in days. It reports false if the post's time is unknown or in the future.
func (s measuredPosts) age(p provider.Post) (float64, bool) {
	if p.TakenAt.IsZero() || s.at.IsZero() || p.TakenAt.After(s.at.Add(maxClockSkew)) {
		return 0, false
	}
	return max(0, days(s.at.Sub(p.TakenAt))), true
}

// ages returns the known ages of posts in days, ascending.
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

// times returns the known times of posts, newest first.
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

// captions holds the parsed captions of posts.
type captions struct {
	tags  map[string][]string // by post ID
	words map[string]int      // number of posts by word in the caption
}

// readCaptions parses the captions of all posts.
func (s measuredPosts) readCaptions() captions {
	out := captions{tags: make(map[string][]string, len(s.posts)), words: map[string]int{}}
	for _, p := range s.posts {
		caption := words.Parse(p.Caption)
		out.tags[p.ID] = mergeHashtags(caption.Hashtags, p.Hashtags)
		for _, word := range caption.Words {
			out.words[word]++
		}
	}
	return out
}

// mergeHashtags returns the distinct hashtags from the caption (tags) and from the provider (provided), sorted.
func mergeHashtags(tags, provided []string) []string {
	for _, text := range provided {
		if tag, err := provider.ParseHashtag(text); err == nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func days(d time.Duration) float64 { return d.Hours() / 24 }
