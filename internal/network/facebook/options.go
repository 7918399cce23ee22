package facebook

import (
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

// postOptions returns a post's options for Facebook, or the zero value if there are none.
func postOptions(o network.Options) network.FacebookOptions { return network.ValueOrZero(o.Facebook) }

// checkOptions returns a problem for each option that Facebook does not support for this post.
func checkOptions(c network.Content) []network.Problem {
	o, story := postOptions(c.Options), c.Options.IsStory(platform)
	video := len(c.Media) == 1 && c.Media[0].Kind == network.Video
	reel := isReel(c.Media) && !story
	var problems []network.Problem
	add := func(field string, isBlocking bool, message string) {
		problems = append(problems, network.OptionProblem(platform, field, network.CodeOptionUnsupported, isBlocking, message))
	}
	if o.Format == network.FormatReel && !reel {
		add("format", true,
			"A reel on Facebook is a single video with 9:16, at least 540 × 960 pixels and 3 to 90 seconds. Choose another "+
				"format (options.facebook.format), or another video.")
	}
	if o.Link != "" && len(c.Media) > 0 {
		add("link", false, "Facebook shows a link (options.facebook.link) only in posts without media. It is not sent.")
	}
	if o.Place != "" && (story || video && !reel) {
		add("place", false, "On Facebook, only posts and reels have a place (options.facebook.place). It is not sent.")
	}
	if o.Title != "" && (story || !video) {
		add("title", false, "On Facebook, only videos have a title (options.facebook.title). It is not sent.")
	}
	return problems
}

// previewLink returns the link that the post shows with a preview, or "" if there is none.
func previewLink(text string, o network.Options, media []network.Media) string {
	if len(media) > 0 {
		return ""
	}
	if chosen := postOptions(o).Link; chosen != "" {
		return chosen
	}
	if links := network.Links(text); len(links) > 0 {
		return links[0]
	}
	return ""
}

// addOptions adds the options to the parameters of a post, a video or a reel.
func (d draft) addOptions(params url.Values) {
	if d.isStory() {
		return
	}
	if d.Place != "" && (!d.isVideo() || d.Reel) {
		params.Set("place", d.Place)
	}
	if d.Title != "" && d.isVideo() {
		params.Set("title", d.Title)
	}
}
