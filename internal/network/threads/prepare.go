package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	linkLife   = time.Hour // as long as a delivery waits for the network to be ready
	firstRest  = 2 * time.Second
	lastRest   = time.Minute // how often the network wants to be asked at most
	maxBuilds  = 3
	maxAlt     = 1000 // characters
	maxMessage = 500  // characters kept of the network's own text
)

// Prepare creates the containers and waits until the network has fetched and converted what they show. Containers that
// have expired, or that the network failed at, are created anew a few times. Asked about a Draft that is ready, it makes
// sure that it still is.
func (n *Network) Prepare(ctx context.Context, g network.Grant, d network.Draft, files network.Files) (network.Draft, time.Duration, error) {
	p, err := readDraft(d)
	if err != nil {
		return nil, 0, err
	}
	wait, err := n.advance(ctx, g, &p, files)
	if err != nil {
		return nil, 0, err
	}
	prepared, err := p.write()
	if err != nil {
		return nil, 0, network.Unusable(err)
	}
	return prepared, wait, nil
}

// advance does the next steps up to one for which the network needs time: that time, or 0 when all are done.
func (n *Network) advance(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if p.Container == "" {
		if err := network.Blocked(n.Check(network.Content{Text: p.Text, Media: p.Media})); err != nil {
			return 0, err
		}
	}
	if p.form() == "CAROUSEL" && p.Container == "" {
		if wait, err := n.makeItems(ctx, g, p, files); wait > 0 || err != nil {
			return wait, err
		}
	}
	if p.Container == "" {
		params, err := n.shape(ctx, p, files)
		if err != nil {
			return 0, err
		}
		if p.Container, err = n.create(ctx, g, params); err != nil {
			return 0, err
		}
		p.Made = n.opts.Now().UTC()
	}
	return n.ready(ctx, g, p, p.Container)
}

// makeItems creates what a carousel shows and waits for all of it.
func (n *Network) makeItems(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if len(p.Items) == 0 {
		var items []string
		for _, m := range p.Media {
			params, err := n.show(ctx, m, files)
			if err != nil {
				return 0, err
			}
			params.Set("is_carousel_item", "true")
			id, err := n.create(ctx, g, params)
			if err != nil {
				return 0, err
			}
			items = append(items, id)
		}
		p.Items, p.Made = items, n.opts.Now().UTC()
	}
	for _, id := range p.Items {
		if wait, err := n.ready(ctx, g, p, id); wait > 0 || err != nil {
			return wait, err
		}
	}
	return 0, nil
}

// shape is the container of the whole post.
func (n *Network) shape(ctx context.Context, p *draft, files network.Files) (url.Values, error) {
	params := url.Values{"media_type": {p.form()}}
	switch {
	case len(p.Media) > 1:
		params.Set("children", strings.Join(p.Items, ","))
	case len(p.Media) == 1:
		var err error
		if params, err = n.show(ctx, p.Media[0], files); err != nil {
			return nil, err
		}
	}
	if p.Text != "" {
		params.Set("text", p.Text)
	}
	return params, nil
}

// show is the part of a container that is about one image or video.
func (n *Network) show(ctx context.Context, m network.Media, files network.Files) (url.Values, error) {
	address, err := files.Link(ctx, m.ID, n.opts.Rules.Fit(m.Kind), n.opts.Now().Add(linkLife))
	if err != nil {
		return nil, network.FileFailed(err)
	}
	kind := mediaType(m)
	params := url.Values{"media_type": {kind}, strings.ToLower(kind) + "_url": {address}}
	if m.Alt != "" {
		params.Set("alt_text", network.Clip(m.Alt, maxAlt))
	}
	return params, nil
}

// create makes a container: its id. That shows nothing, so a lost answer leaves only a container that expires.
func (n *Network) create(ctx context.Context, g network.Grant, params url.Values) (string, error) {
	var answer graph.Created
	c := n.on(g, http.MethodPost, "me/threads", params, &answer)
	c.Secrets = []string{params.Get("image_url"), params.Get("video_url")} // links that let the network in
	if params.Has("image_url") || params.Has("video_url") {
		c.Purpose = network.Fetching
	}
	if err := n.graph.Do(ctx, c); err != nil {
		return "", err
	}
	if !graph.IsID(answer.ID) {
		return "", network.Unreadable(errors.New("creating a container: the answer has no id"))
	}
	return answer.ID, nil
}

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	published  = "PUBLISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
)

// container is what the network says of one.
type container struct {
	Status  string `json:"status"`
	Message string `json:"error_message"`
}

func (n *Network) status(ctx context.Context, g network.Grant, id string) (container, error) {
	var answer container
	err := n.graph.Do(ctx, n.on(g, http.MethodGet, id, url.Values{"fields": {"id,status,error_message"}}, &answer))
	return answer, err
}

// ready asks for one container: 0 where it is done with, else when to ask again.
func (n *Network) ready(ctx context.Context, g network.Grant, p *draft, id string) (time.Duration, error) {
	now, err := n.status(ctx, g, id)
	if said, ok := errors.AsType[*network.Error](err); ok && graph.Missing(said) {
		return n.rebuild(p, said)
	}
	if err != nil {
		return 0, err
	}
	switch now.Status {
	case finished, published:
		return 0, nil
	case inProgress:
		return max(firstRest, min(n.opts.Now().Sub(p.Made), lastRest)), nil
	case expired:
		return n.rebuild(p, &network.Error{Class: network.Transient, Status: http.StatusOK, Code: expired})
	case failed:
		return n.failure(p, now)
	}
	return 0, network.Unreadable(errors.New("asking for a container: the answer has no known status"))
}

// failure tells what a creation anew may mend from what it cannot.
func (n *Network) failure(p *draft, c container) (time.Duration, error) {
	reason := c.reason()
	if strings.HasPrefix(reason.Code, "INVALID_") {
		return 0, reason
	}
	return n.rebuild(p, reason)
}

var (
	badFile  = []string{"FAILED_DOWNLOADING_VIDEO", "FAILED_PROCESSING_AUDIO", "FAILED_PROCESSING_VIDEO"}
	failWord = "UNKNOWN" // also where the network says something of which nothing is known
)

// reason is why the network gave a container up.
func (c container) reason() *network.Error {
	said := &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: failWord, Message: network.Clip(c.Message, maxMessage),
		Err: errors.New("the network could not make the container ready"),
	}
	word, _, _ := strings.Cut(c.Message, " ")
	if slices.Contains(badFile, word) || strings.HasPrefix(word, "INVALID_") {
		said.Class, said.Code = network.RejectedMedia, network.Clip(word, maxName)
	}
	return said
}

// rebuild lets go of all containers, which shows nothing and undoes nothing, so that the next call creates new ones;
// after some times it gives up for the reason given.
func (n *Network) rebuild(p *draft, reason *network.Error) (time.Duration, error) {
	if p.Builds >= maxBuilds {
		return 0, reason
	}
	p.Builds++
	p.Container, p.Items, p.Made = "", nil, time.Time{}
	return firstRest << p.Builds, nil
}
