package linkedin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/network"
)

// draft is what is kept of a publication.
type draft struct {
	Post    bool            `json:"linkedin"` // tells a draft of this network from others
	Text    string          `json:"text"`
	Media   []network.Media `json:"media,omitempty"`
	Planned time.Time       `json:"planned"`          // when it was first submitted; no older post is this one
	Assets  []string        `json:"assets,omitempty"` // URNs of the media, in their order, once all have arrived
	Arrived time.Time       `json:"arrived,omitzero"`
	Rested  bool            `json:"rested,omitempty"` // media that may not be asked about were given their time
	Ready   bool            `json:"ready,omitempty"`
}

// Plan fixes the text and the media. The network takes no key, so nothing else makes two submissions one.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	planned, err := draft{
		Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media, Planned: i.First.UTC(),
	}.write()
	if err != nil {
		return nil, fmt.Errorf("planning a LinkedIn post: %w", err)
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
		return draft{}, network.Unusable(errors.New("the draft is not a LinkedIn post's"))
	}
	return read, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, error) {
	read, err := readDraft(d)
	strange := func(urn string) bool { return !isURN(urn, network.Image, network.Video) }
	if err == nil && (!read.Ready || len(read.Assets) != len(read.Media) || slices.ContainsFunc(read.Assets, strange)) {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, err
}
