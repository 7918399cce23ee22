package graph

import (
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // for DecodeConfig
	_ "image/png"  // for DecodeConfig
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

const containerLifetime = 24 * time.Hour

// ImageLimits are a network's limits on images.
type ImageLimits struct {
	Types              []string // MIME types
	MaxSize            int64    // bytes
	MinRatio, MaxRatio float64  // width divided by height
}

// The errors for media that a container cannot use.
var (
	errFetchFailed = &Error{
		Status: http.StatusBadRequest, Code: 9004, Subcode: 2207052,
		Message: "The media could not be fetched from this URI",
	}
	ErrImageType = &Error{
		Status: http.StatusBadRequest, Code: 36001, Subcode: 2207005, Message: "The image format is not supported",
	}
	ErrImageSize = &Error{
		Status: http.StatusBadRequest, Code: 36000, Subcode: 2207004, Message: "The image is too large",
	}
	errAspectRatio = &Error{
		Status: http.StatusBadRequest, Code: 36003, Subcode: 2207009, Message: "The aspect ratio is not supported",
	}
	ErrTextLength = &Error{
		Status: http.StatusBadRequest, Code: 36004, Subcode: 2207010, Message: "The text is too long",
	}
	errNotReady = &Error{
		Status: http.StatusBadRequest, Code: 9007, Subcode: 2207027, Message: "The media is not ready to be published",
	}
)

// FetchImage fetches an image and checks it against the limits.
func (api *API) FetchImage(ctx context.Context, account, address string, limits ImageLimits) (store.Medium, error) {
	blob, fetched, err := api.Fetch(ctx, api.client, address, limits.MaxSize)
	switch {
	case err != nil:
		return store.Medium{}, err
	case !fetched:
		return store.Medium{}, errFetchFailed
	case blob.Size > limits.MaxSize:
		return store.Medium{}, ErrImageSize
	case !slices.Contains(limits.Types, blob.MIME):
		return store.Medium{}, ErrImageType
	}
	file, err := os.Open(api.Store.FilePath(blob.CID))
	if err != nil {
		return store.Medium{}, fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	config, _, err := image.DecodeConfig(file)
	if err != nil {
		return store.Medium{}, ErrImageType
	}
	if ratio := float64(config.Width) / float64(config.Height); ratio < limits.MinRatio || ratio > limits.MaxRatio {
		return store.Medium{}, errAspectRatio
	}
	return api.SaveMedium(ctx, api.Platform, account, blob)
}

// The reasons why the processing of a video fails.
const (
	VideoFetchFailed = "FAILED_DOWNLOADING_VIDEO"
	VideoUnreadable  = "FAILED_PROCESSING_VIDEO"
)

// FetchVideo fetches a video. If the video is not suitable, FetchVideo returns the reason, for the container's status.
func (api *API) FetchVideo(ctx context.Context, account, address string, maxSize int64) (store.Medium, string, error) {
	blob, fetched, err := api.Fetch(ctx, api.client, address, maxSize)
	switch {
	case err != nil:
		return store.Medium{}, "", err
	case !fetched:
		return store.Medium{}, VideoFetchFailed, nil
	case blob.Size > maxSize, blob.MIME != "video/mp4" && blob.MIME != "video/quicktime":
		return store.Medium{}, VideoUnreadable, nil
	}
	m, err := api.SaveMedium(ctx, api.Platform, account, blob)
	return m, "", err
}

// CreateContainer stores a container of the caller. fill sets the content of the container.
func (api *API) CreateContainer(r *http.Request, fill func(*Container) error) (any, error) {
	c := Container{IsItem: r.Form.Get("is_carousel_item") == "true"}
	err := api.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		c.Account = a.ID
		return api.RequireScope(r.Context(), t, token, api.PublishScopes...)
	})
	if err == nil {
		err = fill(&c)
	}
	if err != nil {
		return nil, err
	}
	err = api.Store.InTx(r.Context(), func(t store.Tx) error {
		c.CreatedAt = api.Now()
		return InsertContainer(r.Context(), t, api.Platform, &c)
	})
	return map[string]string{"id": c.ID()}, err
}

// FillCarousel sets the media of a carousel. The request parameter children lists the containers with the media.
func (api *API) FillCarousel(r *http.Request, c *Container, maxParts int) error {
	children := strings.Split(r.Form.Get("children"), ",")
	if len(children) < 2 || len(children) > maxParts {
		return &Error{
			Status: http.StatusBadRequest, Code: 100, Subcode: 2207028,
			Message: fmt.Sprintf("A carousel has 2 to %d parts", maxParts),
		}
	}
	return api.Store.InTx(r.Context(), func(t store.Tx) error {
		for _, id := range children {
			child, found, err := FindContainer(r.Context(), t, api.Platform, id)
			switch {
			case err != nil:
				return err
			case !found || child.Account != c.Account || !child.IsItem:
				return ErrNoObject
			case child.Status(api.Now(), api.ProcessingTime) != "FINISHED":
				return errNotReady
			}
			c.Media = append(c.Media, child.Media...)
		}
		return nil
	})
}
