package hashtaganalysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/report/synthetichashtag"
)

var measuredAt = time.Date(2026, time.November, 18, 15, 20, 0, 0, time.UTC)

// coverage counts how often a condition holds.
type coverage struct{ good, all int }

func (h *coverage) add(good bool) {
	h.all++
	if good {
		h.good++
	}
}

func (h *coverage) share() float64 { return float64(h.good) / float64(h.all) }

// check checks that 95% intervals have their nominal coverage.
func (h *coverage) check(t *testing.T, what string) {
	t.Helper()
	t.Logf("intervals of %s: %.3f of %d", what, h.share(), h.all)
	if share := h.share(); share < 0.93 || share > 0.97 {
		t.Errorf("95%% intervals of %s cover the truth in %.3f of %d cases", what, share, h.all)
	}
}

// inWindow returns the true rate in the counted window.
func inWindow(h synthetichashtag.Hashtag, s Sample) float64 {
	const parts = 24
	sum := 0.0
	for i := range parts {
		part := (float64(i) + 0.5) / parts
		sum += h.RateAt(s.At.Add(-time.Duration(part * float64(s.At.Sub(s.From)))))
	}
	return sum / parts
}

// This test checks sizes and rates of hashtags of all sizes, ages and shapes. Half of them were measured before.
func TestSyntheticSizes(t *testing.T) {
	t.Parallel()
	var errors []float64
	var rates, sizes coverage
	none := 0
	for seed := range uint64(600) {
		h := synthetichashtag.RandomHashtag(seed, measuredAt)
		in := Input{Metrics: h.Measure(measuredAt)}
		if seed%2 == 0 {
			for _, back := range []int{3, 6, 9} {
				in.Earlier = append(in.Earlier, Measure(h.Measure(measuredAt.AddDate(0, 0, -back))))
			}
		}
		found := Analyze(in).Hashtag
		truth := inWindow(h, Measure(in.Metrics))
		rates.add(found.PostsPerDay.Low <= truth && truth <= found.PostsPerDay.High)
		if found.Posts == nil {
			none++
			errors = append(errors, math.Inf(1))
			continue
		}
		if found.Tier != Tier(found.Posts.Count) || found.Posts.Basis != Estimated {
			t.Errorf("seed %d: %+v", seed, found)
		}
		errors = append(errors, math.Abs(float64(found.Posts.Count)/h.Size-1))
		sizes.add(float64(*found.Posts.Low) <= h.Size && h.Size <= float64(*found.Posts.High))
	}
	slices.Sort(errors)
	middle := errors[len(errors)/2]
	t.Logf("median relative error of sizes is %.1f%%; no estimate for %d of %d", 100*middle, none, len(errors))
	if middle > 0.25 || none > 80 {
		t.Errorf("median relative error of sizes is %.3f; no estimate for %d", middle, none)
	}
	rates.check(t, "posts per day")
	sizes.check(t, "posts")
}

// The rate doubles between measurements.
func TestSyntheticGrowth(t *testing.T) {
	t.Parallel()
	var growths coverage
	for seed := range uint64(500) {
		dice := rand.New(rand.NewPCG(seed, 3))
		h := synthetichashtag.RandomHashtag(seed, measuredAt)
		h.Shape, h.AgeDays, h.TopPosts, h.MaxRecentPosts, h.Size = synthetichashtag.Growing, 1000, 5, 1000,
			8_000*math.Pow(15, dice.Float64())
		was := h
		was.Size /= 2
		in := Input{Metrics: h.Measure(measuredAt)}
		for _, back := range []int{3, 6, 9} {
			in.Earlier = append(in.Earlier, Measure(was.Measure(measuredAt.AddDate(0, 0, -back))))
		}
		g := Analyze(in).Sections.Growth
		if g == nil || g.Measurements != 3 || g.Days != 6 {
			t.Fatalf("seed %d: %+v", seed, g)
		}
		growths.add(g.PostsPerDay.Low <= 2 && 2 <= g.PostsPerDay.High)
	}
	growths.check(t, "growth")
}

// companionShares are the shares of related hashtags. elsewhere are their shares in other posts.
var (
	companionShares = map[string]float64{"harbour": 0.3, "lighthouse": 0.15, "pier": 0.1, "love": 0.4, "instagood": 0.3,
		"photo": 0.1, "nature": 0.2}
	elsewhere = map[string]float64{"harbour": 0.03, "lighthouse": 0.01, "pier": 0.01, "love": 0.4, "instagood": 0.3,
		"photo": 0.1, "nature": 0.2}
)

// Related hashtags are found, and common hashtags are not reported as related.
func TestSyntheticRelated(t *testing.T) {
	t.Parallel()
	var lifts, wrong, first coverage
	for seed := range uint64(500) {
		h := synthetichashtag.RandomHashtag(seed, measuredAt)
		h.HasCaptions, h.Companions, h.TopPosts, h.MaxRecentPosts = true, companionShares, 100, 50
		in := Input{Metrics: h.Measure(measuredAt), Background: Background{Posts: 1500,
			PostsByHashtag: synthetichashtag.BackgroundCounts(seed, 1500, elsewhere)}}
		found := Analyze(in)
		claimed := map[string]bool{}
		for _, b := range found.TopHashtags {
			claimed[b.Hashtag] = *b.Related
			if b.Lift == nil {
				continue
			}
			truth := companionShares[b.Hashtag] / elsewhere[b.Hashtag]
			lifts.add(b.Lift.Low <= truth && truth <= b.Lift.High)
		}
		wrong.add(claimed["love"] || claimed["instagood"] || claimed["photo"] || claimed["nature"])
		first.add(claimed["harbour"] && claimed["lighthouse"])
	}
	lifts.check(t, "lift")
	t.Logf("claimed wrongly: %.3f, rightly: %.3f", wrong.share(), first.share())
	if wrong.share() > 0.05 || first.share() < 0.95 {
		t.Errorf("false positive rate %.3f, true positive rate %.3f", wrong.share(), first.share())
	}
}

// A block with three times as many top posts is found. Without such a block, none is found.
func TestSyntheticBestTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ effect, least, most float64 }{{1, 0, 0.05}, {3, 0.9, 1}} {
		var claimed, right coverage
		for seed := range uint64(300) {
			h := synthetichashtag.RandomHashtag(seed, measuredAt)
			h.Size, h.AgeDays, h.Shape, h.Bend, h.Window, h.MaxRecentPosts, h.TopPosts = 60_000, 900, synthetichashtag.Growing,
				0, 8*24*time.Hour, 1000, 200
			// The rate varies by hour and day, and top posts follow it, except for the best block.
			h.DailyAmplitude, h.WeeklyAmplitude, h.BestBlockRatio, h.BestBlock = 0, 0, c.effect, int(seed)%6
			best := Analyze(Input{Metrics: h.Measure(measuredAt)}).BestTime
			claimed.add(best.StandsOut)
			right.add(best.StandsOut && best.Days == "weekdays" && best.Hour == h.BestBlock*4)
		}
		t.Logf("effect %.0f: claimed %.3f, right %.3f", c.effect, claimed.share(), right.share())
		if claimed.share() > c.most || right.share() < c.least {
			t.Errorf("effect %.0f: claimed in %.3f, rightly in %.3f", c.effect, claimed.share(), right.share())
		}
	}
}
