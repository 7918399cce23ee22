package bridge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/world"
)

// media returns the items of the requested media type on the cursor's day, newest first.
func (q *mediaQuery) media() []Item {
	avatar := newItem(q.profile.Avatar(), time.Time{}, "")
	switch {
	case q.kind == "avatar":
		return []Item{avatar}
	case strings.HasPrefix(q.profile.Name, world.PrefixEmpty) && q.kind != "profile":
		return nil
	case q.kind == "profile":
		return append([]Item{avatar}, q.posts("")...)
	case q.kind == "stories":
		return stories(q.profile, q.now)
	case q.kind == "highlights":
		return highlights(q.profile, q.cursor.Day)
	case q.kind == "playlists":
		return q.playlists()
	case q.kind == "reels":
		return q.posts(world.FormatReel)
	}
	return q.posts("")
}

// posts returns the posts with the given format, or all posts if format is empty.
func (q *mediaQuery) posts(format string) []Item {
	var items []Item
	for _, post := range q.profile.Posts(q.cursor.Day) {
		if format == "" || post.Format == format {
			items = append(items, newItem(post.File, time.Unix(post.At, 0), post.Caption))
		}
	}
	return items
}

// playlists returns the profile's oldest videos. Their number depends on the profile, from 4 to 15.
func (q *mediaQuery) playlists() []Item {
	videos := q.posts(world.FormatVideo)
	return videos[max(0, len(videos)-4-q.profile.NewRand("playlists").IntN(12)):]
}

// stories returns the stories of the last 24 hours.
func stories(p world.Profile, now time.Time) []Item {
	var items []Item
	for _, day := range []int64{world.DayOf(now), world.DayOf(now) - 1} {
		for _, item := range dayStories(p, day) {
			at, _ := time.Parse(time.RFC3339, item.TakenAt) // newItem formatted it
			if !at.After(now) && now.Sub(at) < 24*time.Hour {
				items = append(items, item)
			}
		}
	}
	return items
}

// dayStories returns the stories of a day, newest first. There are at most three.
func dayStories(p world.Profile, day int64) []Item {
	rng := p.NewRand("stories", strconv.FormatInt(day, 10))
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

// highlights returns the profile's oldest stories from before day. Their number depends on the profile, from 4 to 15.
func highlights(p world.Profile, day int64) []Item {
	count := 4 + p.NewRand("highlights").IntN(12)
	firstDay := world.MeasuredAt/world.SecondsPerDay - int64(p.Traits().AgeDays)
	var items []Item
	for storyDay := firstDay; storyDay < day && len(items) < count; storyDay++ {
		items = slices.Concat(dayStories(p, storyDay), items)
	}
	return items[max(0, len(items)-count):]
}

// newItem returns the item for a file. The item's URL is relative to the URL of the files.
func newItem(file world.File, at time.Time, caption string) Item {
	item := Item{
		ID: file.ID, Kind: "image", URL: file.Path(), Caption: caption, Width: file.Width, Height: file.Height,
		Duration: file.Seconds,
	}
	if file.IsVideo {
		item.Kind = "video"
	}
	if !at.IsZero() {
		item.TakenAt = at.UTC().Format(time.RFC3339)
	}
	return item
}
