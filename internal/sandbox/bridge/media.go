package bridge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/world"
)

// media returns the items of the media type on the day of the cursor, the newest first. Stories are limited to the last
// 24 hours.
func (a *mediaQuery) media() []Item {
	avatar := newItem(a.profile.Avatar(), time.Time{}, "")
	switch {
	case a.kind == "avatar":
		return []Item{avatar}
	case strings.HasPrefix(a.profile.Name, world.PrefixEmpty) && a.kind != "profile":
		return nil
	case a.kind == "profile":
		return append([]Item{avatar}, a.posts("")...)
	case a.kind == "stories":
		return stories(a.profile, a.now)
	case a.kind == "highlights":
		return highlights(a.profile, a.cursor.Day)
	case a.kind == "playlists":
		return a.playlists()
	case a.kind == "reels":
		return a.posts(world.FormatReel)
	}
	return a.posts("")
}

// posts returns the posts of a format, or of all formats.
func (a *mediaQuery) posts(format string) []Item {
	var items []Item
	for _, post := range a.profile.Posts(a.cursor.Day) {
		if format == "" || post.Format == format {
			items = append(items, newItem(post.File, time.Unix(post.At, 0), post.Caption))
		}
	}
	return items
}

// playlists returns some of the first videos.
func (a *mediaQuery) playlists() []Item {
	videos := a.posts(world.FormatVideo)
	return videos[max(0, len(videos)-4-a.profile.Dice("playlists").IntN(12)):]
}

// stories returns the stories of the last 24 hours, of which a day has up to three.
func stories(p world.Profile, now time.Time) []Item {
	var items []Item
	for _, day := range []int64{world.DayOf(now), world.DayOf(now) - 1} {
		for _, item := range dayStories(p, day) {
			at, _ := time.Parse(time.RFC3339, item.TakenAt) // newItem has formatted it
			if !at.After(now) && now.Sub(at) < 24*time.Hour {
				items = append(items, item)
			}
		}
	}
	return items
}

// dayStories returns the stories of a day, the newest first.
func dayStories(p world.Profile, day int64) []Item {
	rng := p.Dice("stories", strconv.FormatInt(day, 10))
	var items []Item
	for range 3 {
		if rng.IntN(2) == 0 {
			continue
		}
		format := []string{world.FormatImage, world.FormatReel}[rng.IntN(2)]
		at := time.Unix(world.StartOf(day)+rng.Int64N(world.SecondsPerDay), 0)
		items = append(items,
			newItem(world.NewFile(rng, world.RandomID(rng), format), at, world.Sentences(rng, world.Language(rng))))
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.TakenAt, a.TakenAt), cmp.Compare(b.ID, a.ID))
	})
	return items
}

// highlights returns the first 4 to 15 stories of the profile, of those before day.
func highlights(p world.Profile, day int64) []Item {
	count := 4 + p.Dice("highlights").IntN(12)
	began := world.MeasuredAt/world.SecondsPerDay - int64(p.Traits().Days)
	var items []Item
	for on := began; on < day && len(items) < count; on++ {
		items = slices.Concat(dayStories(p, on), items)
	}
	return items[max(0, len(items)-count):]
}

// newItem returns the item of a file, with an address that lacks its prefix.
func newItem(file world.File, at time.Time, caption string) Item {
	item := Item{
		ID: file.ID, Kind: "image", URL: file.Path(), Caption: caption, Width: file.Width, Height: file.Height,
		Duration: file.Seconds,
	}
	if file.Video {
		item.Kind = "video"
	}
	if !at.IsZero() {
		item.TakenAt = at.UTC().Format(time.RFC3339)
	}
	return item
}
