package sandbox

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

const secondsPerDay = 24 * 60 * 60

// worldMeasured is the time at which profiles and hashtags have their drawn sizes. They grow from there, and were
// smaller before.
var worldMeasured = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC).Unix()

// Formats of posts, by pressroom's names.
const (
	worldImage    = "image"
	worldVideo    = "video"
	worldReel     = "reel"
	worldCarousel = "carousel"
)

// Prefixes of the names of profiles and hashtags that ask for a certain outcome. Any other name exists and has posts.
const (
	markMissing = "missing." // the profile does not exist
	markPrivate = "private." // the profile is not public
	markEmpty   = "empty."   // the profile has only an avatar
	markFailing = "error."   // the network fails
	markSlowly  = "slow."    // the network takes SlowDelay

	markNoHashtag      = "missing" // the hashtag does not exist
	markFailingHashtag = "error"   // the network fails
)

const slowWorld = 3 * time.Second

// dice returns a random source that is the same for the same words.
func dice(words ...string) *rand.Rand {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]))) //nolint:gosec // not for secrets
}

// between returns a uniformly distributed number of a range.
func between(rng *rand.Rand, low, high float64) float64 { return low + rng.Float64()*(high-low) }

// logBetween returns a log-uniformly distributed number of a range.
func logBetween(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

// spread returns a log-normally distributed factor of median one.
func spread(rng *rand.Rand, sigma float64) float64 { return math.Exp(sigma * rng.NormFloat64()) }

// chosen returns a random index, distributed by the weights.
func chosen(rng *rand.Rand, weights []float64) int {
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

// some returns count different elements.
func some(rng *rand.Rand, from []string, count int) []string {
	var picked []string
	for _, i := range rng.Perm(len(from))[:min(count, len(from))] {
		picked = append(picked, from[i])
	}
	return picked
}

//go:embed world/phrases.json world/themes.json
var worldFiles embed.FS

// phrases are the words of a language.
type phrases struct {
	Names     []string `json:"names"`     // of profiles
	Lines     []string `json:"lines"`     // of biographies
	Sentences []string `json:"sentences"` // of captions
	Tags      []string `json:"tags"`
	Emoji     []string `json:"emoji"`
}

var (
	worldLanguages = builtIn[[]phrases]("world/phrases.json")
	worldThemes    = builtIn[[][]string]("world/themes.json") // hashtags that occur together
)

func builtIn[T any](name string) T {
	var content T
	text, err := worldFiles.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	if err != nil {
		panic("what was built in cannot be read: " + err.Error())
	}
	return content
}

// worldPost is a post of a profile or with a hashtag.
type worldPost struct {
	id      string // 19 digits
	format  string
	at      int64 // Unix seconds
	caption string
	tags    []string
	file    worldFile // of a carousel, its first
	size    int       // files of a carousel; 1 otherwise

	reactions        float64 // final likes, comments and shares together
	comments, shares float64 // shares of the reactions
	views            float64 // final views; 0 if the network counts none
}

func newestFirst(posts []worldPost) {
	slices.SortFunc(posts, func(a, b worldPost) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id)) })
}

// worldFigures are the counts of a post at a time.
type worldFigures struct{ likes, comments, shares, views int64 }

// settling is the time in which a post gets 63 % of its reactions.
const settling = 18 * 60 * 60

// figures returns the counts at a time in Unix seconds. They never fall.
func (p worldPost) figures(now int64) worldFigures {
	share := 1 - math.Exp(-float64(max(now-p.at, 0))/settling)
	count := func(settled float64) int64 { return int64(settled * share) }
	return worldFigures{
		likes:    count(p.reactions * (1 - p.comments - p.shares)),
		comments: count(p.reactions * p.comments), shares: count(p.reactions * p.shares),
		views: count(p.views),
	}
}

func worldID(rng *rand.Rand) string { return fmt.Sprintf("%019d", rng.Int64()) }

// children returns the files of a carousel.
func (p worldPost) children() []worldFile {
	files := []worldFile{p.file}
	for rng := dice("children", p.id); len(files) < p.size; {
		files = append(files, newFile(rng, worldID(rng), worldImage))
	}
	return files
}

// sentences returns one to three sentences, sometimes with an emoji. One in five texts is in English.
func sentences(rng *rand.Rand, home phrases) string {
	if rng.IntN(5) == 0 {
		home = worldLanguages[0]
	}
	text := strings.Join(some(rng, home.Sentences, 1+rng.IntN(3)), " ")
	if rng.IntN(2) == 0 {
		text += " " + home.Emoji[rng.IntN(len(home.Emoji))]
	}
	return text
}

// language returns English half of the time, and else any language.
func language(rng *rand.Rand) phrases {
	if rng.IntN(2) == 0 {
		return worldLanguages[0]
	}
	return worldLanguages[rng.IntN(len(worldLanguages))]
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
	for _, theme := range worldThemes {
		if slices.Contains(theme, tag) {
			return theme
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(tag))                                 // it cannot fail
	return worldThemes[int(sum.Sum32()%uint32(len(worldThemes)))] //nolint:gosec // a handful
}
