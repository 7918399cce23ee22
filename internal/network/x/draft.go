package x

import (
	"errors"
	"strings"
	"time"

	"pressroom/internal/network"
)

const expirySoon = time.Minute // before a medium's end in which it is not relied on

// draft is what is kept of a publication.
type draft struct {
	Post    bool            `json:"x"` // tells a draft of this network from others
	Text    string          `json:"text"`
	Media   []network.Media `json:"media,omitempty"`
	Uploads []upload        `json:"uploads,omitempty"` // of the media, in their order
	Builds  int             `json:"builds,omitempty"`  // how often uploads were made anew
	// when it was prepared first: what the account posted before is something else
	Ready time.Time `json:"ready,omitzero"`
}

// upload is a medium that the network has.
type upload struct {
	ID      string    `json:"id"`
	Done    bool      `json:"done,omitempty"`   // worked on by the network
	Made    time.Time `json:"made"`             // when the last of it was sent
	Expires time.Time `json:"expires,omitzero"` // when the network forgets it; zero where it does not say
}

var drafts = network.Drafts[draft]{Of: "an X post", Foreign: draft.foreign, Prepared: draft.prepared}

// Plan fixes the text and the media.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	return drafts.Plan(draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media})
}

func (d draft) foreign() error {
	if !d.Post {
		return errors.New("the draft is not an X post's")
	}
	for _, u := range d.Uploads {
		if !isID(u.ID) {
			return errors.New("the draft names a medium that is none of X")
		}
	}
	return nil
}

func (d draft) prepared() bool { return !d.Ready.IsZero() && len(d.Uploads) == len(d.Media) }

// expired tells whether the network has forgotten one of the media, or soon will.
func (d draft) expired(now time.Time) bool {
	for _, u := range d.Uploads {
		if !u.Expires.IsZero() && now.Add(expirySoon).After(u.Expires) {
			return true
		}
	}
	return false
}
