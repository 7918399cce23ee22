package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

const (
	readyWithin   = time.Hour       // how long a network may make ready what it was given
	decidedWithin = 2 * time.Hour   // how long it may work on what was committed before that counts as no answer
	longestRest   = time.Minute     // between two looks at what a network works on
	usualRest     = 5 * time.Second // where it does not say
	firstLink     = 2 * time.Second // after which a network is asked where a post stands
	maxLinks      = 8               // times it is asked
	// How long a delivery rests in all while its network fails, about as long as a person would try again by hand.
	patience = 30 * time.Minute
)

// The marks of a delivery that rests, among its attempts.
const (
	resting = "rest"             // the call
	noWord  = "network_fails"    // its result meanwhile
	gaveUp  = "patience_is_over" // and in the end
)

// rest gives the delivery back while its network fails, which is no try of its own. But a post that is out of date when
// the network comes back should not surprise anybody.
func (f *flight) rest(ctx context.Context, wait time.Duration) error {
	err := f.s.db.InTx(ctx, "delivery.rest", func(ctx context.Context, tx *db.Tx) error {
		id, since, err := resters(ctx, tx, f.d)
		if err != nil {
			return err
		}
		if tx.Now().Sub(since) < patience {
			return f.later(ctx, wait)
		}
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ? WHERE id = ?`, db.Micros(tx.Now()), gaveUp, id); err != nil {
			return fmt.Errorf("noting that %s rests no more: %w", f.d.ID, err)
		}
		return f.finish(ctx, ended, failure("network_error", ""))
	})
	if err != nil {
		return fmt.Errorf("resting %s: %w", f.d.ID, err)
	}
	return nil
}

// resters finds the attempt that says since when a delivery rests, or writes it. A call that the network answered ends
// a rest.
func resters(ctx context.Context, tx *db.Tx, d delivery) (int64, time.Time, error) {
	var id, since int64
	err := tx.QueryRow(ctx, `SELECT id, started_at FROM delivery_attempts WHERE delivery_id = ? AND call = ? AND id >
		(SELECT COALESCE(MAX(id), 0) FROM delivery_attempts WHERE delivery_id = ? AND call <> ? AND result NOT IN ('', ?, ?)) ORDER BY id LIMIT 1`,
		d.ID, resting, d.ID, resting, string(network.Transient), string(network.Uncertain)).Scan(&id, &since)
	if errors.Is(err, sql.ErrNoRows) {
		since = db.Micros(tx.Now())
		err = tx.QueryRow(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, result) VALUES (?, ?, ?, ?, ?) RETURNING id`, d.ID, d.Epoch, resting, since, noWord).Scan(&id)
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("noting that %s rests: %w", d.ID, err)
	}
	return id, db.Time(since), nil
}

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
	code := cmp.Or(refusals[classOf(err)], "network_error") // every other class is one that may pass
	return f.finish(ctx, ended, failure(code, messageOf(err)))
}

// link asks where a post stands that is published. However that goes, it stays published.
func (f *flight) link(ctx context.Context) error {
	calling, span := f.calls(ctx, "network.permalink")
	permalink, err := f.net.Permalink(calling, f.grant.Grant, network.Receipt{ID: f.d.NetworkID})
	endCall(span, err)
	f.called(ctx, "permalink", err)
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
	err = f.s.db.InTx(ctx, "delivery.linked", func(ctx context.Context, tx *db.Tx) error {
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
