package analysis_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/domain/report/synthetic"
	"pressroom.example/pressroom/internal/testkit/must"
)

var measuredAt = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// anyMetric generates valid and invalid metrics.
func anyMetric() *rapid.Generator[*int64] {
	return rapid.OneOf(
		rapid.Just[*int64](nil),
		rapid.Map(rapid.Int64Range(0, 1000), func(n int64) *int64 { return &n }),
		rapid.Map(rapid.SampledFrom([]int64{0, 0, 1, -1, math.MinInt64, math.MaxInt64}), func(n int64) *int64 {
			return &n
		}),
	)
}

// anyTime generates times, including future, unknown and extreme ones.
func anyTime() *rapid.Generator[time.Time] {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 200*24), func(hours int) time.Time {
			return measuredAt.Add(-time.Duration(hours) * time.Hour)
		}),
		rapid.SampledFrom([]time.Time{{}, measuredAt, measuredAt.Add(time.Hour), time.Unix(0, 0),
			time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)}),
	)
}

func anyPost() *rapid.Generator[provider.Post] {
	return rapid.Custom(func(t *rapid.T) provider.Post {
		return provider.Post{
			ID: rapid.StringMatching(`[a-z]{0,2}`).Draw(t, "id"),
			Format: rapid.SampledFrom([]string{"", "image", "video", "reel", "carousel", "hologram"}).
				Draw(t, "format"),
			TakenAt: anyTime().Draw(t, "at"),
			Caption: rapid.OneOf(rapid.StringMatching(`(#?[abc]{1,2} ){0,5}`), rapid.String()).Draw(t, "caption"),
			Hashtags: rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"a", "#b", "C", "", "no tag", "１"}),
				rapid.String()), 0, 3).Draw(t, "hashtags"),
			Likes: anyMetric().Draw(t, "likes"), Comments: anyMetric().Draw(t, "comments"),
			Shares: anyMetric().Draw(t, "shares"), Views: anyMetric().Draw(t, "views"),
		}
	})
}

func anyInput() *rapid.Generator[analysis.ProfileInput] {
	return rapid.Custom(func(t *rapid.T) analysis.ProfileInput {
		in := analysis.ProfileInput{
			Account: provider.Account{Followers: anyMetric().Draw(t, "followers")},
			Posts:   rapid.SliceOfN(anyPost(), 0, 80).Draw(t, "posts"),
			Zone: rapid.SampledFrom([]*time.Location{nil, time.UTC, time.FixedZone("east", 14*60*60)}).
				Draw(t, "zone"),
			At: rapid.SampledFrom([]time.Time{measuredAt, {}}).Draw(t, "measured at"),
		}
		if rapid.Bool().Draw(t, "distinct posts") {
			for i := range in.Posts {
				in.Posts[i].ID = ""
			}
		}
		for range rapid.IntRange(0, 15).Draw(t, "snapshots") {
			in.Snapshots = append(in.Snapshots, analysis.Snapshot{At: anyTime().Draw(t, "snapshot at"),
				Followers: anyMetric().Draw(t, "snapshot")})
		}
		return in
	})
}

// Any input yields a result that can be stored: finite, without null, and independent of the order of posts.
func TestAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput().Draw(t, "metrics")
		answer, err := json.Marshal(analysis.Analyze(in))
		if err != nil {
			t.Fatalf("the result cannot be encoded: %v", err)
		}
		if strings.Contains(string(answer), "null") {
			t.Errorf("the result contains null: %s", answer)
		}
		seed := rapid.Uint64().Draw(t, "order")
		draw := rand.New(rand.NewPCG(seed, seed))
		draw.Shuffle(len(in.Posts), func(i, j int) { in.Posts[i], in.Posts[j] = in.Posts[j], in.Posts[i] })
		draw.Shuffle(len(in.Snapshots), func(i, j int) {
			in.Snapshots[i], in.Snapshots[j] = in.Snapshots[j],
				in.Snapshots[i]
		})
		again := must.Get(json.Marshal(analysis.Analyze(in)))(t)
		if diff := cmp.Diff(string(answer), string(again)); diff != "" {
			t.Errorf("another order, another answer:\n%s", diff)
		}
	})
}

// Thirty posts with a time, of which one has reactions, yield a best time within its interval.
func TestBestTimeFromThirtyPosts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput().Draw(t, "metrics")
		seen, dated := map[string]bool{}, 0
		for _, p := range in.Posts {
			ahead := !in.At.IsZero() && p.TakenAt.After(in.At)
			if !p.TakenAt.IsZero() && !ahead && (p.ID == "" || !seen[p.ID]) {
				dated++
			}
			seen[p.ID] = true
		}
		got := analysis.Analyze(in)
		switch best := got.BestTime; {
		case best == nil && dated >= 30 && got.Sections.Times != nil && in.Posts[0].ID == "":
			t.Errorf("no best time for %d dated posts", dated)
		case best != nil && dated < 30:
			t.Errorf("a best time for only %d dated posts", dated)
		case best != nil && (best.Low > best.Ratio.Low || best.Low > best.Ratio.Value || best.High < best.Ratio.Value ||
			best.Low < 0.02 || best.High > 50):
			t.Errorf("the interval does not contain the ratio: %+v", best)
		case best != nil && best.StandsOut && best.Ratio.Value < 1.05:
			t.Errorf("too small an effect stands out: %+v", best)
		}
	})
}

// More reactions never lower the rate or its lower bound.
func TestRateMonotonicInLikes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		likes := rapid.SliceOfN(rapid.Int64Range(0, 10_000), 1, 40).Draw(t, "likes")
		in := analysis.ProfileInput{Account: provider.Account{Followers: new(int64(5000))}, At: measuredAt}
		for i := range likes {
			in.Posts = append(in.Posts, provider.Post{TakenAt: measuredAt.AddDate(0, 0, -3-i), Likes: &likes[i],
				Views: new(int64(20_000))})
		}
		before := analysis.Analyze(in).Engagement
		likes[rapid.IntRange(0, len(likes)-1).Draw(t, "post")] += rapid.Int64Range(0, 1_000_000).Draw(t, "more")
		after := analysis.Analyze(in).Engagement
		for _, pair := range [][2]*result.FindingMedian{{before.Likes, after.Likes}, {before.RateByFollowers,
			after.RateByFollowers}, {before.RateByViews, after.RateByViews}} {
			was, is := pair[0], pair[1]
			if is.Median < was.Median || is.LowerQuartile < was.LowerQuartile || is.UpperQuartile < was.UpperQuartile {
				t.Errorf("%+v became %+v", *was, *is)
			}
			if was.Low != nil && (*is.Low < *was.Low || *is.High < *was.High) {
				t.Errorf("from %v–%v to %v–%v", *was.Low, *was.High, *is.Low, *is.High)
			}
		}
	})
}

// More followers at a later measurement never lower the growth.
func TestGrowthMonotonicInFollowers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(1000, 2000), 2, 9).Draw(t, "sizes")
		var in analysis.ProfileInput
		for i := range sizes {
			in.Snapshots = append(in.Snapshots, analysis.Snapshot{At: measuredAt.AddDate(0, 0, i),
				Followers: &sizes[i]})
		}
		before := analysis.Analyze(in).Sections.Growth.FollowersPerDay.Value
		sizes[len(sizes)-1] += rapid.Int64Range(0, 1_000_000).Draw(t, "more")
		if after := analysis.Analyze(in).Sections.Growth.FollowersPerDay.Value; after < before {
			t.Errorf("growth fell from %v to %v per day", before, after)
		}
	})
}

// A viral post has little effect on the best time, its ratio and the medians.
func TestViralPostRobustness(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		profile := synthetic.Generate(synthetic.Plan{Seed: seed, Posts: 300})
		before := analysis.Analyze(input(profile))
		profile.Posts[seed].Likes = new(*profile.Posts[seed].Likes*5000 + 1_000_000)
		after := analysis.Analyze(input(profile))
		if was, is := before.BestTime, after.BestTime; was == nil || is == nil || was.Days != is.Days ||
			was.Hour != is.Hour {
			t.Errorf("profile %d: the best time %+v became %+v", seed, was, is)
			continue
		}
		checkNear(t, "the best time's ratio", before.BestTime.Ratio.Value, after.BestTime.Ratio.Value, 0.12)
		checkNear(t, "the rate", before.Engagement.RateByFollowers.Median, after.Engagement.RateByFollowers.Median,
			0.03)
		checkNear(t, "the upper end of the rate", *before.Engagement.RateByFollowers.High,
			*after.Engagement.RateByFollowers.High, 0.05)
		checkNear(t, "the score", before.Score.Value, after.Score.Value, 0.02)
	}
}

func checkNear(t *testing.T, what string, before, after, part float64) {
	t.Helper()
	if math.Abs(after-before) > part*math.Abs(before) {
		t.Errorf("%s: %v became %v", what, before, after)
	}
}
