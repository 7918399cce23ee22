package x

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/network"
)

const (
	skew      = time.Minute     // how far the network's clock may be behind ours
	nextAsked = 5 * time.Second // when the network is asked again before that
	pageSize  = "100"           // the most that there may be
)

// Resolve looks for the post among those that the account has made since the Draft was prepared. That it is not there
// is believed only some time after the last attempt.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	p, err := drafts.Read(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	now := n.opts.Now() // before the look: what it misses may be there by its end
	found, all, err := n.lookBack(ctx, g, p)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	found = slices.DeleteFunc(found, func(f tweet) bool { return t.Another(f.ID, "") })
	if len(found) > 1 {
		found = since(found, p.Ready) // what is older only looks like it
		all = all && len(found) == 0
	}
	switch {
	case len(found) == 1:
		receipt := n.receipt(g, found[0].ID)
		receipt.Alike = true
		receipt.At = found[0].Created.UTC()
		return network.Stands, receipt, nil
	case !all:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK,
			Err: fmt.Errorf("looking back: %d posts could be it", len(found)),
		}
	case now.Before(t.Last.Add(time.Duration(n.opts.Settled))):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, After: now.Add(nextAsked).UTC(),
			Err: errors.New("looking back: it is not there yet"),
		}
	case p.expired(now):
		return network.Absent, network.Receipt{}, &network.Error{
			Class: network.Transient, Code: expiredMedia, Err: errors.New("the media have expired"),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

// tweet is a post as the network lists it.
type tweet struct {
	written

	ID          string    `json:"id"`
	Created     time.Time `json:"created_at"`
	Note        *written  `json:"note_post"` // the whole of a long text, of which Text then is the beginning
	Attachments struct {
		Media []string `json:"media_keys"`
	} `json:"attachments"`
}

// written is a text with the addresses that the network has put its own short ones in the place of.
type written struct {
	Text     string `json:"text"`
	Entities struct {
		Links []struct {
			Short string `json:"url"`
			Full  string `json:"expanded_url"`
			Media string `json:"media_key"` // of an address that stands for a medium
		} `json:"urls"`
	} `json:"entities"`
}

// lookBack finds the posts that could be the draft's, and tells whether it has seen all posts of the time.
func (n *Network) lookBack(ctx context.Context, g network.Grant, p draft) ([]tweet, bool, error) {
	var answer struct {
		Data []tweet `json:"data"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
		Errors []problem `json:"errors"` // of what is left out, also with status 200
	}
	from := p.Ready.Add(-skew)
	c := n.on(g, http.MethodGet, "users/"+url.PathEscape(g.Account)+"/tweets")
	c.Query = url.Values{
		"start_time": {from.UTC().Format(time.RFC3339)}, "max_results": {pageSize},
		"post.fields": {"attachments,created_at,entities,note_post"},
	}
	if err := n.do(ctx, c, &answer); err != nil {
		return nil, false, err
	}
	found := slices.DeleteFunc(answer.Data, func(t tweet) bool {
		return !isID(t.ID) || t.Created.Before(from.Truncate(time.Second)) || !t.is(p)
	})
	return found, answer.Meta.Next == "" && len(answer.Errors) == 0, nil
}

// since leaves the posts that are not older than a time, in the whole seconds that the network counts in.
func since(found []tweet, from time.Time) []tweet {
	return slices.DeleteFunc(found, func(t tweet) bool { return t.Created.Before(from.Truncate(time.Second)) })
}

func (t tweet) is(p draft) bool {
	text := t.written
	if t.Note != nil && t.Note.Text != "" {
		text = *t.Note
	}
	return len(t.Attachments.Media) == len(p.Media) && plain(text.full()) == plain(p.Text)
}

// escapes are how the network writes three characters of a text.
var escapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// full is the text with the addresses that were posted. Those of media, which the network adds, are left out.
func (w written) full() string {
	text := escapes.Replace(w.Text)
	for _, link := range w.Entities.Links {
		full := link.Full
		if link.Media != "" {
			full = ""
		}
		if link.Short != "" {
			text = strings.Replace(text, link.Short, full, 1)
		}
	}
	return text
}

// plain is a text without what the network may change of it: spaces, the form of its characters, and the scheme
// and the closing slash of an address.
func plain(text string) string {
	text = norm.NFC.String(text)
	var bare strings.Builder
	at := 0
	for _, link := range links(text) {
		bare.WriteString(text[at:link.start])
		address := text[link.start:link.end]
		if _, rest, found := strings.Cut(address, "://"); found {
			address = rest
		}
		bare.WriteString(strings.TrimSuffix(address, "/"))
		at = link.end
	}
	bare.WriteString(text[at:])
	return strings.Join(strings.Fields(bare.String()), " ")
}
