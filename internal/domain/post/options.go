package post

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"pressroom/internal/apierr"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// encodeOptions returns options as stored: JSON, or "" for none.
func encodeOptions(o network.Options) (string, error) {
	if o.IsZero() {
		return "", nil
	}
	encoded, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encoding a post's options: %w", err)
	}
	return string(encoded), nil
}

func decodeOptions(stored string) (network.Options, error) {
	var o network.Options
	if stored == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(stored), &o); err != nil {
		return o, fmt.Errorf("decoding a post's options: %w", err)
	}
	return o, nil
}

// checkThumbnail returns an error if the library has no image of the ID that was chosen as a thumbnail.
func (s *Service) checkThumbnail(ctx context.Context, q db.Querier, team int64, o network.Options) error {
	if o.YouTube == nil || o.YouTube.ThumbnailMediaID == 0 {
		return nil
	}
	found, err := s.library.ForPost(ctx, q, team, []int64{o.YouTube.ThumbnailMediaID})
	if refused, ok := errors.AsType[*apierr.Error](err); ok && refused.Code == apierr.NotFound {
		return apierr.Missing().With("argument", "options.youtube.thumbnail_media_id")
	}
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0].Kind != network.Image {
		return apierr.Invalid(apierr.NotAllowedValue, "options.youtube.thumbnail_media_id", "A thumbnail must be an image.")
	}
	return nil
}

// changeOptions changes a post's options and reports whether they differ.
func (s *Service) changeOptions(ctx context.Context, tx *db.Tx, p *Record, o network.Options) (bool, error) {
	if err := s.checkThumbnail(ctx, tx, p.TeamID, o); err != nil {
		return false, err
	}
	return setOptions(p, o), nil
}

// setOptions changes a post's options and reports whether they differ.
func setOptions(p *Record, o network.Options) bool {
	differs := !reflect.DeepEqual(p.Options, o)
	p.Options = o
	return differs
}

// inboxNotes says that a post in an inbox mode is not public yet.
func (p Record) inboxNotes() []string {
	if p.Options.TikTok == nil || p.Options.TikTok.Mode != network.TikTokInbox {
		return nil
	}
	for _, t := range p.Targets {
		if t.Platform == "tiktok" && t.State == TargetPublished {
			return []string{"On TikTok the post is in the account's inbox. It becomes visible once a person completes it in " +
				"the TikTok app."}
		}
	}
	return nil
}
