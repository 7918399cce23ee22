package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	skew      = 5 * time.Minute // how far the network's clock may be behind ours
	pageSize  = "100"
	nextAsked = 5 * time.Second // when a container that is still worked on is asked for again
)

// Commit publishes the container. A refusal is believed only where the container is not published: also the second
// of two calls is refused.
func (n *Network) Commit(ctx context.Context, g network.Grant, d network.Draft, _ network.Files) (network.Receipt, error) {
	p, err := readPrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	var answer graph.Created
	c := n.on(g, http.MethodPost, "me/threads_publish", url.Values{"creation_id": {p.Container}}, &answer)
	c.Purpose = network.Committing
	if err := n.graph.Do(ctx, c); err != nil {
		return network.Receipt{}, n.believed(ctx, g, p, err)
	}
	if !graph.IsID(answer.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK, Err: errors.New("publishing: the answer has no id"),
		}
	}
	return network.Receipt{ID: answer.ID}, nil
}

func (n *Network) believed(ctx context.Context, g network.Grant, p draft, err error) error {
	refusal, ok := errors.AsType[*network.Error](err)
	if !ok || refusal.Status == 0 || refusal.Class != network.Rejected && refusal.Class != network.RejectedMedia {
		return err
	}
	now, err := n.status(ctx, g, p.Container)
	if err != nil || now.Status == published || now.Status == expired {
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
func (n *Network) Resolve(ctx context.Context, g network.Grant, d network.Draft, _ network.Tried) (network.Verdict, network.Receipt, error) {
	p, err := readPrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	now, err := n.status(ctx, g, p.Container)
	if said, ok := errors.AsType[*network.Error](err); ok && graph.Missing(said) {
		return n.resolveWithout(ctx, g, p, err)
	}
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	switch now.Status {
	case published:
		return n.standing(ctx, g, p)
	case finished:
		return network.Absent, network.Receipt{}, nil
	case inProgress:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, Code: inProgress, After: n.opts.Now().Add(nextAsked).UTC(),
		}
	case expired:
		return network.Absent, network.Receipt{}, &network.Error{Class: network.Transient, Status: http.StatusOK, Code: expired}
	case failed:
		return network.Absent, network.Receipt{}, now.reason()
	}
	return network.Unknown, network.Receipt{}, network.Unreadable(errors.New("asking for a container: the answer has no known status"))
}

// standing finds the id of a post that certainly stands. A network that will not list posts does not change that.
func (n *Network) standing(ctx context.Context, g network.Grant, p draft) (network.Verdict, network.Receipt, error) {
	receipt, err := n.lookBack(ctx, g, p)
	if said, ok := errors.AsType[*network.Error](err); ok && (said.Class == network.Transient || said.Class == network.Rate) {
		return network.Unknown, network.Receipt{}, err
	}
	return network.Stands, receipt, nil
}

// resolveWithout looks for the post of a container that is no more. That it is not found proves nothing.
func (n *Network) resolveWithout(ctx context.Context, g network.Grant, p draft, cause error) (network.Verdict, network.Receipt, error) {
	receipt, err := n.lookBack(ctx, g, p)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case receipt.ID == "":
		return network.Unknown, network.Receipt{}, cause
	}
	return network.Stands, receipt, nil
}

// thread is a post as the network lists it.
type thread struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Type      string `json:"media_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
}

// lookBack finds the post among those since its container was made. The Receipt is empty where none could be it, or
// more than one.
func (n *Network) lookBack(ctx context.Context, g network.Grant, p draft) (network.Receipt, error) {
	var answer struct {
		Data []thread `json:"data"`
	}
	since := p.Made.Add(-skew)
	err := n.graph.Do(ctx, n.on(g, http.MethodGet, "me/threads", url.Values{
		"fields": {"id,text,timestamp,permalink,media_type"}, "since": {strconv.FormatInt(since.Unix(), 10)}, "limit": {pageSize},
	}, &answer))
	if err != nil {
		return network.Receipt{}, err
	}
	var found []thread
	for _, t := range answer.Data {
		if graph.IsID(t.ID) && t.is(p) && !graph.Time(t.Timestamp).Before(since) {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return network.Receipt{}, nil
	}
	return network.Receipt{ID: found[0].ID, Permalink: network.WebAddress(found[0].Permalink), At: graph.Time(found[0].Timestamp)}, nil
}

// listed is what a post of each form is called where posts are listed.
var listed = map[string]string{"TEXT": "TEXT_POST", "IMAGE": "IMAGE", "VIDEO": "VIDEO", "CAROUSEL": "CAROUSEL_ALBUM"}

func (t thread) is(p draft) bool {
	return strings.TrimSpace(t.Text) == strings.TrimSpace(p.Text) && (t.Type == "" || t.Type == listed[p.form()])
}

// Permalink asks for the address of a post.
func (n *Network) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !graph.IsID(r.ID) {
		return "", network.Unusable(errors.New("the post's id is not one of Threads"))
	}
	var answer thread
	if err := n.graph.Do(ctx, n.on(g, http.MethodGet, r.ID, url.Values{"fields": {"id,permalink"}}, &answer)); err != nil {
		return "", err
	}
	return network.WebAddress(answer.Permalink), nil
}
