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
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxThreadsText   = 500
	maxThreadsLinks  = 5
	maxThreadsItems  = 20
	maxThreadsImage  = 8 << 20 // bytes
	maxThreadsVideo  = 1 << 30 // bytes
	maxThreadsAspect = 10
	containerLife    = 24 * time.Hour
	fetchTimeout     = time.Minute
)

var linkForm = regexp.MustCompile(`https?://\S+`)

func (n *threads) createContainer(r *http.Request) (any, error) {
	var a account
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		if a, _, err = n.bearer(r, t); err != nil {
			return err
		}
		return itself(r, a)
	})
	if err != nil {
		return nil, err
	}
	c := container{account: a.id, form: r.Form.Get("media_type"), item: r.Form.Get("is_carousel_item") == "true", text: r.Form.Get("text")}
	if err := checkThreadsText(c.text); err != nil {
		return nil, err
	}
	if err := n.fill(r, &c); err != nil {
		return nil, err
	}
	err = n.store.in(r.Context(), func(t tx) error {
		c.made = n.now()
		return t.keepContainer(r.Context(), threadsName, &c)
	})
	return map[string]string{"id": c.id()}, err
}

// checkThreadsText counts more leniently than the network may: an emoji beyond the basic plane by its bytes, all else
// by character.
func checkThreadsText(text string) error {
	count := 0
	for _, r := range text {
		count++
		if r >= 0x1F000 {
			count += 3
		}
	}
	if count > maxThreadsText {
		return &graphError{status: http.StatusBadRequest, code: 36004, subcode: 2207010, message: "The text is too long"}
	}
	links := linkForm.FindAllString(text, -1)
	slices.Sort(links)
	if len(slices.Compact(links)) > maxThreadsLinks {
		return invalidParameter("THREADS_API__LINK_LIMIT_EXCEEDED")
	}
	return nil
}

// fill gets what the container shows.
func (n *threads) fill(r *http.Request, c *container) error {
	alt := r.Form.Get("alt_text")
	switch c.form {
	case "TEXT":
		if strings.TrimSpace(c.text) == "" || c.item {
			return invalidParameter("A text post needs a text, and is no part of a carousel")
		}
		return nil
	case "IMAGE":
		shown, err := n.getImage(r.Context(), c.account, r.Form.Get("image_url"))
		shown.Alt = alt
		c.media = []medium{shown}
		return err
	case "VIDEO":
		shown, failure, err := n.getVideo(r.Context(), c.account, r.Form.Get("video_url"))
		shown.Alt = alt
		c.media, c.failure = []medium{shown}, failure
		return err
	case "CAROUSEL":
		return n.store.in(r.Context(), func(t tx) error { return n.gather(r, t, c) })
	}
	return invalidParameter("media_type has to be one of TEXT, IMAGE, VIDEO, CAROUSEL")
}

// gather makes a carousel of containers.
func (n *threads) gather(r *http.Request, t tx, c *container) error {
	children := strings.Split(r.Form.Get("children"), ",")
	if len(children) < 2 || len(children) > maxThreadsItems {
		return &graphError{status: http.StatusBadRequest, code: 100, subcode: 2207028, message: "A carousel has 2 to 20 parts"}
	}
	for _, id := range children {
		child, found, err := t.container(r.Context(), threadsName, id)
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
}

var (
	errUnfetched  = &graphError{status: http.StatusBadRequest, code: 9004, subcode: 2207052, message: "The media could not be fetched from this URI"}
	errImageType  = &graphError{status: http.StatusBadRequest, code: 36001, subcode: 2207005, message: "The image format is not supported"}
	errImageSize  = &graphError{status: http.StatusBadRequest, code: 36000, subcode: 2207004, message: "The image is too large"}
	errImageShape = &graphError{status: http.StatusBadRequest, code: 36003, subcode: 2207009, message: "The aspect ratio is not supported"}
	errNotReady   = &graphError{status: http.StatusBadRequest, code: 9007, subcode: 2207027, message: "The media is not ready to be published"}
)

// getImage fetches an image; what is wrong with it is told at once.
func (n *threads) getImage(ctx context.Context, account, address string) (medium, error) {
	blob, fetched, err := n.get(ctx, address, maxThreadsImage)
	switch {
	case err != nil:
		return medium{}, err
	case !fetched:
		return medium{}, errUnfetched
	case blob.size > maxThreadsImage:
		return medium{}, errImageSize
	case blob.mime != "image/jpeg" && blob.mime != "image/png":
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
	if max(config.Width, config.Height) > maxThreadsAspect*min(config.Width, config.Height) {
		return medium{}, errImageShape
	}
	return n.keep(ctx, account, blob)
}

// getVideo fetches a video; what is wrong with it is told by the container.
func (n *threads) getVideo(ctx context.Context, account, address string) (medium, string, error) {
	blob, fetched, err := n.get(ctx, address, maxThreadsVideo)
	switch {
	case err != nil:
		return medium{}, "", err
	case !fetched:
		return medium{}, "FAILED_DOWNLOADING_VIDEO", nil
	case blob.size > maxThreadsVideo, blob.mime != "video/mp4" && blob.mime != "video/quicktime":
		return medium{}, "FAILED_PROCESSING_VIDEO", nil
	}
	shown, err := n.keep(ctx, account, blob)
	return shown, "", err
}

func (n *threads) keep(ctx context.Context, account string, blob blobRef) (medium, error) {
	err := n.store.in(ctx, func(t tx) error { return t.keepBlob(ctx, threadsName, account, blob) })
	return medium{Path: threadsName + "/media/" + account + "/" + blob.cid, Type: blob.mime}, err
}

// get fetches a file, from anywhere, as this is a sandbox. It is false where there is none; one that is larger than most
// ends there.
func (n *threads) get(ctx context.Context, address string, most int64) (blobRef, bool, error) {
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

func (n *threads) open(ctx context.Context, address string) (io.ReadCloser, bool) {
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
func (n *threads) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), threadsName, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = errNoObject
		}
		return err
	})
	return n.blobAnswer(blob), err
}
