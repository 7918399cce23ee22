package pinterest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	clockSkew    = time.Minute     // how far the network's clock may be behind
	pollInterval = 5 * time.Second // between two searches
	pinsPerPage  = "100"           // pins per page, for a small response; the limit is 250
	maxPages     = 10
)

// Resolve searches the board for a pin created since the Draft was prepared. A missing pin counts as absent once
// ListingDelay has passed since the last attempt. If two pins match, the verdict is Unknown.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	now := n.opts.Now() // before the search, because a pin may appear during it
	pins, complete, err := n.findPins(ctx, g, prepared)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	pins = slices.DeleteFunc(pins, func(listed pin) bool { return history.BelongsToOther(listed.ID, "") })
	if len(pins) > 1 {
		// an older pin is another post with the same content
		pins = slices.DeleteFunc(pins, func(listed pin) bool {
			return listed.createdAt().Before(prepared.PreparedAt.Truncate(time.Second))
		})
		complete = complete && len(pins) == 0
	}
	switch {
	case len(pins) == 1:
		receipt := n.receipt(pins[0].ID)
		receipt.MatchedByContent = true
		receipt.At = pins[0].createdAt()
		return network.Published, receipt, nil
	case !complete:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: fmt.Errorf("searching for the pin: %d pins match", len(pins)),
		}
	case now.Before(history.Last.Add(time.Duration(n.opts.ListingDelay))):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, RetryAt: now.Add(pollInterval).UTC(),
			Err: errors.New("searching for the pin: not listed yet"),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

// pin is a pin in a list.
type pin struct {
	ID          string `json:"id"`
	Created     string `json:"created_at"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Section     string `json:"board_section_id"`
	Media       struct {
		Type  string     `json:"media_type"`
		Items []struct{} `json:"items"`
	} `json:"media"`
}

// createdAt returns when the pin was created. The network's time is in UTC, with or without a zone.
func (p pin) createdAt() time.Time {
	at, err := time.Parse(time.RFC3339, p.Created)
	if err != nil {
		at, _ = time.Parse("2006-01-02T15:04:05", p.Created) // zero if the text has neither format
	}
	return at.UTC()
}

// findPins returns the pins that match the draft. The second result reports whether findPins has read all pins created
// since the draft was prepared. The order of pins is not documented, so findPins stops at an older pin only on a page
// sorted newest first.
func (n *Network) findPins(ctx context.Context, g network.Grant, d draft) ([]pin, bool, error) {
	board, err := boardID(g)
	if err != nil {
		return nil, false, err
	}
	since := d.PreparedAt.Add(-clockSkew).Truncate(time.Second)
	var pins []pin
	bookmark := ""
	for range maxPages {
		var page struct {
			Items    []pin  `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		c := n.newCall(g, http.MethodGet, "boards/"+board+"/pins")
		c.Query = pageQuery(pinsPerPage, bookmark)
		if err := n.do(ctx, c, &page); err != nil {
			return nil, false, err
		}
		for _, listed := range page.Items {
			if isID(listed.ID) && !listed.createdAt().Before(since) && listed.matches(d) {
				pins = append(pins, listed)
			}
		}
		if page.Bookmark == "" || newestFirst(page.Items) && page.Items[len(page.Items)-1].createdAt().Before(since) {
			return pins, true, nil
		}
		bookmark = page.Bookmark
	}
	return pins, false, nil
}

// newestFirst reports whether there are at least two pins and they are sorted newest first.
func newestFirst(pins []pin) bool {
	return len(pins) > 1 && slices.IsSortedFunc(pins, func(a, b pin) int { return b.createdAt().Compare(a.createdAt()) })
}

// matches reports whether a pin's content in the list equals the draft's. A field that the list omits is not compared.
// The link is not compared, because Pinterest may rewrite it.
func (p pin) matches(d draft) bool {
	mediaType := "image"
	switch {
	case d.isVideo():
		mediaType = "video"
	case len(d.Media) > 1:
		mediaType = "multiple_images"
	}
	itemCount := len(p.Media.Items)
	return (p.Media.Type == mediaType || p.Media.Type == "") && (itemCount == len(d.Media) || itemCount == 0) &&
		network.SameWords(p.Description, d.Text) && (p.Title == "" || network.SameWords(p.Title, d.title())) &&
		(p.Section == "" || p.Section == d.SectionID)
}
