package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	linkLife  = time.Hour // as long as a delivery waits for the network to be ready
	firstRest = 2 * time.Second
	lastRest  = time.Minute // how often the networks want to be asked at most
	maxBuilds = 3
)

// Prepare creates the containers and waits until the network has fetched and converted what they show. Containers that
// have expired, or that the network failed at, are created anew a few times. Asked about a Draft that is ready, it
// makes sure that it still is.
func (c *Containers) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return c.drafts().Prepare(d, func(p *post) (time.Duration, error) { return c.advance(ctx, g, p, files) })
}

// advance does the next steps up to one for which the network needs time: that time, or 0 when all are done.
func (c *Containers) advance(
	ctx context.Context, g network.Grant, p *post, files network.Files,
) (time.Duration, error) {
	if p.Container == "" {
		if err := network.Blocked(c.Check(network.Content{Text: p.Text, Media: p.Media})); err != nil {
			return 0, err
		}
	}
	if len(p.Media) > 1 && p.Container == "" {
		if wait, err := c.makeItems(ctx, g, p, files); wait > 0 || err != nil {
			return wait, err
		}
	}
	if p.Container == "" {
		params, err := c.shape(ctx, p, files)
		if err != nil {
			return 0, err
		}
		if p.Container, err = c.create(ctx, g, params); err != nil {
			return 0, err
		}
		p.Made = c.App.Now().UTC()
	}
	return c.ready(ctx, g, p, p.Container)
}

// makeItems creates what a carousel shows and waits for all of it.
func (c *Containers) makeItems(
	ctx context.Context, g network.Grant, p *post, files network.Files,
) (time.Duration, error) {
	if len(p.Items) == 0 {
		var items []string
		for _, m := range p.Media {
			params, err := c.show(ctx, m, files, true)
			if err != nil {
				return 0, err
			}
			params.Set("is_carousel_item", "true")
			id, err := c.create(ctx, g, params)
			if err != nil {
				return 0, err
			}
			items = append(items, id)
		}
		p.Items, p.Made = items, c.App.Now().UTC()
	}
	for _, id := range p.Items {
		if wait, err := c.ready(ctx, g, p, id); wait > 0 || err != nil {
			return wait, err
		}
	}
	return 0, nil
}

// shape is the container of the whole post.
func (c *Containers) shape(ctx context.Context, p *post, files network.Files) (url.Values, error) {
	var params url.Values
	switch {
	case len(p.Media) > 1:
		params = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(p.Items, ",")}}
	case len(p.Media) == 1:
		var err error
		if params, err = c.show(ctx, p.Media[0], files, false); err != nil {
			return nil, err
		}
	default:
		params = url.Values{"media_type": {"TEXT"}}
	}
	if p.Text != "" {
		params.Set(c.Words.Text, p.Text)
	}
	return params, nil
}

// show is the part of a container that is about one image or video.
func (c *Containers) show(ctx context.Context, m network.Media, files network.Files, several bool) (url.Values, error) {
	address, err := files.Link(ctx, m.ID, c.App.Rules.Fit(m.Kind), c.App.Now().Add(linkLife))
	if err != nil {
		return nil, network.FileFailed(err)
	}
	return c.Show(m, address, several), nil
}

// create makes a container: its id. That shows nothing, so a lost answer leaves only a container that expires.
func (c *Containers) create(ctx context.Context, g network.Grant, params url.Values) (string, error) {
	var answer Created
	call := c.On(g, http.MethodPost, c.owned(g, c.Words.Edge), params, &answer)
	call.Secrets = []string{params.Get("image_url"), params.Get("video_url")} // links that let the network in
	if params.Has("image_url") || params.Has("video_url") {
		call.Purpose = network.Fetching
	}
	if err := c.Client.Do(ctx, call); err != nil {
		return "", err
	}
	if !IsID(answer.ID) {
		return "", network.Unreadable(errors.New("creating a container: the answer has no id"))
	}
	return answer.ID, nil
}

// ready asks for one container: 0 where it is done with, else when to ask again.
func (c *Containers) ready(ctx context.Context, g network.Grant, p *post, id string) (time.Duration, error) {
	now, err := c.status(ctx, g, id)
	if said, ok := errors.AsType[*network.Error](err); ok && Missing(said) {
		return c.rebuild(p, said)
	}
	if err != nil {
		return 0, err
	}
	switch now.state {
	case finished, published:
		return 0, nil
	case inProgress:
		return max(firstRest, min(c.App.Now().Sub(p.Made), lastRest)), nil
	case expired:
		return c.rebuild(p, &network.Error{Class: network.Transient, Status: http.StatusOK, Code: expired})
	case failed:
		reason, again := c.Failure(now.reason)
		if !again {
			return 0, reason
		}
		return c.rebuild(p, reason)
	}
	return 0, network.Unreadable(errState)
}

// rebuild lets go of all containers, which shows nothing and undoes nothing, so that the next call creates new ones;
// after some times it gives up for the reason given.
func (c *Containers) rebuild(p *post, reason *network.Error) (time.Duration, error) {
	if p.Builds >= maxBuilds {
		return 0, reason
	}
	p.Builds++
	p.Container, p.Items, p.Made = "", nil, time.Time{}
	return firstRest << p.Builds, nil
}
