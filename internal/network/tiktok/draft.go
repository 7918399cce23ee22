package tiktok

import (
	"errors"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// draft is the stored state of a publication.
type draft struct {
	IsTikTok bool            `json:"tiktok"` // marks a draft of this network
	Text     string          `json:"text"`
	Title    string          `json:"title,omitempty"` // of photos
	Media    []network.Media `json:"media,omitempty"`

	Choices network.TikTokOptions `json:"choices,omitzero"`

	// who may see the post; empty until Prepare has checked the choices against the account's settings
	Privacy string `json:"privacy,omitempty"`

	CreatedAt   time.Time `json:"made,omitzero"`   // when the links or the upload were created
	LinksExpire time.Time `json:"until,omitzero"`  // when the links expire
	Links       []string  `json:"links,omitempty"` // of the photos, in order
	Upload      upload    `json:"upload,omitzero"` // of a video; for photos, only the ID is set, by Commit
	Restarts    int       `json:"builds,omitempty"`
}

// upload is an upload of a video in parts.
type upload struct {
	ID        string `json:"id"`  // publish_id, the network's ID of the publication
	URL       string `json:"url"` // a secret, because it works without a token
	Type      string `json:"type"`
	Size      int64  `json:"size"`  // bytes
	ChunkSize int64  `json:"chunk"` // bytes of each part except the last, which includes the remainder
	Parts     int64  `json:"parts"`
}

// newUpload divides a file into equal parts. As the network requires, the last part includes the remainder. Source:
// https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide.
func newUpload(file network.File, chunk int64) upload {
	u := upload{Type: file.Type, Size: file.Size, ChunkSize: chunk, Parts: file.Size / chunk}
	if u.Parts <= 1 {
		u.ChunkSize, u.Parts = file.Size, 1
	}
	return u
}

// partRange returns the offset and the size of part i in bytes.
func (u upload) partRange(i int64) (int64, int64) {
	from := i * u.ChunkSize
	if i == u.Parts-1 {
		return from, u.Size - from
	}
	return from, u.ChunkSize
}

var drafts = network.DraftCodec[draft]{Kind: "a TikTok post", Validate: draft.checkOrigin, IsPrepared: draft.isPrepared}

// Plan fixes the text, the title, the media and the choices. A repeated Commit of a video cannot create a second post,
// because Prepare stores the upload's ID.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	return drafts.Plan(draft{
		IsTikTok: true, Text: strings.ToValidUTF8(s.Content.Text, "\uFFFD"), Media: s.Content.Media,
		Title: strings.ToValidUTF8(s.Content.TitleOn(platform), "\uFFFD"), Choices: n.choicesFor(s.Content.Options),
	})
}

func (d draft) checkOrigin() error {
	if !d.IsTikTok {
		return errors.New("the draft is not for a TikTok post")
	}
	return nil
}

func (d draft) isPrepared() bool {
	if d.Privacy == "" || len(d.Media) == 0 {
		return false
	}
	if d.isVideo() {
		return d.Upload.ID != "" && d.Upload.Parts > 0
	}
	return len(d.Links) == len(d.Media)
}

func (d draft) isVideo() bool { return len(d.Media) > 0 && d.Media[0].Kind == network.Video }
