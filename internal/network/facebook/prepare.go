package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	linkLife = time.Hour // as long as the network may take to fetch a photo
	maxAlt   = 1000      // characters; the network's own bound is not known
)

// Prepare uploads the media, of which nobody sees anything. What an earlier call uploaded and lost is never shown.
// Asked about a Draft that is ready, it makes sure that a video still is, and uploads it anew where the network has
// let go of it.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return 0, n.complete(ctx, g, p, files) })
}

func (n *Network) complete(ctx context.Context, g network.Grant, p *draft, files network.Files) error {
	if p.ready() {
		return n.keepVideo(ctx, g, p, files)
	}
	if err := network.Blocked(n.Check(network.Content{Text: p.Text, Media: p.Media})); err != nil {
		return err
	}
	var err error
	if p.isVideo() {
		err = n.upload(ctx, g, p, files)
	} else {
		p.Photos, err = n.photos(ctx, g, p.Media, files)
	}
	p.Made = n.opts.Now().UTC()
	return err
}

// photos creates the photos: their ids.
func (n *Network) photos(
	ctx context.Context, g network.Grant, media []network.Media, files network.Files,
) ([]string, error) {
	var made []string
	for _, m := range media {
		id, err := n.photo(ctx, g, m, files)
		if err != nil {
			return nil, err
		}
		made = append(made, id)
	}
	return made, nil
}

func (n *Network) photo(ctx context.Context, g network.Grant, m network.Media, files network.Files) (string, error) {
	address, err := files.Link(ctx, m.ID, n.opts.Rules.Fit(m.Kind), n.opts.Now().Add(linkLife))
	if err != nil {
		return "", network.FileFailed(err)
	}
	params := url.Values{"url": {address}, "published": {"false"}}
	if m.Alt != "" {
		params.Set("alt_text_custom", network.Clip(m.Alt, maxAlt))
	}
	var answer graph.Created
	c := n.on(g, http.MethodPost, g.Account+"/photos", params, &answer)
	c.Purpose, c.Secrets = network.Fetching, []string{address} // the link lets the network in
	if err := n.graph.Do(ctx, c); err != nil {
		return "", err
	}
	if !graph.IsID(answer.ID) {
		return "", network.Unreadable(errors.New("creating a photo: the answer has no id"))
	}
	return answer.ID, nil
}
