package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	postCollection  = "app.bsky.feed.post"
	createdAtLayout = "2006-01-02T15:04:05.000Z"
	maxLanguages    = 3
)

// draft is the stored state of a publication. Record is the encoded record of the first attempt. Every attempt sends
// the same bytes, even if a later version of this package encodes more fields.
type draft struct {
	RKey     string          `json:"rkey"`
	Prepared bool            `json:"prepared"`
	Record   json.RawMessage `json:"record"`
	Media    []network.Media `json:"media,omitempty"` // to be uploaded
	Job      string          `json:"job,omitempty"`   // ID of the video service's job
	Uploads  int             `json:"uploads,omitempty"`
	Direct   bool            `json:"direct,omitempty"`  // upload to the account's server, not the video service
	Reply    *network.Reply  `json:"reply,omitempty"`   // until Prepare stores it in the record
	Options  *draftOptions   `json:"options,omitempty"` // until Prepare stores them in the record and the gates
	Gates    []gate          `json:"gates,omitempty"`   // created together with the post
}

// draftOptions are the options that Prepare applies.
type draftOptions struct {
	LinkCard      *network.BlueskyOptionsLinkCard `json:"link_card,omitempty"`
	QuoteURL      string                          `json:"quote_url,omitempty"`
	ReplySettings []string                        `json:"reply_settings,omitempty"`
	DisableQuotes bool                            `json:"disable_quotes,omitempty"`
}

// record is a post (lexicon app.bsky.feed.post).
type record struct {
	Type      string      `json:"$type"`
	Text      string      `json:"text"`
	Langs     []string    `json:"langs,omitempty"`
	Facets    []facet     `json:"facets,omitempty"`
	Embed     any         `json:"embed,omitempty"` // an imagesEmbed, videoEmbed, externalEmbed or similar when encoding
	Labels    *selfLabels `json:"labels,omitempty"`
	Reply     *reply      `json:"reply,omitempty"`
	CreatedAt string      `json:"createdAt"`
}

// Plan fixes the record's key (from the seed and the first submission), its creation time, its text and its media. It
// returns an error for an empty seed and for a time before 1970 or after 2255, which a key cannot represent.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	rkey, err := recordKey(s.Seed, s.FirstSubmittedAt)
	if err != nil {
		return nil, fmt.Errorf("planning a Bluesky post: %w", err)
	}
	o := postOptions(s.Content.Options)
	if len(o.Languages) > 0 {
		s.Content.Languages = o.Languages
	}
	return writeDraft(draft{RKey: rkey, Media: s.Content.Media, Reply: s.Reply, Options: newDraftOptions(o)}, record{
		Type: postCollection,
		// invalid UTF-8 would shift the facets' offsets in the stored text
		Text:      strings.ToValidUTF8(s.Content.Text, "\uFFFD"),
		Langs:     validLanguages(s.Content.Languages),
		Labels:    newLabels(o.Labels),
		CreatedAt: s.At.UTC().Format(createdAtLayout),
	})
}

// Prepare uploads the media and marks the links, tags and mentions of the text, because the server does not detect
// them. It returns a prepared Draft unchanged. If an earlier call did not complete, Prepare uploads the media again.
// The server stores only one copy, because blobs are addressed by content.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	prev, rec, err := readDraft(d)
	if err != nil {
		return nil, 0, err
	}
	if prev.Prepared {
		return d, 0, nil
	}
	wait, next := time.Duration(0), draft{RKey: prev.RKey, Prepared: true}
	if len(prev.Media) > 0 {
		rec.Embed, wait, err = n.embedMedia(ctx, g, &prev, files)
	}
	if wait > 0 {
		rec.Embed, next = nil, prev
	} else if err == nil {
		rec.Facets, err = n.detectFacets(ctx, g, rec.Text)
	}
	if prev.Reply != nil && wait == 0 && err == nil {
		rec.Reply, err = n.findReply(ctx, g, *prev.Reply)
	}
	if prev.Options != nil && wait == 0 && err == nil {
		rec.Embed, next.Gates, err = n.applyOptions(ctx, g, prev, rec, files)
	}
	if err != nil {
		return nil, 0, err
	}
	encoded, err := writeDraft(next, rec)
	if err != nil {
		return nil, 0, network.PermanentError(err)
	}
	return encoded, wait, nil
}

func writeDraft(d draft, rec record) (network.Draft, error) {
	var err error
	if d.Record, err = json.Marshal(rec); err != nil {
		return nil, fmt.Errorf("writing the record: %w", err)
	}
	encoded, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the draft: %w", err)
	}
	return encoded, nil
}

func readDraft(d network.Draft) (draft, record, error) {
	var out draft
	var rec record
	if err := json.Unmarshal(d, &out); err != nil {
		return draft{}, record{}, network.PermanentError(fmt.Errorf("reading the draft: %w", err))
	}
	if err := json.Unmarshal(out.Record, &rec); err != nil {
		return draft{}, record{}, network.PermanentError(fmt.Errorf("reading the draft's record: %w", err))
	}
	if !validTID.MatchString(out.RKey) || rec.Type != postCollection {
		return draft{}, record{}, network.PermanentError(errors.New("the draft is not for a Bluesky post"))
	}
	return out, rec, nil
}

// readPrepared returns the draft and its record, or an error if Prepare has not completed.
func readPrepared(d network.Draft) (draft, record, error) {
	out, rec, err := readDraft(d)
	if err == nil && !out.Prepared {
		err = network.PermanentError(errors.New("the draft has not been prepared"))
	}
	return out, rec, err
}

// languageTag matches the BCP 47 tags that posts can have: language, script, region and variants.
var languageTag = regexp.MustCompile(
	`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*$`)

// validLanguages returns the first valid tags, at most 3. The server rejects a post with an invalid tag, and
// languages are only a hint to readers.
func validLanguages(requested []string) []string {
	var valid []string
	for _, tag := range requested {
		if len(valid) < maxLanguages && languageTag.MatchString(tag) && !slices.Contains(valid, tag) {
			valid = append(valid, tag)
		}
	}
	return valid
}
