package analytics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/teamtime"
)

// formats are those that a post can have.
var formats = []string{
	network.FormatText, network.FormatImage, network.FormatVideo, network.FormatReel, network.FormatCarousel, network.FormatStory, network.FormatLink,
}

// unknownFormat stands for the format of posts of which the network does not tell it.
const unknownFormat = "unknown"

func knownFormat(format string) string {
	if slices.Contains(formats, format) {
		return format
	}
	return unknownFormat
}

// firstDay is the first instant of so many days of a zone, of which the last is under way.
func firstDay(now time.Time, zone *time.Location, days int) time.Time {
	date := dateOf(now, zone).AddDate(0, 0, 1-days)
	return teamtime.StartOfDay(date.Year(), date.Month(), date.Day(), zone)
}

// dateOf is the date of an instant in a zone, as midnight in UTC: dates are counted there, where every day has 24 hours.
func dateOf(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func dayOf(t time.Time, zone *time.Location) string { return dateOf(t, zone).Format(time.DateOnly) }

func dayBefore(t time.Time, zone *time.Location) string {
	return dateOf(t, zone).AddDate(0, 0, -1).Format(time.DateOnly)
}

// daysBetween counts the dates from one instant's to another's, both included.
func daysBetween(from, to time.Time, zone *time.Location) int {
	return int(dateOf(to, zone).Sub(dateOf(from, zone))/(24*time.Hour)) + 1
}

// interactions are what people did with a post; false where the network told nothing of it. Views and clicks are none.
func (c Counts) interactions() (int64, bool) {
	var sum int64
	told := false
	for _, n := range []*int64{c.Likes, c.Comments, c.Shares, c.Saves} {
		if n != nil {
			sum, told = sum+*n, true
		}
	}
	return sum, told
}

// total adds up one figure of the posts; nil where none has it.
func total(posts []storedPost, figure func(Counts) *int64) *Total {
	var out Total
	for _, p := range posts {
		if n := figure(p.figures); n != nil {
			out.Value += *n
			out.Posts++
		}
	}
	if out.Posts == 0 {
		return nil
	}
	out.Basis = basis
	return &out
}

// sum is total without how many posts have it.
func sum(posts []storedPost, figure func(Counts) *int64) *int64 {
	if t := total(posts, figure); t != nil {
		return &t.Value
	}
	return nil
}

// engagement is what people did with the posts; nil where the network tells nothing of it.
func engagement(posts []storedPost, followers int64) *Engagement {
	var each, byFollowers, byViews []float64
	for _, p := range posts {
		n, told := p.figures.interactions()
		if !told {
			continue
		}
		each = append(each, float64(n))
		if followers > 0 {
			byFollowers = append(byFollowers, float64(n)/float64(followers))
		}
		if views := p.figures.Views; views != nil && *views > 0 {
			byViews = append(byViews, float64(n)/float64(*views))
		}
	}
	if len(each) == 0 {
		return nil
	}
	return &Engagement{
		Posts:    len(each),
		Likes:    sum(posts, func(c Counts) *int64 { return c.Likes }),
		Comments: sum(posts, func(c Counts) *int64 { return c.Comments }),
		Shares:   sum(posts, func(c Counts) *int64 { return c.Shares }),
		Saves:    sum(posts, func(c Counts) *int64 { return c.Saves }),
		Clicks:   sum(posts, func(c Counts) *int64 { return c.Clicks }),
		PerPost:  spread(each), RateByFollowers: spread(byFollowers), RateByViews: spread(byViews),
	}
}

// spread is the median of figures with an interval that holds the median of all such posts with 95 of 100; nil where
// there are none.
func spread(figures []float64) *Spread {
	n := len(figures)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(figures))
	out := &Spread{Median: roundRate((sorted[(n-1)/2] + sorted[n/2]) / 2), Posts: n}
	if k := rank(n); k > 0 {
		out.Interval = &Interval{roundRate(sorted[k-1]), roundRate(sorted[n-k])}
	}
	return out
}

// roundRate is a rate to the millionth.
func roundRate(rate float64) float64 { return math.Round(rate*1e6) / 1e6 }

// rank is the k for which the kth smallest and the kth largest of n figures hold the median between them with at least
// 95 of 100, whatever the figures are distributed like; 0 where n is too small for that, which is below 6. Each
// figure falls below the median as a coin falls: fewer than k of n heads have to be as rare as 2.5 of 100.
func rank(n int) int {
	all, _ := math.Lgamma(float64(n + 1))
	below := 0.0
	for k := range n {
		heads, _ := math.Lgamma(float64(k + 1))
		tails, _ := math.Lgamma(float64(n - k + 1))
		below += math.Exp(all - heads - tails - float64(n)*math.Ln2)
		if below > tail {
			return k
		}
	}
	return 0
}

// tail is how often each end of an interval may be wrong.
const tail = 0.025

// best is the post that people did most with; where that is not told, the one that was seen most. Of equals it is the
// newest.
func best(newestFirst []storedPost) (storedPost, bool) {
	var found storedPost
	most := int64(-1)
	for _, weigh := range []func(Counts) (int64, bool){Counts.interactions, Counts.timesSeen} {
		for _, p := range newestFirst {
			if n, told := weigh(p.figures); told && n > most {
				found, most = p, n
			}
		}
		if most >= 0 {
			return found, true
		}
	}
	return found, false
}

// timesSeen is how often a post was seen, or by how many; false where the network told neither.
func (c Counts) timesSeen() (int64, bool) {
	if n := cmp.Or(c.Views, c.Reach); n != nil {
		return *n, true
	}
	return 0, false
}

// cadence is how posts lie in the days from an instant to another, by the days of a zone.
func cadence(posts []storedPost, from, to time.Time, zone *time.Location) *Cadence {
	days := daysBetween(from, to, zone)
	out := &Cadence{Posts: len(posts), Days: days, PostsPerWeek: roundRate(float64(7*len(posts)) / float64(days)), ByWeekday: make([]Weekday, len(weekdays))}
	for i, name := range weekdays {
		out.ByWeekday[i].Weekday = name
	}
	filled := make([]bool, days)
	for _, p := range posts {
		out.ByWeekday[(int(p.postedAt.In(zone).Weekday())+6)%len(weekdays)].Posts++
		if day := daysBetween(from, p.postedAt, zone) - 1; day >= 0 && day < days {
			filled[day] = true
		}
	}
	out.LongestGap = longestRun(filled, false)
	return out
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// longestRun counts the most neighbours of a value.
func longestRun(values []bool, of bool) int {
	most, run := 0, 0
	for _, v := range values {
		if v != of {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

// byFormat tells the posts of each format apart, the most frequent first.
func byFormat(posts []storedPost) []Format {
	of := map[string][]float64{}
	counts := map[string]int{}
	for _, p := range posts {
		counts[p.format]++
		if n, told := p.figures.interactions(); told {
			of[p.format] = append(of[p.format], float64(n))
		}
	}
	out := []Format{}
	for format, n := range counts {
		out = append(out, Format{Format: format, Posts: n, Engagement: spread(of[format])})
	}
	slices.SortFunc(out, func(a, b Format) int { return cmp.Or(cmp.Compare(b.Posts, a.Posts), cmp.Compare(a.Format, b.Format)) })
	return out
}

// change is what came to the followers since a day began: from what they were at the end of the day before it, or where
// that was not measured, from the first that was. It is false where that is one measurement alone.
func change(days []followerCount, first string) (followerCount, int64, bool) {
	if len(days) < 2 {
		return followerCount{}, 0, false
	}
	last := days[len(days)-1]
	if last.day < first {
		return followerCount{}, 0, false
	}
	return days[0], last.followers - days[0].followers, true
}
