package linkedin

import (
	"errors"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// draft is the stored state of a publication.
type draft struct {
	draftOptions

	IsLinkedIn bool            `json:"linkedin"` // distinguishes drafts of different networks
	Text       string          `json:"text"`
	Media      []network.Media `json:"media,omitempty"`
	PlannedAt  time.Time       `json:"planned"`          // first submission; the post is not older
	Assets     []string        `json:"assets,omitempty"` // URNs of the media, in order, once all are uploaded
	UploadedAt time.Time       `json:"arrived,omitzero"`
	Waited     bool            `json:"rested,omitempty"` // waited once, because the app may not read the media's state
	Ready      bool            `json:"ready,omitempty"`
}

var drafts = network.DraftCodec[draft]{Kind: "a LinkedIn post", Validate: draft.validate, IsPrepared: draft.isPrepared}

// Plan fixes the text, the media and the options. The network supports no client-chosen keys.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	if s.Reply != nil {
		return network.PlanFirstComment(s)
	}
	return drafts.Plan(draft{
		IsLinkedIn: true, Text: strings.ToValidUTF8(s.Content.Text, "\uFFFD"), Media: s.Content.Media,
		PlannedAt: s.FirstSubmittedAt.UTC(), draftOptions: newDraftOptions(s.Content),
	})
}

func (d draft) validate() error {
	if !d.IsLinkedIn || !d.isValid() {
		return errors.New("the draft does not belong to LinkedIn")
	}
	return nil
}

func (d draft) isPrepared() bool {
	invalid := func(urn string) bool { return !isURN(urn, network.Image, network.Video) }
	return d.Ready && d.isComplete() && len(d.Assets) == len(d.Media) && !slices.ContainsFunc(d.Assets, invalid)
}
