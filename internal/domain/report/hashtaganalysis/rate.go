package hashtaganalysis

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	// tailProbability is the probability of each tail of a 95% interval.
	tailProbability = 0.025
	hoursOfWeek     = 7 * 24
	// minWindow is the shortest counted window. It is a second, because networks report times in seconds.
	minWindow = time.Second
	// maxCounted is the largest plausible number of posts in a sample.
	maxCounted = 10_000_000
	// fullDay is the minimum length, in days, of a window that counts as a day or more. It is less than 1 to allow for
	// rounding.
	fullDay = 0.99
)

// Measure returns the sample to store for a measurement.
func Measure(metrics provider.HashtagMetrics) Sample {
	return newMeasuredPosts(metrics).sample(metrics.From, metrics.Size)
}

// sample counts the recent posts. If from is set, the provider's list is complete from that time, and sample counts all
// posts since then, including posts without a time. Otherwise, the list was truncated. The window then starts at one of
// the oldest posts (Cut), which the confidence interval of the rate takes into account.
func (m measuredPosts) sample(from time.Time, size *int64) Sample {
	out := Sample{At: m.at, Size: size}
	if from.IsZero() {
		times := m.times(m.recent)
		last := len(times) - len(times)/10 // drops outliers that would lengthen the window
		if last < 2 {
			return out
		}
		from, out.Cut = times[last-1], true
	}
	if m.at.Sub(from) < minWindow {
		return Sample{At: m.at, Size: size}
	}
	out.From = from
	out.Hours = make([]int, hoursOfWeek)
	for _, p := range m.recent {
		switch _, known := m.age(p); {
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

// poissonCount is the number of posts in a number of days. The posterior of the rate is a gamma distribution with the
// shape parameter shape and the rate parameter days.
type poissonCount struct {
	posts, days, shape float64
}

// count returns the counted posts. It reports false if nothing was counted.
func (s Sample) count() (poissonCount, bool) {
	if s.From.IsZero() || s.At.Sub(s.From) < minWindow || s.Posts < 0 || s.Posts > maxCounted {
		return poissonCount{}, false
	}
	k := float64(s.Posts)
	c := poissonCount{posts: k, days: days(s.At.Sub(s.From)), shape: k + 0.5}
	if s.Cut {
		c.shape = k + 1 // the waiting time for k+1 posts, including the post that starts the window
	}
	return c, true
}

// perDay returns the posts per day with the 95% interval. The interval of a fixed window uses Jeffreys prior (Brown,
// Cai and DasGupta, 2003). The interval of a window that starts at a post is exact, because waiting times are gamma
// distributed.
func (c poissonCount) perDay() TagRate {
	posterior := distuv.Gamma{Alpha: c.shape, Beta: c.days}
	out := TagRate{Value: c.posts / c.days, Low: posterior.Quantile(tailProbability),
		High: posterior.Quantile(1 - tailProbability), Basis: Estimated}
	if c.posts == 0 {
		out.Low = 0
	}
	if c.days >= fullDay {
		out.Basis = Measured
	}
	return out
}

// nonOverlapping returns samples with disjoint windows, starting from the newest, so that no post is counted twice.
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

// poolCounts adds up the counts of samples.
func poolCounts(samples []Sample) poissonCount {
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

// round returns the rate with four significant digits.
func (r TagRate) round() TagRate {
	r.Value, r.Low, r.High = result.Round4(r.Value), result.Round4(r.Low), result.Round4(r.High)
	return r
}
