package tiktok

import (
	"errors"
	"strings"
	"time"

	"pressroom/internal/network"
)

// draft is what is kept of a publication.
type draft struct {
	Post  bool            `json:"tiktok"` // tells a draft of this network from others
	Text  string          `json:"text"`
	Media []network.Media `json:"media,omitempty"`

	// who may see it; empty until the network has said what it takes of the account
	Privacy   string `json:"privacy,omitempty"`
	NoComment bool   `json:"no_comment,omitempty"`
	NoDuet    bool   `json:"no_duet,omitempty"`
	NoStitch  bool   `json:"no_stitch,omitempty"`

	Made   time.Time `json:"made,omitzero"`   // when the links, or the place for the upload, were made
	Until  time.Time `json:"until,omitzero"`  // how long the links are good
	Links  []string  `json:"links,omitempty"` // of photos, in their order
	Upload upload    `json:"upload,omitzero"` // of a video; of photos the id alone, once they are committed
	Builds int       `json:"builds,omitempty"`
}

// upload is where a video goes.
type upload struct {
	ID    string `json:"id"`  // publish_id: what the network knows the post by
	URL   string `json:"url"` // takes the file from whoever knows it
	Type  string `json:"type"`
	Size  int64  `json:"size"`  // bytes
	Chunk int64  `json:"chunk"` // bytes of each part but the last, which has what is left
	Parts int64  `json:"parts"`
}

// newUpload cuts a file into parts as the network counts them: the last one has at least a part's size.
func newUpload(file network.File, chunk int64) upload {
	u := upload{Type: file.Type, Size: file.Size, Chunk: chunk, Parts: file.Size / chunk}
	if u.Parts <= 1 {
		u.Chunk, u.Parts = file.Size, 1
	}
	return u
}

// part is where a part begins and how long it is.
func (u upload) part(i int64) (int64, int64) {
	from := i * u.Chunk
	if i == u.Parts-1 {
		return from, u.Size - from
	}
	return from, u.Chunk
}

var drafts = network.Drafts[draft]{Of: "a TikTok post", Foreign: draft.foreign, Prepared: draft.ready}

// Plan fixes the text and the media. A video has one id at the network, which Prepare keeps.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	return drafts.Plan(draft{Post: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media})
}

func (d draft) foreign() error {
	if !d.Post {
		return errors.New("the draft is not a TikTok post's")
	}
	return nil
}

func (d draft) ready() bool {
	if d.Privacy == "" || len(d.Media) == 0 {
		return false
	}
	if d.isVideo() {
		return d.Upload.ID != "" && d.Upload.Parts > 0
	}
	return len(d.Links) == len(d.Media)
}

func (d draft) isVideo() bool { return len(d.Media) > 0 && d.Media[0].Kind == network.Video }
