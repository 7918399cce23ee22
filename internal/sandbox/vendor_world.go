package sandbox

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

const secondsPerDay = 24 * 60 * 60

// vendorProfile is one profile of the vendor's world. What it has follows from its name and the day alone: a day that
// has passed is never told differently, and each day posts are added to those of the days before.
type vendorProfile struct{ platform, name string }

// dice are thrown alike for the same words.
func dice(words ...string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", words))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]))) //nolint:gosec // a world, not a secret
}

func (p vendorProfile) dice(words ...string) *rand.Rand {
	return dice(append([]string{p.platform, p.name}, words...)...)
}

// media is all that there is of one type at a day, the newest first. Of stories, which last 24 hours, it is what
// stands at the moment now.
func (p vendorProfile) media(kind string, day int64, now time.Time) []vendorItem {
	if kind == "avatar" {
		return []vendorItem{p.avatar()}
	}
	if strings.HasPrefix(p.name, markEmpty) {
		if kind == "profile" {
			return []vendorItem{p.avatar()}
		}
		return nil
	}
	switch kind {
	case "profile":
		return append([]vendorItem{p.avatar()}, p.posted("posts", day)...)
	case "stories":
		return p.stories(now)
	case "highlights", "playlists":
		return p.collected(kind, day)
	}
	return p.posted(kind, day)
}

func (p vendorProfile) avatar() vendorItem {
	item := p.item("avatar", p.dice("avatar"), time.Time{})
	item.Caption = ""
	return item
}

// posted is what was posted up to the day before: 30 to 90 items.
func (p vendorProfile) posted(kind string, day int64) []vendorItem {
	habit := p.dice(kind)
	count := 30 + habit.IntN(61)
	often := 0.3 + habit.Float64() // posts a day
	var items []vendorItem
	for day--; len(items) < count; day-- {
		items = append(items, p.postedOn(kind, day, often)...)
	}
	return items[:count]
}

func (p vendorProfile) postedOn(kind string, day int64, often float64) []vendorItem {
	throw := p.dice(kind, strconv.FormatInt(day, 10))
	var seconds []int64
	for range 3 {
		if throw.Float64() < often/3 {
			seconds = append(seconds, 6*60*60+throw.Int64N(17*60*60)) // between 6 and 23 o'clock
		}
	}
	slices.Sort(seconds)
	slices.Reverse(seconds)
	var items []vendorItem
	for _, second := range seconds {
		items = append(items, p.item(kind, throw, time.Unix(day*secondsPerDay+second, 0)))
	}
	return items
}

// stories are those of the last 24 hours, of up to three on each day.
func (p vendorProfile) stories(now time.Time) []vendorItem {
	var items []vendorItem
	today := now.Unix() / secondsPerDay
	for _, day := range []int64{today, today - 1} {
		for _, item := range p.postedOn("stories", day, 1.5) {
			at, _ := time.Parse(time.RFC3339, item.TakenAt) // it was written by item
			if !at.After(now) && now.Sub(at) < 24*time.Hour {
				items = append(items, item)
			}
		}
	}
	return items
}

// collected is a choice of what was posted long ago: 4 to 15 items.
func (p vendorProfile) collected(kind string, day int64) []vendorItem {
	posted := p.posted(kind, day-100)
	return posted[:4+p.dice(kind, "count").IntN(12)]
}

// item makes an item of a type, by the next throws.
func (p vendorProfile) item(kind string, throw *rand.Rand, at time.Time) vendorItem {
	item := vendorItem{ID: fmt.Sprintf("%019d", throw.Int64()), Kind: "image", Caption: vendorCaption(throw)}
	if !at.IsZero() {
		item.TakenAt = at.UTC().Format(time.RFC3339)
	}
	if throw.Float64() < p.videos(kind) {
		clip := vendorClips[throw.IntN(len(vendorClips))]
		item.Kind, item.Width, item.Height, item.Duration = "video", clip.width, clip.height, clip.seconds
		item.URL = fmt.Sprintf("%dx%d/%s.mp4", item.Width, item.Height, item.ID)
		return item
	}
	size := vendorSizes[throw.IntN(len(vendorSizes))]
	if kind == "avatar" {
		size = avatarSize
	}
	item.Width, item.Height = size.X, size.Y
	item.URL = fmt.Sprintf("%dx%d/%s.jpg", item.Width, item.Height, item.ID)
	return item
}

// videos is which part of a type's items are videos.
func (p vendorProfile) videos(kind string) float64 {
	switch {
	case kind == "avatar":
		return 0
	case kind == "reels" || kind == "playlists":
		return 1
	case p.platform == "tiktok":
		return 0.8
	}
	return 0.2
}

//go:embed vendor/captions.json
var vendorPhrases []byte

// vendorLanguages are the words of captions, one language each.
var vendorLanguages = func() []phrases {
	var languages []phrases
	if err := json.Unmarshal(vendorPhrases, &languages); err != nil {
		panic("the phrases that were built in cannot be read: " + err.Error())
	}
	return languages
}()

type phrases struct {
	Sentences []string `json:"sentences"`
	Tags      []string `json:"tags"`
	Emoji     []string `json:"emoji"`
}

// vendorCaption is one to three sentences, most of them in English, with some tags and now and then an emoji.
func vendorCaption(throw *rand.Rand) string {
	language := vendorLanguages[0]
	if throw.IntN(3) == 0 {
		language = vendorLanguages[throw.IntN(len(vendorLanguages))]
	}
	text := strings.Join(some(throw, language.Sentences, 1+throw.IntN(3)), " ")
	if throw.IntN(2) == 0 {
		text += " " + language.Emoji[throw.IntN(len(language.Emoji))]
	}
	if tags := some(throw, language.Tags, throw.IntN(5)); len(tags) > 0 {
		text += "\n\n#" + strings.Join(tags, " #")
	}
	return text
}

// some picks count different ones.
func some(throw *rand.Rand, from []string, count int) []string {
	var picked []string
	for _, i := range throw.Perm(len(from))[:count] {
		picked = append(picked, from[i])
	}
	return picked
}
