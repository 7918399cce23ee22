// Package world generates the public data of Instagram and TikTok: profiles, hashtags and their posts. The bridge,
// Instagram's business discovery and TikTok's Research API return this data. The data is not stored. A profile depends
// only on its name and the day. A hashtag depends only on its name and the second. Past data therefore never changes.
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

// tiktok is the platform whose formats and URLs differ from Instagram's.
const tiktok = "tiktok"

// MeasuredAt is the Unix time at which profiles and hashtags have the sizes that were chosen at random. They are
// smaller before that time and larger after it.
var MeasuredAt = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC).Unix()

// Formats of posts.
const (
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel"
	FormatCarousel = "carousel"
)

// Prefixes of profile names, and names of hashtags, that request a special outcome. Profiles and hashtags with any
// other name exist and have posts.
const (
	PrefixMissing = "missing." // the profile does not exist
	PrefixPrivate = "private." // the profile is not public
	PrefixEmpty   = "empty."   // the profile has only an avatar
	PrefixFailing = "error."   // the network fails
	PrefixSlow    = "slow."    // the network responds after SlowDelay

	hashtagMissing = "missing" // the hashtag does not exist
	HashtagFailing = "error"   // the network fails
)

// SlowDelay is the response time for a profile with PrefixSlow.
const SlowDelay = 3 * time.Second

// NewRand returns a random source that is seeded with words. The same words always produce the same numbers.
func NewRand(words ...string) *rand.Rand {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	first, second := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
	return rand.New(rand.NewPCG(first, second)) //nolint:gosec // the numbers need not be secret
}

// uniform returns a uniformly distributed number in a range.
func uniform(rng *rand.Rand, low, high float64) float64 { return low + rng.Float64()*(high-low) }

// logUniform returns a log-uniformly distributed number in a range.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

// logNormalFactor returns a log-normally distributed factor with a median of one.
func logNormalFactor(rng *rand.Rand, sigma float64) float64 {
	return math.Exp(sigma * rng.NormFloat64())
}

// weightedIndex returns a random index. The probability of an index is proportional to its weight.
func weightedIndex(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	remaining := rng.Float64() * sum
	for i, w := range weights {
		if remaining -= w; remaining < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// sampleStrings returns at most count random elements, each at most once.
func sampleStrings(rng *rand.Rand, elements []string, count int) []string {
	var out []string
	for _, i := range rng.Perm(len(elements))[:min(count, len(elements))] {
		out = append(out, elements[i])
	}
	return out
}

//go:embed phrases.json themes.json
var wordFiles embed.FS

// Phrases are the texts of a language.
type Phrases struct {
	Names     []string `json:"names"`     // names of profiles
	Lines     []string `json:"lines"`     // lines of biographies
	Sentences []string `json:"sentences"` // sentences of captions
	Tags      []string `json:"tags"`
	Emoji     []string `json:"emoji"`
}

var (
	languages = readEmbedded[[]Phrases]("phrases.json")
	themes    = readEmbedded[[][]string]("themes.json") // hashtags that occur together
)

func readEmbedded[T any](name string) T {
	var content T
	text, err := wordFiles.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil {
		panic("reading an embedded file: " + err.Error())
	}
	return content
}

// Post is a post of a profile or with a hashtag.
type Post struct {
	ID        string // 19 digits
	Format    string
	At        int64 // Unix seconds
	Caption   string
	Tags      []string
	File      File // the first file of a carousel
	fileCount int  // number of files in a carousel; 1 for other posts

	reactions        float64 // final sum of likes, comments and shares
	comments, shares float64 // fractions of the reactions
	Views            float64 // final views; 0 if the network does not count views of the format
}

func sortNewestFirst(posts []Post) {
	slices.SortFunc(posts, func(a, b Post) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID)) })
}

// Metrics are the metrics of a post at a time.
type Metrics struct{ Likes, Comments, Shares, Views int64 }

// settlingSeconds is the age at which a post has reached 63% of its final reactions.
const settlingSeconds = 18 * 60 * 60

// Metrics returns the post's metrics at the time now, in Unix seconds. The metrics never decrease.
func (p Post) Metrics(now int64) Metrics {
	share := 1 - math.Exp(-float64(max(now-p.At, 0))/settlingSeconds)
	count := func(final float64) int64 { return int64(final * share) }
	return Metrics{
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
	for rng := NewRand("children", p.ID); len(files) < p.fileCount; {
		files = append(files, NewFile(rng, RandomID(rng), FormatImage))
	}
	return files
}

// Sentences returns one to three sentences, sometimes with an emoji. In one of five cases, the sentences are in English
// instead of the given language.
func Sentences(rng *rand.Rand, language Phrases) string {
	if rng.IntN(5) == 0 {
		language = languages[0]
	}
	text := strings.Join(sampleStrings(rng, language.Sentences, 1+rng.IntN(3)), " ")
	if rng.IntN(2) == 0 {
		text += " " + language.Emoji[rng.IntN(len(language.Emoji))]
	}
	return text
}

// Language returns English with a probability of one half, and otherwise a random language.
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

// themeOf returns the theme that contains a hashtag. If no theme contains it, the hashtag's hash selects one.
func themeOf(tag string) []string {
	for _, theme := range themes {
		if slices.Contains(theme, tag) {
			return theme
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(tag))                       // never fails
	return themes[int(sum.Sum32()%uint32(len(themes)))] //nolint:gosec // a small length
}
