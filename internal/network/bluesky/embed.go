package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const maxVideoAlt = 1000 // characters, from the lexicon app.bsky.embed.video; images have no limit

// imagesEmbed shows images (lexicon app.bsky.embed.images).
type imagesEmbed struct {
	Type   string          `json:"$type"`
	Images []embeddedImage `json:"images"`
}

type embeddedImage struct {
	Image json.RawMessage `json:"image"`
	Alt   string          `json:"alt"` // required, even if empty
	Ratio *aspectRatio    `json:"aspectRatio,omitempty"`
}

// videoEmbed shows a video (lexicon app.bsky.embed.video).
type videoEmbed struct {
	Type  string          `json:"$type"`
	Video json.RawMessage `json:"video"`
	Alt   string          `json:"alt,omitempty"`
	Ratio *aspectRatio    `json:"aspectRatio,omitempty"`
}

type aspectRatio struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// embedMedia uploads a draft's media, at least one item, and returns the record's embed. If the returned duration is
// above 0, a video is still being processed. Call embedMedia again after that time.
func (n *Network) embedMedia(ctx context.Context, g network.Grant, d *draft, files network.Files) (any, time.Duration, error) {
	// check before anything is uploaded
	if err := network.BlockingError(n.Check(network.Content{Media: d.Media})); err != nil {
		return nil, 0, err
	}
	if d.Media[0].Kind == network.Video {
		return n.embedVideo(ctx, g, d, files)
	}
	images := imagesEmbed{Type: "app.bsky.embed.images"}
	for _, m := range d.Media {
		blob, ratio, err := n.upload(ctx, g, m, files)
		if err != nil {
			return nil, 0, err
		}
		images.Images = append(images.Images, embeddedImage{Image: blob, Alt: m.Alt, Ratio: ratio})
	}
	return images, 0, nil
}

// embedVideo uploads the video to the video service, or to the account's server if the service does not support the
// account.
func (n *Network) embedVideo(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (any, time.Duration, error) {
	m := d.Media[0]
	embed := videoEmbed{Type: "app.bsky.embed.video", Alt: network.Clip(m.Alt, maxVideoAlt),
		Ratio: newAspectRatio(network.File{}, m)}
	if d.Job == "" && !d.Direct {
		err := errNoVideoService
		if n.usesVideoService(g) {
			err = n.checkVideoLimits(ctx, g, m.Size)
		}
		if d.Direct = errors.Is(err, errNoVideoService); err != nil && !d.Direct {
			return nil, 0, err
		}
	}
	var wait time.Duration
	var err error
	if d.Direct {
		embed.Video, embed.Ratio, err = n.upload(ctx, g, m, files)
	} else {
		embed.Video, wait, err = n.videoBlob(ctx, g, d, files)
	}
	return embed, wait, err
}

// upload sends the bytes of an image or video. It returns the server's blob object and the aspect ratio, which is nil
// if unknown.
func (n *Network) upload(
	ctx context.Context, g network.Grant, m network.Media, files network.Files,
) (json.RawMessage, *aspectRatio, error) {
	file, err := files.Open(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind))
	if err != nil {
		return nil, nil, network.FileError(err)
	}
	var response struct {
		Blob json.RawMessage `json:"blob"`
	}
	err = n.call(ctx, call{
		purpose: network.PurposeTransfer,
		verb:    http.MethodPost,
		method:  uploadBlobMethod,
		server:  g.Server,
		token:   g.AccessToken,
		file:    &file,
		out:     &response,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := checkBlob(response.Blob, file.Size); err != nil {
		return nil, nil, network.InvalidResponse(err)
	}
	return response.Blob, newAspectRatio(file, m), nil
}

// anySize disables the check of a blob's size, for a blob that is not the uploaded file.
const anySize = -1

// checkBlob returns an error if the response is not a usable blob reference, or if its size differs from size.
func checkBlob(blob json.RawMessage, size int64) error {
	var ref struct {
		Type string `json:"$type"`
		Ref  struct {
			Link string `json:"$link"`
		} `json:"ref"`
		Size int64 `json:"size"`
	}
	if err := json.Unmarshal(blob, &ref); err != nil || ref.Type != "blob" || ref.Ref.Link == "" {
		return errors.New("uploading a blob: the response has no blob")
	}
	if ref.Size != size && size != anySize {
		return fmt.Errorf("uploading a blob: %d of %d bytes arrived", ref.Size, size)
	}
	return nil
}

func newAspectRatio(file network.File, m network.Media) *aspectRatio {
	ratio := aspectRatio{file.Width, file.Height}
	if ratio.Width <= 0 || ratio.Height <= 0 {
		ratio = aspectRatio{m.Width, m.Height}
	}
	if ratio.Width <= 0 || ratio.Height <= 0 {
		return nil
	}
	return &ratio
}
