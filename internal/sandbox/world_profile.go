package sandbox

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// worldProfile is one public profile. What is told of a day is how it stood when the day began: posts of the days
// before, with the reactions that they had by then.
type worldProfile struct{ platform, name string }

func (p worldProfile) dice(words ...string) *rand.Rand {
	return dice(append([]string{p.platform, p.name}, words...)...)
}

// The effects that are planted into every profile.
const (
	blockEffect   = 2.0 // of one of the twelve blocks
	hashtagEffect = 1.5 // of each of workingTags hashtags
	workingTags   = 3
	workingShare  = 0.3 // of the posts have each of them
	reactionSigma = 0.6 // of the logarithm
)

// habits are what a profile is like, for ever.
type habits struct {
	posts     float64 // at worldMeasured
	days      float64 // for which it had posted by then
	followers float64 // at worldMeasured
	growth    float64 // of the followers' logarithm in a day
	wave      float64 // days of a swing of the followers
	follows   int64

	language phrases
	blocks   []float64 // how often it posts in each four hours of a day
	best     int       // the block with the effect: 0–5 on weekdays, 6–11 at weekends
	tags     []habitTag
	formats  []habitFormat

	reactions        float64 // of a post without effects, for each follower to the power of followerPower
	comments, shares float64 // parts of the reactions
	viewed           float64 // reactions for each view
	hidesLikes       bool    // from business discovery and the vendor
	keepsReels       bool    // does not let others download them
}

// followerPower makes large profiles get fewer reactions for each follower.
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
	throw := p.dice("habits")
	h := habits{
		posts: logBetween(throw, 36, 390), days: logBetween(throw, 200, 1200),
		followers: logBetween(throw, 1e3, 2e6), growth: between(throw, -0.0004, 0.0016), wave: between(throw, 20, 70),
		follows: int64(logBetween(throw, 40, 3000)), language: language(throw), best: throw.IntN(12),
		reactions: 0.2 * spread(throw, 0.3), comments: between(throw, 0.01, 0.05), shares: between(throw, 0.005, 0.04),
		viewed: between(throw, 0.04, 0.12), hidesLikes: throw.IntN(16) == 0, keepsReels: throw.IntN(12) == 0,
	}
	for block := range 6 {
		often := between(throw, 0.7, 1.4)
		if block == 0 { // at night
			often = 0.5
		}
		h.blocks = append(h.blocks, often)
	}
	h.tags = habitTags(throw, h.language)
	h.formats = p.formats(throw)
	return h
}

// habitTags are eight hashtags of a theme and a language; the first ones work.
func habitTags(throw *rand.Rand, home phrases) []habitTag {
	theme := worldThemes[throw.IntN(len(worldThemes))]
	own := slices.DeleteFunc(slices.Clone(home.Tags), func(tag string) bool { return slices.Contains(theme, tag) })
	names := slices.Concat(some(throw, theme, 5), some(throw, own, 3))
	throw.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var tags []habitTag
	for i, name := range names {
		if i < workingTags {
			tags = append(tags, habitTag{name, workingShare, hashtagEffect})
		} else {
			tags = append(tags, habitTag{name, between(throw, 0.1, 0.35), 1})
		}
	}
	return tags
}

// formats are those of a platform, one with more reactions and one with fewer.
func (p worldProfile) formats(throw *rand.Rand) []habitFormat {
	formats := []habitFormat{
		{worldImage, 0.35, 1}, {worldReel, 0.35, 1}, {worldCarousel, 0.25, 1}, {worldVideo, 0.05, 1},
	}
	if p.platform == tiktokName {
		formats = []habitFormat{{worldVideo, 0.8, 1}, {worldCarousel, 0.12, 1}, {worldImage, 0.08, 1}}
	}
	order := throw.Perm(3)
	formats[order[0]].effect, formats[order[1]].effect = 1.4, 0.8
	for i := range formats {
		formats[i].share *= between(throw, 0.7, 1.3)
	}
	return formats
}

// anyFormat is one of them, each as often as its share says.
func anyFormat(throw *rand.Rand, formats []habitFormat) habitFormat {
	var shares []float64
	for _, format := range formats {
		shares = append(shares, format.share)
	}
	return formats[chosen(throw, shares)]
}

// startOf is when a day begins, in Unix seconds.
func startOf(day int64) int64 { return day * secondsPerDay }

// dayOf is the day of a moment, since 1970.
func dayOf(now time.Time) int64 { return now.Unix() / secondsPerDay }

// followersOn is how many there are when a day begins.
func (p worldProfile) followersOn(h habits, day int64) float64 {
	since := math.Max(-3000, math.Min(3000, float64(day-worldMeasured/secondsPerDay)))
	swing := 1 + 0.004*math.Sin(2*math.Pi*since/h.wave) + 0.0004*p.dice("followers", strconv.FormatInt(day, 10)).
		Float64()
	return h.followers * math.Exp(h.growth*since) * swing
}

// mostPosts bounds a profile, however far the clock stands ahead.
const mostPosts = 5000

// posts are all that there are when a day begins, the newest first.
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
		throw := p.dice("post", strconv.Itoa(k))
		if on := int64(due + between(throw, 0, 1.6)*pace); on < day { // a little uneven, and not always in turn
			posts = append(posts, p.post(h, throw, on))
		}
	}
	newestFirst(posts)
	return posts
}

// post makes the one of a day, by the next throws.
func (p worldProfile) post(h habits, throw *rand.Rand, day int64) worldPost {
	const fourHours = 4 * 60 * 60
	block := chosen(throw, h.blocks)
	post := worldPost{
		id: worldID(throw), at: startOf(day) + int64(block)*fourHours + throw.Int64N(fourHours), size: 1,
		tags: []string{},
	}
	effect := 1.0
	if blockOf(post.at) == h.best {
		effect *= blockEffect
	}
	for _, tag := range h.tags {
		if throw.Float64() < tag.share {
			post.tags = append(post.tags, tag.name)
			effect *= tag.effect
		}
	}
	format := anyFormat(throw, h.formats)
	post.format = format.name
	post.reactions = h.reactions * math.Pow(p.followersOn(h, day),
		followerPower) * effect * format.effect * spread(throw, reactionSigma)
	post.comments, post.shares = h.comments*spread(throw, 0.2), h.shares*spread(throw, 0.2)
	if post.format != worldImage && post.format != worldCarousel || p.platform == tiktokName {
		post.views = post.reactions / h.viewed * spread(throw, 0.2)
	}
	if post.format == worldCarousel {
		post.size = 2 + throw.IntN(4)
	}
	post.file = newFile(throw, post.id, post.format)
	throw.Shuffle(len(post.tags), func(i, j int) { post.tags[i], post.tags[j] = post.tags[j], post.tags[i] })
	post.caption = withTags(sentences(throw, h.language), post.tags)
	return post
}

// blockOf is which of the twelve a moment is in: six of four hours, on weekdays and then at weekends, by UTC.
func blockOf(at int64) int {
	moment := time.Unix(at, 0).UTC()
	block := moment.Hour() / 4
	if day := moment.Weekday(); day == time.Saturday || day == time.Sunday {
		block += 6
	}
	return block
}

// worldFace is what stands at the head of a profile.
type worldFace struct {
	displayName, biography, website string
	followers, follows, posts       int64
}

// face is the head of the profile when a day begins.
func (p worldProfile) face(day int64, posts int) worldFace {
	h := p.habits()
	throw := p.dice("face")
	face := worldFace{
		displayName: h.language.Names[throw.IntN(len(h.language.Names))],
		biography:   strings.Join(some(throw, h.language.Lines, 1+throw.IntN(3)), "\n"),
		followers:   int64(p.followersOn(h, day)), follows: h.follows, posts: int64(posts),
	}
	if throw.IntN(2) == 0 {
		face.displayName = spoken(p.name)
	}
	if throw.IntN(3) > 0 {
		face.biography += " " + h.language.Emoji[throw.IntN(len(h.language.Emoji))]
	}
	if throw.IntN(3) > 0 {
		face.website = "https://" + strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(p.name),
			"-") + ".example/"
	}
	return face
}

// spoken is a username as people would write it.
func spoken(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// avatar is the profile's own picture.
func (p worldProfile) avatar() worldFile {
	return worldFile{id: worldID(p.dice("avatar")), width: avatarSize.X, height: avatarSize.Y}
}
