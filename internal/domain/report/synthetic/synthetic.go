// Package synthetic makes public profiles whose truth is known, so that it can be tested what an analysis finds in
// them. It shares nothing with the analysis but the form of the figures: both could be wrong alike otherwise.
//
// Engagement is log-normal: its logarithm is a sum of effects and of chance with a standard deviation of 0.6.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"pressroom/internal/domain/provider"
)

// What is planted where there are effects.
const (
	Sigma        = 0.6 // standard deviation of the logarithm of engagement
	Blocks       = 12  // six of four hours on weekdays, then six on the weekend
	BlockRatio   = 2.0 // of the one block that does better
	HashtagRatio = 1.5 // of each of the three hashtags that work
	hashtagShare = 0.3 // of the posts carry each of those three
	viewsSigma   = 0.3 // standard deviation of the logarithm of engagement for each view
)

// Plan says what profile is wanted. Equal plans make equal profiles.
type Plan struct {
	Seed    uint64
	Posts   int
	Null    bool // no effect at all
	Uneven  bool // seven tenths of the posts lie in two blocks
	Tangled bool // the hashtags that work are used more often in the block that does better
	Flat    bool // no block does better
	Plain   bool // no hashtag does anything
}

// Snapshot is the size of the profile at a time.
type Snapshot struct {
	At               time.Time
	Followers, Posts int64
}

// Profile is a profile as sources tell it, with the truth behind it.
type Profile struct {
	Account   provider.Account
	Posts     []provider.Post // in no order
	Snapshots []Snapshot
	Zone      *time.Location
	At        time.Time
	Truth     Truth
}

// Truth is what was planted. Effects are natural logarithms of ratios.
type Truth struct {
	Block           int // that does better, counted from 0; -1 where none does
	Blocks          [Blocks]float64
	Hashtags        map[string]float64 // of every hashtag in use
	Formats         map[string]float64
	RateByFollowers float64 // the median of all posts that the profile might have made
	RateByViews     float64
	FollowersPerDay float64
}

// The hashtags of every profile, with the share of posts that carry them. The first three work.
var (
	working = []string{"harbour", "sunrise", "workshop"}
	idle    = []struct {
		name  string
		share float64
	}{{"daily", 0.5}, {"photo", 0.3}, {"weekend", 0.2}, {"throwback", 0.1}, {"rare", 0.05}}
	formats = []struct {
		name          string
		share, effect float64
	}{{provider.FormatImage, 0.5, 0}, {provider.FormatReel, 0.3, 0.3}, {provider.FormatCarousel, 0.2, -0.2}}
	subjects = []string{"boats", "bread", "coffee", "garden", "lantern", "market", "music", "river", "stone", "window"}
)

// generator draws a profile. Its members are the same for all of its posts.
type generator struct {
	plan     Plan
	rng      *rand.Rand
	shares   [Blocks]float64
	level    float64 // logarithm of engagement without effects, in the middle of the period
	trend    float64 // by how much the logarithm of engagement grows over the whole period
	viewRate float64
	start    time.Time // a midnight of the zone
	days     int
}

// Generate draws the profile of a plan.
func Generate(plan Plan) Profile {
	draw := rand.New(rand.NewPCG(plan.Seed, 0x9e3779b97f4a7c15)) //nolint:gosec // figures for tests have to come again
	zone := time.FixedZone("UTC+2", 2*60*60)
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		zone = berlin
	}
	m := generator{plan: plan, rng: draw, days: max(plan.Posts, 60)}
	m.start = time.Date(2026, 11, 20, 0, 0, 0, 0, zone).AddDate(0, 0, -m.days)
	m.level = math.Log(300) + draw.Float64()*math.Log(20)
	m.viewRate = 0.02 + 0.08*draw.Float64()
	if !plan.Null {
		m.trend = 0.3 * draw.Float64()
	}
	truth := m.truth()
	at := m.start.AddDate(0, 0, m.days+3)
	followers := math.Round(math.Exp(m.level) * (20 + 60*draw.Float64()))
	truth.FollowersPerDay = math.Round(followers * (0.0005 + 0.002*draw.Float64()))
	if plan.Null {
		truth.FollowersPerDay = 0
	}
	profile := Profile{Zone: zone, At: at, Truth: truth, Posts: m.posts(truth)}
	profile.Snapshots = m.snapshots(at, followers, truth.FollowersPerDay)
	profile.Truth.RateByFollowers = m.populationMedian(truth) / followers
	profile.Truth.RateByViews = m.viewRate
	total := int64(plan.Posts)
	profile.Account = provider.Account{Username: fmt.Sprintf("planted.%d", plan.Seed), Followers: new(int64(followers)), Posts: &total, MeasuredAt: at}
	return profile
}

// truth plants the effects, and sets how the posts spread over the blocks.
func (m *generator) truth() Truth {
	truth := Truth{Block: m.rng.IntN(Blocks), Hashtags: map[string]float64{}, Formats: map[string]float64{}}
	flat, plain := m.plan.Null || m.plan.Flat, m.plan.Null || m.plan.Plain
	truth.Blocks[truth.Block] = zeroIf(flat, math.Log(BlockRatio))
	if flat {
		truth.Block = -1
	}
	for _, tag := range working {
		truth.Hashtags[tag] = zeroIf(plain, math.Log(HashtagRatio))
	}
	for _, tag := range idle {
		truth.Hashtags[tag.name] = 0
	}
	for _, format := range formats {
		truth.Formats[format.name] = zeroIf(m.plan.Null, format.effect)
	}
	m.setShares()
	return truth
}

func zeroIf(absent bool, effect float64) float64 {
	if absent {
		return 0
	}
	return effect
}

// setShares sets which share of the posts each block has.
func (m *generator) setShares() {
	first, second := m.rng.IntN(Blocks), 1+m.rng.IntN(Blocks-1)
	for b := range m.shares {
		m.shares[b] = 1.0 / Blocks
		if m.plan.Uneven {
			m.shares[b] = 0.3 / (Blocks - 2)
		}
	}
	if m.plan.Uneven {
		m.shares[first], m.shares[(first+second)%Blocks] = 0.35, 0.35
	}
}

// posts draws the posts. They are spread over the blocks as evenly as their shares allow, and in each block over the
// period by chance.
func (m *generator) posts(truth Truth) []provider.Post {
	posts := make([]provider.Post, m.plan.Posts)
	offset := m.rng.Float64()
	for i := range posts {
		posts[i] = m.post(i, m.block((float64(i)+offset)/float64(len(posts))), truth)
	}
	m.rng.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
	return posts
}

// block is the block up to which this part of all posts lies.
func (m *generator) block(part float64) int {
	for b, share := range m.shares {
		if part -= share; part < 0 {
			return b
		}
	}
	return Blocks - 1
}

func (m *generator) post(i, block int, truth Truth) provider.Post {
	at, part := m.postTime(block)
	log := m.level + m.trend*(part-0.5) + truth.Blocks[block] + Sigma*m.rng.NormFloat64()
	tags := m.hashtags(block == truth.Block)
	for _, tag := range tags {
		log += truth.Hashtags[tag]
	}
	format := m.format()
	log += truth.Formats[format]
	engagement := math.Round(math.Exp(log))
	comments := math.Round(engagement * 0.04 * m.rng.Float64())
	views := math.Round(engagement / (m.viewRate * math.Exp(viewsSigma*m.rng.NormFloat64())))
	return provider.Post{
		ID: fmt.Sprintf("p%d", i), Format: format, TakenAt: at, Caption: m.caption(tags),
		Likes: new(int64(engagement - comments)), Comments: new(int64(comments)), Views: new(int64(views)),
	}
}

// postTime draws a time of the block, and tells which part of the period lies before it.
func (m *generator) postTime(block int) (time.Time, float64) {
	for {
		day := m.start.AddDate(0, 0, m.rng.IntN(m.days))
		weekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
		if weekend != (block >= Blocks/2) {
			continue
		}
		minute := block%(Blocks/2)*240 + m.rng.IntN(240)
		at := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, m.rng.IntN(60), 0, day.Location())
		return at, at.Sub(m.start).Hours() / 24 / float64(m.days)
	}
}

func (m *generator) hashtags(better bool) []string {
	var tags []string
	for _, tag := range working {
		share := hashtagShare
		if m.plan.Tangled && better {
			share = 0.7
		}
		if m.rng.Float64() < share {
			tags = append(tags, tag)
		}
	}
	for _, tag := range idle {
		if m.rng.Float64() < tag.share {
			tags = append(tags, tag.name)
		}
	}
	return tags
}

func (m *generator) format() string {
	part := m.rng.Float64()
	for _, format := range formats {
		if part -= format.share; part < 0 {
			return format.name
		}
	}
	return formats[0].name
}

func (m *generator) caption(tags []string) string {
	var text strings.Builder
	text.WriteString(subjects[m.rng.IntN(len(subjects))])
	for _, tag := range tags {
		text.WriteString(" #" + tag)
	}
	return text.String()
}

// snapshots draws thirty measurements of the followers that end with the present. What comes between two of them is
// chance around the growth: independent from day to day, so that the size wanders as sizes do.
func (m *generator) snapshots(at time.Time, followers, perDay float64) []Snapshot {
	const count = 30
	step := float64(m.days) / count
	wander := max(2, math.Sqrt(followers)/4)
	shots := make([]Snapshot, count)
	for i := count - 1; i >= 0; i-- {
		shots[i] = Snapshot{At: at, Followers: int64(math.Round(followers)), Posts: int64(m.plan.Posts)}
		days := step * (0.5 + m.rng.Float64())
		followers = max(0, followers-perDay*days-wander*math.Sqrt(days)*m.rng.NormFloat64())
		at = at.Add(-time.Duration(days * 24 * float64(time.Hour)))
	}
	return shots
}
