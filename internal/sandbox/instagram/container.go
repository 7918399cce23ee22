package instagram

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"unicode/utf16"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxCaption      = 2200 // UTF-16 code units
	maxHashtags     = 30
	lowHashtagLimit = 5 // limit for some accounts
	maxItems        = 10
	maxVideo        = 300_000_000 // bytes
	maxStory        = 100_000_000 // bytes, for the video of a story
)

// imageLimits allows ratios from 4:5 to 1.91:1, with a tolerance because sizes are whole numbers of pixels.
var imageLimits = graph.ImageLimits{Types: []string{"image/jpeg"}, MaxSize: 8 << 20, MinRatio: 0.79, MaxRatio: 1.92}

// storyLimits allows every ratio.
var storyLimits = graph.ImageLimits{Types: imageLimits.Types, MaxSize: imageLimits.MaxSize, MaxRatio: math.MaxFloat64}

var hashtagPattern = regexp.MustCompile(`#[\pL\pN_]+`)

// hashtagLimit returns the maximum number of hashtags in a caption. Instagram reportedly has a lower limit for some
// accounts.
func hashtagLimit(account string) int {
	if account == AccountID("studio.north") {
		return lowHashtagLimit
	}
	return maxHashtags
}

func (n *Network) createContainer(r *http.Request) (any, error) {
	return n.CreateContainer(r, func(c *graph.Container) error {
		c.MediaType = r.Form.Get("media_type")
		if !c.IsItem && c.MediaType != graph.MediaTypeStories { // a story has no caption
			c.Text = r.Form.Get("caption")
		}
		if len(utf16.Encode([]rune(c.Text))) > maxCaption {
			return graph.ErrTextLength
		}
		if limit := hashtagLimit(c.Account); len(hashtagPattern.FindAllString(c.Text, -1)) > limit {
			return &graph.Error{
				Status: http.StatusBadRequest, Code: 36004, Subcode: 2207010,
				Message: fmt.Sprintf("The caption has too many hashtags. It may have up to %d hashtags", limit),
			}
		}
		if err := n.fill(r, c); err != nil {
			return err
		}
		c.Options = keepOptions(r)
		return n.checkOptions(r, c)
	})
}

// fill sets the content of the container. A single video is a reel, but a video in a carousel is not.
func (n *Network) fill(r *http.Request, c *graph.Container) error {
	switch {
	case c.MediaType == "" || c.MediaType == "IMAGE":
		c.MediaType = "IMAGE"
		return n.fillImage(r, c, imageLimits)
	case c.MediaType == "REELS" && !c.IsItem, c.MediaType == "VIDEO" && c.IsItem:
		return n.fillVideo(r, c, maxVideo)
	case c.MediaType == graph.MediaTypeStories && !c.IsItem && r.Form.Get("image_url") != "":
		return n.fillImage(r, c, storyLimits)
	case c.MediaType == graph.MediaTypeStories && !c.IsItem:
		return n.fillVideo(r, c, maxStory)
	case c.MediaType == "CAROUSEL" && !c.IsItem:
		return n.FillCarousel(r, c, maxItems)
	}
	return graph.InvalidParameter("media_type must be REELS for a video, CAROUSEL for several media, or VIDEO in " +
		"a carousel")
}

func (n *Network) fillImage(r *http.Request, c *graph.Container, limits graph.ImageLimits) error {
	imageURL := r.Form.Get("image_url")
	if imageURL == "" {
		return graph.InvalidParameter("The parameter image_url is required")
	}
	m, err := n.FetchImage(r.Context(), c.Account, imageURL, limits)
	m.Alt = r.Form.Get("alt_text")
	c.Media = []store.Medium{m}
	return err
}

// failureCodes maps the reasons why the processing of a video fails to error subcodes.
var failureCodes = map[string]string{graph.VideoFetchFailed: "2207052", graph.VideoUnreadable: "2207026"}

func (n *Network) fillVideo(r *http.Request, c *graph.Container, maxSize int64) error {
	videoURL := r.Form.Get("video_url")
	if videoURL == "" {
		return graph.InvalidParameter("The parameter video_url is required")
	}
	m, failure, err := n.FetchVideo(r.Context(), c.Account, videoURL, maxSize)
	c.Media, c.Failure = []store.Medium{m}, failureCodes[failure]
	return err
}
