package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	photoLinkLifetime = time.Hour // how long Facebook can fetch a photo
	maxAlt            = 1000      // characters; the network's limit is unknown
)

// Prepare uploads the media unpublished. If the draft is lost, the uploaded media is never published. If the draft is
// already prepared, Prepare verifies that the uploaded video still exists. If it does not, Prepare uploads the video
// again.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	if network.IsFirstComment(d) {
		return network.PrepareFirstComment(d, n.opts.Now())
	}
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return 0, n.advance(ctx, g, p, files) })
}

func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) error {
	if d.isReady() {
		return n.verifyVideo(ctx, g, d, files)
	}
	if err := network.BlockingError(n.Check(d.content())); err != nil {
		return err
	}
	var err error
	if d.isVideo() {
		err = n.upload(ctx, g, d, files)
	} else {
		d.Photos, err = n.uploadPhotos(ctx, g, d.Media, files)
	}
	d.PreparedAt = n.opts.Now().UTC()
	return err
}

// uploadPhotos uploads the images and returns the IDs of the unpublished photos.
func (n *Network) uploadPhotos(
	ctx context.Context, g network.Grant, media []network.Media, files network.Files,
) ([]string, error) {
	var ids []string
	for _, m := range media {
		id, err := n.uploadPhoto(ctx, g, m, files)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (n *Network) uploadPhoto(ctx context.Context, g network.Grant, m network.Media, files network.Files) (string, error) {
	address, err := files.Link(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind), n.opts.Now().Add(photoLinkLifetime))
	if err != nil {
		return "", network.FileError(err)
	}
	params := url.Values{"url": {address}, "published": {"false"}}
	if m.Alt != "" {
		params.Set("alt_text_custom", network.Clip(m.Alt, maxAlt))
	}
	var response graph.CreatedObject
	c := n.newCall(g, http.MethodPost, g.Account+"/photos", params, &response)
	c.Purpose, c.Secrets = network.PurposeTransfer, []string{address} // The link grants access to the file.
	if err := n.graph.Do(ctx, c); err != nil {
		return "", err
	}
	if !graph.IsID(response.ID) {
		return "", network.InvalidResponse(errors.New("creating a photo: the response has no id"))
	}
	return response.ID, nil
}
