package report

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/analysis"
	"pressroom/internal/platform/db"
)

// postsSection is the section of a report's posts, which lie in a table of their own.
const postsSection = "posts"

// alwaysWrites is the condition of the capability that every new report needs beside spending.
func alwaysWrites(context.Context, operation.Call, CreateInput) (bool, error) { return true, nil }

// sample is what one measurement of a profile keeps for its growth.
type sample struct {
	Followers *int64 `json:"followers,omitempty"`
	Posts     *int64 `json:"posts,omitempty"`
}

// analyse works out what the figures tell.
func (s *Service) analyse(ctx context.Context, t task, a answered) (measured, error) {
	if t.kind == Hashtag {
		return s.analyseHashtag(ctx, t, a.hashtag)
	}
	return s.analyseProfile(ctx, t, a.profile)
}

func (s *Service) analyseProfile(ctx context.Context, t task, f provider.ProfileFigures) (measured, error) {
	now := s.db.Now()
	if f.Account.MeasuredAt.IsZero() {
		f.Account.MeasuredAt = now
	}
	posts := different(f.Posts)
	earlier, err := s.posts(ctx, t.id, first, mostPosts)
	if err != nil {
		return measured{}, err
	}
	all := slices.Clone(posts)
	for _, p := range earlier { // those that the source does not reach back to any more
		if now.Sub(p.TakenAt) < longest {
			all = append(all, p.Post)
		}
	}
	input := analysis.ProfileInput{Account: f.Account, Posts: different(all), Zone: t.zone, At: f.Account.MeasuredAt}
	if input.Snapshots, err = s.snapshots(ctx, t.id, f.Account); err != nil {
		return measured{}, err
	}
	found := analysis.Analyse(input)
	acc := f.Account
	if told := len(input.Posts); acc.Posts != nil && int64(told) < *acc.Posts {
		found.Notes = append(found.Notes, fmt.Sprintf("This rests on %d of the profile's %d posts: the newest, none older than two years, as far as the source tells of them.", told, *acc.Posts))
	}
	return measured{
		at: acc.MeasuredAt, account: account{DisplayName: acc.DisplayName, Biography: acc.Biography, Website: acc.Website, Followers: acc.Followers, Follows: acc.Follows, Posts: acc.Posts},
		analysis: found, notes: found.Notes, sample: sample{acc.Followers, acc.Posts}, posts: map[string][]provider.Post{shownPosts: posts},
	}, nil
}

// different leaves out posts that came before.
func different(posts []provider.Post) []provider.Post {
	out, seen := []provider.Post{}, map[string]bool{}
	for _, p := range posts {
		if !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, p)
		}
	}
	return out
}

// samplesOf are the measurements of a report, the oldest first.
const samplesOf = `SELECT measured_at, sample FROM report_samples WHERE report_id = ? ORDER BY measured_at`

// keptSample is one of them.
type keptSample struct {
	at   int64
	text string
}

func (s *Service) samples(ctx context.Context, report string) ([]keptSample, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, k *keptSample) error { return rows.Scan(&k.at, &k.text) }, samplesOf, report)
	if err != nil {
		return nil, fmt.Errorf("reading the samples of report %s: %w", report, err)
	}
	return out, nil
}

// snapshots are how large a profile was at each measurement, the present one among them.
func (s *Service) snapshots(ctx context.Context, report string, now provider.Account) ([]analysis.Snapshot, error) {
	earlier, err := s.samples(ctx, report)
	if err != nil {
		return nil, err
	}
	out := []analysis.Snapshot{{At: now.MeasuredAt, Followers: now.Followers, Posts: now.Posts}}
	for _, k := range earlier {
		var was sample
		if err := json.Unmarshal([]byte(k.text), &was); err != nil {
			return nil, fmt.Errorf("reading a sample of report %s: %w", report, err)
		}
		if db.Time(k.at).Equal(now.MeasuredAt) {
			continue // this very measurement, begun again
		}
		out = append(out, analysis.Snapshot{At: db.Time(k.at), Followers: was.Followers, Posts: was.Posts})
	}
	return out, nil
}
