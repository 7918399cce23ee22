package analytics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/teamtime"
)

// formats are the formats of posts.
var formats = []string{
	network.FormatText, network.FormatImage, network.FormatVideo, network.FormatReel, network.FormatCarousel,
	network.FormatStory, network.FormatLink,
}

// unknownFormat is the format of a post if the network does not report one.
const unknownFormat = "unknown"

// knownFormat returns format if it is one of formats, and unknownFormat otherwise.
func knownFormat(format string) string {
	if slices.Contains(formats, format) {
		return format
	}
	return unknownFormat
}

// firstDay returns the start of the period of the given number of days that ends with today, in a time zone.
func firstDay(now time.Time, zone *time.Location, days int) time.Time {
	date := dateOf(now, zone).AddDate(0, 0, 1-days)
	return teamtime.StartOfDay(date.Year(), date.Month(), date.Day(), zone)
}

// dateOf returns the date of a time in a time zone, as midnight UTC, so that every day has 24 hours.
func dateOf(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func dayOf(t time.Time, zone *time.Location) string { return dateOf(t, zone).Format(time.DateOnly) }

func dayBefore(t time.Time, zone *time.Location) string {
	return dateOf(t, zone).AddDate(0, 0, -1).Format(time.DateOnly)
}

// daysBetween returns the number of dates from one time to another, including both dates.
func daysBetween(from, to time.Time, zone *time.Location) int {
	return int(dateOf(to, zone).Sub(dateOf(from, zone))/(24*time.Hour)) + 1
}

// interactions returns the number of interactions with a post. It reports false if the network provides none.
// Views and clicks do not count.
func (c AccountAnalyticsBestPostCounts) interactions() (int64, bool) {
	var sum int64
	ok := false
	for _, n := range []*int64{c.Likes, c.Comments, c.Shares, c.Saves} {
		if n != nil {
			sum, ok = sum+*n, true
		}
	}
	return sum, ok
}

// sumMetric returns the sum of a metric, or nil if no post has it.
func sumMetric(posts []storedPost, metric func(AccountAnalyticsBestPostCounts) *int64) *AccountAnalyticsReach {
	var out AccountAnalyticsReach
	for _, p := range posts {
		if n := metric(p.counts); n != nil {
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

// sumValue returns the sum of a metric, or nil if no post has it.
func sumValue(posts []storedPost, metric func(AccountAnalyticsBestPostCounts) *int64) *int64 {
	if t := sumMetric(posts, metric); t != nil {
		return &t.Value
	}
	return nil
}

// engagement returns the interactions with posts, or nil if the network provides none. followers is 0 if unknown.
func engagement(posts []storedPost, followers int64) *AccountAnalyticsEngagement {
	var perPost, byFollowers, byViews []float64
	for _, p := range posts {
		n, ok := p.counts.interactions()
		if !ok {
			continue
		}
		perPost = append(perPost, float64(n))
		if followers > 0 {
			byFollowers = append(byFollowers, float64(n)/float64(followers))
		}
		if views := p.counts.Views; views != nil && *views > 0 {
			byViews = append(byViews, float64(n)/float64(*views))
		}
	}
	if len(perPost) == 0 {
		return nil
	}
	return &AccountAnalyticsEngagement{
		Posts:    len(perPost),
		Likes:    sumValue(posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Likes }),
		Comments: sumValue(posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Comments }),
		Shares:   sumValue(posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Shares }),
		Saves:    sumValue(posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Saves }),
		Clicks:   sumValue(posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Clicks }),
		PerPost:  medianWithInterval(perPost), RateByFollowers: medianWithInterval(byFollowers), RateByViews: medianWithInterval(byViews),
	}
}

// medianWithInterval returns the median of values with a 95% confidence interval, or nil if there are no values.
func medianWithInterval(values []float64) *AccountAnalyticsEngagementPerPost {
	n := len(values)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	out := &AccountAnalyticsEngagementPerPost{Median: roundRate(median(sorted)), Posts: n}
	if k := rank(n); k > 0 {
		out.Interval = &AccountAnalyticsEngagementPerPostInterval{roundRate(sorted[k-1]), roundRate(sorted[n-k])}
	}
	return out
}

// median returns the median of sorted values, or 0 if there are none.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// roundRate rounds a rate to six decimal places.
func roundRate(rate float64) float64 { return math.Round(rate*1e6) / 1e6 }

// rank returns the largest k such that the kth smallest and the kth largest of n values enclose the median with a
// probability of at least 95%, for any distribution. It returns 0 if n is below 6. Each value is below the median with
// probability one half, so the probability of fewer than k heads in n coin tosses must be at most 2.5%.
func rank(n int) int {
	logFactorial, _ := math.Lgamma(float64(n + 1))
	probability := 0.0
	for k := range n {
		heads, _ := math.Lgamma(float64(k + 1))
		tails, _ := math.Lgamma(float64(n - k + 1))
		probability += math.Exp(logFactorial - heads - tails - float64(n)*math.Ln2)
		if probability > tailProbability {
			return k
		}
	}
	return 0
}

// tailProbability is the maximum error probability at each end of a confidence interval.
const tailProbability = 0.025

// bestPost returns the post with the most interactions. If no post has interactions, it returns the post with the most
// views. Of several posts with the same number, it returns the newest. It reports false if no post has interactions or
// views.
func bestPost(newestFirst []storedPost) (storedPost, bool) {
	var bestSoFar storedPost
	maxCount := int64(-1)
	for _, metric := range []func(AccountAnalyticsBestPostCounts) (int64, bool){
		AccountAnalyticsBestPostCounts.interactions, AccountAnalyticsBestPostCounts.viewCount,
	} {
		for _, p := range newestFirst {
			if n, ok := metric(p.counts); ok && n > maxCount {
				bestSoFar, maxCount = p, n
			}
		}
		if maxCount >= 0 {
			return bestSoFar, true
		}
	}
	return bestSoFar, false
}

// viewCount returns how often a post was seen or, if that is unknown, by how many people. It reports false if the
// network provides neither.
func (c AccountAnalyticsBestPostCounts) viewCount() (int64, bool) {
	if n := cmp.Or(c.Views, c.Reach); n != nil {
		return *n, true
	}
	return 0, false
}

// cadence describes how posts are distributed over the days from one time to another, including both days, in a time
// zone.
func cadence(posts []storedPost, from, to time.Time, zone *time.Location) *AccountAnalyticsCadence {
	days := daysBetween(from, to, zone)
	out := &AccountAnalyticsCadence{Posts: len(posts), Days: days,
		PostsPerWeek: roundRate(float64(7*len(posts)) / float64(days)),
		ByWeekday:    make([]AccountAnalyticsCadenceByWeekday, len(weekdays))}
	for i, name := range weekdays {
		out.ByWeekday[i].Weekday = name
	}
	hasPost := make([]bool, days)
	for _, p := range posts {
		out.ByWeekday[(int(p.postedAt.In(zone).Weekday())+6)%len(weekdays)].Posts++
		if day := daysBetween(from, p.postedAt, zone) - 1; day >= 0 && day < days {
			hasPost[day] = true
		}
	}
	out.LongestGap = longestRun(hasPost, false)
	return out
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// longestRun returns the length of the longest run of a value.
func longestRun(values []bool, value bool) int {
	longest, run := 0, 0
	for _, v := range values {
		if v != value {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// byFormat summarizes the posts by format, most frequent first.
func byFormat(posts []storedPost) []AccountAnalyticsFormat {
	interactions := map[string][]float64{}
	counts := map[string]int{}
	for _, p := range posts {
		counts[p.format]++
		if n, ok := p.counts.interactions(); ok {
			interactions[p.format] = append(interactions[p.format], float64(n))
		}
	}
	out := []AccountAnalyticsFormat{}
	for format, n := range counts {
		out = append(out, AccountAnalyticsFormat{Format: format, Posts: n, Engagement: medianWithInterval(interactions[format])})
	}
	slices.SortFunc(out, func(a, b AccountAnalyticsFormat) int {
		return cmp.Or(cmp.Compare(b.Posts, a.Posts), cmp.Compare(a.Format, b.Format))
	})
	return out
}

// followerChange returns the follower count at the start of a period and the change since then. The count at the start
// is the newest count before the period or, if there is none, the first count in the period. It reports false if there
// are fewer than two counts.
func followerChange(days []followerCount, before, last string) (followerCount, int64, bool) {
	counts := countsSince(days, before, last)
	if len(counts) < 2 {
		return followerCount{}, 0, false
	}
	return counts[0], counts[len(counts)-1].followers - counts[0].followers, true
}

// countsSince returns the counts of a period until its last day, preceded by the newest count before the period if
// there is one. The counts are sorted by day.
func countsSince(days []followerCount, before, last string) []followerCount {
	begin, found := slices.BinarySearchFunc(days, before, func(c followerCount, day string) int { return cmp.Compare(c.day, day) })
	if !found && begin > 0 {
		begin--
	}
	end := begin
	for end < len(days) && days[end].day <= last {
		end++
	}
	return days[begin:end]
}
