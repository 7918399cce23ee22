package delivery

import (
	"context"
	"fmt"
	"slices"

	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/restoreguard"
)

// applyOutcomes records the outcomes during the hold, with a transaction per post.
func (s *Service) applyOutcomes(ctx context.Context, state restoreguard.State, doubts []*candidate,
	series []post.OverdueSeries) error {
	of := map[string][]*candidate{}
	for _, d := range doubts {
		if d.Outcome != OutcomeWaits {
			of[d.PostID] = append(of[d.PostID], d)
		}
	}
	for _, id := range slices.Sorted(keysOf(of)) {
		err := s.whileHeld(ctx, "delivery.reckon", state, func(ctx context.Context, tx *db.Tx) error {
			return s.applyPostOutcomes(ctx, tx, of[id])
		})
		if err != nil {
			return fmt.Errorf("recording the outcome of post %s: %w", id, err)
		}
	}
	for _, b := range series {
		err := s.whileHeld(ctx, "delivery.pass_by", state, func(ctx context.Context, tx *db.Tx) error {
			return s.posts.SkipOverdue(ctx, tx, b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whileHeld writes only during the hold. Afterwards deliveries may be running.
func (s *Service) whileHeld(ctx context.Context, name string, state restoreguard.State,
	work func(context.Context, *db.Tx) error) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if err := restoreguard.CheckUnchanged(ctx, tx, state); err != nil {
			return err
		}
		return work(ctx, tx)
	})
}

func keysOf(of map[string][]*candidate) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range of {
			if !yield(id) {
				return
			}
		}
	}
}

// applyPostOutcomes records the outcomes of one post's accounts. A scheduled post without any result is left for its
// release.
func (s *Service) applyPostOutcomes(ctx context.Context, tx *db.Tx, doubts []*candidate) error {
	one, refused := doubts[0], ""
	if one.delivery.ID == "" {
		if !slices.ContainsFunc(doubts, func(d *candidate) bool { return d.Outcome != OutcomeGoesLate }) {
			return nil
		}
		handed, why, err := s.posts.ForceSubmit(ctx, tx, one.TeamID, one.PostID)
		if err != nil || !handed {
			return err
		}
		refused = why
	}
	under, err := s.listOpen(ctx, tx, ` AND d.post_id = ?`, one.PostID)
	if err != nil {
		return err
	}
	for _, d := range doubts {
		i := slices.IndexFunc(under, func(u delivery) bool { return u.AccountID == d.AccountID })
		if i < 0 || d.Outcome == OutcomeGoesLate && refused == "" {
			continue
		}
		if err := s.applyOutcome(ctx, tx, under[i], d, refused); err != nil {
			return err
		}
	}
	return nil
}

// applyOutcome ends a delivery with its outcome. One that would go out but is refused fails with that refusal.
func (s *Service) applyOutcome(ctx context.Context, tx *db.Tx, d delivery, of *candidate, refused string) error {
	// The new epoch invalidates the last holder's lease.
	err := tx.QueryRow(ctx, `UPDATE deliveries SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, d.ID).Scan(&d.Epoch)
	if err != nil {
		return fmt.Errorf("claiming delivery %s: %w", d.ID, err)
	}
	told, result, into := "published", post.Result{State: post.TargetPublished, PublishedAt: of.receipt.At,
		Permalink: of.receipt.Permalink, NetworkID: of.receipt.ID}, ended
	switch {
	case of.Outcome == OutcomeUnconfirmed:
		told, result = string(network.Uncertain), unconfirmedResult("")
	case of.Outcome == OutcomeGoesLate:
		told, result = "answered", failedResult(refused, "")
	case of.Outcome == OutcomeMissed:
		told, result = "answered", failedResult("missed_while_held", "")
	case result.Permalink == "" && result.NetworkID != "":
		into = linking
	default:
		finisher, err := s.finisher(ctx, tx, d.AccountID)
		if err != nil {
			return err
		}
		if finisher != nil {
			into = finishing // finds out which calls the post needs
		}
	}
	if result.State == post.TargetPublished && result.PublishedAt.IsZero() {
		result.PublishedAt = of.Due
	}
	if of.asked {
		now := db.Micros(tx.Now())
		_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result)
			VALUES (?, ?, 'resolve', ?, ?, ?)`, d.ID, d.Epoch, now, now, told)
		if err != nil {
			return fmt.Errorf("recording the lookup of %s: %w", d.ID, err)
		}
	}
	if err := recordResult(ctx, tx, s.posts, d, into, result); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, d.TeamID, auditlog.Actor{}, "post.account_reckoned", d.PostID,
		map[string]any{"account": d.AccountID, "fate": of.Outcome, "error_code": result.ErrorCode})
}
