package report

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/platform/db"
)

// postsSection is the name of the section with a report's posts. The posts are stored in their own table.
const postsSection = "posts"

// requiresWrite always reports true: creating a report requires the capability write in addition to spend.
func requiresWrite(context.Context, operation.Call, CreateInput) (bool, error) { return true, nil }

// sample is the part of a profile's measurement that is stored for later comparisons, as JSON in report_samples.
type sample struct {
	Followers  *int64   `json:"followers,omitempty"`
	Posts      *int64   `json:"posts,omitempty"`
	Engagement *float64 `json:"engagement,omitempty"` // median per follower
}

// analyze analyzes the metrics that a provider returned.
func (s *Service) analyze(ctx context.Context, t task, data sourceData) (measurement, error) {
	if t.kind == Hashtag {
		return s.analyzeHashtag(ctx, t, data.hashtag)
	}
	return s.analyzeProfile(ctx, t, data.profile)
}

func (s *Service) analyzeProfile(ctx context.Context, t task, metrics provider.ProfileMetrics) (measurement, error) {
	now := s.db.Now()
	if metrics.Account.MeasuredAt.IsZero() {
		metrics.Account.MeasuredAt = now
	}
	posts := uniquePosts(metrics.Posts)
	earlier, err := s.posts(ctx, t.id, startPosition, maxPosts)
	if err != nil {
		return measurement{}, err
	}
	merged := slices.Clone(posts)
	for _, p := range earlier { // includes posts that the provider no longer returns
		if now.Sub(p.TakenAt) < maxRetention {
			merged = append(merged, p.Post)
		}
	}
	input := analysis.ProfileInput{Account: metrics.Account, Posts: uniquePosts(merged), Zone: t.zone, At: metrics.Account.MeasuredAt}
	if input.Snapshots, err = s.snapshots(ctx, t.id, metrics.Account); err != nil {
		return measurement{}, err
	}
	res := analysis.Analyze(input)
	acc := metrics.Account
	if analyzed := len(input.Posts); acc.Posts != nil && int64(analyzed) < *acc.Posts {
		res.Notes = append(res.Notes, fmt.Sprintf("Based on the newest %d of the profile's %d posts. Posts are at most two "+
			"years old and limited to what the provider returns.", analyzed, *acc.Posts))
	}
	return measurement{
		measuredAt: acc.MeasuredAt, account: account{DisplayName: acc.DisplayName, Biography: acc.Biography,
			Website: acc.Website, Followers: acc.Followers, Follows: acc.Follows, Posts: acc.Posts},
		analysis: res, notes: res.Notes, sample: sample{acc.Followers, acc.Posts, engagementRate(res)},
		posts: map[string][]provider.Post{listPosts: posts},
	}, nil
}

// engagementRate returns the median engagement per follower, or nil if it is unknown.
func engagementRate(res result.Result) *float64 {
	if res.Engagement.RateByFollowers == nil {
		return nil
	}
	return &res.Engagement.RateByFollowers.Median
}

// uniquePosts removes duplicate posts. Of posts with the same ID, it keeps the first.
func uniquePosts(posts []provider.Post) []provider.Post {
	out, seen := []provider.Post{}, map[string]bool{}
	for _, p := range posts {
		if !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, p)
		}
	}
	return out
}

// samplesQuery selects the samples of a report, oldest first.
const samplesQuery = `SELECT measured_at, sample FROM report_samples WHERE report_id = ? ORDER BY measured_at`

// storedSample is a row of report_samples.
type storedSample struct {
	at   int64  // Unix time in microseconds
	text string // JSON
}

func (s *Service) samples(ctx context.Context, report string) ([]storedSample, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, row *storedSample) error { return rows.Scan(&row.at, &row.text) },
		samplesQuery, report)
	if err != nil {
		return nil, fmt.Errorf("reading the samples of report %s: %w", report, err)
	}
	return out, nil
}

// snapshots returns the numbers of followers and posts at the current measurement and at each stored measurement.
func (s *Service) snapshots(ctx context.Context, report string, current provider.Account) ([]analysis.Snapshot, error) {
	earlier, err := s.samples(ctx, report)
	if err != nil {
		return nil, err
	}
	out := []analysis.Snapshot{{At: current.MeasuredAt, Followers: current.Followers, Posts: current.Posts}}
	for _, row := range earlier {
		var stored sample
		if err := json.Unmarshal([]byte(row.text), &stored); err != nil {
			return nil, fmt.Errorf("reading a sample of report %s: %w", report, err)
		}
		if db.Time(row.at).Equal(current.MeasuredAt) {
			continue // the current measurement is already stored
		}
		out = append(out, analysis.Snapshot{At: db.Time(row.at), Followers: stored.Followers, Posts: stored.Posts})
	}
	return out, nil
}
