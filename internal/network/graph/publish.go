package graph

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	skew      = 5 * time.Minute // how far the network's clock may be behind ours
	pageSize  = "100"
	nextAsked = 5 * time.Second // when a container that is still worked on is asked for again
)

// Commit publishes the container. A refusal is believed only where the container is not published: also the second
// of two calls is refused.
func (c *Containers) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	p, err := c.drafts().Read(d)
	if err != nil {
		return network.Receipt{}, err
	}
	var answer Created
	call := c.On(g, http.MethodPost, c.owned(g, c.Words.Publish), url.Values{"creation_id": {p.Container}}, &answer)
	call.Purpose = network.Committing
	if err := c.Client.Do(ctx, call); err != nil {
		return network.Receipt{}, c.believed(ctx, g, p, err)
	}
	if !IsID(answer.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK, Err: errors.New("publishing: the answer has no id"),
		}
	}
	return network.Receipt{ID: answer.ID}, nil
}

func (c *Containers) believed(ctx context.Context, g network.Grant, p post, err error) error {
	refusal, ok := errors.AsType[*network.Error](err)
	if !ok || refusal.Status == 0 || refusal.Class != network.Rejected && refusal.Class != network.RejectedMedia {
		return err
	}
	now, err := c.status(ctx, g, p.Container)
	if err != nil || now.state == published || now.state == expired {
		doubted := *refusal
		doubted.Class = network.Uncertain
		return &doubted
	}
	return refusal
}

// Resolve asks for the container. One that is published Stands, under an id that has to be looked for among the
// account's posts; it is left empty where more than one could be it. One that is ready is Absent: publishing it again
// makes one post, whatever still arrives. One that has expired or failed is Absent with the reason, and Prepare makes a
// new one.
func (c *Containers) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	p, err := c.drafts().Read(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	now, err := c.status(ctx, g, p.Container)
	if said, ok := errors.AsType[*network.Error](err); ok && Missing(said) {
		return c.resolveWithout(ctx, g, p, t, err)
	}
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	switch now.state {
	case published:
		return c.standing(ctx, g, p, t)
	case finished:
		return network.Absent, network.Receipt{}, nil
	case inProgress:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, Code: inProgress, After: c.App.Now().Add(nextAsked).UTC(),
		}
	case expired:
		return network.Absent, network.Receipt{}, &network.Error{
			Class: network.Transient, Status: http.StatusOK, Code: expired,
		}
	case failed:
		reason, _ := c.Failure(now.reason)
		return network.Absent, network.Receipt{}, reason
	}
	return network.Unknown, network.Receipt{}, network.Unreadable(errState)
}

// standing finds the id of a post that certainly stands. A network that will not list posts does not change that.
func (c *Containers) standing(
	ctx context.Context, g network.Grant, p post, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	receipt, err := c.lookBack(ctx, g, p, t)
	if said, ok := errors.AsType[*network.Error](err); ok && (said.Class == network.Transient ||
		said.Class == network.Rate) {
		return network.Unknown, network.Receipt{}, err
	}
	return network.Stands, receipt, nil
}

// resolveWithout looks for the post of a container that is no more. That it is not found proves nothing.
func (c *Containers) resolveWithout(
	ctx context.Context, g network.Grant, p post, t network.Tried, cause error,
) (network.Verdict, network.Receipt, error) {
	receipt, err := c.lookBack(ctx, g, p, t)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case receipt.ID == "":
		return network.Unknown, network.Receipt{}, cause
	}
	return network.Stands, receipt, nil
}

// listed is a post as a network lists it.
type listed struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Caption   string `json:"caption"` // Instagram's name for the text
	Type      string `json:"media_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
}

// lookBack finds the post among those since its container was made. The Receipt is empty where none could be it, or
// more than one.
func (c *Containers) lookBack(ctx context.Context, g network.Grant, p post, t network.Tried) (network.Receipt, error) {
	var answer struct {
		Data []listed `json:"data"`
	}
	since := p.Made.Add(-skew)
	err := c.Client.Do(ctx, c.On(g, http.MethodGet, c.owned(g, c.Words.Edge), url.Values{
		"fields": {"id," + c.Words.Text + ",timestamp,permalink,media_type"},
		"since":  {strconv.FormatInt(since.Unix(), 10)}, "limit": {pageSize},
	}, &answer))
	if err != nil {
		return network.Receipt{}, err
	}
	var found []listed
	for _, l := range answer.Data {
		if IsID(l.ID) && l.is(p) && !t.Another(l.ID, l.Permalink) && !Time(l.Timestamp).Before(since) {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		return network.Receipt{}, nil
	}
	return network.Receipt{
		ID: found[0].ID, Permalink: network.WebAddress(found[0].Permalink), At: Time(found[0].Timestamp),
	}, nil
}

// is tells whether the post could be that of the draft. Networks tidy the white space of a text.
func (l listed) is(p post) bool {
	words := strings.Fields(cmp.Or(l.Text, l.Caption))
	return strings.Join(words, " ") == strings.Join(strings.Fields(p.Text),
		" ") && (l.Type == "" || l.Type == p.listed())
}

// listed is what the networks call the form of the post where they list it.
func (p post) listed() string {
	switch {
	case len(p.Media) > 1:
		return "CAROUSEL_ALBUM"
	case len(p.Media) == 0:
		return "TEXT_POST"
	case p.Media[0].Kind == network.Video:
		return "VIDEO"
	}
	return "IMAGE"
}

// Permalink asks for the address of a post.
func (c *Containers) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !IsID(r.ID) {
		return "", network.Unusable(errors.New("the post's id is not one of " + c.Words.Title))
	}
	var answer listed
	if err := c.Client.Do(ctx,
		c.On(g, http.MethodGet, r.ID, url.Values{"fields": {"id,permalink"}}, &answer)); err != nil {
		return "", err
	}
	return network.WebAddress(answer.Permalink), nil
}
