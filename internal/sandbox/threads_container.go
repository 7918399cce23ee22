package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

const (
	maxThreadsText  = 500
	maxThreadsLinks = 5
	maxThreadsItems = 20
	maxThreadsVideo = 1 << 30 // bytes
)

var threadsImages = graphImages{types: []string{"image/jpeg", "image/png"}, most: 8 << 20, tallest: 0.1, widest: 10}

func (n *threads) createContainer(r *http.Request) (any, error) {
	return n.makeContainer(r, func(c *container) error {
		c.form, c.text = r.Form.Get("media_type"), r.Form.Get("text")
		if err := checkThreadsText(c.text); err != nil {
			return err
		}
		return n.fill(r, c)
	})
}

// checkThreadsText counts more leniently than the network: an emoji beyond the basic plane as four characters.
func checkThreadsText(text string) error {
	count := 0
	for _, r := range text {
		count++
		if r >= 0x1F000 {
			count += 3
		}
	}
	if count > maxThreadsText {
		return errTextLength
	}
	links := linkPattern.FindAllString(text, -1)
	slices.Sort(links)
	if len(slices.Compact(links)) > maxThreadsLinks {
		return invalidParameter("THREADS_API__LINK_LIMIT_EXCEEDED")
	}
	return nil
}

// fill sets the content of the container.
func (n *threads) fill(r *http.Request, c *container) error {
	alt := r.Form.Get("alt_text")
	switch c.form {
	case "TEXT":
		if strings.TrimSpace(c.text) == "" || c.item {
			return invalidParameter("A text post needs a text, and is no part of a carousel")
		}
		return nil
	case "IMAGE":
		m, err := n.getImage(r.Context(), c.account, r.Form.Get("image_url"), threadsImages)
		m.Alt = alt
		c.media = []medium{m}
		return err
	case "VIDEO":
		m, failure, err := n.getVideo(r.Context(), c.account, r.Form.Get("video_url"), maxThreadsVideo)
		m.Alt = alt
		c.media, c.failure = []medium{m}, failure
		return err
	case "CAROUSEL":
		return n.gather(r, c, maxThreadsItems)
	}
	return invalidParameter("media_type has to be one of TEXT, IMAGE, VIDEO, CAROUSEL")
}
