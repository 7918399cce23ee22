package sandbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// media returns the items of the media type on the day of the cursor, the newest first. Stories are those of the last
// 24 hours.
func (a *vendorAsk) media() []vendorItem {
	avatar := vendorItemOf(a.profile.avatar(), time.Time{}, "")
	switch {
	case a.kind == "avatar":
		return []vendorItem{avatar}
	case strings.HasPrefix(a.profile.name, markEmpty) && a.kind != "profile":
		return nil
	case a.kind == "profile":
		return append([]vendorItem{avatar}, a.posted("")...)
	case a.kind == "stories":
		return vendorStories(a.profile, a.now)
	case a.kind == "highlights":
		return vendorHighlights(a.profile, a.cursor.Day)
	case a.kind == "playlists":
		return a.playlists()
	case a.kind == "reels":
		return a.posted(worldReel)
	}
	return a.posted("")
}

// posted returns the posts of a format, or of all formats.
func (a *vendorAsk) posted(format string) []vendorItem {
	var items []vendorItem
	for _, post := range a.profile.posts(a.cursor.Day) {
		if format == "" || post.format == format {
			items = append(items, vendorItemOf(post.file, time.Unix(post.at, 0), post.caption))
		}
	}
	return items
}

// playlists returns some of the first videos.
func (a *vendorAsk) playlists() []vendorItem {
	videos := a.posted(worldVideo)
	return videos[max(0, len(videos)-4-a.profile.dice("playlists").IntN(12)):]
}

// vendorStories returns the stories of the last 24 hours, of which a day has up to three.
func vendorStories(p worldProfile, now time.Time) []vendorItem {
	var items []vendorItem
	for _, day := range []int64{dayOf(now), dayOf(now) - 1} {
		for _, item := range vendorStoriesOf(p, day) {
			at, _ := time.Parse(time.RFC3339, item.TakenAt) // vendorItemOf wrote it
			if !at.After(now) && now.Sub(at) < 24*time.Hour {
				items = append(items, item)
			}
		}
	}
	return items
}

// vendorStoriesOf returns the stories of a day, the newest first.
func vendorStoriesOf(p worldProfile, day int64) []vendorItem {
	rng := p.dice("stories", strconv.FormatInt(day, 10))
	var items []vendorItem
	for range 3 {
		if rng.IntN(2) == 0 {
			continue
		}
		format := []string{worldImage, worldReel}[rng.IntN(2)]
		at := time.Unix(startOf(day)+rng.Int64N(secondsPerDay), 0)
		items = append(items,
			vendorItemOf(newFile(rng, worldID(rng), format), at, sentences(rng, language(rng))))
	}
	slices.SortFunc(items, func(a, b vendorItem) int {
		return cmp.Or(cmp.Compare(b.TakenAt, a.TakenAt), cmp.Compare(b.ID, a.ID))
	})
	return items
}

// vendorHighlights returns the first 4 to 15 stories of the profile, of those before day.
func vendorHighlights(p worldProfile, day int64) []vendorItem {
	count := 4 + p.dice("highlights").IntN(12)
	began := worldMeasured/secondsPerDay - int64(p.habits().days)
	var items []vendorItem
	for on := began; on < day && len(items) < count; on++ {
		items = slices.Concat(vendorStoriesOf(p, on), items)
	}
	return items[max(0, len(items)-count):]
}

// vendorItemOf returns the item of a file, with an address that lacks its prefix.
func vendorItemOf(file worldFile, at time.Time, caption string) vendorItem {
	item := vendorItem{
		ID: file.id, Kind: "image", URL: file.path(), Caption: caption, Width: file.width, Height: file.height,
		Duration: file.seconds,
	}
	if file.video {
		item.Kind = "video"
	}
	if !at.IsZero() {
		item.TakenAt = at.UTC().Format(time.RFC3339)
	}
	return item
}
