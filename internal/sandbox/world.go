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

// The public world is what stands on Instagram and TikTok: profiles, hashtags and their posts. The vendor, Instagram's
// business discovery and TikTok's research all tell of this one. Nothing of it is kept: a profile follows from its name
// and the day, a hashtag from its name and the second, so that what has passed is never told differently.

const secondsPerDay = 24 * 60 * 60

// worldMeasured is the moment for which sizes are thrown. From there the world grows on, and back it began smaller.
var worldMeasured = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC).Unix()

// The formats of posts, by pressroom's names.
const (
	worldImage    = "image"
	worldVideo    = "video"
	worldReel     = "reel"
	worldCarousel = "carousel"
)

// Every profile and hashtag has a beginning of its name that asks for a certain outcome, or is there and has posts.
const (
	markMissing = "missing." // there is no such profile
	markPrivate = "private." // not shown to the public
	markEmpty   = "empty."   // an avatar and nothing else
	markFailing = "error."   // the network fails
	markSlowly  = "slow."    // the network takes slowWorld

	markNoHashtag      = "missing" // there is no such hashtag
	markFailingHashtag = "error"   // the network fails
)

const slowWorld = 3 * time.Second

// dice are thrown alike for the same words.
func dice(words ...string) *rand.Rand {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]))) //nolint:gosec // a world, not a secret
}

// between is a number of a range, each alike.
func between(throw *rand.Rand, low, high float64) float64 { return low + throw.Float64()*(high-low) }

// logBetween is a number of a range, each order of magnitude alike.
func logBetween(throw *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, throw.Float64())
}

// spread multiplies by a log-normal number of median one.
func spread(throw *rand.Rand, sigma float64) float64 { return math.Exp(sigma * throw.NormFloat64()) }

// chosen is an index, each as often as its weight says.
func chosen(throw *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := throw.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// some picks count different ones.
func some(throw *rand.Rand, from []string, count int) []string {
	var picked []string
	for _, i := range throw.Perm(len(from))[:min(count, len(from))] {
		picked = append(picked, from[i])
	}
	return picked
}

//go:embed world/phrases.json world/themes.json
var worldFiles embed.FS

// phrases are the words of one language.
type phrases struct {
	Names     []string `json:"names"`     // of profiles
	Lines     []string `json:"lines"`     // of biographies
	Sentences []string `json:"sentences"` // of captions
	Tags      []string `json:"tags"`
	Emoji     []string `json:"emoji"`
}

var (
	worldLanguages = builtIn[[]phrases]("world/phrases.json")
	worldThemes    = builtIn[[][]string]("world/themes.json") // hashtags that stand together
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

// worldPost is a post of a profile or under a hashtag.
type worldPost struct {
	id      string // 19 digits
	format  string
	at      int64 // Unix seconds
	caption string
	tags    []string
	file    worldFile // of a carousel, its first
	size    int       // files of a carousel; 1 otherwise

	reactions        float64 // likes, comments and shares together, once they have settled
	comments, shares float64 // parts of the reactions
	views            float64 // once they have settled; 0 where the network counts none
}

func newestFirst(posts []worldPost) {
	slices.SortFunc(posts, func(a, b worldPost) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id)) })
}

// worldFigures are what can be counted of a post at a moment.
type worldFigures struct{ likes, comments, shares, views int64 }

// settling is how long a post takes to get most of its reactions: 63 % of them, in seconds.
const settling = 18 * 60 * 60

// figures grow with the post's age, and never fall.
func (p worldPost) figures(now int64) worldFigures {
	share := 1 - math.Exp(-float64(max(now-p.at, 0))/settling)
	count := func(settled float64) int64 { return int64(settled * share) }
	return worldFigures{
		likes:    count(p.reactions * (1 - p.comments - p.shares)),
		comments: count(p.reactions * p.comments), shares: count(p.reactions * p.shares),
		views: count(p.views),
	}
}

// worldFile is a file of a post, which the vendor gives out.
type worldFile struct {
	id            string
	video         bool
	width, height int
	seconds       float64 // of a video
}

// path is where it stands below the vendor's files.
func (f worldFile) path() string {
	kind := "jpg"
	if f.video {
		kind = "mp4"
	}
	return fmt.Sprintf("%dx%d/%s.%s", f.width, f.height, f.id, kind)
}

func worldID(throw *rand.Rand) string { return fmt.Sprintf("%019d", throw.Int64()) }

// newFile is a picture of any size, or a clip.
func newFile(throw *rand.Rand, id, format string) worldFile {
	clip := vendorClips[1]
	switch format {
	case worldImage, worldCarousel:
		size := vendorSizes[throw.IntN(len(vendorSizes))]
		return worldFile{id: id, width: size.X, height: size.Y}
	case worldReel:
		clip = vendorClips[0]
	}
	return worldFile{id: id, video: true, width: clip.width, height: clip.height, seconds: clip.seconds}
}

// children are the files of a carousel, made from its first.
func (p worldPost) children() []worldFile {
	files := []worldFile{p.file}
	for throw := dice("children", p.id); len(files) < p.size; {
		files = append(files, newFile(throw, worldID(throw), worldImage))
	}
	return files
}

// sentences are one to three, with an emoji now and then. A fifth of them are in English whatever the language.
func sentences(throw *rand.Rand, home phrases) string {
	if throw.IntN(5) == 0 {
		home = worldLanguages[0]
	}
	text := strings.Join(some(throw, home.Sentences, 1+throw.IntN(3)), " ")
	if throw.IntN(2) == 0 {
		text += " " + home.Emoji[throw.IntN(len(home.Emoji))]
	}
	return text
}

// language is English for every second, and any for the others.
func language(throw *rand.Rand) phrases {
	if throw.IntN(2) == 0 {
		return worldLanguages[0]
	}
	return worldLanguages[throw.IntN(len(worldLanguages))]
}

// withTags puts hashtags below a text.
func withTags(text string, tags []string) string {
	if len(tags) == 0 {
		return text
	}
	return text + "\n\n#" + strings.Join(tags, " #")
}

// themeOf is the theme that a hashtag belongs to: one that names it, or any.
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
