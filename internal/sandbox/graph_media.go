package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"image"
	_ "image/png" // beside JPEG, which is registered already
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	containerLife = 24 * time.Hour
	fetchTimeout  = time.Minute
)

// graphImages are the images that a network takes.
type graphImages struct {
	types           []string // MIME
	most            int64    // bytes
	tallest, widest float64  // width by height
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

// getImage fetches an image; what is wrong with it is told at once.
func (n *graphAPI) getImage(ctx context.Context, account, address string, taken graphImages) (medium, error) {
	blob, fetched, err := n.get(ctx, address, taken.most)
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
	return n.keep(ctx, account, blob)
}

// The ways in which a video fails.
const (
	videoUnfetched = "FAILED_DOWNLOADING_VIDEO"
	videoUnread    = "FAILED_PROCESSING_VIDEO"
)

// getVideo fetches a video; what is wrong with it is told by the container.
func (n *graphAPI) getVideo(ctx context.Context, account, address string, most int64) (medium, string, error) {
	blob, fetched, err := n.get(ctx, address, most)
	switch {
	case err != nil:
		return medium{}, "", err
	case !fetched:
		return medium{}, videoUnfetched, nil
	case blob.size > most, blob.mime != "video/mp4" && blob.mime != "video/quicktime":
		return medium{}, videoUnread, nil
	}
	shown, err := n.keep(ctx, account, blob)
	return shown, "", err
}

func (n *graphAPI) keep(ctx context.Context, account string, blob blobRef) (medium, error) {
	err := n.store.in(ctx, func(t tx) error { return t.keepBlob(ctx, n.platform, account, blob) })
	return medium{Path: n.platform + "/media/" + account + "/" + blob.cid, Type: blob.mime}, err
}

// get fetches a file, from anywhere, as this is a sandbox. It is false where there is none; one that is larger than
// most ends there.
func (n *graphAPI) get(ctx context.Context, address string, most int64) (blobRef, bool, error) {
	response, ok := n.open(ctx, address)
	if !ok {
		return blobRef{}, false, nil
	}
	defer response.Close()
	body := bufio.NewReader(io.LimitReader(response, most+1))
	head, _ := body.Peek(sniffed) // what keeps it from being read is met again
	kind := mediaType(head, "")
	blob, err := n.store.keepFile(body)
	blob.mime = kind
	return blob, err == nil, err
}

func (n *graphAPI) open(ctx context.Context, address string) (io.ReadCloser, bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil) //nolint:gosec // the networks fetch what they are told to
	if err != nil {
		return nil, false
	}
	response, err := n.fetch.Do(request) //nolint:gosec // as above
	if err != nil {
		return nil, false
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, false
	}
	return response.Body, true
}

// mediaFile gives out a file that a post shows.
func (n *graphAPI) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), n.platform, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = errNoObject
		}
		return err
	})
	return n.blobAnswer(blob), err
}

// makeContainer keeps a container of the caller once fill has got what it shows.
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
		return t.keepContainer(r.Context(), n.platform, &c)
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
			child, found, err := t.container(r.Context(), n.platform, id)
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
