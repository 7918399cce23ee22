package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// A submitted post cannot be changed. To edit content that a network rejected, a person creates an edited copy: a draft
// that takes over the failed accounts of the post. The original post and all its edited copies are a family.
//
// A copy uploads its media again, even if only the text differs. Several networks fix the text when an upload starts.
// Also, a delayed request of the original post could still publish a shared upload, so that two posts would appear.
//
// At most one post of a family publishes to an account. A post holds an account if the account's state in that post is
// not failed, or if a part of the post is published on the account. Other posts of the family cannot retry or add the
// account while it is held.

// FamilyID returns the ID of the family's original post.
func (p Record) FamilyID() string {
	if p.Replaces != "" {
		return p.Replaces
	}
	return p.ID
}

// Replace returns a draft that takes over the failed accounts of a post. It creates the draft unless one exists, and
// reports whether it did. It returns an error if the post still needs the client's approval.
func (s *Service) Replace(ctx context.Context, actor *access.Actor, id string) (Record, bool, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, false, err
	}
	var draft Record
	created := false
	err := s.db.InTx(ctx, "post.replace", func(ctx context.Context, tx *db.Tx) error {
		from, err := s.lockWithFamily(ctx, tx, call.TeamID, id)
		if err != nil {
			return err
		}
		draft, err = s.planReplacement(ctx, tx, from)
		if created = err == nil && draft.ID == ""; created {
			err = s.insertDraft(ctx, tx, call, "", &draft)
		}
		return err
	})
	return draft, created, err
}

// Replacement returns the draft that Replace would return. It does not create the draft. A draft that does not exist
// yet has no ID.
func (s *Service) Replacement(ctx context.Context, actor *access.Actor, id string) (Record, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, err
	}
	from, err := s.read(ctx, s.db, call.TeamID, id, "")
	if err != nil {
		return Record{}, err
	}
	return s.planReplacement(ctx, s.db, from)
}

// planReplacement returns the draft that holds one of the post's failed accounts, or a new draft without an ID if there
// is none.
func (s *Service) planReplacement(ctx context.Context, q db.Querier, from Record) (Record, error) {
	if from.Status != Failed && from.Status != PartiallyPublished {
		return Record{}, apierr.BadState(string(from.Status), "Only a post that failed can be edited and sent again.")
	}
	if err := from.checkApproved(); err != nil {
		return Record{}, err
	}
	held, err := s.HeldByOthers(ctx, q, from)
	if err != nil {
		return Record{}, err
	}
	failed := slices.DeleteFunc(slices.Clone(from.Targets), func(t Target) bool {
		return t.State != TargetFailed || t.IsIncomplete()
	})
	if existing, err := s.findDraftHolding(ctx, q, from.TeamID, failed, held); err != nil || existing.ID != "" {
		return existing, err
	}
	failed = slices.DeleteFunc(failed, func(t Target) bool { return held[t.AccountID] != "" })
	connected, _, err := s.splitTargets(ctx, q, from.TeamID, failed)
	if err != nil {
		return Record{}, err
	}
	if len(connected) == 0 {
		return Record{}, errNothingToReplace
	}
	draft := from.copyToDraft(connected)
	draft.Replaces = from.FamilyID()
	return draft, nil
}

var errNothingToReplace = apierr.BadState("accounts_missing",
	"You cannot create an edited copy, because none of the failed accounts is connected.")

// findDraftHolding returns a draft that holds one of the accounts, according to held, or a zero Record.
func (s *Service) findDraftHolding(ctx context.Context, q db.Querier, team int64, targets []Target,
	held map[int64]string) (Record, error) {
	for _, t := range targets {
		if held[t.AccountID] == "" {
			continue
		}
		if p, err := s.read(ctx, q, team, held[t.AccountID], ""); err != nil || p.Status == Draft {
			return p, err
		}
	}
	return Record{}, nil
}

// lockWithFamily locks the original post of a family and then the given post. This order serializes changes to posts of
// the same family.
func (s *Service) lockWithFamily(ctx context.Context, tx *db.Tx, team int64, id string) (Record, error) {
	var first string
	err := tx.QueryRow(ctx, `SELECT f.id FROM posts f WHERE f.team_id = ? AND f.id = (SELECT p.replaces FROM posts p
		WHERE p.id = ? AND p.team_id = ?)`+s.db.ForUpdate(), team, id, team).Scan(&first)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Record{}, fmt.Errorf("locking the first post of a family: %w", err)
	}
	return s.Lock(ctx, tx, team, id)
}

// HeldByOthers returns the accounts that other posts of the family hold. The map values are the IDs of those posts.
func (s *Service) HeldByOthers(ctx context.Context, q db.Querier, p Record) (map[int64]string, error) {
	type holding struct {
		account int64
		post    string
	}
	found, err := db.All(ctx, q, func(rows *sql.Rows, h *holding) error { return rows.Scan(&h.account, &h.post) },
		`SELECT t.account_id, t.post_id FROM post_targets t WHERE (t.state <> 'failed' OR t.published_at > 0)
		AND t.post_id <> ? AND t.post_id IN
		(SELECT ? UNION ALL SELECT id FROM posts WHERE replaces = ? AND replaces <> '')`, p.ID, p.FamilyID(), p.FamilyID())
	if err != nil {
		return nil, fmt.Errorf("reading which accounts the family of a post holds: %w", err)
	}
	out := map[int64]string{}
	for _, h := range found {
		out[h.account] = h.post
	}
	return out, nil
}

// checkNotHeld returns an error if another post of the family holds one of the accounts.
func (s *Service) checkNotHeld(ctx context.Context, q db.Querier, p Record, targets []Target) error {
	if p.Replaces == "" {
		return nil
	}
	held, err := s.HeldByOthers(ctx, q, p)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if held[t.AccountID] != "" {
			return apierr.Invalid(apierr.NotAllowedValue, "account_ids", fmt.Sprintf("The post that this one was "+
				"copied from, or another copy of it, is published or may be published on %s (%s). Remove the account, "+
				"so that nothing is published twice.", t.Platform, t.Username))
		}
	}
	return nil
}
