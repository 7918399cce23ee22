package post

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

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

// findOverrides sets the overrides of targets. It returns not_found if the team does not have the media.
func (s *Service) findOverrides(ctx context.Context, q db.Querier, team int64, targets []Target,
	overrides map[int64]override.Override) error {
	for i := range targets {
		t := &targets[i]
		o := overrides[t.AccountID]
		if o.Title != nil {
			o.Title = new(caption.Line(*o.Title))
		}
		if t.Caption, t.Title, t.Media = o.Caption, o.Title, nil; o.Media == nil {
			continue
		}
		var err error
		if t.Media, err = s.library.ForPost(ctx, q, team, o.Media); err != nil {
			return err
		}
	}
	return nil
}

// applyOverrides sets the overrides of targets from an operation's argument.
func (s *Service) applyOverrides(ctx context.Context, q db.Querier, team int64, targets []Target,
	in []override.PostOverride) error {
	overrides, err := override.ByAccount(in, accountIDs(targets))
	if err != nil {
		return err
	}
	return override.NameArgument(s.findOverrides(ctx, q, team, targets, overrides))
}

// changeOverrides replaces the overrides of all accounts and reports whether they changed.
func (s *Service) changeOverrides(ctx context.Context, tx *db.Tx, p *Record, in []override.PostOverride) (bool, error) {
	before, targets := p.AllMedia(), slices.Clone(p.Targets)
	if err := s.applyOverrides(ctx, tx, p.TeamID, targets, in); err != nil {
		return false, err
	}
	for _, t := range targets {
		attachment.CopyCovers(t.Media, before)
	}
	return setOverrides(ctx, tx, p, targets)
}

func accountIDs(targets []Target) []int64 {
	ids := make([]int64, len(targets))
	for i, t := range targets {
		ids[i] = t.AccountID
	}
	return ids
}

// setOverride stores the override of a target.
func setOverride(ctx context.Context, tx *db.Tx, id string, t Target) error {
	if _, err := tx.Exec(ctx, `UPDATE post_targets SET caption = ?, title = ?, has_media = ? WHERE post_id = ?
		AND account_id = ?`, t.Caption, t.Title, db.BoolToInt(t.Media != nil), id, t.AccountID); err != nil {
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
		t.Caption, t.Title, t.Media = w.Caption, w.Title, w.Media
		if err := setOverride(ctx, tx, p.ID, *t); err != nil {
			return false, err
		}
	}
	return differs, nil
}

// sameOverride reports whether two targets have the same override.
func (t Target) sameOverride(w Target) bool {
	return reflect.DeepEqual(t.Caption, w.Caption) && reflect.DeepEqual(t.Title, w.Title) && (t.Media == nil) == (w.Media == nil) &&
		attachment.Same(t.Media, w.Media)
}

// keepTitles sets the titles of a post and of its overrides to the titles in another version.
func keepTitles(p *Record, from Record) {
	p.Title = from.Title
	for i := range p.Targets {
		for _, t := range from.Targets {
			if t.AccountID == p.Targets[i].AccountID {
				p.Targets[i].Title = t.Title
			}
		}
	}
}
