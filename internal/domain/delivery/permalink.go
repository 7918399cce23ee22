package delivery

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// fetchPermalink looks up the permalink of a published post. If the network does not provide a permalink, the delivery
// ends without one.
func (a *attempt) fetchPermalink(ctx context.Context) error {
	callCtx, span := a.startCall(ctx, "network.permalink")
	permalink, err := a.net.Permalink(callCtx, a.grant.Grant, network.Receipt{ID: a.d.NetworkID})
	endCall(span, err)
	a.reportCall(ctx, "permalink", err)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.d.Lookups++
	if permalink == "" && a.d.Lookups < maxPermalinkLookups {
		if err != nil {
			a.s.log.InfoContext(ctx, "No permalink yet", "delivery", a.d.ID, "error", err)
		}
		return a.postpone(ctx, backoff(a.d.Lookups+2))
	}
	a.done = true
	err = a.s.db.InTx(ctx, "delivery.linked", func(ctx context.Context, tx *db.Tx) error {
		if err := updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = 'ended', permalink = ?, owner = '',
			lease_until = 0, wake_at = 0`, permalink); err != nil {
			return err
		}
		return a.s.posts.SetPermalink(ctx, tx, a.d.TeamID, a.d.PostID, a.d.AccountID, a.d.Part, permalink)
	})
	if err != nil {
		return fmt.Errorf("storing the permalink of %s: %w", a.d.ID, err)
	}
	return nil
}
