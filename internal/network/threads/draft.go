package threads

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

// draft is what is kept of a publication.
type draft struct {
	Post      bool            `json:"threads"` // tells a draft of this network from others
	Text      string          `json:"text"`
	Media     []network.Media `json:"media,omitempty"`
	Items     []string        `json:"items,omitempty"`     // containers of a carousel's media, in their order
	Container string          `json:"container,omitempty"` // what is to be published
	Made      time.Time       `json:"made,omitzero"`       // when the newest containers were graph.Created
	Builds    int             `json:"builds,omitempty"`    // how often containers were created anew
}

// Plan fixes the text and the media. What makes two submissions one is the container, which Prepare keeps.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	planned, err := draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media}.write()
	if err != nil {
		return nil, fmt.Errorf("planning a Threads post: %w", err)
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
		return draft{}, network.Unusable(errors.New("the draft is not a Threads post's"))
	}
	return read, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, error) {
	read, err := readDraft(d)
	if err == nil && !graph.IsID(read.Container) {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, err
}

// form is what the network calls the kind of post that the draft makes.
func (d draft) form() string {
	switch {
	case len(d.Media) > 1:
		return "CAROUSEL"
	case len(d.Media) == 1:
		return mediaType(d.Media[0])
	}
	return "TEXT"
}

func mediaType(m network.Media) string {
	if m.Kind == network.Video {
		return "VIDEO"
	}
	return "IMAGE"
}
