package pinterest

import (
	"context"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/network"
)

// Commit creates the pin. It creates URLs from which Pinterest fetches the images during the call.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	board, err := boardID(g)
	if err != nil {
		return network.Receipt{}, err
	}
	source, links, err := n.mediaSource(ctx, prepared, files)
	if err != nil {
		return network.Receipt{}, err
	}
	var response struct {
		ID string `json:"id"`
	}
	c := n.newCall(g, http.MethodPost, "pins")
	c.Purpose, c.JSON, c.Secrets = network.PurposeCommit, prepared.pin(board, source), links
	if err := n.do(ctx, c, &response); err != nil {
		return network.Receipt{}, err
	}
	if !isID(response.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: errors.New("creating a pin: the response has no id"),
		}
	}
	return n.receipt(response.ID), nil
}

// mediaSource returns the pin's media_source and the URLs in it, which are secret.
func (n *Network) mediaSource(ctx context.Context, d draft, files network.Files) (map[string]any, []string, error) {
	if d.isVideo() {
		return map[string]any{
			"source_type": "video_id", "media_id": d.Video,
			"cover_image_key_frame_time": int64(d.Media[0].Cover.Seconds()),
		}, nil, nil
	}
	var links []string
	items := []map[string]string{}
	for _, m := range d.Media {
		address, err := files.Link(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind), n.opts.Now().Add(n.opts.MediaFetchWindow()))
		if err != nil {
			return nil, nil, network.FileError(err)
		}
		links = append(links, address)
		items = append(items, map[string]string{"url": address})
	}
	if len(links) == 1 {
		return map[string]any{"source_type": "image_url", "url": links[0]}, links, nil
	}
	return map[string]any{"source_type": "multiple_image_urls", "items": items}, links, nil
}

func (n *Network) receipt(id string) network.Receipt {
	return network.Receipt{ID: id, Permalink: n.opts.WebURL + "/pin/" + id + "/"}
}

// Permalink returns the URL of the pin. It makes no request.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !isID(r.ID) {
		return "", network.PermanentError(errors.New("the pin's ID is not a Pinterest ID"))
	}
	return n.receipt(r.ID).Permalink, nil
}
