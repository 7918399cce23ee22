package delivery

import (
	"context"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// applyOutcomes records the outcomes during the hold, in one transaction per post.
func (s *Service) applyOutcomes(ctx context.Context, state restoreguard.State, candidates []*candidate,
	series []post.OverdueSeries) error {
	byPost := map[string][]*candidate{}
	for _, c := range candidates {
		if c.Outcome != OutcomePending {
			byPost[c.PostID] = append(byPost[c.PostID], c)
		}
	}
	for _, id := range slices.Sorted(keysOf(byPost)) {
		err := s.whileHeld(ctx, "delivery.reckon", state, func(ctx context.Context, tx *db.Tx) error {
			return s.applyPostOutcomes(ctx, tx, byPost[id])
		})
		if err != nil {
			return fmt.Errorf("recording the outcome of post %s: %w", id, err)
		}
	}
	for _, overdue := range series {
		err := s.whileHeld(ctx, "delivery.pass_by", state, func(ctx context.Context, tx *db.Tx) error {
			return s.posts.SkipOverdue(ctx, tx, overdue)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whileHeld runs a function in a transaction. It returns an error if the hold has ended, because deliveries may then be
// running.
func (s *Service) whileHeld(ctx context.Context, name string, state restoreguard.State,
	fn func(context.Context, *db.Tx) error) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if err := restoreguard.CheckUnchanged(ctx, tx, state); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func keysOf(byPost map[string][]*candidate) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range byPost {
			if !yield(id) {
				return
			}
		}
	}
}

// applyPostOutcomes records the outcomes of one post's accounts. It does not change a scheduled post that can be
// released normally.
func (s *Service) applyPostOutcomes(ctx context.Context, tx *db.Tx, candidates []*candidate) error {
	first, rejectionCode := candidates[0], ""
	if first.delivery.ID == "" {
		if !slices.ContainsFunc(candidates, func(c *candidate) bool { return c.Outcome != OutcomeSendLate }) {
			return nil
		}
		submitted, rejection, err := s.posts.ForceSubmit(ctx, tx, first.TeamID, first.PostID)
		if err != nil || !submitted {
			return err
		}
		rejectionCode = rejection
	}
	openDeliveries, err := s.listOpen(ctx, tx, ` AND d.post_id = ?`, first.PostID)
	if err != nil {
		return err
	}
	for _, c := range candidates {
		i := slices.IndexFunc(openDeliveries, func(u delivery) bool { return u.AccountID == c.AccountID })
		if i < 0 || c.Outcome == OutcomeSendLate && rejectionCode == "" {
			continue
		}
		if err := s.applyOutcome(ctx, tx, openDeliveries[i], c, rejectionCode); err != nil {
			return err
		}
	}
	return nil
}

// recordLookup records that a delivery's post was looked up on the network.
func recordLookup(ctx context.Context, tx *db.Tx, d delivery, result string) error {
	now := db.Micros(tx.Now())
	_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result)
		VALUES (?, ?, 'resolve', ?, ?, ?)`, d.ID, d.Epoch, now, now, result)
	if err != nil {
		return fmt.Errorf("recording the lookup of %s: %w", d.ID, err)
	}
	return nil
}

// phaseAfterPublishing returns the phase of a delivery whose post is published. Comments need no permalink, and only
// the post itself may need further calls.
func (s *Service) phaseAfterPublishing(ctx context.Context, tx *db.Tx, d delivery, result post.Result) (phase, error) {
	switch {
	case result.Permalink == "" && result.NetworkID != "" && d.Part != comment.Part:
		return phaseLinking, nil
	case d.Part != 0:
		return phaseEnded, nil
	}
	finisher, err := s.finisher(ctx, tx, d.AccountID)
	if err != nil || finisher == nil {
		return phaseEnded, err
	}
	return phaseFinishing, nil // In this phase, the delivery finds out which calls the post needs.
}

// applyOutcome ends a delivery with the outcome of a candidate. rejectionCode is the error code for a candidate that
// would otherwise be sent now. It may be empty.
func (s *Service) applyOutcome(ctx context.Context, tx *db.Tx, d delivery, c *candidate, rejectionCode string) error {
	// The new epoch invalidates the last holder's lease.
	err := tx.QueryRow(ctx, `UPDATE deliveries SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, d.ID).Scan(&d.Epoch)
	if err != nil {
		return fmt.Errorf("claiming delivery %s: %w", d.ID, err)
	}
	lookupResult, result, newPhase := "published", post.Result{State: post.TargetPublished, PublishedAt: c.receipt.At,
		Permalink: c.receipt.Permalink, NetworkID: c.receipt.ID}, phaseEnded
	switch c.Outcome {
	case OutcomeUnconfirmed:
		lookupResult, result = string(network.OutcomeUnknown), unconfirmedResult("")
	case OutcomeSendLate:
		lookupResult, result = "answered", failedResult(rejectionCode, "")
	case OutcomeMissed:
		lookupResult, result = "answered", failedResult("missed_while_held", "")
	default:
		if newPhase, err = s.phaseAfterPublishing(ctx, tx, d, result); err != nil {
			return err
		}
	}
	if result.State == post.TargetPublished && result.PublishedAt.IsZero() {
		result.PublishedAt = c.DueAt
	}
	if c.lookedUp {
		if err := recordLookup(ctx, tx, d, lookupResult); err != nil {
			return err
		}
	}
	// The other installation may have published the next part too.
	if err := endThread(ctx, tx, s.posts, d, newPhase, result, unconfirmedResult("")); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, d.TeamID, auditlog.Actor{}, "post.account_reckoned", d.PostID,
		map[string]any{"account": d.AccountID, "fate": c.Outcome, "error_code": result.ErrorCode})
}
