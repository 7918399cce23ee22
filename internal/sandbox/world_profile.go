package sandbox

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// worldProfile is a public profile. A day shows it as it was when the day began: the posts of earlier days with the
// reactions that they had by then.
type worldProfile struct{ platform, name string }

func (p worldProfile) dice(words ...string) *rand.Rand {
	return dice(append([]string{p.platform, p.name}, words...)...)
}

// The effects that every profile's posts have.
const (
	blockEffect   = 2.0 // of one of the twelve blocks
	hashtagEffect = 1.5 // of each of workingTags hashtags
	workingTags   = 3
	workingShare  = 0.3 // share of posts with each of them
	reactionSigma = 0.6 // of the logarithm
)

// habits are the constant traits of a profile.
type habits struct {
	posts     float64 // at MeasuredAt
	days      float64 // since its first post, at MeasuredAt
	followers float64 // at MeasuredAt
	growth    float64 // change of the followers' logarithm per day
	wave      float64 // period of the followers' swing, in days
	follows   int64

	language phrases
	blocks   []float64 // weights of each four hours of a day
	best     int       // the block with the effect: 0–5 on weekdays, 6–11 at weekends
	tags     []habitTag
	formats  []habitFormat

	reactions        float64 // of a post without effects, per follower^followerPower
	comments, shares float64 // shares of the reactions
	viewed           float64 // reactions per view
	hidesLikes       bool    // from business discovery and the bridge
	keepsReels       bool    // prevents others from downloading them
}

// followerPower gives large profiles fewer reactions per follower.
const followerPower = 0.8

type habitTag struct {
	name          string
	share, effect float64
}

type habitFormat struct {
	name          string
	share, effect float64
}

func (p worldProfile) habits() habits {
	rng := p.dice("habits")
	h := habits{
		posts: logBetween(rng, 36, 390), days: logBetween(rng, 200, 1200),
		followers: logBetween(rng, 1e3, 2e6), growth: between(rng, -0.0004, 0.0016), wave: between(rng, 20, 70),
		follows: int64(logBetween(rng, 40, 3000)), language: language(rng), best: rng.IntN(12),
		reactions: 0.2 * spread(rng, 0.3), comments: between(rng, 0.01, 0.05), shares: between(rng, 0.005, 0.04),
		viewed: between(rng, 0.04, 0.12), hidesLikes: rng.IntN(16) == 0, keepsReels: rng.IntN(12) == 0,
	}
	for block := range 6 {
		often := between(rng, 0.7, 1.4)
		if block == 0 { // at night
			often = 0.5
		}
		h.blocks = append(h.blocks, often)
	}
	h.tags = habitTags(rng, h.language)
	h.formats = p.formats(rng)
	return h
}

// habitTags returns eight hashtags of a theme and a language. The first ones have an effect.
func habitTags(rng *rand.Rand, home phrases) []habitTag {
	theme := worldThemes[rng.IntN(len(worldThemes))]
	own := slices.DeleteFunc(slices.Clone(home.Tags), func(tag string) bool { return slices.Contains(theme, tag) })
	names := slices.Concat(some(rng, theme, 5), some(rng, own, 3))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var tags []habitTag
	for i, name := range names {
		if i < workingTags {
			tags = append(tags, habitTag{name, workingShare, hashtagEffect})
		} else {
			tags = append(tags, habitTag{name, between(rng, 0.1, 0.35), 1})
		}
	}
	return tags
}

// formats returns a platform's formats, one with more reactions and one with fewer.
func (p worldProfile) formats(rng *rand.Rand) []habitFormat {
	formats := []habitFormat{
		{worldImage, 0.35, 1}, {worldReel, 0.35, 1}, {worldCarousel, 0.25, 1}, {worldVideo, 0.05, 1},
	}
	if p.platform == tiktokName {
		formats = []habitFormat{{worldVideo, 0.8, 1}, {worldCarousel, 0.12, 1}, {worldImage, 0.08, 1}}
	}
	order := rng.Perm(3)
	formats[order[0]].effect, formats[order[1]].effect = 1.4, 0.8
	for i := range formats {
		formats[i].share *= between(rng, 0.7, 1.3)
	}
	return formats
}

// anyFormat returns a random format, distributed by the shares.
func anyFormat(rng *rand.Rand, formats []habitFormat) habitFormat {
	var shares []float64
	for _, format := range formats {
		shares = append(shares, format.share)
	}
	return formats[chosen(rng, shares)]
}

// startOf returns the start of a day in Unix seconds.
func startOf(day int64) int64 { return day * secondsPerDay }

// dayOf returns the day of a time, counted from 1970.
func dayOf(now time.Time) int64 { return now.Unix() / secondsPerDay }

// followersOn returns the number of followers when a day begins.
func (p worldProfile) followersOn(h habits, day int64) float64 {
	since := math.Max(-3000, math.Min(3000, float64(day-worldMeasured/secondsPerDay)))
	swing := 1 + 0.004*math.Sin(2*math.Pi*since/h.wave) + 0.0004*p.dice("followers", strconv.FormatInt(day, 10)).
		Float64()
	return h.followers * math.Exp(h.growth*since) * swing
}

// mostPosts limits a profile's posts at any time.
const mostPosts = 5000

// posts returns the profile's posts when a day begins, the newest first.
func (p worldProfile) posts(day int64) []worldPost {
	if strings.HasPrefix(p.name, markEmpty) {
		return nil
	}
	h := p.habits()
	pace := h.days / h.posts
	began := float64(worldMeasured)/secondsPerDay - h.days
	var posts []worldPost
	for k := range mostPosts {
		due := began + float64(k)*pace
		if due >= float64(day) {
			break
		}
		rng := p.dice("post", strconv.Itoa(k))
		if on := int64(due + between(rng, 0, 1.6)*pace); on < day { // posts are a little irregular, and not always in order
			posts = append(posts, p.post(h, rng, on))
		}
	}
	newestFirst(posts)
	return posts
}

// post returns a random post of a day.
func (p worldProfile) post(h habits, rng *rand.Rand, day int64) worldPost {
	const fourHours = 4 * 60 * 60
	block := chosen(rng, h.blocks)
	post := worldPost{
		id: worldID(rng), at: startOf(day) + int64(block)*fourHours + rng.Int64N(fourHours), size: 1,
		tags: []string{},
	}
	effect := 1.0
	if blockOf(post.at) == h.best {
		effect *= blockEffect
	}
	for _, tag := range h.tags {
		if rng.Float64() < tag.share {
			post.tags = append(post.tags, tag.name)
			effect *= tag.effect
		}
	}
	format := anyFormat(rng, h.formats)
	post.format = format.name
	post.reactions = h.reactions * math.Pow(p.followersOn(h, day),
		followerPower) * effect * format.effect * spread(rng, reactionSigma)
	post.comments, post.shares = h.comments*spread(rng, 0.2), h.shares*spread(rng, 0.2)
	if post.format != worldImage && post.format != worldCarousel || p.platform == tiktokName {
		post.views = post.reactions / h.viewed * spread(rng, 0.2)
	}
	if post.format == worldCarousel {
		post.size = 2 + rng.IntN(4)
	}
	post.file = newFile(rng, post.id, post.format)
	rng.Shuffle(len(post.tags), func(i, j int) { post.tags[i], post.tags[j] = post.tags[j], post.tags[i] })
	post.caption = withTags(sentences(rng, h.language), post.tags)
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

// worldFace is the head of a profile.
type worldFace struct {
	displayName, biography, website string
	followers, follows, posts       int64
}

// face returns the head of the profile when a day begins.
func (p worldProfile) face(day int64, posts int) worldFace {
	h := p.habits()
	rng := p.dice("face")
	face := worldFace{
		displayName: h.language.Names[rng.IntN(len(h.language.Names))],
		biography:   strings.Join(some(rng, h.language.Lines, 1+rng.IntN(3)), "\n"),
		followers:   int64(p.followersOn(h, day)), follows: h.follows, posts: int64(posts),
	}
	if rng.IntN(2) == 0 {
		face.displayName = spoken(p.name)
	}
	if rng.IntN(3) > 0 {
		face.biography += " " + h.language.Emoji[rng.IntN(len(h.language.Emoji))]
	}
	if rng.IntN(3) > 0 {
		face.website = "https://" + strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(p.name),
			"-") + ".example/"
	}
	return face
}

// spoken returns a display name for a username.
func spoken(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// avatar returns the profile's picture.
func (p worldProfile) avatar() worldFile {
	return worldFile{id: worldID(p.dice("avatar")), width: avatarSize.X, height: avatarSize.Y}
}
