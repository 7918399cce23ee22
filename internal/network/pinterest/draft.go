package pinterest

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxTitle = 100  // characters; the limits are from the reference of pins-create
	maxAlt   = 500  // characters
	maxLink  = 2048 // characters
)

// draft is the stored state of a publication.
type draft struct {
	draftOptions

	IsPinterest bool            `json:"pinterest"` // marks a draft of this network
	Text        string          `json:"text"`
	Media       []network.Media `json:"media,omitempty"`
	Video       string          `json:"video,omitempty"`  // the network's ID of the uploaded video
	UploadedAt  time.Time       `json:"made,omitzero"`    // when the video was uploaded
	Restarts    int             `json:"builds,omitempty"` // number of restarts of the upload
	// time of the first Prepare; older pins belong to other publications
	PreparedAt time.Time `json:"ready,omitzero"`
}

var drafts = network.DraftCodec[draft]{Kind: "a pin", Validate: draft.checkOrigin, IsPrepared: draft.isPrepared}

// Plan fixes the text, the media and the options.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	return drafts.Plan(draft{
		IsPinterest: true, Text: strings.ToValidUTF8(s.Content.Text, "\uFFFD"), Media: s.Content.Media,
		draftOptions: newDraftOptions(s.Content),
	})
}

func (d draft) checkOrigin() error {
	if !d.IsPinterest || d.Video != "" && !isID(d.Video) || d.SectionID != "" && !isID(d.SectionID) {
		return errors.New("the draft is not for a pin")
	}
	return nil
}

func (d draft) isPrepared() bool {
	return !d.PreparedAt.IsZero() && len(d.Media) > 0 && d.isVideo() == (d.Video != "") && d.hasSection()
}

// isVideo reports whether the pin shows a video.
func (d draft) isVideo() bool { return len(d.Media) == 1 && d.Media[0].Kind == network.Video }

// title returns the chosen title, or the text's first line, cut between words if it is too long.
func (d draft) title() string {
	if d.Title != "" {
		return d.Title
	}
	line, _, _ := strings.Cut(strings.TrimSpace(d.Text), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= maxTitle {
		return line
	}
	clipped := network.Clip(line, maxTitle-1)
	if end := strings.LastIndexFunc(clipped, unicode.IsSpace); end > len(clipped)/2 {
		clipped = strings.TrimSpace(clipped[:end])
	}
	return clipped + "…"
}

// link returns the URL to which the pin links: the chosen URL, or else the first URL in the text that Pinterest
// accepts, or else "".
func (d draft) link() string {
	if d.Link != "" {
		return d.Link
	}
	for _, link := range network.Links(d.Text) {
		if utf8.RuneCountInString(link) <= maxLink && network.WebURL(link) != "" {
			return link
		}
	}
	return ""
}

// altText returns the first alt text of the media, or "". A pin has only one alt text.
func (d draft) altText() string {
	for _, m := range d.Media {
		if m.Alt != "" {
			return network.Clip(m.Alt, maxAlt)
		}
	}
	return ""
}

// pin returns the body of the request that creates the pin.
func (d draft) pin(board string, source map[string]any) map[string]any {
	body := map[string]any{"board_id": board, "media_source": source}
	for name, text := range map[string]string{
		"title": d.title(), "description": d.Text, "link": d.link(), "alt_text": d.altText(),
		"board_section_id": d.SectionID,
	} {
		if text != "" {
			body[name] = text
		}
	}
	return body
}
