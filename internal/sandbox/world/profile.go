package world

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Profile is a public profile. A day shows it as it was when the day began: the posts of earlier days with the
// reactions that they had by then.
type Profile struct{ Platform, Name string }

// Dice returns a random source of the profile.
func (p Profile) Dice(words ...string) *rand.Rand {
	return Dice(append([]string{p.Platform, p.Name}, words...)...)
}

// The effects that every profile's posts have.
const (
	blockEffect   = 2.0 // of one of the twelve blocks
	hashtagEffect = 1.5 // of each of workingTags hashtags
	workingTags   = 3
	workingShare  = 0.3 // share of posts with each of them
	reactionSigma = 0.6 // of the logarithm
)

// Traits are the constant traits of a profile.
type Traits struct {
	posts     float64 // at MeasuredAt
	Days      float64 // since its first post, at MeasuredAt
	followers float64 // at MeasuredAt
	growth    float64 // change of the followers' logarithm per day
	wave      float64 // period of the followers' swing, in days
	follows   int64

	language Phrases
	blocks   []float64 // weights of each four hours of a day
	best     int       // the block with the effect: 0–5 on weekdays, 6–11 at weekends
	tags     []traitTag
	formats  []traitFormat

	reactions        float64 // of a post without effects, per follower^followerPower
	comments, shares float64 // shares of the reactions
	viewed           float64 // reactions per view
	HidesLikes       bool    // from business discovery and the bridge
	KeepsReels       bool    // prevents others from downloading them
}

// followerPower gives large profiles fewer reactions per follower.
const followerPower = 0.8

type traitTag struct {
	name          string
	share, effect float64
}

type traitFormat struct {
	name          string
	share, effect float64
}

// Traits returns the traits of the profile.
func (p Profile) Traits() Traits {
	rng := p.Dice("habits")
	h := Traits{
		posts: logBetween(rng, 36, 390), Days: logBetween(rng, 200, 1200),
		followers: logBetween(rng, 1e3, 2e6), growth: between(rng, -0.0004, 0.0016), wave: between(rng, 20, 70),
		follows: int64(logBetween(rng, 40, 3000)), language: Language(rng), best: rng.IntN(12),
		reactions: 0.2 * spread(rng, 0.3), comments: between(rng, 0.01, 0.05), shares: between(rng, 0.005, 0.04),
		viewed: between(rng, 0.04, 0.12), HidesLikes: rng.IntN(16) == 0, KeepsReels: rng.IntN(12) == 0,
	}
	for block := range 6 {
		often := between(rng, 0.7, 1.4)
		if block == 0 { // at night
			often = 0.5
		}
		h.blocks = append(h.blocks, often)
	}
	h.tags = traitTags(rng, h.language)
	h.formats = p.formats(rng)
	return h
}

// traitTags returns eight hashtags of a theme and a language. The first ones have an effect.
func traitTags(rng *rand.Rand, home Phrases) []traitTag {
	theme := themes[rng.IntN(len(themes))]
	own := slices.DeleteFunc(slices.Clone(home.Tags), func(tag string) bool { return slices.Contains(theme, tag) })
	names := slices.Concat(sample(rng, theme, 5), sample(rng, own, 3))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var tags []traitTag
	for i, name := range names {
		if i < workingTags {
			tags = append(tags, traitTag{name, workingShare, hashtagEffect})
		} else {
			tags = append(tags, traitTag{name, between(rng, 0.1, 0.35), 1})
		}
	}
	return tags
}

// formats returns a platform's formats, one with more reactions and one with fewer.
func (p Profile) formats(rng *rand.Rand) []traitFormat {
	formats := []traitFormat{
		{FormatImage, 0.35, 1}, {FormatReel, 0.35, 1}, {FormatCarousel, 0.25, 1}, {FormatVideo, 0.05, 1},
	}
	if p.Platform == tiktok {
		formats = []traitFormat{{FormatVideo, 0.8, 1}, {FormatCarousel, 0.12, 1}, {FormatImage, 0.08, 1}}
	}
	order := rng.Perm(3)
	formats[order[0]].effect, formats[order[1]].effect = 1.4, 0.8
	for i := range formats {
		formats[i].share *= between(rng, 0.7, 1.3)
	}
	return formats
}

// anyFormat returns a random format, distributed by the shares.
func anyFormat(rng *rand.Rand, formats []traitFormat) traitFormat {
	var shares []float64
	for _, format := range formats {
		shares = append(shares, format.share)
	}
	return formats[weightedIndex(rng, shares)]
}

// StartOf returns the start of a day in Unix seconds.
func StartOf(day int64) int64 { return day * SecondsPerDay }

// DayOf returns the day of a time, counted from 1970.
func DayOf(now time.Time) int64 { return now.Unix() / SecondsPerDay }

// followersOn returns the number of followers when a day begins.
func (p Profile) followersOn(h Traits, day int64) float64 {
	since := math.Max(-3000, math.Min(3000, float64(day-MeasuredAt/SecondsPerDay)))
	swing := 1 + 0.004*math.Sin(2*math.Pi*since/h.wave) + 0.0004*p.Dice("followers", strconv.FormatInt(day, 10)).
		Float64()
	return h.followers * math.Exp(h.growth*since) * swing
}

// mostPosts limits a profile's posts at any time.
const mostPosts = 5000

// Posts returns the profile's posts when a day begins, the newest first.
func (p Profile) Posts(day int64) []Post {
	if strings.HasPrefix(p.Name, PrefixEmpty) {
		return nil
	}
	h := p.Traits()
	pace := h.Days / h.posts
	began := float64(MeasuredAt)/SecondsPerDay - h.Days
	var posts []Post
	for k := range mostPosts {
		due := began + float64(k)*pace
		if due >= float64(day) {
			break
		}
		rng := p.Dice("post", strconv.Itoa(k))
		// posts are a little irregular, and not always in order
		if on := int64(due + between(rng, 0, 1.6)*pace); on < day {
			posts = append(posts, p.post(h, rng, on))
		}
	}
	newestFirst(posts)
	return posts
}

// post returns a random post of a day.
func (p Profile) post(h Traits, rng *rand.Rand, day int64) Post {
	const fourHours = 4 * 60 * 60
	block := weightedIndex(rng, h.blocks)
	post := Post{
		ID: RandomID(rng), At: StartOf(day) + int64(block)*fourHours + rng.Int64N(fourHours), size: 1,
		Tags: []string{},
	}
	effect := 1.0
	if blockOf(post.At) == h.best {
		effect *= blockEffect
	}
	for _, tag := range h.tags {
		if rng.Float64() < tag.share {
			post.Tags = append(post.Tags, tag.name)
			effect *= tag.effect
		}
	}
	format := anyFormat(rng, h.formats)
	post.Format = format.name
	post.reactions = h.reactions * math.Pow(p.followersOn(h, day),
		followerPower) * effect * format.effect * spread(rng, reactionSigma)
	post.comments, post.shares = h.comments*spread(rng, 0.2), h.shares*spread(rng, 0.2)
	if post.Format != FormatImage && post.Format != FormatCarousel || p.Platform == tiktok {
		post.Views = post.reactions / h.viewed * spread(rng, 0.2)
	}
	if post.Format == FormatCarousel {
		post.size = 2 + rng.IntN(4)
	}
	post.File = NewFile(rng, post.ID, post.Format)
	rng.Shuffle(len(post.Tags), func(i, j int) { post.Tags[i], post.Tags[j] = post.Tags[j], post.Tags[i] })
	post.Caption = withTags(Sentences(rng, h.language), post.Tags)
	return post
}

// blockOf returns the block of a time: six of four hours on weekdays and six on weekends, in UTC.
func blockOf(at int64) int {
	moment := time.Unix(at, 0).UTC()
	block := moment.Hour() / 4
	if day := moment.Weekday(); day == time.Saturday || day == time.Sunday {
		block += 6
	}
	return block
}

// Face is the head of a profile.
type Face struct {
	DisplayName, Biography, Website string
	Followers, Follows, Posts       int64
}

// Face returns the head of the profile when a day begins.
func (p Profile) Face(day int64, posts int) Face {
	h := p.Traits()
	rng := p.Dice("face")
	face := Face{
		DisplayName: h.language.Names[rng.IntN(len(h.language.Names))],
		Biography:   strings.Join(sample(rng, h.language.Lines, 1+rng.IntN(3)), "\n"),
		Followers:   int64(p.followersOn(h, day)), Follows: h.follows, Posts: int64(posts),
	}
	if rng.IntN(2) == 0 {
		face.DisplayName = DisplayName(p.Name)
	}
	if rng.IntN(3) > 0 {
		face.Biography += " " + h.language.Emoji[rng.IntN(len(h.language.Emoji))]
	}
	if rng.IntN(3) > 0 {
		face.Website = "https://" + strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(p.Name),
			"-") + ".example/"
	}
	return face
}

// DisplayName returns a display name for a username.
func DisplayName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// Avatar returns the profile's picture.
func (p Profile) Avatar() File {
	return File{ID: RandomID(p.Dice("avatar")), Width: AvatarSize.X, Height: AvatarSize.Y}
}
