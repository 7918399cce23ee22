package hashtaganalysis

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/result"
)

const (
	// tailProbability is what a 95 % interval leaves out at each end.
	tailProbability = 0.025
	// hoursOfWeek is how many hours a week has.
	hoursOfWeek = 7 * 24
	// minWindow is the shortest time over which posts are counted: networks tell times by the second.
	minWindow = time.Second
	// maxCounted is more posts than a source ever shows.
	maxCounted = 10_000_000
	// fullDay is how long a window is that counts as a day: sources round.
	fullDay = 0.99
)

// Measure is what a measurement leaves for later ones.
func Measure(f provider.HashtagFigures) Sample {
	return newMeasuredPosts(f).sample(f.From, f.Size)
}

// sample counts the recent posts. Where the source says from when on it shows all of them, those since then are
// counted, with those whose time it does not tell. Where it does not say, its list was cut somewhere: the count begins
// behind one of the oldest posts, so that the window ends with a post, which the interval has to allow for (Cut).
func (s measuredPosts) sample(from time.Time, size *int64) Sample {
	out := Sample{At: s.at, Size: size}
	if from.IsZero() {
		times := s.times(s.recent)
		last := len(times) - len(times)/10 // a post of another time among the oldest would stretch the window
		if last < 2 {
			return out
		}
		from, out.Cut = times[last-1], true
	}
	if s.at.Sub(from) < minWindow {
		return Sample{At: s.at, Size: size}
	}
	out.From = from
	out.Hours = make([]int, hoursOfWeek)
	for _, p := range s.recent {
		switch _, known := s.age(p); {
		case known && p.TakenAt.After(from):
			out.Posts++
			out.Hours[hourOfWeek(p.TakenAt)]++
		case p.TakenAt.IsZero() && !out.Cut:
			out.Posts++
		}
	}
	return out
}

func hourOfWeek(t time.Time) int {
	t = t.UTC()
	return int(t.Weekday())*24 + t.Hour()
}

// poissonCount is how many posts came in how many days. The chances of the rate behind it are those of a gamma
// distribution with this shape and the days as its rate.
type poissonCount struct {
	posts, days, shape float64
}

// count is false where nothing was counted.
func (s Sample) count() (poissonCount, bool) {
	if s.From.IsZero() || s.At.Sub(s.From) < minWindow || s.Posts < 0 || s.Posts > maxCounted {
		return poissonCount{}, false
	}
	k := float64(s.Posts)
	c := poissonCount{posts: k, days: days(s.At.Sub(s.From)), shape: k + 0.5}
	if s.Cut {
		c.shape = k + 1 // that many posts, and the one which the window begins with, took these days
	}
	return c, true
}

// perDay is the rate with its 95 % interval: of a fixed window by Jeffreys' prior (Brown, Cai and DasGupta 2003), of a
// window that a post began exactly, as the time that posts take has a gamma distribution.
func (c poissonCount) perDay() Rate {
	chances := distuv.Gamma{Alpha: c.shape, Beta: c.days}
	out := Rate{Value: c.posts / c.days, Low: chances.Quantile(tailProbability), High: chances.Quantile(1 - tailProbability), Basis: Estimated}
	if c.posts == 0 {
		out.Low = 0
	}
	if c.days >= fullDay {
		out.Basis = Measured
	}
	return out
}

// nonOverlapping picks measurements whose windows do not overlap, from the newest back, so that no post is counted twice.
func nonOverlapping(samples []Sample) []Sample {
	sorted := slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b Sample) int {
		if byTime := b.At.Compare(a.At); byTime != 0 {
			return byTime
		}
		if byFrom := a.From.Compare(b.From); byFrom != 0 {
			return byFrom
		}
		return b.Posts - a.Posts
	})
	var out []Sample
	var until time.Time
	for _, s := range sorted {
		if _, ok := s.count(); ok && (len(out) == 0 || !s.At.After(until)) {
			out = append(out, s)
			until = s.From
		}
	}
	return out
}

// pool adds measurements up.
func pool(samples []Sample) poissonCount {
	var sum poissonCount
	for _, s := range samples {
		c, _ := s.count()
		sum.posts += c.posts
		sum.days += c.days
		sum.shape = math.Max(sum.shape, c.shape-c.posts)
	}
	sum.shape += sum.posts
	return sum
}

// round is the rate as it is shown.
func (r Rate) round() Rate {
	r.Value, r.Low, r.High = result.Round4(r.Value), result.Round4(r.Low), result.Round4(r.High)
	return r
}
