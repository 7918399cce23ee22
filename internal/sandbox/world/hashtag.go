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

// Hashtag is a hashtag. Its posts arrive in a Poisson process whose rate depends on its size, age and growth. The
// posts of each second never change.
type Hashtag struct{ Platform, Name string }

func (h Hashtag) dice(words ...string) *rand.Rand {
	return Dice(append([]string{h.Platform, "#" + h.Name}, words...)...)
}

const longestHashtag = 100 // characters

var hashtagPattern = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_]+$`) // a bound in it would take a megabyte

// NewHashtag returns the hashtag with a name, and reports whether it exists.
func NewHashtag(platform, name string) (Hashtag, bool) {
	name = strings.ToLower(name)
	letters := strings.ContainsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return Hashtag{platform, name},
		letters && utf8.RuneCountInString(name) <= longestHashtag && hashtagPattern.MatchString(name) &&
			!strings.HasPrefix(name, hashtagMissing)
}

// Size returns how many posts there are at a moment, in Unix seconds.
func (h Hashtag) Size(at int64) int64 { return int64(h.growth().posts(float64(at))) }

// growth is the growth of a hashtag's number of posts: size·(age/days)^power.
type growth struct {
	size  float64 // posts at MeasuredAt
	days  float64 // age at MeasuredAt
	power float64 // 1 is steady growth; more is faster growth of late
}

func (h Hashtag) growth() growth {
	rng := h.dice("life")
	least := 1e3
	if slices.Contains(themeOf(h.Name), h.Name) {
		least = 1e5 // a common topic
	}
	return growth{
		size: logBetween(rng, least, math.Pow(10, 7.5)), days: logBetween(rng, 400, 3600),
		power: between(rng, 0.7, 2),
	}
}

func (l growth) start() float64 { return float64(MeasuredAt) - l.days*SecondsPerDay }

// posts returns the number of posts at a time in Unix seconds.
func (l growth) posts(at float64) float64 {
	age := math.Max(0, at-l.start()) / (l.days * SecondsPerDay)
	return l.size * math.Pow(age, l.power)
}

// timeOf returns the Unix time at which there were this many posts.
func (l growth) timeOf(posts float64) float64 {
	return l.start() + l.days*SecondsPerDay*math.Pow(posts/l.size, 1/l.power)
}

// perDay returns the number of posts per day at MeasuredAt.
func (l growth) perDay() float64 { return l.power * l.size / l.days }

// width returns the number of seconds in a bucket: a power of two that holds about four posts.
func (l growth) width() int64 {
	seconds := 4 * SecondsPerDay / l.perDay()
	return int64(math.Exp2(math.Floor(math.Log2(math.Max(1, math.Min(seconds, 1<<16))))))
}

// arrivals returns the posts of a bucket, the newest first.
func (h Hashtag) arrivals(l growth, bucket int64) []Post {
	width := l.width()
	rng := h.dice("arrivals", strconv.FormatInt(bucket, 10))
	var posts []Post
	for range poisson(rng, l.posts(float64((bucket+1)*width))-l.posts(float64(bucket*width))) {
		posts = append(posts, h.post(rng, bucket*width+rng.Int64N(width), logBetween(rng, 100, 1e5)))
	}
	newestFirst(posts)
	return posts
}

// poisson returns a Poisson-distributed number (Knuth, The Art of Computer Programming 2, section 3.4.1). It is limited
// to an expectation of 500.
func poisson(rng *rand.Rand, expected float64) int {
	count := 0
	for left := math.Exp(-min(expected, 500)) / rng.Float64(); left < 1; left /= rng.Float64() {
		count++
	}
	return count
}

// Position is a position in a listing of recent posts.
type Position struct {
	Now    int64 // when the listing began, in Unix seconds
	bucket int64
	passed int // posts of the bucket that are listed
}

// StartRecent returns the start of a listing at a time in Unix seconds.
func (h Hashtag) StartRecent(now int64) Position {
	return Position{Now: now, bucket: now / h.growth().width()}
}

// Recent returns the next posts of the last 24 hours, the newest first, with the position after them. It reports
// whether more are left.
func (h Hashtag) Recent(place Position, limit int) ([]Post, Position, bool) {
	l := h.growth()
	oldest := place.Now - SecondsPerDay
	var posts []Post
	for ; (place.bucket+1)*l.width() > oldest; place.bucket-- {
		arrived := h.arrivals(l, place.bucket)
		for _, post := range arrived[min(place.passed, len(arrived)):] {
			if post.At > oldest && post.At <= place.Now {
				if len(posts) == limit {
					return posts, place, true
				}
				posts = append(posts, post)
			}
			place.passed++
		}
		place.passed = 0
	}
	return posts, place, false
}

// topPosts is the number of top posts of a hashtag.
const topPosts = 120

// Top returns a hashtag's top posts at the start of a day, the best first. They are a uniform sample of all its posts:
// over the logarithm of the hashtag's size, each place changes hands at a rate of one.
func (h Hashtag) Top(day int64) []Post {
	now := float64(StartOf(day))
	l := h.growth()
	grown := math.Log(l.posts(now))
	var posts []Post
	for slot := range topPosts {
		if post, taken := h.holder(l, slot, grown); taken {
			posts = append(posts, post)
		}
	}
	slices.SortFunc(posts, func(a, b Post) int {
		return cmp.Or(cmp.Compare(b.reactions, a.reactions), cmp.Compare(b.ID, a.ID))
	})
	return posts
}

// holder returns the post that last took a place before the hashtag's size reached exp(grown), and reports whether
// there is one.
func (h Hashtag) holder(l growth, slot int, grown float64) (Post, bool) {
	for unit := math.Floor(grown); unit >= 0; unit-- {
		rng := h.dice("top", strconv.Itoa(slot), strconv.Itoa(int(unit)))
		last := -1.0
		for range poisson(rng, 1) {
			if when := unit + rng.Float64(); when <= grown {
				last = max(last, when)
			}
		}
		if last >= 0 {
			posted := h.dice("top", strconv.Itoa(slot), strconv.FormatFloat(last, 'g', -1, 64))
			return h.post(posted, int64(l.timeOf(math.Exp(last))), logBetween(posted, 1e4, 3e6)), true
		}
	}
	return Post{}, false
}

// post returns a random post by an account with this many followers.
func (h Hashtag) post(rng *rand.Rand, at int64, followers float64) Post {
	format := anyFormat(rng, Profile{Platform: h.Platform}.formats(h.dice("formats")))
	post := Post{
		ID: RandomID(rng), Format: format.name, At: at, size: 1, Tags: h.tagsOf(rng),
		reactions: 0.2 * math.Pow(followers, followerPower) * format.effect * spread(rng, reactionSigma),
		comments:  0.03 * spread(rng, 0.3), shares: 0.02 * spread(rng, 0.3),
	}
	if format.name == FormatReel || h.Platform == tiktok {
		post.Views = post.reactions / 0.08 * spread(rng, 0.3)
	}
	if format.name == FormatCarousel {
		post.size = 2 + rng.IntN(4)
	}
	post.File = NewFile(rng, post.ID, post.Format)
	post.Caption = withTags(Sentences(rng, Language(rng)), post.Tags)
	return post
}

// commonTags occur with any hashtag.
var commonTags = []string{"love", "instagood", "picoftheday"}

// tagsOf returns the hashtags of a post: this one, some of its theme, and some common ones.
func (h Hashtag) tagsOf(rng *rand.Rand) []string {
	tags := []string{h.Name}
	share := 0.55
	for _, tag := range sample(h.dice("theme"), themeOf(h.Name), 7) {
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
