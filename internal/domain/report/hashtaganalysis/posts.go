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

func newMeasuredPosts(metrics provider.HashtagMetrics) measuredPosts {
	m := measuredPosts{at: metrics.MeasuredAt, top: uniquePosts(metrics.Top), recent: uniquePosts(metrics.Recent)}
	m.posts = uniquePosts(slices.Concat(m.top, m.recent))
	return m
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
		return cmp.Compare(knownRank(a), knownRank(b))
	}
	return cmp.Compare(*a, *b)
}

// knownRank returns 1 if the metric is known and 0 otherwise.
func knownRank(metric *int64) int {
	if metric == nil {
		return 0
	}
	return 1
}

// age returns the age of a post in days. It reports false if the post's time is unknown or in the future.
func (m measuredPosts) age(p provider.Post) (float64, bool) {
	if p.TakenAt.IsZero() || m.at.IsZero() || p.TakenAt.After(m.at.Add(maxClockSkew)) {
		return 0, false
	}
	return max(0, days(m.at.Sub(p.TakenAt))), true
}

// ages returns the known ages of posts in days, ascending.
func (m measuredPosts) ages(posts []provider.Post) []float64 {
	var out []float64
	for _, p := range posts {
		if age, known := m.age(p); known {
			out = append(out, age)
		}
	}
	slices.Sort(out)
	return out
}

// times returns the known times of posts, newest first.
func (m measuredPosts) times(posts []provider.Post) []time.Time {
	var out []time.Time
	for _, p := range posts {
		if _, known := m.age(p); known {
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
func (m measuredPosts) readCaptions() captions {
	out := captions{tags: make(map[string][]string, len(m.posts)), words: map[string]int{}}
	for _, p := range m.posts {
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
