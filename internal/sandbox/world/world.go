// Package world is the public world of Instagram and TikTok: profiles, hashtags and their posts. The bridge,
// Instagram's business discovery and TikTok's Research API show it. Nothing is stored: a profile follows from its name
// and the day, a hashtag from its name and the second, so the past never changes.
package world

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// SecondsPerDay is the length of a day.
const SecondsPerDay = 24 * 60 * 60

// tiktok is the platform whose formats and addresses differ from Instagram's.
const tiktok = "tiktok"

// MeasuredAt is the time at which profiles and hashtags have their drawn sizes. They grow from there, and were
// smaller before.
var MeasuredAt = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC).Unix()

// Formats of posts, by pressroom's names.
const (
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel"
	FormatCarousel = "carousel"
)

// Prefixes of the names of profiles and hashtags that ask for a certain outcome. Any other name exists and has posts.
const (
	PrefixMissing = "missing." // the profile does not exist
	PrefixPrivate = "private." // the profile is not public
	PrefixEmpty   = "empty."   // the profile has only an avatar
	PrefixFailing = "error."   // the network fails
	PrefixSlow    = "slow."    // the network takes SlowDelay

	hashtagMissing = "missing" // the hashtag does not exist
	HashtagFailing = "error"   // the network fails
)

// SlowDelay is how long a network takes for a profile with PrefixSlow.
const SlowDelay = 3 * time.Second

// Dice returns a random source that is the same for the same words.
func Dice(words ...string) *rand.Rand {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	first, second := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
	return rand.New(rand.NewPCG(first, second)) //nolint:gosec // not for secrets
}

// between returns a uniformly distributed number of a range.
func between(rng *rand.Rand, low, high float64) float64 { return low + rng.Float64()*(high-low) }

// logBetween returns a log-uniformly distributed number of a range.
func logBetween(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

// spread returns a log-normally distributed factor of median one.
func spread(rng *rand.Rand, sigma float64) float64 { return math.Exp(sigma * rng.NormFloat64()) }

// weightedIndex returns a random index, distributed by the weights.
func weightedIndex(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := rng.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// sample returns count different elements.
func sample(rng *rand.Rand, from []string, count int) []string {
	var picked []string
	for _, i := range rng.Perm(len(from))[:min(count, len(from))] {
		picked = append(picked, from[i])
	}
	return picked
}

//go:embed phrases.json themes.json
var wordFiles embed.FS

// Phrases are the words of a language.
type Phrases struct {
	Names     []string `json:"names"`     // of profiles
	Lines     []string `json:"lines"`     // of biographies
	Sentences []string `json:"sentences"` // of captions
	Tags      []string `json:"tags"`
	Emoji     []string `json:"emoji"`
}

var (
	languages = builtIn[[]Phrases]("phrases.json")
	themes    = builtIn[[][]string]("themes.json") // hashtags that occur together
)

func builtIn[T any](name string) T {
	var content T
	text, err := wordFiles.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil {
		panic("what was built in cannot be read: " + err.Error())
	}
	return content
}

// Post is a post of a profile or with a hashtag.
type Post struct {
	ID      string // 19 digits
	Format  string
	At      int64 // Unix seconds
	Caption string
	Tags    []string
	File    File // of a carousel, its first
	size    int  // files of a carousel; 1 otherwise

	reactions        float64 // final likes, comments and shares together
	comments, shares float64 // shares of the reactions
	Views            float64 // final views; 0 if the network counts none
}

func newestFirst(posts []Post) {
	slices.SortFunc(posts, func(a, b Post) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID)) })
}

// Figures are the counts of a post at a time.
type Figures struct{ Likes, Comments, Shares, Views int64 }

// settlingSeconds is the time in which a post gets 63% of its reactions.
const settlingSeconds = 18 * 60 * 60

// Figures returns the counts at a time in Unix seconds. They never fall.
func (p Post) Figures(now int64) Figures {
	share := 1 - math.Exp(-float64(max(now-p.At, 0))/settlingSeconds)
	count := func(settled float64) int64 { return int64(settled * share) }
	return Figures{
		Likes:    count(p.reactions * (1 - p.comments - p.shares)),
		Comments: count(p.reactions * p.comments), Shares: count(p.reactions * p.shares),
		Views: count(p.Views),
	}
}

// RandomID returns an ID of 19 digits.
func RandomID(rng *rand.Rand) string { return fmt.Sprintf("%019d", rng.Int64()) }

// Children returns the files of a carousel.
func (p Post) Children() []File {
	files := []File{p.File}
	for rng := Dice("children", p.ID); len(files) < p.size; {
		files = append(files, NewFile(rng, RandomID(rng), FormatImage))
	}
	return files
}

// Sentences returns one to three sentences, sometimes with an emoji. One in five texts is in English.
func Sentences(rng *rand.Rand, home Phrases) string {
	if rng.IntN(5) == 0 {
		home = languages[0]
	}
	text := strings.Join(sample(rng, home.Sentences, 1+rng.IntN(3)), " ")
	if rng.IntN(2) == 0 {
		text += " " + home.Emoji[rng.IntN(len(home.Emoji))]
	}
	return text
}

// Language returns English half of the time, and else any language.
func Language(rng *rand.Rand) Phrases {
	if rng.IntN(2) == 0 {
		return languages[0]
	}
	return languages[rng.IntN(len(languages))]
}

// withTags appends hashtags to a text.
func withTags(text string, tags []string) string {
	if len(tags) == 0 {
		return text
	}
	return text + "\n\n#" + strings.Join(tags, " #")
}

// themeOf returns the theme that contains a hashtag, or else any.
func themeOf(tag string) []string {
	for _, theme := range themes {
		if slices.Contains(theme, tag) {
			return theme
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(tag))                       // it cannot fail
	return themes[int(sum.Sum32()%uint32(len(themes)))] //nolint:gosec // a handful
}
