package world

import (
	"cmp"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hashtag is a hashtag. Its posts arrive as a Poisson process whose rate depends on the hashtag's size, age and growth.
// The posts of a given second never change.
type Hashtag struct{ Platform, Name string }

func (h Hashtag) newRand(words ...string) *rand.Rand {
	return NewRand(append([]string{h.Platform, "#" + h.Name}, words...)...)
}

const maxHashtagLength = 100 // characters

// hashtagPattern matches the names of hashtags, of any length. A pattern that also limits the length would need a
// megabyte of memory.
var hashtagPattern = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_]+$`)

// NewHashtag returns the hashtag with the given name, and reports whether it exists.
func NewHashtag(platform, name string) (Hashtag, bool) {
	name = strings.ToLower(name)
	hasLetter := strings.ContainsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return Hashtag{platform, name},
		hasLetter && utf8.RuneCountInString(name) <= maxHashtagLength && hashtagPattern.MatchString(name) &&
			!strings.HasPrefix(name, hashtagMissing)
}

// Size returns the hashtag's number of posts at the time at, in Unix seconds.
func (h Hashtag) Size(at int64) int64 { return int64(h.growth().posts(float64(at))) }

// growth describes how a hashtag's number of posts grows: size·(age/days)^power.
type growth struct {
	size  float64 // number of posts at MeasuredAt
	days  float64 // age at MeasuredAt
	power float64 // 1 for constant growth, more for accelerating growth
}

func (h Hashtag) growth() growth {
	rng := h.newRand("life")
	minSize := 1e3
	if slices.Contains(themeOf(h.Name), h.Name) {
		minSize = 1e5 // a common topic
	}
	return growth{
		size: logUniform(rng, minSize, math.Pow(10, 7.5)), days: logUniform(rng, 400, 3600),
		power: uniform(rng, 0.7, 2),
	}
}

func (g growth) start() float64 { return float64(MeasuredAt) - g.days*SecondsPerDay }

// posts returns the number of posts at the time at, in Unix seconds.
func (g growth) posts(at float64) float64 {
	age := math.Max(0, at-g.start()) / (g.days * SecondsPerDay)
	return g.size * math.Pow(age, g.power)
}

// timeAt returns the Unix time at which the hashtag had the given number of posts.
func (g growth) timeAt(posts float64) float64 {
	return g.start() + g.days*SecondsPerDay*math.Pow(posts/g.size, 1/g.power)
}

// postsPerDay returns the number of posts per day at MeasuredAt.
func (g growth) postsPerDay() float64 { return g.power * g.size / g.days }

// bucketSeconds returns the number of seconds in a bucket. It is a power of two, chosen such that a bucket has about
// four posts.
func (g growth) bucketSeconds() int64 {
	seconds := 4 * SecondsPerDay / g.postsPerDay()
	return int64(math.Exp2(math.Floor(math.Log2(math.Max(1, math.Min(seconds, 1<<16))))))
}

// arrivals returns the posts of a bucket, newest first.
func (h Hashtag) arrivals(g growth, bucket int64) []Post {
	width := g.bucketSeconds()
	rng := h.newRand("arrivals", strconv.FormatInt(bucket, 10))
	var posts []Post
	for range poisson(rng, g.posts(float64((bucket+1)*width))-g.posts(float64(bucket*width))) {
		posts = append(posts, h.post(rng, bucket*width+rng.Int64N(width), logUniform(rng, 100, 1e5)))
	}
	sortNewestFirst(posts)
	return posts
}

// poisson returns a Poisson-distributed number (Knuth, The Art of Computer Programming 2, section 3.4.1). The expected
// value is capped at 500.
func poisson(rng *rand.Rand, expected float64) int {
	count := 0
	for product := math.Exp(-min(expected, 500)) / rng.Float64(); product < 1; product /= rng.Float64() {
		count++
	}
	return count
}

// Position is a position in a list of a hashtag's recent posts.
type Position struct {
	Now    int64 // when the client started to read the list, in Unix seconds
	bucket int64
	offset int // number of posts in the bucket that have been listed
}

// StartRecent returns the start of the list of recent posts at the time now, in Unix seconds.
func (h Hashtag) StartRecent(now int64) Position {
	return Position{Now: now, bucket: now / h.growth().bucketSeconds()}
}

// Recent returns the posts from the last 24 hours that follow position, newest first. It also returns the position
// after these posts, and reports whether there are more posts.
func (h Hashtag) Recent(position Position, limit int) ([]Post, Position, bool) {
	g := h.growth()
	oldest := position.Now - SecondsPerDay
	var posts []Post
	for ; (position.bucket+1)*g.bucketSeconds() > oldest; position.bucket-- {
		arrivals := h.arrivals(g, position.bucket)
		for _, post := range arrivals[min(position.offset, len(arrivals)):] {
			if post.At > oldest && post.At <= position.Now {
				if len(posts) == limit {
					return posts, position, true
				}
				posts = append(posts, post)
			}
			position.offset++
		}
		position.offset = 0
	}
	return posts, position, false
}

// topPosts is the number of top posts of a hashtag.
const topPosts = 120

// Top returns a hashtag's top posts at the start of a day, best first. They are a uniform sample of all posts with the
// hashtag, in topPosts slots. Each time the logarithm of the hashtag's size grows by one, a slot gets one new post on
// average.
func (h Hashtag) Top(day int64) []Post {
	now := float64(StartOf(day))
	g := h.growth()
	logSize := math.Log(g.posts(now))
	var posts []Post
	for slot := range topPosts {
		if post, ok := h.postInSlot(g, slot, logSize); ok {
			posts = append(posts, post)
		}
	}
	slices.SortFunc(posts, func(a, b Post) int {
		return cmp.Or(cmp.Compare(b.reactions, a.reactions), cmp.Compare(b.ID, a.ID))
	})
	return posts
}

// postInSlot returns the post in a slot when the logarithm of the hashtag's size is logSize, and reports whether the
// slot has a post.
func (h Hashtag) postInSlot(g growth, slot int, logSize float64) (Post, bool) {
	for unit := math.Floor(logSize); unit >= 0; unit-- {
		rng := h.newRand("top", strconv.Itoa(slot), strconv.Itoa(int(unit)))
		takenAt := -1.0
		for range poisson(rng, 1) {
			if at := unit + rng.Float64(); at <= logSize {
				takenAt = max(takenAt, at)
			}
		}
		if takenAt >= 0 {
			postRNG := h.newRand("top", strconv.Itoa(slot), strconv.FormatFloat(takenAt, 'g', -1, 64))
			return h.post(postRNG, int64(g.timeAt(math.Exp(takenAt))), logUniform(postRNG, 1e4, 3e6)), true
		}
	}
	return Post{}, false
}

// post returns a random post of an account with the given number of followers.
func (h Hashtag) post(rng *rand.Rand, at int64, followers float64) Post {
	format := randomFormat(rng, Profile{Platform: h.Platform}.formats(h.newRand("formats")))
	post := Post{
		ID: RandomID(rng), Format: format.name, At: at, fileCount: 1, Tags: h.postTags(rng),
		reactions: 0.2 * math.Pow(followers, followerPower) * format.effect * logNormalFactor(rng, reactionSigma),
		comments:  0.03 * logNormalFactor(rng, 0.3), shares: 0.02 * logNormalFactor(rng, 0.3),
	}
	if format.name == FormatReel || h.Platform == tiktok {
		post.Views = post.reactions / 0.08 * logNormalFactor(rng, 0.3)
	}
	if format.name == FormatCarousel {
		post.fileCount = 2 + rng.IntN(4)
	}
	post.File = NewFile(rng, post.ID, post.Format)
	post.Caption = withTags(Sentences(rng, Language(rng)), post.Tags)
	return post
}

// commonTags lists hashtags that occur together with any other hashtag.
var commonTags = []string{"love", "instagood", "picoftheday"}

// postTags returns the hashtags of a random post: h itself, some hashtags of its theme, and some of commonTags.
func (h Hashtag) postTags(rng *rand.Rand) []string {
	tags := []string{h.Name}
	share := 0.55
	for _, tag := range sampleStrings(h.newRand("theme"), themeOf(h.Name), 7) {
		if tag != h.Name && rng.Float64() < share {
			tags = append(tags, tag)
		}
		share *= 0.75
	}
	for _, tag := range commonTags {
		if tag != h.Name && rng.Float64() < 0.12 {
			tags = append(tags, tag)
		}
	}
	rng.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	return tags
}
