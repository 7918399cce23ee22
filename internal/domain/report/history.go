package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/platform/db"
)

// History is a profile's engagement over time and by hour of the week, based on the posts of its report. It is purely
// descriptive and not adjusted for other factors.
type History struct {
	Posts            int              // number of counted posts; only the newest are counted
	Monthly          bool             // spans are months; otherwise they are weeks that start on Monday
	Spans            []Span           // from the oldest post to the newest
	Week             [7][24]Hour      // by day, Monday first, and hour
	MedianEngagement float64          // median engagement per post
	Measured         []FollowerSample // followers at each measurement, oldest first
	Best             []TopPost        // posts with the most engagement, best first
}

// topPostMetrics names the metrics whose sum is the engagement of a hashtag's top post.
var topPostMetrics = []string{"likes", "comments"}

// topPostsQuery selects the metrics of the top posts of a hashtag report.
const topPostsQuery = `SELECT post, taken_at, likes, comments, shares FROM report_posts WHERE report_id = ?
	AND shown = '` + listTop + `' AND taken_at > 0 ORDER BY taken_at DESC LIMIT ?`

// TopPosts returns a History of the top posts in a hashtag report. Only the fields Posts, Week, MedianEngagement and
// Best are set.
func (s *Service) TopPosts(ctx context.Context, team int64, id string, zone *time.Location) (History, error) {
	r, err := find(ctx, s.db, team, Hashtag, id, db.Micros(s.db.Now()))
	if err != nil {
		return History{}, err
	}
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *provider.Post) error {
		return scanHistoryPost(rows, p, zone)
	}, topPostsQuery, r.id, maxHistoryPosts)
	if err != nil {
		return History{}, fmt.Errorf("reading the top posts of report %s: %w", r.id, err)
	}
	history := buildHistory(posts, topPostMetrics)
	out := History{Posts: history.Posts, Week: history.Week, MedianEngagement: history.MedianEngagement, Best: history.Best}
	return out, s.addBestPosts(ctx, r.id, listTop, out.Best, zone)
}

func scanHistoryPost(rows *sql.Rows, p *provider.Post, zone *time.Location) error {
	var takenAt int64
	err := rows.Scan(&p.ID, &takenAt, &p.Likes, &p.Comments, &p.Shares)
	p.TakenAt = db.Time(takenAt).In(zone)
	return err
}

// TopPost is a post with its engagement.
type TopPost struct {
	provider.Post

	Engagement float64
	MediaID    int64 // ID of a library item that is a file of the post; 0 if there is none
}

// Span is a week or a month.
type Span struct {
	From       time.Time
	Engagement *result.FindingMedian // per post; nil if there are no posts
}

// Hour summarizes the posts published in one hour of the week, in the team's time zone.
type Hour struct {
	Posts  int
	Median float64 // engagement per post
}

// FollowerSample is a profile's number of followers at a time, with its engagement.
type FollowerSample struct {
	At         time.Time
	Followers  int64
	Engagement *float64 // median engagement per follower; nil if unknown
}

const (
	maxHistoryPosts = 2000      // maximum number of posts that a history counts
	maxBestPosts    = 6         // maximum number of posts in History.Best
	maxWeeklySpan   = 183 * day // longer histories use months
)

// historyPostsQuery selects the metrics of a report's newest posts.
const historyPostsQuery = `SELECT post, taken_at, likes, comments, shares FROM report_posts WHERE report_id = ?
	AND taken_at > 0 AND taken_at <= ? ORDER BY taken_at DESC LIMIT ?`

// History returns the history of a team's profile report. Engagement is the sum of the metrics in metricNames.
func (s *Service) History(ctx context.Context, team int64, id string, metricNames []string,
	zone *time.Location) (History, error) {
	r, err := find(ctx, s.db, team, Profile, id, db.Micros(s.db.Now()))
	if err != nil {
		return History{}, err
	}
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, p *provider.Post) error {
		return scanHistoryPost(rows, p, zone)
	}, historyPostsQuery, r.id, db.Micros(r.measuredAt.Add(-analysis.SettledAge)), maxHistoryPosts)
	if err != nil {
		return History{}, fmt.Errorf("reading the posts of report %s: %w", r.id, err)
	}
	out := buildHistory(posts, metricNames)
	if err := s.addBestPosts(ctx, r.id, listPosts, out.Best, zone); err != nil {
		return out, err
	}
	if err := s.addThumbnails(ctx, r, out.Best); err != nil {
		return out, err
	}
	out.Measured, err = s.followerHistory(ctx, r.id)
	return out, err
}

// addBestPosts reads the remaining fields of the best posts in a list.
func (s *Service) addBestPosts(ctx context.Context, report, list string, best []TopPost, zone *time.Location) error {
	if len(best) == 0 {
		return nil
	}
	args, byID := []any{report, list}, map[string]*TopPost{}
	for i := range best {
		args, byID[best[i].ID] = append(args, best[i].ID), &best[i]
	}
	posts, err := db.All(ctx, s.db, scanPost, `SELECT `+postColumns+` FROM report_posts WHERE report_id = ?
		AND shown = ? AND post IN (`+db.Placeholders(len(best))+`)`, args...)
	if err != nil {
		return fmt.Errorf("reading the best posts of report %s: %w", report, err)
	}
	for _, p := range posts {
		byID[p.ID].Post = p.Post
		byID[p.ID].TakenAt = p.TakenAt.In(zone)
	}
	return nil
}

// bestPosts returns the posts with the highest engagement. Of posts with equal engagement, newer posts come first. It
// reorders its argument.
func bestPosts(newestFirst []TopPost) []TopPost {
	slices.SortStableFunc(newestFirst, func(a, b TopPost) int { return cmp.Compare(b.Engagement, a.Engagement) })
	return newestFirst[:min(len(newestFirst), maxBestPosts)]
}

func (s *Service) followerHistory(ctx context.Context, report string) ([]FollowerSample, error) {
	samples, err := s.samples(ctx, report)
	if err != nil {
		return nil, err
	}
	var out []FollowerSample
	for _, row := range samples {
		followerSample, known, err := parseFollowerSample(db.Time(row.at), row.text)
		if err != nil {
			return nil, fmt.Errorf("reading a sample of report %s: %w", report, err)
		}
		if known {
			out = append(out, followerSample)
		}
	}
	return out, nil
}

// buildHistory groups posts by span and hour. posts must be sorted newest first, with times in the team's time zone. It
// skips posts that lack a metric in metricNames.
func buildHistory(posts []provider.Post, metricNames []string) History {
	var out History
	var ranked []TopPost
	for _, p := range posts {
		if value, ok := engagement(p, metricNames); ok {
			ranked = append(ranked, TopPost{Post: p, Engagement: value})
		}
	}
	if len(ranked) == 0 {
		return out
	}
	out.Posts = len(ranked)
	firstAt, lastAt := ranked[len(ranked)-1].TakenAt, ranked[0].TakenAt
	out.Monthly = lastAt.Sub(firstAt) > maxWeeklySpan
	spans, hours := map[time.Time][]float64{}, [7][24][]float64{}
	for _, p := range ranked {
		from := spanStart(p.TakenAt, out.Monthly)
		spans[from] = append(spans[from], p.Engagement)
		weekday := (int(p.TakenAt.Weekday()) + 6) % 7
		hours[weekday][p.TakenAt.Hour()] = append(hours[weekday][p.TakenAt.Hour()], p.Engagement)
	}
	for from := spanStart(firstAt, out.Monthly); !from.After(lastAt); from = nextSpan(from, out.Monthly) {
		out.Spans = append(out.Spans, Span{from, result.NewMedian(spans[from])})
	}
	for weekday, day := range hours {
		for hour, values := range day {
			if len(values) > 0 {
				slices.Sort(values)
				out.Week[weekday][hour] = Hour{len(values), result.Round4(result.Quantile(values, 0.5))}
			}
		}
	}
	out.Best = bestPosts(ranked)
	values := make([]float64, 0, len(ranked))
	for _, p := range ranked {
		values = append(values, p.Engagement)
	}
	slices.Sort(values)
	out.MedianEngagement = result.Round4(result.Quantile(values, 0.5))
	return out
}

// engagement returns the sum of the metrics in metricNames. It reports false if one of them is unknown or metricNames
// is empty.
func engagement(p provider.Post, metricNames []string) (float64, bool) {
	sum := 0.0
	for _, name := range metricNames {
		value := map[string]*int64{"likes": p.Likes, "comments": p.Comments, "shares": p.Shares}[name]
		if value == nil || *value < 0 {
			return 0, false
		}
		sum += float64(*value)
	}
	return sum, len(metricNames) > 0
}

// spanStart returns the beginning of the month or week that contains at.
func spanStart(at time.Time, monthly bool) time.Time {
	if monthly {
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, at.Location())
	}
	return time.Date(at.Year(), at.Month(), at.Day()-(int(at.Weekday())+6)%7, 0, 0, 0, 0, at.Location())
}

func nextSpan(from time.Time, monthly bool) time.Time {
	if monthly {
		return spanStart(from.AddDate(0, 1, 0), monthly)
	}
	return spanStart(from.AddDate(0, 0, 7), monthly)
}
