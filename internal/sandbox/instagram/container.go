package instagram

import (
	"net/http"
	"regexp"
	"unicode/utf16"

	"pressroom/internal/sandbox/graph"
	"pressroom/internal/sandbox/store"
)

const (
	maxCaption = 2200 // UTF-16 code units
	maxTags    = 30
	maxItems   = 10
	maxVideo   = 300_000_000 // bytes
)

// The ratios are a little wider than 4:5 and 1.91:1, as pixels are whole.
var imageLimits = graph.ImageLimits{Types: []string{"image/jpeg"}, MaxSize: 8 << 20, MinRatio: 0.79, MaxRatio: 1.92}

var tagPattern = regexp.MustCompile(`#[\pL\pN_]+`)

func (n *Network) createContainer(r *http.Request) (any, error) {
	return n.CreateContainer(r, func(c *graph.Container) error {
		c.Form = r.Form.Get("media_type")
		if !c.Item {
			c.Text = r.Form.Get("caption")
		}
		if len(utf16.Encode([]rune(c.Text))) > maxCaption ||
			len(tagPattern.FindAllString(c.Text, -1)) > maxTags {
			return graph.ErrTextLength
		}
		return n.fill(r, c)
	})
}

// fill sets the content of the container. A single video is a reel, one in a carousel is not.
func (n *Network) fill(r *http.Request, c *graph.Container) error {
	switch {
	case c.Form == "" || c.Form == "IMAGE":
		c.Form = "IMAGE"
		return n.fillImage(r, c)
	case c.Form == "REELS" && !c.Item, c.Form == "VIDEO" && c.Item:
		return n.fillVideo(r, c)
	case c.Form == "CAROUSEL" && !c.Item:
		return n.GatherCarousel(r, c, maxItems)
	}
	return graph.InvalidParameter("media_type has to be REELS for a video, CAROUSEL for several media, or VIDEO in " +
		"a carousel")
}

func (n *Network) fillImage(r *http.Request, c *graph.Container) error {
	address := r.Form.Get("image_url")
	if address == "" {
		return graph.InvalidParameter("The parameter image_url is required")
	}
	m, err := n.FetchImage(r.Context(), c.Account, address, imageLimits)
	m.Alt = r.Form.Get("alt_text")
	c.Media = []store.Medium{m}
	return err
}

// failureCodes are the subcodes of a failed container.
var failureCodes = map[string]string{graph.VideoUnfetched: "2207052", graph.VideoUnread: "2207026"}

func (n *Network) fillVideo(r *http.Request, c *graph.Container) error {
	address := r.Form.Get("video_url")
	if address == "" {
		return graph.InvalidParameter("The parameter video_url is required")
	}
	m, failure, err := n.FetchVideo(r.Context(), c.Account, address, maxVideo)
	c.Media, c.Failure = []store.Medium{m}, failureCodes[failure]
	return err
}
