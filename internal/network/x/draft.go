package x

import (
	"errors"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const expiryMargin = time.Minute // an upload that expires within this time is replaced

// draft is the stored state of a publication.
type draft struct {
	IsX      bool            `json:"x"` // marks a draft of this network
	Text     string          `json:"text"`
	ReplyTo  string          `json:"reply_to,omitempty"` // ID of the post that this one replies to
	Root     string          `json:"root,omitempty"`     // ID of the first post of the thread
	Options  draftOptions    `json:"options,omitzero"`
	Media    []network.Media `json:"media,omitempty"`
	Uploads  []upload        `json:"uploads,omitempty"` // of the media, in order
	Restarts int             `json:"builds,omitempty"`  // number of restarts of the uploads
	// time of the first Prepare; older posts belong to other publications
	PreparedAt time.Time `json:"ready,omitzero"`
}

// upload is an uploaded image or video.
type upload struct {
	ID      string    `json:"id"`
	Done    bool      `json:"done,omitempty"`   // the network has processed the upload
	SentAt  time.Time `json:"made"`             // when its last byte was sent
	Expires time.Time `json:"expires,omitzero"` // when the network deletes the upload; zero if unknown
}

var drafts = network.DraftCodec[draft]{Kind: "an X post", Validate: draft.checkOrigin, IsPrepared: draft.isPrepared}

// Plan fixes the text, the media and the options.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	d := draft{IsX: true, Text: strings.ToValidUTF8(s.Content.Text, "\uFFFD"), Media: s.Content.Media}
	d.Options = newDraftOptions(postOptions(s.Content.Options))
	if s.Reply != nil {
		d.ReplyTo, d.Root = s.Reply.Parent, s.Reply.Root
	}
	return drafts.Plan(d)
}

func (d draft) checkOrigin() error {
	if !d.IsX {
		return errors.New("the draft is not for an X post")
	}
	if d.ReplyTo != "" && (!isID(d.ReplyTo) || !isID(d.Root)) {
		return errors.New("the draft replies to an invalid ID")
	}
	if d.Options.Quote != "" && !isID(d.Options.Quote) {
		return errors.New("the draft quotes an invalid ID")
	}
	for _, u := range d.Uploads {
		if !isID(u.ID) {
			return errors.New("the draft has an invalid media ID")
		}
	}
	return nil
}

// content returns the content that the draft publishes.
func (d draft) content() network.Content {
	return network.Content{Text: d.Text, Media: d.Media, Options: d.Options.original()}
}

func (d draft) isPrepared() bool { return !d.PreparedAt.IsZero() && len(d.Uploads) == len(d.Media) }

// hasExpiredMedia reports whether the network has deleted one of the uploads, or soon will.
func (d draft) hasExpiredMedia(now time.Time) bool {
	for _, u := range d.Uploads {
		if !u.Expires.IsZero() && now.Add(expiryMargin).After(u.Expires) {
			return true
		}
	}
	return false
}
