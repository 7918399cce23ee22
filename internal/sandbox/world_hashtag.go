package sandbox

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

// worldHashtag is one hashtag. Its posts come by a Poisson process whose rate follows from its size, its age and how it
// grows; each second's are the same whenever they are asked for.
type worldHashtag struct{ platform, name string }

func (h worldHashtag) dice(words ...string) *rand.Rand {
	return dice(append([]string{h.platform, "#" + h.name}, words...)...)
}

const longestHashtag = 100 // characters

var hashtagForm = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_]+$`) // a bound in it would take a megabyte

// hashtagNamed is the hashtag that is called so. It is false where none can be.
func hashtagNamed(platform, name string) (worldHashtag, bool) {
	name = strings.ToLower(name)
	letters := strings.ContainsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return worldHashtag{platform, name},
		letters && utf8.RuneCountInString(name) <= longestHashtag && hashtagForm.MatchString(name) &&
			!strings.HasPrefix(name, markNoHashtag)
}

// life is how a hashtag came to its posts: their number is size·(age/days)^power.
type life struct {
	size  float64 // posts at worldMeasured
	days  float64 // that it was old then
	power float64 // 1 grows by the same each day; more is faster of late
}

func (h worldHashtag) life() life {
	throw := h.dice("life")
	least := 1e3
	if slices.Contains(themeOf(h.name), h.name) {
		least = 1e5 // what many people write about
	}
	return life{
		size: logBetween(throw, least, math.Pow(10, 7.5)), days: logBetween(throw, 400, 3600),
		power: between(throw, 0.7, 2),
	}
}

func (l life) began() float64 { return float64(worldMeasured) - l.days*secondsPerDay }

// posts is how many there are at a moment, in Unix seconds.
func (l life) posts(at float64) float64 {
	age := math.Max(0, at-l.began()) / (l.days * secondsPerDay)
	return l.size * math.Pow(age, l.power)
}

// reached is when there were so many posts, in Unix seconds.
func (l life) reached(posts float64) float64 {
	return l.began() + l.days*secondsPerDay*math.Pow(posts/l.size, 1/l.power)
}

// perDay is how many posts came in a day at worldMeasured.
func (l life) perDay() float64 { return l.power * l.size / l.days }

// width is how many seconds are thrown together: a power of two, for about four posts.
func (l life) width() int64 {
	seconds := 4 * secondsPerDay / l.perDay()
	return int64(math.Exp2(math.Floor(math.Log2(math.Max(1, math.Min(seconds, 1<<16))))))
}

// arrivals are the posts of one width of time, the newest first.
func (h worldHashtag) arrivals(l life, bucket int64) []worldPost {
	width := l.width()
	throw := h.dice("arrivals", strconv.FormatInt(bucket, 10))
	var posts []worldPost
	for range poisson(throw, l.posts(float64((bucket+1)*width))-l.posts(float64(bucket*width))) {
		posts = append(posts, h.post(throw, bucket*width+throw.Int64N(width), logBetween(throw, 100, 1e5)))
	}
	newestFirst(posts)
	return posts
}

// poisson is how many come where so many are expected (Knuth, The Art of Computer Programming 2, 3.4.1). It knows no
// more than some hundreds.
func poisson(throw *rand.Rand, expected float64) int {
	count := 0
	for left := math.Exp(-min(expected, 500)) / throw.Float64(); left < 1; left /= throw.Float64() {
		count++
	}
	return count
}

// hashtagPlace is where a walk through recent posts stands.
type hashtagPlace struct {
	now    int64 // when it began, in Unix seconds
	bucket int64
	passed int // posts of the bucket that it has gone by
}

// lately begins a walk at a moment.
func (h worldHashtag) lately(now int64) hashtagPlace {
	return hashtagPlace{now: now, bucket: now / h.life().width()}
}

// recent are the next posts of the last 24 hours, the newest first, and where the walk stands then. It is false where
// none are left.
func (h worldHashtag) recent(place hashtagPlace, most int) ([]worldPost, hashtagPlace, bool) {
	l := h.life()
	oldest := place.now - secondsPerDay
	var posts []worldPost
	for ; (place.bucket+1)*l.width() > oldest; place.bucket-- {
		arrived := h.arrivals(l, place.bucket)
		for _, post := range arrived[min(place.passed, len(arrived)):] {
			if post.at > oldest && post.at <= place.now {
				if len(posts) == most {
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

// topPosts is how many posts a network shows as a hashtag's best.
const topPosts = 120

// top are a hashtag's best when a day begins, the best first. Each place holds a post of the whole life, any as likely
// as another: over the logarithm of the hashtag's size, newcomers take a place at a rate of one, which is what drawing
// a fair sample from a growing set comes to.
func (h worldHashtag) top(day int64) []worldPost {
	now := float64(startOf(day))
	l := h.life()
	grown := math.Log(l.posts(now))
	var posts []worldPost
	for slot := range topPosts {
		if post, taken := h.holder(l, slot, grown); taken {
			posts = append(posts, post)
		}
	}
	slices.SortFunc(posts, func(a, b worldPost) int {
		return cmp.Or(cmp.Compare(b.reactions, a.reactions), cmp.Compare(b.id, a.id))
	})
	return posts
}

// holder is who took a place last before the hashtag had grown so far, as a logarithm. It is false where nobody did.
func (h worldHashtag) holder(l life, slot int, grown float64) (worldPost, bool) {
	for unit := math.Floor(grown); unit >= 0; unit-- {
		throw := h.dice("top", strconv.Itoa(slot), strconv.Itoa(int(unit)))
		last := -1.0
		for range poisson(throw, 1) {
			if when := unit + throw.Float64(); when <= grown {
				last = max(last, when)
			}
		}
		if last >= 0 {
			posted := h.dice("top", strconv.Itoa(slot), strconv.FormatFloat(last, 'g', -1, 64))
			return h.post(posted, int64(l.reached(math.Exp(last))), logBetween(posted, 1e4, 3e6)), true
		}
	}
	return worldPost{}, false
}

// post makes one of somebody with so many followers, by the next throws.
func (h worldHashtag) post(throw *rand.Rand, at int64, followers float64) worldPost {
	format := anyFormat(throw, worldProfile{platform: h.platform}.formats(h.dice("formats")))
	post := worldPost{
		id: worldID(throw), format: format.name, at: at, size: 1, tags: h.beside(throw),
		reactions: 0.2 * math.Pow(followers, followerPower) * format.effect * spread(throw, reactionSigma),
		comments:  0.03 * spread(throw, 0.3), shares: 0.02 * spread(throw, 0.3),
	}
	if format.name == worldReel || h.platform == tiktokName {
		post.views = post.reactions / 0.08 * spread(throw, 0.3)
	}
	if format.name == worldCarousel {
		post.size = 2 + throw.IntN(4)
	}
	post.file = newFile(throw, post.id, post.format)
	post.caption = withTags(sentences(throw, language(throw)), post.tags)
	return post
}

// commonTags stand under everything.
var commonTags = []string{"love", "instagood", "picoftheday"}

// beside are the hashtags of a post under this one: itself, some of its theme, each with a share of its own, and some
// that stand everywhere.
func (h worldHashtag) beside(throw *rand.Rand) []string {
	tags := []string{h.name}
	share := 0.55
	for _, tag := range some(h.dice("theme"), themeOf(h.name), 7) {
		if tag != h.name && throw.Float64() < share {
			tags = append(tags, tag)
		}
		share *= 0.75
	}
	for _, tag := range commonTags {
		if tag != h.name && throw.Float64() < 0.12 {
			tags = append(tags, tag)
		}
	}
	throw.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	return tags
}
