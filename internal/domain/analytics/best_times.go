package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"
)

const (
	gatheringTime   = 48 * time.Hour // newer posts are still gathering engagement
	minAccountPosts = 3              // minimum number of posts of an account for a comparison
	minHourPosts    = 3              // minimum number of posts in an hour for a recommendation
	maxBestTimes    = 4
	bestTimesDays   = 90 // number of days whose posts BestTimes compares
)

// PostingTimes compares the hours of the week by the engagement of posts.
type PostingTimes struct {
	Posts int
	Hours [7][24]PostingHour // starting on Monday
	Best  []BestTime         // best first
}

// PostingHour summarizes the posts published in one hour of the week. Median is the median of their relative
// engagement, which is a post's engagement divided by the median engagement of its account. A Median of 1 means usual
// engagement.
type PostingHour struct {
	Posts  int
	Median float64
}

// BestTime is an hour of the week in which posts get more engagement than usual.
type BestTime struct {
	PostingHour

	Day, Hour int       // Day is 0 on Monday
	Next      time.Time // the next such hour
	Accounts  []int64   // accounts that published in this hour
}

// ComparePostingTimes compares posts by hour of the week, in the time zone of now. It ignores posts without known
// engagement, posts of the last 48 hours, and accounts with fewer than three posts.
func ComparePostingTimes(posts []PostMetrics, now time.Time) PostingTimes {
	posts = slices.DeleteFunc(slices.Clone(posts), func(p PostMetrics) bool {
		return p.Engagement == nil || p.At.After(now.Add(-gatheringTime))
	})
	engagements := map[int64][]float64{}
	for _, p := range posts {
		engagements[p.AccountID] = append(engagements[p.AccountID], float64(*p.Engagement))
	}
	for _, values := range engagements {
		slices.Sort(values)
	}
	var out PostingTimes
	var ratios [7][24][]float64
	var accounts [7][24][]int64
	for _, p := range posts {
		accountMedian := median(engagements[p.AccountID])
		if len(engagements[p.AccountID]) < minAccountPosts || accountMedian == 0 {
			continue
		}
		at := p.At.In(now.Location())
		day, hour := weekdayIndex(at), at.Hour()
		ratios[day][hour] = append(ratios[day][hour], float64(*p.Engagement)/accountMedian)
		accounts[day][hour] = append(accounts[day][hour], p.AccountID)
		out.Posts++
	}
	for day := range ratios {
		for hour, values := range ratios[day] {
			slices.Sort(values)
			out.Hours[day][hour] = PostingHour{len(values), median(values)}
			if len(values) >= minHourPosts && median(values) > 1 {
				slices.Sort(accounts[day][hour])
				out.Best = append(out.Best, BestTime{
					out.Hours[day][hour], day, hour, nextHour(now, day, hour), slices.Compact(accounts[day][hour]),
				})
			}
		}
	}
	slices.SortStableFunc(out.Best, func(a, b BestTime) int { return cmp.Compare(b.Median, a.Median) })
	out.Best = out.Best[:min(len(out.Best), maxBestTimes)]
	return out
}

// BestTimes returns the best times of the week in a time zone. It compares the posts that the given accounts of a team
// published in the last 90 days. It returns no times if there are too few posts.
func (s *Service) BestTimes(ctx context.Context, team int64, accounts []int64, zone *time.Location) ([]BestTime, error) {
	in := s.LastDays(zone, bestTimesDays)
	posts, err := s.ListPostMetrics(ctx, team, accounts, in.Start(), in.End())
	if err != nil {
		return nil, err
	}
	return ComparePostingTimes(posts, in.Until).Best, nil
}

// weekdayIndex returns the index of a time's weekday, starting on Monday.
func weekdayIndex(at time.Time) int { return (int(at.Weekday()) + 6) % 7 }

// nextHour returns when an hour of the week begins next. For the current hour, that is in the next week.
func nextHour(now time.Time, day, hour int) time.Time {
	daysAhead := (day - weekdayIndex(now) + 7) % 7
	if daysAhead == 0 && now.Hour() >= hour {
		daysAhead = 7
	}
	return time.Date(now.Year(), now.Month(), now.Day()+daysAhead, hour, 0, 0, 0, now.Location())
}
