// Package synthetichashtag generates hashtags with known size, rate, related hashtags and best time, for tests of
// package hashtaganalysis. The two packages share no code, so that they cannot share a mistake.
package synthetichashtag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Shape describes how the number of posts per day changes over the life of a hashtag.
type Shape string

// The shapes. Hashtag.Bend is the parameter of each shape.
const (
	Power    Shape = "power"    // size ~ age^bend
	Growing  Shape = "growing"  // the rate grows by a factor of e^bend
	Fading   Shape = "fading"   // the rate falls by a factor of e^-bend
	Levelled Shape = "levelled" // the rate grows and then stays constant
	Yearly   Shape = "yearly"   // the rate has a yearly cycle around slow growth
)

// Hashtag is a generated hashtag.
type Hashtag struct {
	Name            string
	Seed            uint64
	Size            float64   // posts at At
	AgeDays         float64   // age at At
	At              time.Time // time of Size
	Shape           Shape
	Bend            float64
	DailyAmplitude  float64 // amplitude of the daily cycle, relative to the mean
	WeeklyAmplitude float64 // amplitude of the weekly cycle
	Phase           float64 // of both cycles, as a fraction of a cycle

	TopPosts       int           // shown by the network
	MaxRecentPosts int           // maximum number of recent posts
	Window         time.Duration // maximum age of recent posts

	HasCaptions    bool               // posts have captions
	Companions     map[string]float64 // share of posts by related hashtag
	BestBlock      int                // 0–11: six blocks of four hours on weekdays, then on the weekend
	BestBlockRatio float64            // relative frequency of top posts in BestBlock; 1 is no effect
	MedianLikes    float64            // median of recent posts
	MedianTopLikes float64            // median of top posts
}

// RandomHashtag returns a random hashtag. Its size is log-uniform from 10^3 to 10^7.5, and its age is from 200 days to
// ten years.
func RandomHashtag(seed uint64, at time.Time) Hashtag {
	rng := newRand(seed, 1)
	h := Hashtag{
		Name: "planted", Seed: seed, At: at, Size: math.Pow(10, 3+4.5*rng.Float64()), AgeDays: 200 * math.Pow(18,
			rng.Float64()),
		DailyAmplitude: 0.5 * rng.Float64(), WeeklyAmplitude: 0.12 * rng.Float64(), Phase: rng.Float64(), Window: 24 * time.Hour,
		TopPosts: 40 + rng.IntN(161), MaxRecentPosts: 200, BestBlockRatio: 1, MedianLikes: math.Pow(10, 0.5+1.5*rng.Float64()),
		MedianTopLikes: math.Pow(10, 2+2*rng.Float64()),
	}
	shapes := []Shape{Power, Growing, Fading, Levelled, Yearly}
	h.Shape = shapes[rng.IntN(len(shapes))]
	switch h.Shape {
	case Power:
		h.Bend = 0.7 + 1.3*rng.Float64()
	case Growing:
		h.Bend = 3 * rng.Float64()
	case Fading:
		h.Bend = 2 * rng.Float64()
	case Levelled, Yearly:
		h.Bend = rng.Float64()
	}
	return h
}

// newRand returns a reproducible generator.
func newRand(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // test data
}

// relativeRate returns the rate at a fraction of the hashtag's age, up to a constant factor.
func (h Hashtag) relativeRate(part float64) float64 {
	switch h.Shape {
	case Growing:
		return math.Exp(h.Bend * part)
	case Fading:
		return math.Exp(-h.Bend * part)
	case Levelled:
		return 1 / (1 + math.Exp((0.1+0.5*h.Bend-part)/0.08))
	case Yearly:
		return (1 + part) * (1 + 0.3*math.Sin(2*math.Pi*(h.AgeDays*part/365+h.Bend)))
	case Power:
	}
	return math.Pow(math.Max(part, 1e-6), h.Bend-1)
}

// lifeCells is the number of cells of the numerical integration.
const lifeCells = 1000

// cumulativeShares returns the share of all posts that were published before each cell boundary.
func (h Hashtag) cumulativeShares() []float64 {
	sums := make([]float64, lifeCells+1)
	for i := range lifeCells {
		sums[i+1] = sums[i] + h.relativeRate((float64(i)+0.5)/lifeCells)
	}
	for i := range sums {
		sums[i] /= sums[lifeCells]
	}
	return sums
}

// PerDay returns the posts per day at the time At, without the daily and weekly cycles.
func (h Hashtag) PerDay() float64 {
	sum := 0.0
	for i := range lifeCells {
		sum += h.relativeRate((float64(i) + 0.5) / lifeCells)
	}
	return h.Size / h.AgeDays * h.relativeRate(1) * lifeCells / sum
}

// RateAt returns the posts per day at a time near At, with the daily and weekly cycles.
func (h Hashtag) RateAt(at time.Time) float64 { return h.PerDay() * h.cycleFactor(at) }

// cycleFactor returns the factor of the daily and weekly cycles at a time.
func (h Hashtag) cycleFactor(at time.Time) float64 {
	day := float64(at.Unix()) / 86400
	return (1 + h.DailyAmplitude*math.Cos(2*math.Pi*(day+h.Phase))) * (1 + h.WeeklyAmplitude*math.Cos(2*math.Pi*(day/7+h.Phase)))
}

// Measure returns the response of a provider: up to MaxRecentPosts posts of the last Window, and top posts sampled
// uniformly from all posts. Equal times give equal responses.
func (h Hashtag) Measure(at time.Time) provider.HashtagMetrics {
	rng := newRand(h.Seed, uint64(at.UnixNano()))
	out := provider.HashtagMetrics{Hashtag: h.Name, MeasuredAt: at}
	out.Recent, out.From = h.recent(rng, at)
	out.Top = h.top(rng, at)
	return out
}

// recent generates the recent posts, newest first. It also returns the time from which the list is complete, or the
// zero time if the list is truncated.
func (h Hashtag) recent(rng *rand.Rand, at time.Time) ([]provider.Post, time.Time) {
	mean := h.PerDay()
	highest := mean * (1 + h.DailyAmplitude) * (1 + h.WeeklyAmplitude)
	var posts []provider.Post
	for daysBack := 0.0; ; {
		daysBack += rng.ExpFloat64() / highest
		publishedAt := at.Add(-time.Duration(daysBack * 24 * float64(time.Hour)))
		if at.Sub(publishedAt) >= h.Window {
			return posts, at.Add(-h.Window)
		}
		if rng.Float64()*highest > mean*h.cycleFactor(publishedAt) {
			continue
		}
		if len(posts) == h.MaxRecentPosts {
			return posts, time.Time{}
		}
		posts = append(posts, h.post(rng, publishedAt, h.MedianLikes))
	}
}

func (h Hashtag) top(rng *rand.Rand, at time.Time) []provider.Post {
	life := h.cumulativeShares()
	var posts []provider.Post
	for len(posts) < h.TopPosts {
		share := rng.Float64()
		cell := max(0, sort.SearchFloat64s(life, share)-1)
		part := (float64(cell) + rng.Float64()) / lifeCells
		publishedAt := at.Add(-time.Duration((1 - part) * h.AgeDays * 24 * float64(time.Hour)))
		if h.BestBlockRatio > 1 && blockOf(publishedAt) != h.BestBlock && rng.Float64() > 1/h.BestBlockRatio {
			continue
		}
		posts = append(posts, h.post(rng, publishedAt, h.MedianTopLikes))
	}
	return posts
}

// blockOf returns the block of a time in UTC.
func blockOf(t time.Time) int {
	block := t.UTC().Hour() / 4
	if day := t.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
		block += 6
	}
	return block
}

func (h Hashtag) post(rng *rand.Rand, at time.Time, likes float64) provider.Post {
	count := int64(likes * math.Exp(0.9*rng.NormFloat64()))
	comments := count / 20
	formats := []string{provider.FormatImage, provider.FormatReel, provider.FormatReel, provider.FormatCarousel}
	post := provider.Post{
		ID: strconv.FormatUint(rng.Uint64(), 36), TakenAt: at.Truncate(time.Second), Likes: &count, Comments: &comments,
		Format: formats[rng.IntN(len(formats))],
	}
	if !h.HasCaptions {
		return post
	}
	post.Caption = fmt.Sprintf("Morning light number %d #%s", rng.IntN(1000), h.Name)
	for _, name := range h.names() {
		if rng.Float64() < h.Companions[name] {
			post.Caption += " #" + name
		}
	}
	return post
}

func (h Hashtag) names() []string {
	names := make([]string, 0, len(h.Companions))
	for name := range h.Companions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// BackgroundCounts returns how many posts of a random sample have each hashtag. shares holds the expected share of each
// hashtag.
func BackgroundCounts(seed uint64, posts int, shares map[string]float64) map[string]int {
	rng := newRand(seed, 2)
	names := make([]string, 0, len(shares))
	for name := range shares {
		names = append(names, name)
	}
	slices.Sort(names)
	counts := map[string]int{}
	for _, name := range names {
		for range posts {
			if rng.Float64() < shares[name] {
				counts[name]++
			}
		}
	}
	return counts
}
