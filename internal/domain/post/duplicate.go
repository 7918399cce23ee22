package post

import (
	"context"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// Duplicate creates a draft with the content of a post and returns it with the accounts that were left out because
// they are disconnected. A form, identified by any text, creates one draft: sent again it returns that draft.
func (s *Service) Duplicate(ctx context.Context, actor *access.Actor, form, id string) (Record, []Target, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, nil, err
	}
	var made Record
	var left []Target
	err := s.db.InTx(ctx, "post.duplicate", func(ctx context.Context, tx *db.Tx) error {
		from, err := s.read(ctx, tx, call.TeamID, id, "")
		if err != nil {
			return err
		}
		var kept []Target
		if kept, left, err = s.splitTargets(ctx, tx, call.TeamID, from.Targets); err != nil {
			return err
		}
		if len(kept) == 0 {
			return errNoneConnected
		}
		made, err = s.insertCopy(ctx, tx, call, form, from.copyFor(kept))
		return err
	})
	return made, left, err
}

var errNoneConnected = apierr.BadState("accounts_missing",
	"The post cannot be duplicated, because none of its accounts is connected. Reconnect one of them under "+
		"Accounts, or select another account for this post first.")

// splitTargets returns which accounts a copy can have, and which have been disconnected.
func (s *Service) splitTargets(
	ctx context.Context, q db.Querier, team int64, targets []Target,
) ([]Target, []Target, error) {
	if len(targets) == 0 {
		return nil, nil, nil
	}
	ids := make([]int64, len(targets))
	for i, t := range targets {
		ids[i] = t.AccountID
	}
	found, err := s.accounts.Of(ctx, q, team, ids)
	if err != nil {
		return nil, nil, err
	}
	var kept, left []Target
	for _, t := range targets {
		if _, ok := found[t.AccountID]; ok {
			kept = append(kept, t)
		} else {
			left = append(left, t)
		}
	}
	return kept, left, nil
}

// copyFor returns a draft with the post's content for some of its accounts, without deleted files.
func (p Record) copyFor(targets []Target) Record {
	draft := Record{TeamID: p.TeamID, Status: Draft, Caption: p.Caption, Excerpt: p.Excerpt, Approval: NotNeeded,
		Media: slices.DeleteFunc(slices.Clone(p.Media), isDeleted), Options: p.Options}
	for _, t := range targets {
		own := Target{AccountID: t.AccountID, Platform: t.Platform, Username: t.Username, Active: t.Active,
			State: TargetPending, Caption: t.Caption}
		if t.Media != nil {
			own.Media = append([]network.Media{}, slices.DeleteFunc(slices.Clone(t.Media), isDeleted)...)
		}
		draft.Targets = append(draft.Targets, own)
	}
	return draft
}

// insertCopy stores a draft, unless the form has created one already.
func (s *Service) insertCopy(ctx context.Context, tx *db.Tx, call operation.Call, form string,
	draft Record) (Record, error) {
	id, err := s.draftOf(ctx, tx, call.TeamID, form)
	if err != nil {
		return Record{}, err
	}
	if id != "" {
		return s.read(ctx, tx, call.TeamID, id, "")
	}
	err = s.insertDraft(ctx, tx, call, form, &draft)
	return draft, err
}
