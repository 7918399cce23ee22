package post

import (
	"context"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
)

// Move changes only the time of a draft or a scheduled post, or a draft's planned date, by the rules of Compose. A draft
// with a zero time and no date is no longer planned. Move returns the post as it was before and as it is now.
func (s *Service) Move(ctx context.Context, actor *access.Actor, postID string, seen, at time.Time, day string) (
	before, after Record, err error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return before, after, err
	}
	if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
		return before, after, apierr.Invalid(apierr.Malformed, "date", "Enter the date as 2026-03-29.").Wrap(err)
	}
	err = s.db.InTx(ctx, "post.move", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if before, err = s.Lock(ctx, tx, call.TeamID, postID); err != nil {
			return err
		}
		if err := before.checkMovableBy(call); err != nil {
			return err
		}
		if !before.UpdatedAt.Equal(seen) {
			return apierr.BadState("changed", "Somebody else changed this post in the meantime, so it was not moved.")
		}
		after = before
		wanted := before
		wanted.ScheduledAt, wanted.PlannedDay = at, day
		timeIsFree := before.Approval == Approved && before.Status == Draft && before.ScheduledAt.IsZero()
		return s.applyComposition(ctx, tx, call, &after, wanted, timeIsFree)
	})
	return before, after, err
}

// checkMovableBy returns why the caller may not change the post's time.
func (p Record) checkMovableBy(call operation.Call) error {
	if p.IsTemplate {
		return apierr.BadState("recurring_template", "The template of a series cannot be moved. Edit the series.")
	}
	return p.checkComposableBy(call)
}
