// Package synthetic generates public profiles with known effects, for tests of package analysis. The two packages share
// only the format of the input, so that they cannot share a mistake.
//
// Engagement is log-normal: its logarithm is a sum of effects and normal noise with a standard deviation of 0.6.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
)

// The generated effects.
const (
	Sigma        = 0.6 // standard deviation of the logarithm of engagement
	Blocks       = 12  // six blocks of four hours on weekdays, then six on weekends
	BlockRatio   = 2.0 // engagement ratio of the better block, if there is one
	HashtagRatio = 1.5 // engagement ratio of each of the three effective hashtags
	hashtagShare = 0.3 // share of posts with each effective hashtag
	viewsSigma   = 0.3 // standard deviation of log engagement per view
)

// Plan describes the profile to generate. Equal plans generate equal profiles.
type Plan struct {
	Seed             uint64
	Posts            int
	NoEffects        bool // no factor has an effect
	Uneven           bool // 70% of the posts are in two blocks
	Confounded       bool // effective hashtags are more frequent in the better block
	NoBestBlock      bool // no block is better than the others
	NoHashtagEffects bool // no hashtag has an effect
}

// Snapshot is the size of the profile at a time.
type Snapshot struct {
	At               time.Time
	Followers, Posts int64
}

// Profile is a generated profile with its true effects.
type Profile struct {
	Account   provider.Account
	Posts     []provider.Post // shuffled
	Snapshots []Snapshot
	Zone      *time.Location
	At        time.Time
	Truth     Truth
}

// Truth holds the true effects as natural logarithms of ratios.
type Truth struct {
	Block           int // index of the better block, or -1
	Blocks          [Blocks]float64
	Hashtags        map[string]float64 // by hashtag
	Formats         map[string]float64
	RateByFollowers float64 // population median
	RateByViews     float64
	FollowersPerDay float64
}

// The hashtags, formats and caption subjects of the posts. share is the share of posts, and effect is the logarithm of
// a ratio.
var (
	effectiveHashtags   = []string{"harbour", "sunrise", "workshop"}
	ineffectiveHashtags = []struct {
		name  string
		share float64
	}{{"daily", 0.5}, {"photo", 0.3}, {"weekend", 0.2}, {"throwback", 0.1}, {"rare", 0.05}}
	formats = []struct {
		name          string
		share, effect float64
	}{{provider.FormatImage, 0.5, 0}, {provider.FormatReel, 0.3, 0.3}, {provider.FormatCarousel, 0.2, -0.2}}
	subjects = []string{"boats", "bread", "coffee", "garden", "lantern", "market", "music", "river", "stone", "window"}
)

// generator generates a profile.
type generator struct {
	plan     Plan
	rng      *rand.Rand
	shares   [Blocks]float64
	level    float64 // log engagement without effects, in the middle of the period
	trend    float64 // change of log engagement over the period
	viewRate float64
	start    time.Time // midnight in the zone
	days     int
}

// Generate returns the profile that a plan describes.
func Generate(plan Plan) Profile {
	rng := rand.New(rand.NewPCG(plan.Seed, 0x9e3779b97f4a7c15)) //nolint:gosec // tests must be reproducible
	zone := time.FixedZone("UTC+2", 2*60*60)
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		zone = berlin
	}
	g := generator{plan: plan, rng: rng, days: max(plan.Posts, 60)}
	g.start = time.Date(2026, 11, 20, 0, 0, 0, 0, zone).AddDate(0, 0, -g.days)
	g.level = math.Log(300) + rng.Float64()*math.Log(20)
	g.viewRate = 0.02 + 0.08*rng.Float64()
	if !plan.NoEffects {
		g.trend = 0.3 * rng.Float64()
	}
	truth := g.chooseTruth()
	at := g.start.AddDate(0, 0, g.days+3)
	followers := math.Round(math.Exp(g.level) * (20 + 60*rng.Float64()))
	truth.FollowersPerDay = math.Round(followers * (0.0005 + 0.002*rng.Float64()))
	if plan.NoEffects {
		truth.FollowersPerDay = 0
	}
	profile := Profile{Zone: zone, At: at, Truth: truth, Posts: g.posts(truth)}
	profile.Snapshots = g.snapshots(at, followers, truth.FollowersPerDay)
	profile.Truth.RateByFollowers = g.populationMedian(truth) / followers
	profile.Truth.RateByViews = g.viewRate
	total := int64(plan.Posts)
	profile.Account = provider.Account{Username: fmt.Sprintf("planted.%d", plan.Seed), Followers: new(int64(followers)),
		Posts: &total, MeasuredAt: at}
	return profile
}

// chooseTruth chooses the effects. It also sets the shares of the blocks.
func (g *generator) chooseTruth() Truth {
	truth := Truth{Block: g.rng.IntN(Blocks), Hashtags: map[string]float64{}, Formats: map[string]float64{}}
	noBestBlock, noHashtagEffects := g.plan.NoEffects || g.plan.NoBestBlock, g.plan.NoEffects || g.plan.NoHashtagEffects
	truth.Blocks[truth.Block] = zeroIf(noBestBlock, math.Log(BlockRatio))
	if noBestBlock {
		truth.Block = -1
	}
	for _, tag := range effectiveHashtags {
		truth.Hashtags[tag] = zeroIf(noHashtagEffects, math.Log(HashtagRatio))
	}
	for _, tag := range ineffectiveHashtags {
		truth.Hashtags[tag.name] = 0
	}
	for _, format := range formats {
		truth.Formats[format.name] = zeroIf(g.plan.NoEffects, format.effect)
	}
	g.setShares()
	return truth
}

func zeroIf(absent bool, effect float64) float64 {
	if absent {
		return 0
	}
	return effect
}

// setShares chooses the share of posts in each block.
func (g *generator) setShares() {
	first, second := g.rng.IntN(Blocks), 1+g.rng.IntN(Blocks-1)
	for b := range g.shares {
		g.shares[b] = 1.0 / Blocks
		if g.plan.Uneven {
			g.shares[b] = 0.3 / (Blocks - 2)
		}
	}
	if g.plan.Uneven {
		g.shares[first], g.shares[(first+second)%Blocks] = 0.35, 0.35
	}
}

// posts generates the posts in random order. The number of posts in each block is proportional to the block's share.
// Within a block, their times are uniformly random over the period.
func (g *generator) posts(truth Truth) []provider.Post {
	posts := make([]provider.Post, g.plan.Posts)
	offset := g.rng.Float64()
	for i := range posts {
		posts[i] = g.post(i, g.block((float64(i)+offset)/float64(len(posts))), truth)
	}
	g.rng.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
	return posts
}

// block returns the block of a post, given the fraction (0 to 1) of the posts that precede it.
func (g *generator) block(part float64) int {
	for b, share := range g.shares {
		if part -= share; part < 0 {
			return b
		}
	}
	return Blocks - 1
}

func (g *generator) post(i, block int, truth Truth) provider.Post {
	at, part := g.postTime(block)
	log := g.level + g.trend*(part-0.5) + truth.Blocks[block] + Sigma*g.rng.NormFloat64()
	tags := g.hashtags(block == truth.Block)
	for _, tag := range tags {
		log += truth.Hashtags[tag]
	}
	format := g.format()
	log += truth.Formats[format]
	engagement := math.Round(math.Exp(log))
	comments := math.Round(engagement * 0.04 * g.rng.Float64())
	views := math.Round(engagement / (g.viewRate * math.Exp(viewsSigma*g.rng.NormFloat64())))
	return provider.Post{
		ID: fmt.Sprintf("p%d", i), Format: format, TakenAt: at, Caption: g.caption(tags),
		Likes: new(int64(engagement - comments)), Comments: new(int64(comments)), Views: new(int64(views)),
	}
}

// postTime returns a random time in a block and the elapsed fraction of the period.
func (g *generator) postTime(block int) (time.Time, float64) {
	for {
		day := g.start.AddDate(0, 0, g.rng.IntN(g.days))
		weekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
		if weekend != (block >= Blocks/2) {
			continue
		}
		minute := block%(Blocks/2)*240 + g.rng.IntN(240)
		at := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, g.rng.IntN(60), 0, day.Location())
		return at, at.Sub(g.start).Hours() / 24 / float64(g.days)
	}
}

func (g *generator) hashtags(better bool) []string {
	var tags []string
	for _, tag := range effectiveHashtags {
		share := hashtagShare
		if g.plan.Confounded && better {
			share = 0.7
		}
		if g.rng.Float64() < share {
			tags = append(tags, tag)
		}
	}
	for _, tag := range ineffectiveHashtags {
		if g.rng.Float64() < tag.share {
			tags = append(tags, tag.name)
		}
	}
	return tags
}

func (g *generator) format() string {
	part := g.rng.Float64()
	for _, format := range formats {
		if part -= format.share; part < 0 {
			return format.name
		}
	}
	return formats[0].name
}

func (g *generator) caption(tags []string) string {
	var text strings.Builder
	text.WriteString(subjects[g.rng.IntN(len(subjects))])
	for _, tag := range tags {
		text.WriteString(" #" + tag)
	}
	return text.String()
}

// snapshots generates 30 measurements of the follower count. The last measurement is at the time at. The count is a
// random walk with drift.
func (g *generator) snapshots(at time.Time, followers, perDay float64) []Snapshot {
	const count = 30
	step := float64(g.days) / count
	wander := max(2, math.Sqrt(followers)/4)
	shots := make([]Snapshot, count)
	for i := count - 1; i >= 0; i-- {
		shots[i] = Snapshot{At: at, Followers: int64(math.Round(followers)), Posts: int64(g.plan.Posts)}
		days := step * (0.5 + g.rng.Float64())
		followers = max(0, followers-perDay*days-wander*math.Sqrt(days)*g.rng.NormFloat64())
		at = at.Add(-time.Duration(days * 24 * float64(time.Hour)))
	}
	return shots
}
