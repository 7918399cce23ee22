package pinterest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/network"
)

const (
	skew      = time.Minute     // how far the network's clock may be behind ours
	nextAsked = 5 * time.Second // when the network is asked again before that
	pinPage   = "100"           // pins of a page, so that the answer stays small; there may be 250
	maxPages  = 10
)

// Resolve looks for the pin among those of the board since the Draft was prepared. That it is not there is believed
// only some time after the last attempt. Of two that could be it none is.
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
	found = slices.DeleteFunc(found, func(f pin) bool { return t.Another(f.ID, "") })
	if len(found) > 1 {
		// only looks like it
		found = slices.DeleteFunc(found, func(f pin) bool { return f.at().Before(p.Ready.Truncate(time.Second)) })
		all = all && len(found) == 0
	}
	switch {
	case len(found) == 1:
		receipt := n.receipt(found[0].ID)
		receipt.Alike = true
		receipt.At = found[0].at()
		return network.Stands, receipt, nil
	case !all:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK,
			Err: fmt.Errorf("looking back: %d pins could be it", len(found)),
		}
	case now.Before(t.Last.Add(time.Duration(n.opts.Settled))):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, After: now.Add(nextAsked).UTC(),
			Err: errors.New("looking back: it is not there yet"),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

// pin is one as the network lists it.
type pin struct {
	ID          string `json:"id"`
	Created     string `json:"created_at"`
	Description string `json:"description"`
	Media       struct {
		Type  string     `json:"media_type"`
		Items []struct{} `json:"items"`
	} `json:"media"`
}

// at is when the pin was made, which the network tells in UTC, also where it names no zone.
func (p pin) at() time.Time {
	at, err := time.Parse(time.RFC3339, p.Created)
	if err != nil {
		at, _ = time.Parse("2006-01-02T15:04:05", p.Created) // zero where it is neither
	}
	return at.UTC()
}

// lookBack finds the pins that could be the draft's, and tells whether it has seen all pins of the time. That a board
// begins with its newest pins is not confirmed, so it is believed of pages that are in this order alone.
func (n *Network) lookBack(ctx context.Context, g network.Grant, p draft) ([]pin, bool, error) {
	on, err := board(g)
	if err != nil {
		return nil, false, err
	}
	from := p.Ready.Add(-skew).Truncate(time.Second)
	var found []pin
	bookmark := ""
	for range maxPages {
		var page struct {
			Items    []pin  `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		c := n.on(g, http.MethodGet, "boards/"+on+"/pins")
		c.Query = paged(pinPage, bookmark)
		if err := n.do(ctx, c, &page); err != nil {
			return nil, false, err
		}
		for _, listed := range page.Items {
			if isID(listed.ID) && !listed.at().Before(from) && listed.is(p) {
				found = append(found, listed)
			}
		}
		if page.Bookmark == "" || newestFirst(page.Items) && page.Items[len(page.Items)-1].at().Before(from) {
			return found, true, nil
		}
		bookmark = page.Bookmark
	}
	return found, false, nil
}

// newestFirst tells of pins, more than one, whether they are in this order.
func newestFirst(pins []pin) bool {
	return len(pins) > 1 && slices.IsSortedFunc(pins, func(a, b pin) int { return b.at().Compare(a.at()) })
}

// is compares as much as the network tells: it need not tell of the media. The title is a part of the text.
func (p pin) is(d draft) bool {
	form := "image"
	switch {
	case d.film():
		form = "video"
	case len(d.Media) > 1:
		form = "multiple_images"
	}
	items := len(p.Media.Items)
	return (p.Media.Type == form || p.Media.Type == "") && (items == len(d.Media) || items == 0) &&
		plain(p.Description) == plain(d.Text)
}

// plain is a text without what a network may change of it.
func plain(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }
