package graph

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	mediaLinkLifetime = time.Hour // how long the network can fetch the media
	minPollInterval   = 2 * time.Second
	maxPollInterval   = time.Minute // interval that the networks recommend
	maxReplacements   = 3
)

// Prepare creates the containers and waits until the network has processed their media. Containers that expired or
// failed are replaced a few times. If the draft is already prepared, Prepare verifies that the container is still
// ready.
func (c *Containers) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return c.drafts().Prepare(d, func(p *draft) (time.Duration, error) { return c.advance(ctx, g, p, files) })
}

// advance performs steps until the network needs time. It returns the time to wait, or 0 if all steps are done.
func (c *Containers) advance(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (time.Duration, error) {
	if d.NotVisibleCount >= maxNotVisible {
		return c.discardContainers(d, notVisibleError())
	}
	if d.Container == "" {
		if err := network.BlockingError(c.Check(network.Content{Text: d.Text, Media: d.Media, Options: d.Options})); err != nil {
			return 0, err
		}
	}
	if len(d.Media) > 1 && d.Container == "" {
		if wait, err := c.createItems(ctx, g, d, files); wait > 0 || err != nil {
			return wait, err
		}
	}
	if d.Container == "" {
		params, err := c.postParams(ctx, d, files)
		if err != nil {
			return 0, err
		}
		d.Container, err = c.create(ctx, g, params)
		if c.Observe != nil {
			c.Observe(d.Text, err)
		}
		if err != nil {
			return 0, d.creationError(params, err)
		}
		d.CreatedAt = c.App.Now().UTC()
	}
	return c.checkReady(ctx, g, d, d.Container)
}

// creationError returns the error for creating the post's container. If the network does not know an object that an
// option names, such as the quoted post, it rejects the post. Otherwise, the error is temporary. The unknown object can
// then be the account, if a permission is missing. It can also be an item of a carousel or the post before a reply,
// which the network may not find for some seconds.
func (d draft) creationError(params url.Values, err error) error {
	namesObject := params.Has("quote_post_id") || params.Has("location_id")
	netErr, ok := errors.AsType[*network.Error](err)
	if !ok || netErr.Class != network.Transient || !namesObject || d.ReplyTo != "" || len(d.Items) > 0 || !isUnknownObject(netErr) {
		return err
	}
	newErr := *netErr
	newErr.Class = network.Rejected
	return &newErr
}

// createItems creates the containers for a carousel's media and waits until they are ready.
func (c *Containers) createItems(
	ctx context.Context, g network.Grant, d *draft, files network.Files,
) (time.Duration, error) {
	if len(d.Items) == 0 {
		var items []string
		for i, m := range d.Media {
			params, err := c.mediaParams(ctx, *d, m, files, true)
			if err != nil {
				return 0, err
			}
			if c.Options.ItemParams != nil {
				maps.Copy(params, c.Options.ItemParams(d.Options, d.Media, i))
			}
			params.Set("is_carousel_item", "true")
			id, err := c.create(ctx, g, params)
			if err != nil {
				return 0, err
			}
			items = append(items, id)
		}
		d.Items, d.CreatedAt = items, c.App.Now().UTC()
	}
	for _, id := range d.Items {
		if wait, err := c.checkReady(ctx, g, d, id); wait > 0 || err != nil {
			return wait, err
		}
	}
	return 0, nil
}

// postParams returns the parameters of the post's container.
func (c *Containers) postParams(ctx context.Context, d *draft, files network.Files) (url.Values, error) {
	var params url.Values
	switch {
	case len(d.Media) > 1:
		params = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(d.Items, ",")}}
	case len(d.Media) == 1:
		var err error
		if params, err = c.mediaParams(ctx, *d, d.Media[0], files, false); err != nil {
			return nil, err
		}
	default:
		params = url.Values{"media_type": {"TEXT"}}
	}
	if err := c.addOptions(ctx, params, d, files); err != nil {
		return nil, err
	}
	if d.Text != "" {
		params.Set(c.Names.Text, d.Text)
	}
	if d.ReplyTo != "" {
		params.Set("reply_to_id", d.ReplyTo)
	}
	return params, nil
}

// addOptions adds the parameters for the post's options to the parameters of its container.
func (c *Containers) addOptions(ctx context.Context, params url.Values, d *draft, files network.Files) error {
	if c.Options.Params == nil {
		return nil
	}
	cover := ""
	if c.Options.Cover != nil {
		if id := c.Options.Cover(d.Options, d.Media); id != 0 {
			var err error
			cover, err = files.Link(ctx, id, c.App.Rules.FileLimits(network.Image), c.App.Now().Add(mediaLinkLifetime))
			if err != nil {
				return network.FileError(err)
			}
		}
	}
	maps.Copy(params, c.Options.Params(d.Options, d.Media, cover))
	return nil
}

// mediaParams returns a container's parameters for one image or video.
func (c *Containers) mediaParams(
	ctx context.Context, d draft, m network.Media, files network.Files, inCarousel bool,
) (url.Values, error) {
	limits := c.App.Rules.ForOptions(c.Names.Platform, d.Options).FileLimits(m.Kind)
	address, err := files.Link(ctx, m.ID, limits, c.App.Now().Add(mediaLinkLifetime))
	if err != nil {
		return nil, network.FileError(err)
	}
	return c.MediaParams(d.Options, m, address, inCarousel), nil
}

// create returns the ID of a new container. If the response is lost, the container remains unused and expires.
func (c *Containers) create(ctx context.Context, g network.Grant, params url.Values) (string, error) {
	var response CreatedObject
	call := c.NewCall(g, http.MethodPost, c.ownerPath(g, c.Names.Edge), params, &response)
	// Links grant access to the files.
	call.Secrets = []string{params.Get("image_url"), params.Get("video_url"), params.Get("cover_url")}
	if params.Has("image_url") || params.Has("video_url") {
		call.Purpose = network.PurposeTransfer
	}
	if err := c.Client.Do(ctx, call); err != nil {
		return "", err
	}
	if !IsID(response.ID) {
		return "", network.InvalidResponse(errors.New("creating a container: the response has no id"))
	}
	return response.ID, nil
}

// checkReady returns 0 if a container is ready. Otherwise, it returns the time until the next check.
func (c *Containers) checkReady(ctx context.Context, g network.Grant, d *draft, id string) (time.Duration, error) {
	status, err := c.readState(ctx, g, id)
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case ok && isNotVisible(netErr) && c.App.Now().Sub(d.CreatedAt) < newContainerTime:
		return minPollInterval, nil
	case ok && (isNotVisible(netErr) || IsMissing(netErr)):
		return c.discardContainers(d, netErr)
	}
	if err != nil {
		return 0, err
	}
	switch status.state {
	case stateFinished, statePublished:
		return 0, nil
	case stateInProgress:
		return max(minPollInterval, min(c.App.Now().Sub(d.CreatedAt), maxPollInterval)), nil
	case stateExpired:
		return c.discardContainers(d, &network.Error{Class: network.Transient, Status: http.StatusOK, Code: stateExpired})
	case stateError:
		reason, retryable := c.FailureReason(status.reason)
		if !retryable {
			return 0, reason
		}
		return c.discardContainers(d, reason)
	}
	return 0, network.InvalidResponse(errUnknownState)
}

// discardContainers removes all containers from the draft, so that the next call creates new containers. After
// maxReplacements replacements, it returns reason instead.
func (c *Containers) discardContainers(d *draft, reason *network.Error) (time.Duration, error) {
	if d.Replaced >= maxReplacements {
		return 0, reason
	}
	d.Replaced++
	d.Container, d.Items, d.CreatedAt, d.NotVisibleCount = "", nil, time.Time{}, 0
	return minPollInterval << d.Replaced, nil
}
