package sandbox

import (
	"net/http"
	"regexp"
	"unicode/utf16"
)

const (
	maxInstagramCaption = 2200 // UTF-16 code units
	maxInstagramTags    = 30
	maxInstagramItems   = 10
	maxInstagramVideo   = 300_000_000 // bytes
)

// The ratios are a little wider than 4:5 and 1.91:1, as pixels are whole.
var instagramImages = graphImages{types: []string{"image/jpeg"}, most: 8 << 20, tallest: 0.79, widest: 1.92}

var instagramTag = regexp.MustCompile(`#[\pL\pN_]+`)

func (n *instagram) createContainer(r *http.Request) (any, error) {
	return n.makeContainer(r, func(c *container) error {
		c.form = r.Form.Get("media_type")
		if !c.item {
			c.text = r.Form.Get("caption")
		}
		if len(utf16.Encode([]rune(c.text))) > maxInstagramCaption ||
			len(instagramTag.FindAllString(c.text, -1)) > maxInstagramTags {
			return errTextLength
		}
		return n.fill(r, c)
	})
}

// fill sets the content of the container. A single video is a reel, one in a carousel is not.
func (n *instagram) fill(r *http.Request, c *container) error {
	switch {
	case c.form == "" || c.form == "IMAGE":
		c.form = "IMAGE"
		return n.fillImage(r, c)
	case c.form == "REELS" && !c.item, c.form == "VIDEO" && c.item:
		return n.fillVideo(r, c)
	case c.form == "CAROUSEL" && !c.item:
		return n.gather(r, c, maxInstagramItems)
	}
	return invalidParameter("media_type has to be REELS for a video, CAROUSEL for several media, or VIDEO in " +
		"a carousel")
}

func (n *instagram) fillImage(r *http.Request, c *container) error {
	address := r.Form.Get("image_url")
	if address == "" {
		return invalidParameter("The parameter image_url is required")
	}
	m, err := n.getImage(r.Context(), c.account, address, instagramImages)
	m.Alt = r.Form.Get("alt_text")
	c.media = []medium{m}
	return err
}

// instagramFailures are the subcodes of a failed container.
var instagramFailures = map[string]string{videoUnfetched: "2207052", videoUnread: "2207026"}

func (n *instagram) fillVideo(r *http.Request, c *container) error {
	address := r.Form.Get("video_url")
	if address == "" {
		return invalidParameter("The parameter video_url is required")
	}
	m, failure, err := n.getVideo(r.Context(), c.account, address, maxInstagramVideo)
	c.media, c.failure = []medium{m}, instagramFailures[failure]
	return err
}
