package hashtaganalysis

import (
	"cmp"
	"slices"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/words"
)

// skew is how far a network's clock may be ahead of ours.
const skew = 5 * time.Minute

// shown are the posts of a measurement, each once in each list.
type shown struct {
	at          time.Time
	top, recent []provider.Post
	all         []provider.Post // of both lists
}

func look(f provider.HashtagFigures) shown {
	s := shown{at: f.MeasuredAt, top: different(f.Top), recent: different(f.Recent)}
	s.all = different(slices.Concat(s.top, s.recent))
	return s
}

// different are posts without those that come twice, by their ids.
func different(posts []provider.Post) []provider.Post {
	out := make([]provider.Post, 0, len(posts))
	places := make(map[string]int, len(posts))
	for _, p := range posts {
		place, seen := places[p.ID]
		switch {
		case !seen:
			places[p.ID] = len(out)
			out = append(out, p)
		case prefers(p, out[place]):
			out[place] = p
		}
	}
	return out
}

// prefers says which of two posts with one id stays, whichever comes first: that which tells figures, and larger ones.
func prefers(a, b provider.Post) bool {
	return cmp.Or(byFigure(a.Likes, b.Likes), byFigure(a.Comments, b.Comments), byFigure(a.Views, b.Views), a.TakenAt.Compare(b.TakenAt),
		cmp.Compare(a.Format, b.Format), cmp.Compare(a.Caption, b.Caption), slices.Compare(a.Hashtags, b.Hashtags)) > 0
}

// byFigure compares figures; one that was not told comes before all.
func byFigure(a, b *int64) int {
	if a == nil || b == nil {
		return cmp.Compare(told(a), told(b))
	}
	return cmp.Compare(*a, *b)
}

func told(figure *int64) int {
	if figure == nil {
		return 0
	}
	return 1
}

// age is how old a post is, in days. It is false where nobody told when it was posted, or where that is yet to come.
func (s shown) age(p provider.Post) (float64, bool) {
	if p.TakenAt.IsZero() || s.at.IsZero() || p.TakenAt.After(s.at.Add(skew)) {
		return 0, false
	}
	return max(0, days(s.at.Sub(p.TakenAt))), true
}

// ages are how old the posts are whose time is known, in days, the youngest first.
func (s shown) ages(posts []provider.Post) []float64 {
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
func (s shown) times(posts []provider.Post) []time.Time {
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

// read takes the captions of all posts apart.
func (s shown) read() captions {
	out := captions{tags: make(map[string][]string, len(s.all)), words: map[string]int{}}
	for _, p := range s.all {
		caption := words.Read(p.Caption)
		out.tags[p.ID] = withTold(caption.Hashtags, p.Hashtags)
		for _, word := range caption.Words {
			out.words[word]++
		}
	}
	return out
}

// withTold are the hashtags of a caption and those that the source told of the post, each once.
func withTold(tags, told []string) []string {
	for _, text := range told {
		if tag, err := provider.Hashtag(text); err == nil {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func days(d time.Duration) float64 { return d.Hours() / 24 }
