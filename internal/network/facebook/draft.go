package facebook

import (
	"errors"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

// draft is what is kept of a publication.
type draft struct {
	Post    bool            `json:"facebook"` // tells a draft of this network from others
	Text    string          `json:"text"`
	Link    string          `json:"link,omitempty"` // shown with a preview
	Media   []network.Media `json:"media,omitempty"`
	Photos  []string        `json:"photos,omitempty"`  // ids of the photos, which nobody sees yet, in their order
	Video   string          `json:"video,omitempty"`   // id of the uploaded video
	Session string          `json:"session,omitempty"` // of its upload, which the commit ends
	Uploads int             `json:"uploads,omitempty"` // how often the video was uploaded
	Made    time.Time       `json:"made,omitzero"`     // when all was ready: the post is newer
}

var drafts = network.Drafts[draft]{Of: "a Facebook post", Foreign: draft.foreign, Prepared: draft.ready}

// Plan fixes the text, the link that is shown with a preview, and the media. What makes two submissions one is only
// known once the network has something of them.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	p := draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media}
	if links := network.Links(p.Text); len(links) > 0 && len(p.Media) == 0 {
		p.Link = links[0]
	}
	return drafts.Plan(p)
}

func (d draft) foreign() error {
	if !d.Post {
		return errors.New("the draft is not a Facebook post's")
	}
	return nil
}

func (d draft) ready() bool {
	if d.Made.IsZero() {
		return false
	}
	if d.isVideo() {
		return graph.IsID(d.Video) && d.Session != ""
	}
	return len(d.Photos) == len(d.Media)
}

func (d draft) isVideo() bool { return len(d.Media) == 1 && d.Media[0].Kind == network.Video }
