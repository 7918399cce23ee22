package report

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/domain/report/words"
	"pressroom.example/pressroom/internal/platform/db"
)

func (s *Service) analyzeHashtag(ctx context.Context, t task, f provider.HashtagMetrics) (measurement, error) {
	if f.MeasuredAt.IsZero() {
		f.MeasuredAt = s.db.Now()
	}
	f.Hashtag, f.Top, f.Recent = t.subject, uniquePosts(f.Top), uniquePosts(f.Recent)
	input := hashtaganalysis.Input{Metrics: f, Zone: t.zone}
	var err error
	if input.Earlier, err = s.earlierSamples(ctx, t.id); err != nil {
		return measurement{}, err
	}
	if input.Background, err = s.background(ctx, t); err != nil {
		return measurement{}, err
	}
	analysis := hashtaganalysis.Analyze(input)
	// A post in both lists is stored only as a top post.
	recent := slices.DeleteFunc(slices.Clone(f.Recent), func(p provider.Post) bool {
		return slices.ContainsFunc(f.Top, func(q provider.Post) bool { return q.ID == p.ID })
	})
	return measurement{at: f.MeasuredAt, analysis: analysis, notes: analysis.Notes, sample: hashtaganalysis.Measure(f),
		replace: true,
		posts:   map[string][]provider.Post{listTop: f.Top, listRecent: recent}}, nil
}

// earlierSamples returns the stored samples of a hashtag report, oldest first.
func (s *Service) earlierSamples(ctx context.Context, report string) ([]hashtaganalysis.Sample, error) {
	samples, err := s.samples(ctx, report)
	if err != nil {
		return nil, err
	}
	out := make([]hashtaganalysis.Sample, len(samples))
	for i, k := range samples {
		if err := json.Unmarshal([]byte(k.text), &out[i]); err != nil {
			return nil, fmt.Errorf("reading a sample of report %s: %w", report, err)
		}
	}
	return out, nil
}

// backgroundQuery selects captions of posts in the team's other hashtag reports, newest first.
const backgroundQuery = `SELECT p.caption FROM report_posts p WHERE p.report_id IN (
	SELECT id FROM reports WHERE team_id = ? AND kind = 'hashtag' AND id <> ? AND status = 'ready' ORDER BY id DESC
	LIMIT 20) LIMIT 2000`

// background counts the hashtags in posts of the team's other hashtag reports.
func (s *Service) background(ctx context.Context, t task) (hashtaganalysis.Background, error) {
	captions, err := db.All(ctx, s.db, func(rows *sql.Rows, c *string) error { return rows.Scan(c) }, backgroundQuery,
		t.team, t.id)
	if err != nil {
		return hashtaganalysis.Background{}, fmt.Errorf("reading posts of other hashtags: %w", err)
	}
	out := hashtaganalysis.Background{Posts: len(captions), PostsByHashtag: map[string]int{}}
	for _, c := range captions {
		for _, h := range words.Hashtags(c) {
			out.PostsByHashtag[h]++
		}
	}
	return out, nil
}
