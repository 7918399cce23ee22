package network

import "slices"

// MediaOf returns the IDs of the library's media that the options for a platform use, such as a cover.
func (o Options) MediaOf(platform string) []int64 {
	var id int64
	switch {
	case platform == "bluesky" && o.Bluesky != nil && o.Bluesky.LinkCard != nil:
		id = o.Bluesky.LinkCard.ThumbnailMediaID
	case platform == "instagram" && o.Instagram != nil:
		id = o.Instagram.CoverMediaID
	case platform == "youtube" && o.YouTube != nil:
		id = o.YouTube.ThumbnailMediaID
	}
	if id == 0 {
		return nil
	}
	return []int64{id}
}

// MediaIDs returns the IDs of the library's media that the options use, in order and without duplicates.
func (o Options) MediaIDs() []int64 {
	ids := slices.Concat(o.MediaOf("bluesky"), o.MediaOf("instagram"), o.MediaOf("youtube"))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// WithoutMedia returns the options without a media item. It does not change o.
func (o Options) WithoutMedia(id int64) Options {
	if slices.Contains(o.MediaOf("bluesky"), id) {
		bluesky, card := *o.Bluesky, *o.Bluesky.LinkCard
		card.ThumbnailMediaID, bluesky.LinkCard = 0, &card
		o.Bluesky = &bluesky
	}
	if slices.Contains(o.MediaOf("instagram"), id) {
		instagram := *o.Instagram
		instagram.CoverMediaID, o.Instagram = 0, &instagram
	}
	if slices.Contains(o.MediaOf("youtube"), id) {
		youtube := *o.YouTube
		youtube.ThumbnailMediaID, o.YouTube = 0, &youtube
	}
	return o
}
