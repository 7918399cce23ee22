package threads

import (
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxText  = 500
	maxLinks = 5
	maxItems = 20
	maxVideo = 1 << 30 // bytes
)

var imageLimits = graph.ImageLimits{
	Types: []string{"image/jpeg", "image/png"}, MaxSize: 8 << 20, MinRatio: 0.1, MaxRatio: 10,
}

func (n *Network) createContainer(r *http.Request) (any, error) {
	return n.CreateContainer(r, func(c *graph.Container) error {
		c.MediaType, c.Text = r.Form.Get("media_type"), r.Form.Get("text")
		if err := checkText(c.Text); err != nil {
			return err
		}
		if err := n.checkReply(r, c); err != nil {
			return err
		}
		if err := n.addOptions(r, c); err != nil {
			return err
		}
		return n.fill(r, c)
	})
}

// checkReply sets the post to which a container replies. The post must belong to the account, because replies to other
// people's posts require additional permissions.
func (n *Network) checkReply(r *http.Request, c *graph.Container) error {
	id := r.Form.Get("reply_to_id")
	if id == "" {
		return nil
	}
	return n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		p, found, err := t.Post(r.Context(), Name, id)
		if err == nil && (!found || p.Account != a.ID || c.IsItem) {
			err = graph.ErrNoObject
		}
		c.ReplyTo = id
		return err
	})
}

// checkText checks the length and the links of a text. It counts every character from U+1F000 on, such as an emoji, as
// four characters, and every other character as one. The real Threads counts some other characters as more than one.
func checkText(text string) error {
	count := 0
	for _, r := range text {
		count++
		if r >= 0x1F000 {
			count += 3
		}
	}
	if count > maxText {
		return graph.ErrTextLength
	}
	links := base.LinkPattern.FindAllString(text, -1)
	slices.Sort(links)
	if len(slices.Compact(links)) > maxLinks {
		return graph.InvalidParameter("THREADS_API__LINK_LIMIT_EXCEEDED")
	}
	return nil
}

// fill sets the content of the container.
func (n *Network) fill(r *http.Request, c *graph.Container) error {
	alt := r.Form.Get("alt_text")
	switch c.MediaType {
	case "TEXT":
		if strings.TrimSpace(c.Text) == "" || c.IsItem {
			return graph.InvalidParameter("A text post must have a text, and cannot be part of a carousel")
		}
		return nil
	case "IMAGE":
		m, err := n.FetchImage(r.Context(), c.Account, r.Form.Get("image_url"), imageLimits)
		m.Alt = alt
		c.Media = []store.Medium{m}
		return err
	case "VIDEO":
		m, failure, err := n.FetchVideo(r.Context(), c.Account, r.Form.Get("video_url"), maxVideo)
		m.Alt = alt
		c.Media, c.Failure = []store.Medium{m}, failure
		return err
	case "CAROUSEL":
		return n.FillCarousel(r, c, maxItems)
	}
	return graph.InvalidParameter("media_type must be one of TEXT, IMAGE, VIDEO, CAROUSEL")
}
