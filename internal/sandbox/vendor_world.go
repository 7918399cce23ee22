package sandbox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// media is all that there is of one type at the day of the cursor, the newest first. Of stories, which last 24 hours,
// it is what stands at the moment.
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
		return a.profile.stories(a.now)
	case a.kind == "highlights":
		return a.profile.highlights(a.cursor.Day)
	case a.kind == "playlists":
		return a.playlists()
	case a.kind == "reels":
		return a.posted(worldReel)
	}
	return a.posted("")
}

// posted are the posts of a format, or of all.
func (a *vendorAsk) posted(format string) []vendorItem {
	var items []vendorItem
	for _, post := range a.profile.posts(a.cursor.Day) {
		if format == "" || post.format == format {
			items = append(items, vendorItemOf(post.file, time.Unix(post.at, 0), post.caption))
		}
	}
	return items
}

// playlists are a choice of the first videos.
func (a *vendorAsk) playlists() []vendorItem {
	videos := a.posted(worldVideo)
	return videos[max(0, len(videos)-4-a.profile.dice("playlists").IntN(12)):]
}

// stories are those of the last 24 hours, of up to three on each day.
func (p worldProfile) stories(now time.Time) []vendorItem {
	var items []vendorItem
	for _, day := range []int64{dayOf(now), dayOf(now) - 1} {
		for _, item := range p.storiesOf(day) {
			at, _ := time.Parse(time.RFC3339, item.TakenAt) // it was written by vendorItemOf
			if !at.After(now) && now.Sub(at) < 24*time.Hour {
				items = append(items, item)
			}
		}
	}
	return items
}

// storiesOf are those of a day, the newest first.
func (p worldProfile) storiesOf(day int64) []vendorItem {
	throw := p.dice("stories", strconv.FormatInt(day, 10))
	var items []vendorItem
	for range 3 {
		if throw.IntN(2) == 0 {
			continue
		}
		format := []string{worldImage, worldReel}[throw.IntN(2)]
		at := time.Unix(startOf(day)+throw.Int64N(secondsPerDay), 0)
		items = append(items,
			vendorItemOf(newFile(throw, worldID(throw), format), at, sentences(throw, language(throw))))
	}
	slices.SortFunc(items, func(a, b vendorItem) int {
		return cmp.Or(cmp.Compare(b.TakenAt, a.TakenAt), cmp.Compare(b.ID, a.ID))
	})
	return items
}

// highlights are the first 4 to 15 stories that the profile told, and that have passed by a day.
func (p worldProfile) highlights(day int64) []vendorItem {
	count := 4 + p.dice("highlights").IntN(12)
	began := worldMeasured/secondsPerDay - int64(p.habits().days)
	var items []vendorItem
	for on := began; on < day && len(items) < count; on++ {
		items = slices.Concat(p.storiesOf(on), items)
	}
	return items[max(0, len(items)-count):]
}

// vendorItemOf tells of a file, whose address is still without its beginning.
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
