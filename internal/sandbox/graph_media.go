package sandbox

import (
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

const containerLife = 24 * time.Hour

// graphImages are a network's limits on images.
type graphImages struct {
	types           []string // MIME
	most            int64    // bytes
	tallest, widest float64  // width divided by height
}

var (
	errUnfetched = &graphError{
		status: http.StatusBadRequest, code: 9004, subcode: 2207052,
		message: "The media could not be fetched from this URI",
	}
	errImageType = &graphError{
		status: http.StatusBadRequest, code: 36001, subcode: 2207005, message: "The image format is not supported",
	}
	errImageSize = &graphError{
		status: http.StatusBadRequest, code: 36000, subcode: 2207004, message: "The image is too large",
	}
	errImageShape = &graphError{
		status: http.StatusBadRequest, code: 36003, subcode: 2207009, message: "The aspect ratio is not supported",
	}
	errTextLength = &graphError{
		status: http.StatusBadRequest, code: 36004, subcode: 2207010, message: "The text is too long",
	}
	errNotReady = &graphError{
		status: http.StatusBadRequest, code: 9007, subcode: 2207027, message: "The media is not ready to be published",
	}
)

// getImage fetches an image, and refuses an unsuitable one.
func (n *graphAPI) getImage(ctx context.Context, account, address string, taken graphImages) (medium, error) {
	blob, fetched, err := n.shared.fetch(ctx, n.client, address, taken.most)
	switch {
	case err != nil:
		return medium{}, err
	case !fetched:
		return medium{}, errUnfetched
	case blob.size > taken.most:
		return medium{}, errImageSize
	case !slices.Contains(taken.types, blob.mime):
		return medium{}, errImageType
	}
	file, err := os.Open(n.store.filePath(blob.cid))
	if err != nil {
		return medium{}, fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	config, _, err := image.DecodeConfig(file)
	if err != nil {
		return medium{}, errImageType
	}
	if shape := float64(config.Width) / float64(config.Height); shape < taken.tallest || shape > taken.widest {
		return medium{}, errImageShape
	}
	return n.saveMedium(ctx, n.platform, account, blob)
}

// The ways in which a video can fail.
const (
	videoUnfetched = "FAILED_DOWNLOADING_VIDEO"
	videoUnread    = "FAILED_PROCESSING_VIDEO"
)

// getVideo fetches a video. It returns how an unsuitable one fails, which the container shows.
func (n *graphAPI) getVideo(ctx context.Context, account, address string, most int64) (medium, string, error) {
	blob, fetched, err := n.shared.fetch(ctx, n.client, address, most)
	switch {
	case err != nil:
		return medium{}, "", err
	case !fetched:
		return medium{}, videoUnfetched, nil
	case blob.size > most, blob.mime != "video/mp4" && blob.mime != "video/quicktime":
		return medium{}, videoUnread, nil
	}
	m, err := n.saveMedium(ctx, n.platform, account, blob)
	return m, "", err
}

// makeContainer stores a container of the caller after fill has set its content.
func (n *graphAPI) makeContainer(r *http.Request, fill func(*container) error) (any, error) {
	c := container{item: r.Form.Get("is_carousel_item") == "true"}
	err := n.caller(r, func(_ tx, a account, _ oauthToken) error {
		c.account = a.id
		return nil
	})
	if err == nil {
		err = fill(&c)
	}
	if err != nil {
		return nil, err
	}
	err = n.store.in(r.Context(), func(t tx) error {
		c.made = n.now()
		return insertContainer(r.Context(), t, n.platform, &c)
	})
	return map[string]string{"id": c.id()}, err
}

// gather makes a carousel of containers.
func (n *graphAPI) gather(r *http.Request, c *container, most int) error {
	children := strings.Split(r.Form.Get("children"), ",")
	if len(children) < 2 || len(children) > most {
		return &graphError{
			status: http.StatusBadRequest, code: 100, subcode: 2207028,
			message: fmt.Sprintf("A carousel has 2 to %d parts", most),
		}
	}
	return n.store.in(r.Context(), func(t tx) error {
		for _, id := range children {
			child, found, err := findContainer(r.Context(), t, n.platform, id)
			switch {
			case err != nil:
				return err
			case !found || child.account != c.account || !child.item:
				return errNoObject
			case child.status(n.now(), n.ready) != "FINISHED":
				return errNotReady
			}
			c.media = append(c.media, child.media...)
		}
		return nil
	})
}
