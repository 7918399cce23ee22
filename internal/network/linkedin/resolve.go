package linkedin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	skew      = 5 * time.Minute // how far the network's clock may be behind ours
	nextAsked = 10 * time.Second
	pageSize  = 50
	mostPages = 10                // of a page that has so many posts in the time of a delivery
	readPosts = "r_member_social" // a scope that hardly any app has
)

// Resolve looks for the post among those that the author has made since it was committed. For a member whose posts may
// not be listed, and wherever more than one could be it, a person has to look: repeating the call would publish it
// where it does not stand.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	p, err := drafts.Read(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if g.Kind != organization && !slices.Contains(g.Scopes, readPosts) {
		return network.Unknown, network.Receipt{}, uncertain(0, "a member's posts cannot be listed")
	}
	now := n.opts.Now().UTC() // before the look: what it misses may be there by its end
	found, doubt, err := n.lookBack(ctx, g, p, t)
	if said, ok := errors.AsType[*network.Error](err); ok && said.Status == http.StatusForbidden {
		return network.Unknown, network.Receipt{}, uncertain(said.Status, "the author's posts cannot be listed")
	}
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case len(found) == 1:
		return network.Stands, network.Receipt{
			ID: found[0].ID, Permalink: n.permalink(found[0].ID), At: found[0].at(), Alike: true,
		}, nil
	case len(found) > 1 || doubt:
		return network.Unknown, network.Receipt{}, uncertain(http.StatusOK,
			"the author's posts do not tell which one it is")
	case now.Sub(t.Last) < time.Duration(n.opts.Settled):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, After: now.Add(nextAsked),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

func uncertain(status int, why string) *network.Error {
	return &network.Error{Class: network.Uncertain, Status: status, Err: errors.New(why)}
}

// listed is a post as the network lists it.
type listed struct {
	ID         string `json:"id"`
	Commentary string `json:"commentary"`
	Created    int64  `json:"createdAt"` // Unix milliseconds
	Lifecycle  string `json:"lifecycleState"`
	Content    struct {
		Media *struct {
			ID string `json:"id"`
		} `json:"media"`
		Several struct {
			Images []struct {
				ID string `json:"id"`
			} `json:"images"`
		} `json:"multiImage"`
		Article     json.RawMessage `json:"article"`
		Carousel    json.RawMessage `json:"carousel"`
		Poll        json.RawMessage `json:"poll"`
		Celebration json.RawMessage `json:"celebration"`
		Event       json.RawMessage `json:"reference"`
	} `json:"content"`
}

func (l listed) at() time.Time { return time.UnixMilli(l.Created).UTC() }

func (l listed) media() int {
	if l.Content.Media != nil {
		return 1
	}
	return len(l.Content.Several.Images)
}

// is tells whether a post shows the same text and as many media, with the addresses in the text or without.
func (l listed) is(p draft, addresses bool) bool {
	seen, meant := unescape(l.Commentary), p.Text
	if !addresses {
		seen, meant = withoutAddresses(seen), withoutAddresses(meant)
	}
	return isPost(l.ID) && l.media() == len(p.Media) && slices.Equal(strings.Fields(seen), strings.Fields(meant))
}

func withoutAddresses(text string) string {
	for _, address := range network.Links(text) {
		text = strings.Replace(text, address, "…", 1)
	}
	return text
}

// lookBack finds the posts since the first commit that are like this one. There is doubt where it may be another one:
// one that the network did not list, as there were too many, or one in which it put short addresses for ours.
func (n *Network) lookBack(ctx context.Context, g network.Grant, p draft, t network.Tried) ([]listed, bool, error) {
	since := t.First
	if since.Before(p.Planned) {
		since = p.Planned
	}
	since = since.Add(-skew)
	var found []listed
	more, like := true, false
	for page := 0; more && page < mostPages; page++ {
		listed, err := n.page(ctx, g, page)
		if err != nil {
			return nil, false, err
		}
		more = len(listed) >= pageSize
		for _, l := range listed {
			switch {
			case l.at().Before(since):
				more = false
			case t.Another(l.ID, ""):
			case l.is(p, true):
				found = append(found, l)
			case l.is(p, false):
				like = true
			}
		}
	}
	return found, more || like, nil
}

// page is one of the author's posts, the newest first.
func (n *Network) page(ctx context.Context, g network.Grant, page int) ([]listed, error) {
	var answer struct {
		Elements []listed `json:"elements"`
	}
	call := n.finder(g, "posts")
	call.Query = url.Values{
		"q": {"author"}, "author": {g.Account}, "start": {strconv.Itoa(page * pageSize)},
		"count": {strconv.Itoa(pageSize)}, "sortBy": {"CREATED"},
	}
	_, err := n.ask(ctx, g, call, &answer)
	return answer.Elements, err
}
