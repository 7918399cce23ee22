package network

import "math"

// FormatPost is the default format in a post's options. The others are FormatReel and FormatStory. An empty format
// means FormatPost.
const FormatPost = "post"

// IsStory reports whether a post with these options is a story on a platform.
func (o Options) IsStory(platform string) bool {
	switch platform {
	case "facebook":
		return o.Facebook != nil && o.Facebook.Format == FormatStory
	case "instagram":
		return o.Instagram != nil && o.Instagram.Format == FormatStory
	default:
		return false
	}
}

// CodeCaptionNotSent is the code of the warning that the text is not sent, because the network does not accept a text
// with the post.
const CodeCaptionNotSent = "caption_not_sent"

// CheckStory is like Check, but for a story: one image or video that fills the screen, without a text.
func (r Rules) CheckStory(c Content) []Problem {
	var problems []Problem
	switch count := len(c.Media); {
	case count == 0:
		problems = append(problems, blockingProblem("media_missing", "A story on %s needs an image or a video. Add one.", r.Title))
	case count > 1:
		problems = append(problems, blockingProblem("media_too_many", "A story on %s has one image or video; this one has %s. Remove %d.",
			r.Title, quantity(count, "item"), count-1))
	}
	if !isBlank(c.Text) {
		problems = append(problems, warningProblem(CodeCaptionNotSent,
			"A story on %s has no text. The text of the post is not sent.", r.Title))
	}
	story := r.Story()
	for i, m := range c.Media {
		if item := (mediaItem{m, r.Title, mediaName(m, i+1)}); !item.fillsScreen() &&
			item.checkAspect(story.aspectRatios(m.Kind)) == nil {
			problems = append(problems, warningProblem("media_aspect",
				"%s has %d × %d pixels; a story on %s fills the screen with 9:16. Crop it.", item.name, m.Width, m.Height, r.Title))
		}
	}
	return append(problems, story.checkMedia(c.Media)...)
}

// Story returns the limits on a story's image or video. A story has no comments.
func (r Rules) Story() Rules {
	r.FirstComment = Text{}
	r.Images.Carousel, r.Images.AspectRatios = Range{}, AspectRange{}
	r.Videos = r.Stories
	return r
}

// ForOptions returns the limits on the media of a post with these options.
func (r Rules) ForOptions(platform string, o Options) Rules {
	if o.IsStory(platform) {
		return r.Story()
	}
	return r
}

func (r Rules) aspectRatios(kind string) AspectRange {
	if kind == Video {
		return r.Videos.AspectRatios
	}
	return r.Images.AspectRatios
}

// screenTolerance is the relative deviation from a screen's aspect ratio that is tolerated. Phones crop about as much.
const screenTolerance = 0.02

// fillsScreen reports whether the item has the aspect ratio 9:16. It reports true if the size is unknown.
func (m mediaItem) fillsScreen() bool {
	if m.Width <= 0 || m.Height <= 0 {
		return true
	}
	return math.Abs(float64(m.Width)/float64(m.Height)/(9.0/16)-1) <= screenTolerance
}
