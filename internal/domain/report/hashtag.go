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

func (s *Service) analyzeHashtag(ctx context.Context, t task, metrics provider.HashtagMetrics) (measurement, error) {
	if metrics.MeasuredAt.IsZero() {
		metrics.MeasuredAt = s.db.Now()
	}
	metrics.Hashtag, metrics.Top, metrics.Recent = t.subject, uniquePosts(metrics.Top), uniquePosts(metrics.Recent)
	input := hashtaganalysis.Input{Metrics: metrics, Zone: t.zone}
	var err error
	if input.Earlier, err = s.earlierSamples(ctx, t.id); err != nil {
		return measurement{}, err
	}
	if input.Background, err = s.countBackground(ctx, t); err != nil {
		return measurement{}, err
	}
	analysis := hashtaganalysis.Analyze(input)
	// A post in both lists is stored only as a top post.
	recent := slices.DeleteFunc(slices.Clone(metrics.Recent), func(p provider.Post) bool {
		return slices.ContainsFunc(metrics.Top, func(q provider.Post) bool { return q.ID == p.ID })
	})
	return measurement{measuredAt: metrics.MeasuredAt, analysis: analysis, notes: analysis.Notes, sample: hashtaganalysis.Measure(metrics),
		replacesPosts: true,
		posts:         map[string][]provider.Post{listTop: metrics.Top, listRecent: recent}}, nil
}

// earlierSamples returns the stored samples of a hashtag report, oldest first.
func (s *Service) earlierSamples(ctx context.Context, report string) ([]hashtaganalysis.Sample, error) {
	samples, err := s.samples(ctx, report)
	if err != nil {
		return nil, err
	}
	out := make([]hashtaganalysis.Sample, len(samples))
	for i, row := range samples {
		if err := json.Unmarshal([]byte(row.text), &out[i]); err != nil {
			return nil, fmt.Errorf("reading a sample of report %s: %w", report, err)
		}
	}
	return out, nil
}

// backgroundQuery selects captions of posts in the team's other hashtag reports, newest first.
const backgroundQuery = `SELECT p.caption FROM report_posts p WHERE p.report_id IN (
	SELECT id FROM reports WHERE team_id = ? AND kind = 'hashtag' AND id <> ? AND status = 'ready' ORDER BY id DESC
	LIMIT 20) LIMIT 2000`

// countBackground counts the hashtags in posts of the team's other hashtag reports.
func (s *Service) countBackground(ctx context.Context, t task) (hashtaganalysis.Background, error) {
	captions, err := db.All(ctx, s.db, func(rows *sql.Rows, caption *string) error { return rows.Scan(caption) }, backgroundQuery,
		t.team, t.id)
	if err != nil {
		return hashtaganalysis.Background{}, fmt.Errorf("reading posts of other hashtags: %w", err)
	}
	out := hashtaganalysis.Background{Posts: len(captions), PostsByHashtag: map[string]int{}}
	for _, caption := range captions {
		for _, h := range words.Hashtags(caption) {
			out.PostsByHashtag[h]++
		}
	}
	return out, nil
}
