package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/db"
	"pressroom/internal/network"
)

const (
	readyWithin   = time.Hour       // how long a network may make ready what it was given
	decidedWithin = 2 * time.Hour   // how long it may work on what was committed before that counts as no answer
	longestRest   = time.Minute     // between two looks at what a network works on
	usualRest     = 5 * time.Second // where it does not say
	firstLink     = 2 * time.Second // after which a network is asked where a post stands
	maxLinks      = 8               // times it is asked
)

// notReady rests while the network makes ready what it was given. Where that takes too long nothing was shown.
func (f *flight) notReady(ctx context.Context, wait time.Duration) error {
	if f.s.db.Now().Sub(f.d.CreatedAt) > readyWithin {
		return f.finish(ctx, ended, failure("network_error", ""))
	}
	if err := f.save(ctx, "delivery.preparing"); err != nil {
		return err
	}
	return f.later(ctx, min(wait, longestRest))
}

// processing rests while the network works on what was committed.
func (f *flight) processing(ctx context.Context, err error) error {
	if f.d.Phase == doubtful || f.s.db.Now().Sub(f.d.CreatedAt) > decidedWithin {
		return f.lookAgain(ctx, err)
	}
	rest := usualRest
	if e, ok := errors.AsType[*network.Error](err); ok && !e.After.IsZero() {
		rest = max(time.Second, min(e.After.Sub(f.s.db.Now()), longestRest))
	}
	return f.later(ctx, rest)
}

// givenUp ends, or begins anew, what the network took and then gave up, by its reason.
func (f *flight) givenUp(ctx context.Context, err error) error {
	if f.d.Phase != doubtful {
		return f.refused(ctx, planned, err)
	}
	code := "network_error"
	switch classOf(err) { //nolint:exhaustive // every other class is one that may pass
	case network.Rejected, network.Unapproved:
		code = "rejected_content"
	case network.RejectedMedia:
		code = "rejected_media"
	case network.Duplicate:
		code = "duplicate_content"
	}
	return f.finish(ctx, ended, failure(code, messageOf(err)))
}

// link asks where a post stands that is published. However that goes, it stays published.
func (f *flight) link(ctx context.Context) error {
	permalink, err := f.net.Permalink(ctx, f.grant.Grant, network.Receipt{ID: f.d.NetworkID})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.d.Looks++
	if permalink == "" && f.d.Looks < maxLinks {
		if err != nil {
			f.s.log.InfoContext(ctx, "a network did not tell where a post stands", "delivery", f.d.ID, "error", err)
		}
		return f.later(ctx, pause(f.d.Looks+2))
	}
	f.done = true
	err = f.s.db.Write(ctx, "delivery.linked", func(ctx context.Context, tx *db.Tx) error {
		if err := fencedIn(ctx, tx, f.d, `UPDATE deliveries SET phase = 'ended', permalink = ?, owner = '', lease_until = 0, wake_at = 0`, permalink); err != nil {
			return err
		}
		return f.s.posts.Linked(ctx, tx, f.d.PostID, f.d.AccountID, permalink)
	})
	if err != nil {
		return fmt.Errorf("keeping where %s stands: %w", f.d.ID, err)
	}
	return nil
}
