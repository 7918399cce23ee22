package post

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Duplicate creates a draft with the content of a post. It omits disconnected accounts and returns them. form is an
// arbitrary ID of the submitted form: a second call with the same form returns the draft of the first call.
func (s *Service) Duplicate(ctx context.Context, actor *access.Actor, form, id string) (Record, []Target, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, nil, err
	}
	var draft Record
	var omitted []Target
	err := s.db.InTx(ctx, "post.duplicate", func(ctx context.Context, tx *db.Tx) error {
		from, err := s.read(ctx, tx, call.TeamID, id, "")
		if err != nil {
			return err
		}
		var connected []Target
		if connected, omitted, err = s.splitTargets(ctx, tx, call.TeamID, from.Targets); err != nil {
			return err
		}
		if len(connected) == 0 {
			return errNoConnectedAccount
		}
		draft, err = s.insertCopy(ctx, tx, call, form, from.copyToDraft(connected))
		return err
	})
	return draft, omitted, err
}

var errNoConnectedAccount = apierr.BadState("accounts_missing",
	"The post cannot be duplicated, because none of its accounts is connected. Reconnect one of them under "+
		"Accounts, or select another account for this post first.")

// splitTargets returns the targets whose accounts are connected, and the targets whose accounts are disconnected.
func (s *Service) splitTargets(
	ctx context.Context, q db.Querier, team int64, targets []Target,
) ([]Target, []Target, error) {
	if len(targets) == 0 {
		return nil, nil, nil
	}
	found, err := s.accounts.ByID(ctx, q, team, accountIDs(targets))
	if err != nil {
		return nil, nil, err
	}
	var connected, disconnected []Target
	for _, t := range targets {
		if _, ok := found[t.AccountID]; ok {
			connected = append(connected, t)
		} else {
			disconnected = append(disconnected, t)
		}
	}
	return connected, disconnected, nil
}

// copyToDraft returns a draft with the post's content for the given targets. It omits deleted files.
func (p Record) copyToDraft(targets []Target) Record {
	draft := Record{TeamID: p.TeamID, Status: Draft, Caption: p.Caption, Title: p.Title, Excerpt: p.Excerpt, Approval: NotNeeded,
		Media: slices.DeleteFunc(slices.Clone(p.Media), attachment.IsDeleted), FirstComment: p.FirstComment, Labels: p.Labels,
		Options: p.Options, TeamOptions: p.TeamOptions}
	for _, m := range p.OptionMedia {
		if draft.OptionMedia = append(draft.OptionMedia, m); m.Gone {
			draft.Options = draft.Options.WithoutMedia(m.ID)
		}
	}
	for _, part := range p.Thread {
		part.Media = slices.DeleteFunc(slices.Clone(part.Media), attachment.IsDeleted)
		draft.Thread = append(draft.Thread, part)
	}
	for _, t := range targets {
		target := Target{AccountID: t.AccountID, Platform: t.Platform, NetworkAccountID: t.NetworkAccountID,
			Username: t.Username, Active: t.Active, State: TargetPending, Caption: t.Caption, Title: t.Title}
		if t.Media != nil {
			target.Media = append([]network.Media{}, slices.DeleteFunc(slices.Clone(t.Media), attachment.IsDeleted)...)
		}
		draft.Targets = append(draft.Targets, target)
	}
	return draft
}

// insertCopy stores a draft and returns it. If the form has already created a draft, it returns that draft instead.
func (s *Service) insertCopy(ctx context.Context, tx *db.Tx, call operation.Call, form string,
	draft Record) (Record, error) {
	id, err := s.findFormDraft(ctx, tx, call.TeamID, form)
	if err != nil {
		return Record{}, err
	}
	if id != "" {
		return s.read(ctx, tx, call.TeamID, id, "")
	}
	err = s.insertDraft(ctx, tx, call, form, &draft)
	return draft, err
}
