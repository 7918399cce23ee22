package network

import (
	"maps"
	"slices"
	"strings"
)

// MediaFields returns the library media that the options use, such as a cover. It maps the name of the API argument to
// the media ID.
func (o Options) MediaFields() map[string]int64 {
	fields := map[string]int64{}
	if o.Bluesky != nil && o.Bluesky.LinkCard != nil {
		fields["options.bluesky.link_card.thumbnail_media_id"] = o.Bluesky.LinkCard.ThumbnailMediaID
	}
	if o.Instagram != nil {
		fields["options.instagram.cover_media_id"] = o.Instagram.CoverMediaID
	}
	if o.LinkedIn != nil && o.LinkedIn.Article != nil {
		fields["options.linkedin.article.thumbnail_media_id"] = o.LinkedIn.Article.ThumbnailMediaID
	}
	if o.YouTube != nil {
		fields["options.youtube.thumbnail_media_id"] = o.YouTube.ThumbnailMediaID
	}
	maps.DeleteFunc(fields, func(_ string, id int64) bool { return id == 0 })
	return fields
}

// MediaIDsFor returns the IDs of the library media that the options for the platform use.
func (o Options) MediaIDsFor(platform string) []int64 {
	var ids []int64
	for field, id := range o.MediaFields() {
		if strings.HasPrefix(field, "options."+platform+".") {
			ids = append(ids, id)
		}
	}
	return ids
}

// MediaIDs returns the IDs of the library media that the options use, sorted and without duplicates.
func (o Options) MediaIDs() []int64 {
	return slices.Compact(slices.Sorted(maps.Values(o.MediaFields())))
}

// WithoutMedia returns a copy of the options that does not use the media item. It does not change o.
func (o Options) WithoutMedia(id int64) Options {
	if slices.Contains(o.MediaIDsFor("bluesky"), id) {
		bluesky, card := *o.Bluesky, *o.Bluesky.LinkCard
		card.ThumbnailMediaID, bluesky.LinkCard = 0, &card
		o.Bluesky = &bluesky
	}
	if slices.Contains(o.MediaIDsFor("instagram"), id) {
		instagram := *o.Instagram
		instagram.CoverMediaID, o.Instagram = 0, &instagram
	}
	if slices.Contains(o.MediaIDsFor("linkedin"), id) {
		linkedIn, article := *o.LinkedIn, *o.LinkedIn.Article
		article.ThumbnailMediaID, linkedIn.Article = 0, &article
		o.LinkedIn = &linkedIn
	}
	if slices.Contains(o.MediaIDsFor("youtube"), id) {
		youtube := *o.YouTube
		youtube.ThumbnailMediaID, o.YouTube = 0, &youtube
	}
	return o
}
