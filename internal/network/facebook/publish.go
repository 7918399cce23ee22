package facebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const nextAsked = 5 * time.Second // when a network that has not decided is asked again

// Commit shows the post. A video that the network still works on is Processing.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	p, err := drafts.Read(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if p.isVideo() {
		return n.finish(ctx, g, p)
	}
	params, err := p.params()
	if err != nil {
		return network.Receipt{}, network.Unusable(err)
	}
	var answer graph.Created
	c := n.on(g, http.MethodPost, g.Account+"/feed", params, &answer)
	c.Purpose = network.Committing
	if err := n.graph.Do(ctx, c); err != nil {
		return network.Receipt{}, err
	}
	if !graph.IsID(answer.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK, Err: errors.New("publishing: the answer has no id"),
		}
	}
	return network.Receipt{ID: answer.ID}, nil
}

// params are those of a post of text or photos.
func (d draft) params() (url.Values, error) {
	params := url.Values{}
	if d.Text != "" {
		params.Set("message", d.Text)
	}
	if d.Link != "" {
		params.Set("link", d.Link)
	}
	if len(d.Photos) == 0 {
		return params, nil
	}
	attached := make([]map[string]string, len(d.Photos))
	for i, id := range d.Photos {
		attached[i] = map[string]string{"media_fbid": id}
	}
	written, err := json.Marshal(attached)
	if err != nil {
		return nil, fmt.Errorf("naming the photos: %w", err)
	}
	params.Set("attached_media", string(written))
	return params, nil
}

// finish ends the upload, which shows the video. A refusal is believed only where the upload has not been ended: also
// the second of two calls is refused.
func (n *Network) finish(ctx context.Context, g network.Grant, p draft) (network.Receipt, error) {
	params := url.Values{"upload_phase": {"finish"}, "upload_session_id": {p.Session}}
	if p.Text != "" {
		params.Set("description", p.Text)
	}
	var answer struct {
		Success bool `json:"success"`
	}
	c := n.video(g, params, &answer)
	c.Purpose = network.Committing
	if err := n.graph.Do(ctx, c); err != nil {
		return network.Receipt{}, n.believed(ctx, g, p, err)
	}
	if !answer.Success {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK,
			Err: errors.New("ending an upload: the answer does not say that it succeeded"),
		}
	}
	if now, err := n.state(ctx, g, p.Video); err == nil && now.stands() {
		return n.shown(p, now), nil
	}
	return network.Receipt{}, n.undecided(processing)
}

func (n *Network) believed(ctx context.Context, g network.Grant, p draft, err error) error {
	refusal, ok := errors.AsType[*network.Error](err)
	if !ok || refusal.Status == 0 ||
		!slices.Contains([]network.Class{network.Rejected, network.RejectedMedia, network.Duplicate}, refusal.Class) {
		return err
	}
	now, err := n.state(ctx, g, p.Video)
	if err == nil && (now.Status.Video == uploading || now.Status.Video == uploaded) {
		return refusal
	}
	doubted := *refusal
	doubted.Class = network.Uncertain
	return &doubted
}

// undecided is that the network is to be asked again.
func (n *Network) undecided(code string) *network.Error {
	return &network.Error{
		Class: network.Processing, Status: http.StatusOK, Code: code, After: n.opts.Now().Add(nextAsked).UTC(),
	}
}

// shown is the receipt of a video that stands. When it was shown is not told: it counts as made when its upload began.
func (n *Network) shown(p draft, now state) network.Receipt {
	return network.Receipt{ID: p.Video, Permalink: n.address(now.Permalink)}
}

// address makes a permalink whole: videos have one without a host.
func (n *Network) address(permalink string) string {
	if strings.HasPrefix(permalink, "/") {
		permalink = n.opts.AuthorizeHost + permalink
	}
	return network.WebAddress(permalink)
}

// Permalink asks for the address of a post or a video.
func (n *Network) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !graph.IsID(r.ID) {
		return "", network.Unusable(errors.New("the post's id is not one of Facebook"))
	}
	var answer struct {
		Permalink string `json:"permalink_url"`
	}
	if err := n.graph.Do(ctx,
		n.on(g, http.MethodGet, r.ID, url.Values{"fields": {"id,permalink_url"}}, &answer)); err != nil {
		return "", err
	}
	return n.address(answer.Permalink), nil
}
