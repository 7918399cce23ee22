package linkedin

import (
	"errors"
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

var drafts = network.Drafts[draft]{Of: "a LinkedIn post", Foreign: draft.foreign, Prepared: draft.prepared}

// Plan fixes the text and the media. The network takes no key, so nothing else makes two submissions one.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	return drafts.Plan(draft{
		Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media, Planned: i.First.UTC(),
	})
}

func (d draft) foreign() error {
	if !d.Post {
		return errors.New("the draft is not a LinkedIn post's")
	}
	return nil
}

func (d draft) prepared() bool {
	strange := func(urn string) bool { return !isURN(urn, network.Image, network.Video) }
	return d.Ready && len(d.Assets) == len(d.Media) && !slices.ContainsFunc(d.Assets, strange)
}
