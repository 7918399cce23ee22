package post

import (
	"context"
	"fmt"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// SplitTargets returns which accounts of a post a copy can have, and which have been disconnected.
func (s *Service) SplitTargets(ctx context.Context, from Record) ([]int64, []Target, error) {
	ids := make([]int64, len(from.Targets))
	for i, t := range from.Targets {
		ids[i] = t.AccountID
	}
	found, err := s.accounts.Of(ctx, s.db, from.TeamID, ids)
	if err != nil {
		return nil, nil, err
	}
	kept, left := []int64{}, []Target{}
	for _, t := range from.Targets {
		if _, ok := found[t.AccountID]; ok {
			kept = append(kept, t.AccountID)
		} else {
			left = append(left, t)
		}
	}
	return kept, left, nil
}

// CopyFrom completes a draft that was created from another post's text, media and accounts: it copies overrides,
// video covers and options. A draft that has been changed since is left as it is, so CopyFrom may be repeated. It
// returns not_found for people who may not write in the team.
func (s *Service) CopyFrom(ctx context.Context, person int64, draft, original string) error {
	_, err := s.UpdateAs(ctx, person, draft, access.Write, "post.resemble", func(ctx context.Context, tx *db.Tx,
		call operation.Call, p *Record) error {
		if p.Status != Draft {
			return apierr.BadState(string(p.Status), "Only a draft can become a copy of another post.")
		}
		from, err := s.read(ctx, tx, call.TeamID, original, "")
		if err != nil || !p.UpdatedAt.Equal(p.CreatedAt) {
			return err
		}
		differs, err := s.copyOverrides(ctx, tx, *p, from)
		if optionsDiffer := setOptions(p, from.Options); err != nil || !differs && !optionsDiffer {
			return err
		}
		if err := Update(ctx, tx, p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.changed", p.ID,
			map[string]any{"changed": []string{"override", "cover", "options"}, "approval": p.Approval})
	})
	return err
}

// copyOverrides copies the overrides and covers of another post to a draft and reports whether there were any.
func (s *Service) copyOverrides(ctx context.Context, tx *db.Tx, draft, from Record) (bool, error) {
	differs := false
	for _, t := range draft.Targets {
		i := slices.IndexFunc(from.Targets, func(other Target) bool { return other.AccountID == t.AccountID })
		if i < 0 || from.Targets[i].Caption == nil && from.Targets[i].Media == nil {
			continue
		}
		differs = true
		t.Caption, t.Media = from.Targets[i].Caption, slices.DeleteFunc(slices.Clone(from.Targets[i].Media), isDeleted)
		if err := setOverride(ctx, tx, draft.ID, t); err != nil {
			return false, err
		}
	}
	for _, m := range from.Media {
		if m.Cover == 0 {
			continue
		}
		differs = true
		if _, err := tx.Exec(ctx, `UPDATE post_media SET cover_ms = ? WHERE post_id = ? AND media_id = ?`,
			m.Cover.Milliseconds(), draft.ID, m.ID); err != nil {
			return false, fmt.Errorf("copying the cover of a video: %w", err)
		}
	}
	return differs, nil
}
