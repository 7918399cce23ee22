package world

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Profile is a public profile. Its methods return the state at the start of a day: the posts from all previous days,
// and their reactions at that time.
type Profile struct{ Platform, Name string }

// NewRand returns a random source that is seeded with the profile and words.
func (p Profile) NewRand(words ...string) *rand.Rand {
	return NewRand(append([]string{p.Platform, p.Name}, words...)...)
}

// The effects on the reactions to a post are the same for all profiles.
const (
	blockEffect    = 2.0 // factor for posts in the best block of the week
	hashtagEffect  = 1.5 // factor for each effective hashtag
	effectiveTags  = 3   // number of effective hashtags of a profile
	effectiveShare = 0.3 // share of posts with an effective hashtag
	reactionSigma  = 0.6 // standard deviation of the reactions' logarithm
)

// Traits contains the properties of a profile that never change.
type Traits struct {
	posts           float64 // number of posts at MeasuredAt
	AgeDays         float64 // days since its first post, at MeasuredAt
	followers       float64 // at MeasuredAt
	growth          float64 // change of the followers' logarithm per day
	oscillationDays float64 // period of the oscillation of the number of followers, in days
	follows         int64

	language  Phrases
	blocks    []float64 // weights of the blocks of four hours of a day
	bestBlock int       // block with blockEffect: 0–5 on weekdays, 6–11 at weekends
	tags      []traitTag
	formats   []traitFormat

	reactions        float64 // reactions to a post without effects, per follower^followerPower
	comments, shares float64 // fractions of the reactions
	perView          float64 // reactions per view
	HidesLikes       bool    // whether business discovery and the bridge omit its likes
	HidesReels       bool    // whether other accounts cannot download its reels
}

// followerPower is less than one, so that larger profiles have fewer reactions per follower.
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
	rng := p.NewRand("habits")
	traits := Traits{
		posts: logUniform(rng, 36, 390), AgeDays: logUniform(rng, 200, 1200),
		followers: logUniform(rng, 1e3, 2e6), growth: uniform(rng, -0.0004, 0.0016), oscillationDays: uniform(rng, 20, 70),
		follows: int64(logUniform(rng, 40, 3000)), language: Language(rng), bestBlock: rng.IntN(12),
		reactions: 0.2 * logNormalFactor(rng, 0.3), comments: uniform(rng, 0.01, 0.05), shares: uniform(rng, 0.005, 0.04),
		perView: uniform(rng, 0.04, 0.12), HidesLikes: rng.IntN(16) == 0, HidesReels: rng.IntN(12) == 0,
	}
	for block := range 6 {
		weight := uniform(rng, 0.7, 1.4)
		if block == 0 { // at night
			weight = 0.5
		}
		traits.blocks = append(traits.blocks, weight)
	}
	traits.tags = traitTags(rng, traits.language)
	traits.formats = p.formats(rng)
	return traits
}

// traitTags returns eight hashtags of a theme and a language. The first effectiveTags of them affect the reactions.
func traitTags(rng *rand.Rand, language Phrases) []traitTag {
	theme := themes[rng.IntN(len(themes))]
	languageTags := slices.DeleteFunc(slices.Clone(language.Tags), func(tag string) bool { return slices.Contains(theme, tag) })
	names := slices.Concat(sampleStrings(rng, theme, 5), sampleStrings(rng, languageTags, 3))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var tags []traitTag
	for i, name := range names {
		if i < effectiveTags {
			tags = append(tags, traitTag{name, effectiveShare, hashtagEffect})
		} else {
			tags = append(tags, traitTag{name, uniform(rng, 0.1, 0.35), 1})
		}
	}
	return tags
}

// formats returns the formats of the profile's platform. One format gets more reactions than the others, and one gets
// fewer.
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
		formats[i].share *= uniform(rng, 0.7, 1.3)
	}
	return formats
}

// randomFormat returns a random format, weighted by the shares.
func randomFormat(rng *rand.Rand, formats []traitFormat) traitFormat {
	var shares []float64
	for _, format := range formats {
		shares = append(shares, format.share)
	}
	return formats[weightedIndex(rng, shares)]
}

// StartOf returns the start of a day in Unix seconds.
func StartOf(day int64) int64 { return day * SecondsPerDay }

// DayOf returns the day of a time, as the number of days since 1970.
func DayOf(now time.Time) int64 { return now.Unix() / SecondsPerDay }

// followersOn returns the number of followers at the start of a day.
func (p Profile) followersOn(traits Traits, day int64) float64 {
	days := math.Max(-3000, math.Min(3000, float64(day-MeasuredAt/SecondsPerDay)))
	oscillation := 1 + 0.004*math.Sin(2*math.Pi*days/traits.oscillationDays) + 0.0004*p.NewRand("followers",
		strconv.FormatInt(day, 10)).
		Float64()
	return traits.followers * math.Exp(traits.growth*days) * oscillation
}

// maxPosts is the maximum number of a profile's posts.
const maxPosts = 5000

// Posts returns the profile's posts at the start of a day, newest first.
func (p Profile) Posts(day int64) []Post {
	if strings.HasPrefix(p.Name, PrefixEmpty) {
		return nil
	}
	traits := p.Traits()
	interval := traits.AgeDays / traits.posts
	firstDay := float64(MeasuredAt)/SecondsPerDay - traits.AgeDays
	var posts []Post
	for k := range maxPosts {
		scheduled := firstDay + float64(k)*interval
		if scheduled >= float64(day) {
			break
		}
		rng := p.NewRand("post", strconv.Itoa(k))
		// The intervals between posts vary.
		if postDay := int64(scheduled + uniform(rng, 0, 1.6)*interval); postDay < day {
			posts = append(posts, p.post(traits, rng, postDay))
		}
	}
	sortNewestFirst(posts)
	return posts
}

// post returns a random post on a day.
func (p Profile) post(traits Traits, rng *rand.Rand, day int64) Post {
	const fourHours = 4 * 60 * 60
	block := weightedIndex(rng, traits.blocks)
	post := Post{
		ID: RandomID(rng), At: StartOf(day) + int64(block)*fourHours + rng.Int64N(fourHours), fileCount: 1,
		Tags: []string{},
	}
	effect := 1.0
	if blockOf(post.At) == traits.bestBlock {
		effect *= blockEffect
	}
	for _, tag := range traits.tags {
		if rng.Float64() < tag.share {
			post.Tags = append(post.Tags, tag.name)
			effect *= tag.effect
		}
	}
	format := randomFormat(rng, traits.formats)
	post.Format = format.name
	post.reactions = traits.reactions * math.Pow(p.followersOn(traits, day),
		followerPower) * effect * format.effect * logNormalFactor(rng, reactionSigma)
	post.comments, post.shares = traits.comments*logNormalFactor(rng, 0.2), traits.shares*logNormalFactor(rng, 0.2)
	if post.Format != FormatImage && post.Format != FormatCarousel || p.Platform == tiktok {
		post.Views = post.reactions / traits.perView * logNormalFactor(rng, 0.2)
	}
	if post.Format == FormatCarousel {
		post.fileCount = 2 + rng.IntN(4)
	}
	post.File = NewFile(rng, post.ID, post.Format)
	rng.Shuffle(len(post.Tags), func(i, j int) { post.Tags[i], post.Tags[j] = post.Tags[j], post.Tags[i] })
	post.Caption = withTags(Sentences(rng, traits.language), post.Tags)
	return post
}

// blockOf returns the block of a time in UTC: 0–5 on weekdays and 6–11 at weekends. A block has four hours.
func blockOf(at int64) int {
	utc := time.Unix(at, 0).UTC()
	block := utc.Hour() / 4
	if day := utc.Weekday(); day == time.Saturday || day == time.Sunday {
		block += 6
	}
	return block
}

// Details contains the data of a profile other than its posts.
type Details struct {
	DisplayName, Biography, Website string
	Followers, Follows, Posts       int64
}

// Details returns the details of the profile at the start of a day. posts is the profile's number of posts.
func (p Profile) Details(day int64, posts int) Details {
	traits := p.Traits()
	rng := p.NewRand("face")
	details := Details{
		DisplayName: traits.language.Names[rng.IntN(len(traits.language.Names))],
		Biography:   strings.Join(sampleStrings(rng, traits.language.Lines, 1+rng.IntN(3)), "\n"),
		Followers:   int64(p.followersOn(traits, day)), Follows: traits.follows, Posts: int64(posts),
	}
	if rng.IntN(2) == 0 {
		details.DisplayName = DisplayName(p.Name)
	}
	if rng.IntN(3) > 0 {
		details.Biography += " " + traits.language.Emoji[rng.IntN(len(traits.language.Emoji))]
	}
	if rng.IntN(3) > 0 {
		details.Website = "https://" + strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(p.Name),
			"-") + ".example/"
	}
	return details
}

// DisplayName returns a display name for a username.
func DisplayName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// Avatar returns the file of the profile's picture.
func (p Profile) Avatar() File {
	return File{ID: RandomID(p.NewRand("avatar")), Width: AvatarSize.X, Height: AvatarSize.Y}
}
