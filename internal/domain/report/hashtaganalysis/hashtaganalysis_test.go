package hashtaganalysis

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/synthetichashtag"
)

// drawInput generates possible metrics.
func drawInput(t *rapid.T) Input {
	metric := rapid.OneOf(rapid.Just((*int64)(nil)), rapid.Custom(func(t *rapid.T) *int64 {
		return new(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64()).Draw(t, "metric"))
	}))
	moment := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) time.Time {
			return measuredAt.Add(-time.Duration(rapid.Int64Range(0, 90*24*3600).Draw(t, "ago")) * time.Second)
		}),
		rapid.SampledFrom([]time.Time{{}, measuredAt, measuredAt.Add(time.Hour), time.Unix(0, 0), time.Unix(1<<38, 0)}),
	)
	post := rapid.Custom(func(t *rapid.T) provider.Post {
		return provider.Post{
			ID: rapid.StringMatching(`[a-f]{1,3}`).Draw(t, "id"), Format: rapid.SampledFrom([]string{"", "image",
				"video", "reel", "carousel", "other"}).Draw(t, "format"),
			TakenAt: moment.Draw(t, "taken"), Caption: rapid.SampledFrom([]string{"", "Boats #sea #sky", "#sea waves",
				"\xff#x"}).Draw(t, "caption"),
			Hashtags: rapid.SliceOfN(rapid.SampledFrom([]string{"sea", "sky", "", "#"}), 0, 3).Draw(t, "hashtags"),
			Likes:    metric.Draw(t, "likes"), Comments: metric.Draw(t, "comments"), Views: metric.Draw(t, "views"),
		}
	})
	sample := rapid.Custom(func(t *rapid.T) Sample {
		s := Sample{At: moment.Draw(t, "at"), From: moment.Draw(t, "from"), Cut: rapid.Bool().Draw(t, "cut"),
			Posts: rapid.Int().Draw(t, "posts"), Size: metric.Draw(t, "size")}
		if rapid.Bool().Draw(t, "hours") {
			s.Hours = rapid.SliceOfN(rapid.IntRange(-1, 9), hoursOfWeek, hoursOfWeek).Draw(t, "by hour")
		}
		return s
	})
	posts := rapid.SliceOfN(post, 0, 60)
	return Input{
		Metrics: provider.HashtagMetrics{
			Hashtag: "sea", Size: metric.Draw(t, "size"), Top: posts.Draw(t, "top"), Recent: posts.Draw(t, "recent"),
			From: moment.Draw(t, "from"), MeasuredAt: rapid.SampledFrom([]time.Time{measuredAt, measuredAt, measuredAt,
				{}}).Draw(t, "at"),
		},
		Earlier: rapid.SliceOfN(sample, 0, 4).Draw(t, "earlier"),
		Zone:    rapid.SampledFrom([]*time.Location{nil, time.UTC, time.FixedZone("", 5*3600+1800)}).Draw(t, "zone"),
		Background: Background{Posts: rapid.IntRange(0, 100).Draw(t, "background"),
			PostsByHashtag: map[string]int{"sky": rapid.Int().Draw(t, "with")}},
	}
}

// Any input yields a result without NaN and infinity, with metrics within their intervals.
func TestAnyMetrics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		found := Analyze(in)
		text, err := json.Marshal(found)
		if err != nil || strings.Contains(string(text), "null") {
			t.Fatalf("%s, %v", text, err)
		}
		if p := found.Hashtag.Posts; p != nil && p.Low != nil && !slices.IsSorted([]int64{0, *p.Low, p.Count,
			*p.High}) {
			t.Errorf("posts %d, %d to %d", p.Count, *p.Low, *p.High)
		}
		if r := found.Hashtag.PostsPerDay; r != nil && !slices.IsSorted([]float64{0, r.Low, r.Value, r.High}) {
			t.Errorf("posts per day: %+v", r)
		}
		if g := found.Sections.Growth; g != nil && !slices.IsSorted([]float64{0, g.PostsPerDay.Low, g.PostsPerDay.Value,
			g.PostsPerDay.High}) {
			t.Errorf("growth %+v", g)
		}
		if s := found.Score; s != nil && !slices.IsSorted([]float64{0, s.Value, 100}) {
			t.Errorf("score %v", s.Value)
		}
		if _, err := json.Marshal(Measure(in.Metrics)); err != nil {
			t.Error(err)
		}
	})
}

func TestOrderIndependence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		other := in
		other.Metrics.Top = rapid.Permutation(in.Metrics.Top).Draw(t, "top")
		other.Metrics.Recent = rapid.Permutation(in.Metrics.Recent).Draw(t, "recent")
		other.Earlier = rapid.Permutation(in.Earlier).Draw(t, "earlier")
		if diff := cmp.Diff(Analyze(in), Analyze(other)); diff != "" {
			t.Error(diff)
		}
	})
}

// Another post in the window never lowers the rate. A post with more reactions never lowers the reactions.
func TestMonotonic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.SliceOfNDistinct(rapid.IntRange(1, 24*3600-1), minScored+1, 80, rapid.ID[int]).
			Draw(t, "seconds")
		var f provider.HashtagMetrics
		f.MeasuredAt = measuredAt
		if rapid.Bool().Draw(t, "whole") {
			f.From = measuredAt.AddDate(0, 0, -1)
		}
		for i, s := range seconds {
			f.Recent = append(f.Recent, provider.Post{ID: string(rune('A' + i)),
				TakenAt: measuredAt.Add(-time.Duration(s) * time.Second), Likes: new(int64(s))})
		}
		fewer := f
		fewer.Recent = f.Recent[1:]
		if was := Measure(fewer); !f.Recent[0].TakenAt.After(was.From) {
			t.Skip("the post is older than the window")
		}
		a, b := Analyze(Input{Metrics: fewer}), Analyze(Input{Metrics: f})
		if a.Hashtag.PostsPerDay.Value > b.Hashtag.PostsPerDay.Value {
			t.Errorf("rate %+v; with one more post %+v", a.Hashtag.PostsPerDay, b.Hashtag.PostsPerDay)
		}
		f.Recent = slices.Clone(f.Recent)
		f.Recent[0].Likes = new(*f.Recent[0].Likes + 1000)
		if c := Analyze(Input{Metrics: f}); c.Engagement.Likes.Median < b.Engagement.Likes.Median ||
			c.Sections.Score.Components[1].Value < b.Sections.Score.Components[1].Value {
			t.Errorf("reactions %+v; with more likes %+v", b.Engagement.Likes, c.Engagement.Likes)
		}
	})
}

// A single outlier has little effect: a viral post, or one from long ago in either list.
func TestOneOutlier(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		h := synthetichashtag.RandomHashtag(seed, measuredAt)
		h.TopPosts = 120
		in := Input{Metrics: h.Measure(measuredAt)}
		old := provider.Post{ID: "old", TakenAt: time.Unix(0, 0), Likes: new(int64(math.MaxInt64)),
			Comments: new(int64(math.MaxInt64))}
		if len(in.Metrics.Recent) < 60 {
			continue
		}
		with := in
		with.Metrics.Top = append(slices.Clone(in.Metrics.Top), old)
		with.Metrics.Recent = append(slices.Clone(in.Metrics.Recent), old)
		a, b := Analyze(in), Analyze(with)
		near := func(what string, x, y, most float64) {
			if math.Abs(math.Log(y/x)) > most {
				t.Errorf("seed %d: %s %g, then %g", seed, what, x, y)
			}
		}
		near("size", float64(a.Hashtag.Posts.Count), float64(b.Hashtag.Posts.Count), 0.12)
		near("rate", a.Hashtag.PostsPerDay.Value, b.Hashtag.PostsPerDay.Value, 0.05)
		near("likes", a.Engagement.Likes.Median, b.Engagement.Likes.Median, 0.15)
		near("score", a.Score.Value, b.Score.Value, 0.05)
	}
}

func TestTier(t *testing.T) {
	t.Parallel()
	for posts, want := range map[int64]string{
		0: "nano", 9_999: "nano", 10_000: "small", 99_999: "small", 100_000: "medium", 499_999: "medium",
		500_000: "large", 999_999: "large", 1_000_000: "huge",
	} {
		if got := Tier(posts); got != want {
			t.Errorf("%d: %s, want %s", posts, got, want)
		}
	}
}

// With too little data, metrics are missing and a note explains it.
func TestTooLittleDataOmitsMetrics(t *testing.T) {
	t.Parallel()
	young := synthetichashtag.RandomHashtag(1, measuredAt)
	young.AgeDays, young.Size = 20, 100_000
	few := synthetichashtag.RandomHashtag(1, measuredAt)
	few.TopPosts = 19
	for name, c := range map[string]struct {
		in     Input
		reason string
	}{
		"nothing": {Input{}, "No posts were found"},
		"young":   {Input{Metrics: young.Measure(measuredAt)}, noteSizeUnknown},
		"few":     {Input{Metrics: few.Measure(measuredAt)}, noteSizeUnknown},
		"top": {Input{Metrics: provider.HashtagMetrics{MeasuredAt: measuredAt, Top: few.Measure(measuredAt).Top}},
			"based on top posts only"},
		"untimed": {Input{Metrics: provider.HashtagMetrics{Recent: few.Measure(measuredAt).Recent}},
			"too few recent posts"},
	} {
		found := Analyze(c.in)
		if found.Hashtag.Posts != nil || found.Hashtag.Tier != "" || found.BestTime != nil &&
			found.BestTime.StandsOut || found.Sections.Growth != nil {
			t.Errorf("%s: %+v", name, found.Hashtag)
		}
		if !strings.Contains(strings.Join(found.Notes, "\n"), c.reason) {
			t.Errorf("%s: %q", name, found.Notes)
		}
	}
}

// A measured size is returned unchanged. A recent size is extrapolated by the rate.
func TestMeasuredSize(t *testing.T) {
	t.Parallel()
	h := synthetichashtag.RandomHashtag(2, measuredAt)
	f := h.Measure(measuredAt)
	f.Size = new(int64(123_457))
	posts := Analyze(Input{Metrics: f}).Hashtag.Posts
	if diff := cmp.Diff(&TagPosts{Count: 123_457, Basis: Measured}, posts); diff != "" {
		t.Error(diff)
	}
	was := Measure(f)
	was.At, was.From = was.At.AddDate(0, 0, -10), time.Time{}
	f.Size = nil
	found := Analyze(Input{Metrics: f, Earlier: []Sample{was}}).Hashtag
	want := 123_457 + 10*found.PostsPerDay.Value
	if got := float64(found.Posts.Count); math.Abs(got/want-1) > 0.01 || found.Posts.Basis != Estimated {
		t.Errorf("%+v, want %g", found.Posts, want)
	}
}

// A block below its expected share is never the best time.
func TestBestTimeRatio(t *testing.T) {
	t.Parallel()
	below := candidate{block: 1, posts: 100, log: math.Log(0.61), stdErr: 0.05}
	above := candidate{block: 2, posts: 3, log: math.Log(3), stdErr: 1}
	claimed := candidate{block: 3, posts: 9, log: math.Log(4), stdErr: 0.1}
	for _, c := range []struct {
		all  []candidate
		want block
	}{{[]candidate{below, above}, 2}, {[]candidate{above, below}, 2}, {[]candidate{above, below, claimed}, 3}} {
		if got := slices.MaxFunc(c.all, compareCandidates).block; got != c.want {
			t.Errorf("block %d, want %d", got, c.want)
		}
	}
}
