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

	"pressroom/internal/network"
)

const (
	collection   = "app.bsky.feed.post"
	createdAtFmt = "2006-01-02T15:04:05.000Z"
	maxLanguages = 3
)

// draft is what is kept of a publication. The record stays as it was written: the same bytes are sent by
// every attempt, also by a later version of this program that knows of more fields.
type draft struct {
	RKey     string          `json:"rkey"`
	Prepared bool            `json:"prepared"`
	Record   json.RawMessage `json:"record"`
	Media    []network.Media `json:"media,omitempty"` // still to be uploaded
}

// record is a post as the lexicon app.bsky.feed.post has it.
type record struct {
	Type      string   `json:"$type"`
	Text      string   `json:"text"`
	Langs     []string `json:"langs,omitempty"`
	Facets    []facet  `json:"facets,omitempty"`
	Embed     any      `json:"embed,omitempty"` // imagesEmbed or videoEmbed, when it is written
	CreatedAt string   `json:"createdAt"`
}

// Plan fixes the record's key, by the seed and the first time, its creation time, its text and its media. It fails
// on an empty seed and on a time that a key cannot hold (before 1970, after 2255).
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	rkey, err := recordKey(i.Seed, i.First)
	if err != nil {
		return nil, fmt.Errorf("planning a Bluesky post: %w", err)
	}
	return writeDraft(draft{RKey: rkey, Media: i.Content.Media}, record{
		Type: collection,
		// or the stored text and the facets' offsets would differ
		Text:      strings.ToValidUTF8(i.Content.Text, "\uFFFD"),
		Langs:     languages(i.Content.Languages),
		CreatedAt: i.At.UTC().Format(createdAtFmt),
	})
}

// Prepare adds what the server does not find by itself: links, tags and mentions; and it uploads the media. A
// Draft that is prepared comes back as it is. Until then what was uploaded is uploaded again by a repeat: blobs go by
// their content, so the server keeps one.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	given, rec, err := readDraft(d)
	if err != nil {
		return nil, 0, err
	}
	if given.Prepared {
		return d, 0, nil
	}
	rec.Facets, err = n.facets(ctx, g, rec.Text)
	if err != nil {
		return nil, 0, err
	}
	if len(given.Media) > 0 {
		rec.Embed, err = n.embed(ctx, g, given.Media, files)
	}
	if err != nil {
		return nil, 0, err
	}
	prepared, err := writeDraft(draft{RKey: given.RKey, Prepared: true}, rec)
	if err != nil {
		return nil, 0, network.Unusable(err)
	}
	return prepared, 0, nil
}

func writeDraft(d draft, rec record) (network.Draft, error) {
	var err error
	if d.Record, err = json.Marshal(rec); err != nil {
		return nil, fmt.Errorf("writing the record: %w", err)
	}
	written, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the draft: %w", err)
	}
	return written, nil
}

func readDraft(d network.Draft) (draft, record, error) {
	var read draft
	var rec record
	if err := json.Unmarshal(d, &read); err != nil {
		return draft{}, record{}, network.Unusable(fmt.Errorf("reading the draft: %w", err))
	}
	if err := json.Unmarshal(read.Record, &rec); err != nil {
		return draft{}, record{}, network.Unusable(fmt.Errorf("reading the draft's record: %w", err))
	}
	if !validTID.MatchString(read.RKey) || rec.Type != collection {
		return draft{}, record{}, network.Unusable(errors.New("the draft is not a Bluesky post's"))
	}
	return read, rec, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, record, error) {
	read, rec, err := readDraft(d)
	if err == nil && !read.Prepared {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, rec, err
}

// languageTag is well-formed BCP 47 as far as posts need it: language, script, region, variants.
var languageTag = regexp.MustCompile(
	`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*$`)

// languages keeps the first ones that the server takes: it refuses a whole post for one that it cannot read,
// and to the reader they are only a hint.
func languages(wanted []string) []string {
	var kept []string
	for _, tag := range wanted {
		if len(kept) < maxLanguages && languageTag.MatchString(tag) && !slices.Contains(kept, tag) {
			kept = append(kept, tag)
		}
	}
	return kept
}
