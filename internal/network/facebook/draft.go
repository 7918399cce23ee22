package facebook

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

// Plan fixes the text, the link that is shown with a preview, and the media. What makes two submissions one is only
// known once the network has something of them.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	p := draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media}
	if links := network.Links(p.Text); len(links) > 0 && len(p.Media) == 0 {
		p.Link = links[0]
	}
	planned, err := p.write()
	if err != nil {
		return nil, fmt.Errorf("planning a Facebook post: %w", err)
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
		return draft{}, network.Unusable(errors.New("the draft is not a Facebook post's"))
	}
	return read, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, error) {
	read, err := readDraft(d)
	if err == nil && !read.ready() {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, err
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
