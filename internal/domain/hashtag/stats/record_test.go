package stats

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
)

// The stored metrics do not depend on the order or repetition of observations.
func TestObservationOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.SliceOfNDistinct(rapid.IntRange(1, 60), 1, 8, rapid.ID).Draw(t, "days")
		told := make([]Statistics, len(days))
		for i, day := range days {
			told[i] = Statistics{MeasuredAt: time.Unix(0, 0).AddDate(0, 0, day)}
			if basis := rapid.SampledFrom([]string{"", hashtaganalysis.Measured, hashtaganalysis.Estimated}).
				Draw(t, "basis"); basis != "" {
				told[i].Posts = &hashtaganalysis.TagPosts{Count: int64(day), Basis: basis}
			}
			if rapid.Bool().Draw(t, "rated") {
				told[i].PostsPerDay = new(float64(day))
			}
		}
		all := func(told []Statistics) storedStatistics {
			var m storedStatistics
			for _, f := range told {
				m = m.merge(f)
			}
			return m
		}
		once := all(told)
		if diff := cmp.Diff(once, all(rapid.Permutation(slices.Concat(told, told)).Draw(t, "order")),
			cmp.AllowUnexported(storedStatistics{})); diff != "" {
			t.Error(diff)
		}
		checkMerged(t, once, told)
	})
}

// checkMerged checks each stored metric.
func checkMerged(t *rapid.T, m storedStatistics, observed []Statistics) {
	var newest, measured, estimated Statistics
	for _, f := range observed {
		if f.MeasuredAt.After(newest.MeasuredAt) {
			newest = f
		}
		if f.Posts != nil && f.Posts.Basis == hashtaganalysis.Measured && f.MeasuredAt.After(measured.MeasuredAt) {
			measured = f
		}
		if f.Posts != nil && f.Posts.Basis == hashtaganalysis.Estimated && f.MeasuredAt.After(estimated.MeasuredAt) {
			estimated = f
		}
	}
	size := measured.Posts
	if size == nil || estimated.Posts != nil && estimated.MeasuredAt.Sub(measured.MeasuredAt) >= 14*24*time.Hour {
		size = estimated.Posts
	}
	if m.Posts != size || m.PostsPerDay != newest.PostsPerDay || !m.MeasuredAt.Equal(newest.MeasuredAt) {
		t.Errorf("%+v of %+v", m, observed)
	}
}

func TestAnalyzeWithClockAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{{}, now.Add(time.Hour)} {
		if got := Analyze(provider.Instagram, provider.HashtagMetrics{Hashtag: "sea", MeasuredAt: at}, now).
			Statistics.MeasuredAt; !got.Equal(now) {
			t.Errorf("measured at %s", got)
		}
	}
}

func TestTaggedPosts(t *testing.T) {
	t.Parallel()
	got := taggedPosts([]provider.Post{
		{ID: "b", Caption: "On the #Sea, at #sea and ＃ＬＡＫＥ", Hashtags: []string{"#pier", "two words"}},
		{ID: "a"},
		{ID: "b", Caption: "#more"},
		{Caption: "#nobody"},
	}, "harbour")
	want := []TaggedPost{{ID: "a", Hashtags: []string{"harbour"}}, {ID: "b", Hashtags: []string{"harbour", "lake",
		"more", "pier", "sea"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
