package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

const (
	renewInterval         = time.Minute        // how often it is looked for grants that are due
	minRetry              = 5 * time.Minute    // at least, after a failure that may pass
	maxRetry              = 6 * time.Hour      // at most, unless the network names a time
	maxPostpone           = 24 * time.Hour     // at most, whatever time it names
	retriesPerLife        = 20                 // of those that fail, about so many fit into the life that is left
	maxConcurrentRenewals = 8                  // grants that one node renews at the same time
	renewBatch            = 100                // grants of one round
	expiryWarning         = 7 * 24 * time.Hour // before its end a connection is expiring
	longLived             = 24 * time.Hour     // what lives longer is renewed days ahead
	shortAhead            = 10 * time.Minute   // what lives shorter is renewed so long ahead
)

// renewAt is when a grant is renewed: with half of its life left, with a day left where that is earlier, and short
// before its end where it lives for less; never where its network does not say when it ends.
func renewAt(g network.Grant, now time.Time) time.Time {
	if g.Expires.IsZero() {
		return time.Time{}
	}
	life := max(0, g.Expires.Sub(now))
	ahead := min(shortAhead, life/2)
	if life > longLived {
		ahead = max(longLived, life/2)
	}
	at := g.Expires.Add(-ahead)
	if soonest := now.Add(renewInterval); at.Before(soonest) {
		return soonest
	}
	return at
}

// endsAt is when a grant is over if no person renews it; zero for never. What has no refresh token ends with its access.
func endsAt(g network.Grant) time.Time {
	switch {
	case g.Refresh == "":
		return g.Expires
	case !g.RefreshExpires.IsZero() && g.Expires.After(g.RefreshExpires):
		return g.Expires
	}
	return g.RefreshExpires
}

func connectionState(g network.Grant, now time.Time) Connection {
	if at := endsAt(g); !at.IsZero() && at.Sub(now) <= expiryWarning {
		return Expiring
	}
	return Connected
}

// Run renews grants before they end, notes which connections are about to end or have, and tells networks of grants that are
// taken back, until the context ends.
func (s *Service) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(renewInterval)
	defer tick.Stop()
	for {
		if err := s.Renew(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Renew is one round of Run. What a network refuses or cannot answer now is no error: it is asked again later.
func (s *Service) Renew(ctx context.Context) error {
	now := s.db.Now()
	return errors.Join(
		s.forEachDue(ctx, s.markExpiring, `SELECT id FROM social_accounts WHERE ends_at > 0 AND ends_at <= ? AND connection_state = 'connected' ORDER BY ends_at LIMIT ?`, db.Micros(now.Add(expiryWarning))),
		s.forEachDue(ctx, s.renew, `SELECT id FROM social_accounts WHERE refresh_at > 0 AND refresh_at <= ? AND connection_state <> 'lost' ORDER BY refresh_at LIMIT ?`, db.Micros(now)),
		s.forEachDue(ctx, s.retryRevocation, `SELECT id FROM grant_revocations WHERE next_at > 0 AND next_at <= ? ORDER BY next_at LIMIT ?`, db.Micros(now)),
		s.forEachDue(ctx, s.markEnded, `SELECT id FROM social_accounts WHERE ends_at > 0 AND ends_at <= ? AND connection_state <> 'lost' ORDER BY ends_at LIMIT ?`, db.Micros(now)),
	)
}

// forEachDue does something with a round's accounts, a few at a time.
func (s *Service) forEachDue(ctx context.Context, do func(context.Context, int64) error, query string, until int64) error {
	ids, err := db.All(ctx, s.db, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) }, query, until, renewBatch)
	if err != nil {
		return fmt.Errorf("looking for grants that are due: %w", err)
	}
	var working sync.WaitGroup
	places, failed := make(chan struct{}, maxConcurrentRenewals), make([]error, len(ids))
	for i, id := range ids {
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			failed[i] = do(ctx, id)
		})
	}
	working.Wait()
	return errors.Join(failed...)
}

func (s *Service) markExpiring(ctx context.Context, account int64) error {
	return s.db.InTx(ctx, "social.warn", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		err := tx.QueryRow(ctx, `UPDATE social_accounts SET connection_state = ?, updated_at = ? WHERE id = ? AND connection_state = ? AND ends_at > 0 AND ends_at <= ? RETURNING team_id`,
			string(Expiring), db.Micros(tx.Now()), account, string(Connected), db.Micros(tx.Now().Add(expiryWarning))).Scan(&team)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // renewed at this moment
		}
		if err != nil {
			return fmt.Errorf("noting that account %d expires: %w", account, err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "social_account.expiring", strconv.FormatInt(account, 10), nil)
	})
}

// renew renews one grant, if no other node is at it.
func (s *Service) renew(ctx context.Context, account int64) error {
	g, err := s.Grant(ctx, account)
	if err != nil || g.Lost {
		return err
	}
	mine, err := s.lockRefresh(ctx, account, g.Version)
	if err != nil || !mine {
		return err
	}
	err = s.exchangeGrant(ctx, account, g)
	switch {
	case err == nil:
		return nil
	case isDead(err) && g.Refresh == "" && s.db.Now().Before(g.Expires):
		return s.postpone(ctx, account, g.Version, time.Time{}) // it cannot be renewed and works until its end
	case isDead(err):
		return s.markLost(ctx, account, g.Version, "refused")
	}
	var after time.Time
	if failed, theirs := errors.AsType[*network.Error](err); theirs {
		after, err = failed.After, nil
	}
	return errors.Join(err, s.postpone(ctx, account, g.Version, retryAt(g.Grant, after, s.db.Now())))
}

// retryAt is when a refresh that failed is tried again: not before the network wants it.
func retryAt(g network.Grant, after, now time.Time) time.Time {
	at := now.Add(max(minRetry, min(g.Expires.Sub(now)/retriesPerLife, maxRetry)))
	if after.After(at) {
		at = after
	}
	if latest := now.Add(maxPostpone); at.After(latest) {
		return latest
	}
	return at
}

// postpone gives a refresh up until a time, for good where that is zero.
func (s *Service) postpone(ctx context.Context, account, version int64, until time.Time) error {
	return s.db.InTx(context.WithoutCancel(ctx), "social.postpone", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0, refresh_at = ? WHERE id = ? AND grant_version = ?`, db.Micros(until), account, version)
		if err != nil {
			return fmt.Errorf("putting off the refresh of account %d: %w", account, err)
		}
		return nil
	})
}

// markEnded loses a connection whose grant has ended.
func (s *Service) markEnded(ctx context.Context, account int64) error {
	g, err := s.Grant(ctx, account)
	if at := endsAt(g.Grant); err != nil || at.IsZero() || s.db.Now().Before(at) {
		return err
	}
	return s.markLost(ctx, account, g.Version, "")
}
