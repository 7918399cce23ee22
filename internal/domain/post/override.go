package post

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const maxOverrideCaption = 10_000 // characters; CreateInput has the same limit

// Override is content that is published to one account instead of the post's text and media.
type Override struct {
	Caption *string // nil means the post's caption
	Media   []int64 // media IDs, in order; nil means the post's media, and an empty slice means no media
}

// Override sets the override of one account of a draft or scheduled post. It returns not_found if the person may not
// change the post or the team does not have the media.
func (s *Service) Override(
	ctx context.Context, person int64, postID string, account int64, o Override,
) (Record, error) {
	if o.Caption != nil && len([]rune(*o.Caption)) > maxOverrideCaption {
		return Record{}, apierr.Invalidf(apierr.TooLong, "caption", "A text may have at most %d characters.",
			maxOverrideCaption)
	}
	return s.edit(ctx, person, postID, "override", func(ctx context.Context, tx *db.Tx, p *Record) error {
		i := slices.IndexFunc(p.Targets, func(t Target) bool { return t.AccountID == account })
		if i < 0 {
			return apierr.ItemNotFound()
		}
		t := &p.Targets[i]
		t.Caption, t.Media = o.Caption, nil
		if o.Media != nil {
			wanted, err := s.library.ForPost(ctx, tx, p.TeamID, o.Media)
			if err != nil {
				return err
			}
			t.Media = attachment.CopyCovers(wanted, p.Media)
		}
		return setOverride(ctx, tx, p.ID, *t)
	})
}

// SetCover sets the time of the frame that is a video's cover. With 0, the network chooses the frame. Networks that
// do not accept a time ignore it.
func (s *Service) SetCover(ctx context.Context, person int64, postID string, video int64,
	at time.Duration) (Record, error) {
	return s.edit(ctx, person, postID, "cover", func(ctx context.Context, tx *db.Tx, p *Record) error {
		found := false
		for _, media := range append([][]network.Media{p.Media}, targetMedia(p.Targets)...) {
			for i := range media {
				if m := &media[i]; m.ID == video && m.Kind == network.Video {
					if at < 0 || m.Duration > 0 && at > m.Duration {
						return apierr.Invalid(apierr.OutOfRange, "cover", "The cover time is not within the video.")
					}
					found, m.Cover = true, at
				}
			}
		}
		if !found {
			return apierr.ItemNotFound()
		}
		return attachment.SetCover(ctx, tx, p.ID, video, at)
	})
}

func targetMedia(targets []Target) [][]network.Media {
	out := make([][]network.Media, len(targets))
	for i, t := range targets {
		out[i] = t.Media
	}
	return out
}

// edit changes a draft or scheduled post for a person, with the checks of PATCH /posts/{id}. An approved post needs
// approval again. Changing a scheduled post requires permission to publish.
func (s *Service) edit(ctx context.Context, person int64, postID, field string, apply func(context.Context, *db.Tx,
	*Record) error) (Record, error) {
	return s.UpdateAs(ctx, person, postID, access.Write, "post.edit", func(ctx context.Context, tx *db.Tx,
		call operation.Call, p *Record) error {
		if err := p.checkEditable(); err != nil {
			return err
		}
		if p.Status == Scheduled {
			if err := call.Require(access.Publish); err != nil {
				return err
			}
		}
		if err := apply(ctx, tx, p); err != nil {
			return err
		}
		return RecordChange(ctx, tx, call, p, []string{field})
	})
}

// RecordChange stores a changed post, requests approval again if necessary, and records the changed fields.
func RecordChange(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, fields []string) error {
	kind, err := reopenApproval(ctx, tx, p)
	if err != nil {
		return err
	}
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), kind, p.ID, map[string]any{"changed": fields,
		"approval": p.Approval})
}

// setOverride stores the override of a target.
func setOverride(ctx context.Context, tx *db.Tx, id string, t Target) error {
	if _, err := tx.Exec(ctx, `UPDATE post_targets SET caption = ?, has_media = ? WHERE post_id = ?
		AND account_id = ?`, t.Caption, db.BoolToInt(t.Media != nil), id, t.AccountID); err != nil {
		return fmt.Errorf("storing an override: %w", err)
	}
	return attachment.SetOverride(ctx, tx, id, t.AccountID, t.Media)
}

// setOverrides sets the accounts' overrides and reports whether they changed.
func setOverrides(ctx context.Context, tx *db.Tx, p *Record, targets []Target) (bool, error) {
	differs := false
	for i := range p.Targets {
		t, w := &p.Targets[i], targets[i]
		if t.sameOverride(w) {
			continue
		}
		differs = true
		t.Caption, t.Media = w.Caption, w.Media
		if err := setOverride(ctx, tx, p.ID, *t); err != nil {
			return false, err
		}
	}
	return differs, nil
}

// sameOverride reports whether two targets have the same override.
func (t Target) sameOverride(w Target) bool {
	return reflect.DeepEqual(t.Caption, w.Caption) && (t.Media == nil) == (w.Media == nil) && attachment.Same(t.Media, w.Media)
}
