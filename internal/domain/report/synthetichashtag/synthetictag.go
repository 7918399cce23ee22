// Package synthetichashtag makes hashtags up of which everything is known: how many posts they have, how many come a day,
// which other hashtags belong to them, when top posts are posted. Analyses are tested against that. It knows nothing
// of how they work.
package synthetichashtag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"pressroom/internal/domain/provider"
)

// Shape is how a hashtag came to its posts.
type Shape string

// The shapes. The parameter bends each of them.
const (
	Power    Shape = "power"    // size ~ age^bend
	Growing  Shape = "growing"  // the rate grows by e^bend over the life
	Fading   Shape = "fading"   // the rate falls by e^-bend over the life
	Levelled Shape = "levelled" // the rate grows and then stays
	Yearly   Shape = "yearly"   // the rate goes up and down with the year, around a slow growth
)

// Hashtag is one of them.
type Hashtag struct {
	Name  string
	Seed  uint64
	Size  float64   // posts when it is measured at At
	Days  float64   // that it is old then
	At    time.Time // when Size is true
	Shape Shape
	Bend  float64
	Day   float64 // how far the rate of an hour is from the day's mean, at most, as a part of it
	Week  float64 // the same of a day and the week
	Phase float64 // where in the day and the week the rate is highest, in turns

	TopPosts   int           // that the network shows
	MostRecent int           // that the source asks for
	Window     time.Duration // the network shows no older recent posts

	Captions   bool               // posts have captions
	Companions map[string]float64 // the share of posts that carry them
	BestBlock  int                // 0–11: the block from which top posts come BestTimes as often; six of four hours on weekdays, then on the weekend
	BestTimes  float64            // 1 is no effect
	Likes      float64            // the median of a recent post's
	TopLikes   float64            // that of a top post's
}

// RandomHashtag is a hashtag as chance makes it: sizes from 10^3 to 10^7.5, each order of magnitude alike, 200 days to ten
// years old.
func RandomHashtag(seed uint64, at time.Time) Hashtag {
	dice := newRand(seed, 1)
	h := Hashtag{
		Name: "planted", Seed: seed, At: at, Size: math.Pow(10, 3+4.5*dice.Float64()), Days: 200 * math.Pow(18, dice.Float64()),
		Day: 0.5 * dice.Float64(), Week: 0.12 * dice.Float64(), Phase: dice.Float64(), Window: 24 * time.Hour,
		TopPosts: 40 + dice.IntN(161), MostRecent: 200, BestTimes: 1, Likes: math.Pow(10, 0.5+1.5*dice.Float64()), TopLikes: math.Pow(10, 2+2*dice.Float64()),
	}
	shapes := []Shape{Power, Growing, Fading, Levelled, Yearly}
	h.Shape = shapes[dice.IntN(len(shapes))]
	switch h.Shape {
	case Power:
		h.Bend = 0.7 + 1.3*dice.Float64()
	case Growing:
		h.Bend = 3 * dice.Float64()
	case Fading:
		h.Bend = 2 * dice.Float64()
	case Levelled, Yearly:
		h.Bend = dice.Float64()
	}
	return h
}

// newRand are the same for the same numbers.
func newRand(seed, of uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, of)) //nolint:gosec // made up, no secret
}

// relativeRate is the rate at a part of the life between 0 and 1, but for a factor.
func (h Hashtag) relativeRate(part float64) float64 {
	switch h.Shape {
	case Growing:
		return math.Exp(h.Bend * part)
	case Fading:
		return math.Exp(-h.Bend * part)
	case Levelled:
		return 1 / (1 + math.Exp((0.1+0.5*h.Bend-part)/0.08))
	case Yearly:
		return (1 + part) * (1 + 0.3*math.Sin(2*math.Pi*(h.Days*part/365+h.Bend)))
	case Power:
	}
	return math.Pow(math.Max(part, 1e-6), h.Bend-1)
}

// lifeCells is how finely the life is taken apart.
const lifeCells = 1000

// cumulativeShares is how large a share of the posts came until each cell ended.
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

// PerDay is the mean rate at the end of the life.
func (h Hashtag) PerDay() float64 {
	sum := 0.0
	for i := range lifeCells {
		sum += h.relativeRate((float64(i) + 0.5) / lifeCells)
	}
	return h.Size / h.Days * h.relativeRate(1) * lifeCells / sum
}

// RateAt is how many posts a day come at a moment near At, with the waves of the day and the week.
func (h Hashtag) RateAt(at time.Time) float64 { return h.PerDay() * h.wave(at) }

func (h Hashtag) wave(at time.Time) float64 {
	day := float64(at.Unix()) / 86400
	return (1 + h.Day*math.Cos(2*math.Pi*(day+h.Phase))) * (1 + h.Week*math.Cos(2*math.Pi*(day/7+h.Phase)))
}

// Measure is what a source tells at a moment: at most MostRecent posts of the last Window, and top posts drawn from the
// whole life, any as likely as another. What it told of a moment it tells again.
func (h Hashtag) Measure(at time.Time) provider.HashtagFigures {
	dice := newRand(h.Seed, uint64(at.UnixNano()))
	out := provider.HashtagFigures{Hashtag: h.Name, MeasuredAt: at}
	out.Recent, out.From = h.recent(dice, at)
	out.Top = h.top(dice, at)
	return out
}

// recent walks back from a moment. The time from which on all posts are shown is zero where the list is cut.
func (h Hashtag) recent(dice *rand.Rand, at time.Time) ([]provider.Post, time.Time) {
	mean := h.PerDay()
	highest := mean * (1 + h.Day) * (1 + h.Week)
	var posts []provider.Post
	for back := 0.0; ; {
		back += dice.ExpFloat64() / highest
		moment := at.Add(-time.Duration(back * 24 * float64(time.Hour)))
		if at.Sub(moment) >= h.Window {
			return posts, at.Add(-h.Window)
		}
		if dice.Float64()*highest > mean*h.wave(moment) {
			continue
		}
		if len(posts) == h.MostRecent {
			return posts, time.Time{}
		}
		posts = append(posts, h.post(dice, moment, h.Likes))
	}
}

func (h Hashtag) top(dice *rand.Rand, at time.Time) []provider.Post {
	life := h.cumulativeShares()
	var posts []provider.Post
	for len(posts) < h.TopPosts {
		share := dice.Float64()
		cell := max(0, sort.SearchFloat64s(life, share)-1)
		part := (float64(cell) + dice.Float64()) / lifeCells
		moment := at.Add(-time.Duration((1 - part) * h.Days * 24 * float64(time.Hour)))
		if h.BestTimes > 1 && blockOf(moment) != h.BestBlock && dice.Float64() > 1/h.BestTimes {
			continue
		}
		posts = append(posts, h.post(dice, moment, h.TopLikes))
	}
	return posts
}

// blockOf is the block of a time in UTC.
func blockOf(t time.Time) int {
	block := t.UTC().Hour() / 4
	if day := t.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
		block += 6
	}
	return block
}

func (h Hashtag) post(dice *rand.Rand, at time.Time, likes float64) provider.Post {
	count := int64(likes * math.Exp(0.9*dice.NormFloat64()))
	few := count / 20
	formats := []string{provider.FormatImage, provider.FormatReel, provider.FormatReel, provider.FormatCarousel}
	post := provider.Post{
		ID: strconv.FormatUint(dice.Uint64(), 36), TakenAt: at.Truncate(time.Second), Likes: &count, Comments: &few, Format: formats[dice.IntN(len(formats))],
	}
	if !h.Captions {
		return post
	}
	post.Caption = fmt.Sprintf("Morning light number %d #%s", dice.IntN(1000), h.Name)
	for _, name := range h.names() {
		if dice.Float64() < h.Companions[name] {
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

// BackgroundCounts is in how many of some posts under other hashtags each companion is, for shares that are true there.
func BackgroundCounts(seed uint64, posts int, shares map[string]float64) map[string]int {
	dice := newRand(seed, 2)
	names := make([]string, 0, len(shares))
	for name := range shares {
		names = append(names, name)
	}
	slices.Sort(names)
	with := map[string]int{}
	for _, name := range names {
		for range posts {
			if dice.Float64() < shares[name] {
				with[name]++
			}
		}
	}
	return with
}
