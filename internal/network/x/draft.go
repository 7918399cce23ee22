package x

import (
	"encoding/json"
	"errors"
	"fmt"
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
	Ready   time.Time       `json:"ready,omitzero"`    // when it was prepared first: what the account posted before is something else
}

// upload is a medium that the network has.
type upload struct {
	ID      string    `json:"id"`
	Done    bool      `json:"done,omitempty"`   // worked on by the network
	Made    time.Time `json:"made"`             // when the last of it was sent
	Expires time.Time `json:"expires,omitzero"` // when the network forgets it; zero where it does not say
}

// Plan fixes the text and the media.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	planned, err := draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media}.write()
	if err != nil {
		return nil, fmt.Errorf("planning an X post: %w", err)
	}
	return planned, nil
}

func (d draft) write() (network.Draft, error) {
	written, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the draft: %w", err)
	}
	return written, nil
}

func readDraft(d network.Draft) (draft, error) {
	var read draft
	if err := json.Unmarshal(d, &read); err != nil {
		return draft{}, network.Unusable(fmt.Errorf("reading the draft: %w", err))
	}
	if !read.Post {
		return draft{}, network.Unusable(errors.New("the draft is not an X post's"))
	}
	for _, u := range read.Uploads {
		if !isID(u.ID) {
			return draft{}, network.Unusable(errors.New("the draft names a medium that is none of X"))
		}
	}
	return read, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, error) {
	read, err := readDraft(d)
	if err == nil && (read.Ready.IsZero() || len(read.Uploads) != len(read.Media)) {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, err
}

// expired tells whether the network has forgotten one of the media, or soon will.
func (d draft) expired(now time.Time) bool {
	for _, u := range d.Uploads {
		if !u.Expires.IsZero() && now.Add(expirySoon).After(u.Expires) {
			return true
		}
	}
	return false
}
