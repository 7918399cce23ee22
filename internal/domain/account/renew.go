package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	renewInterval         = time.Minute        // how often due grants are renewed
	minRetryDelay         = 5 * time.Minute    // minimum delay after a temporary failure
	maxRetryDelay         = 6 * time.Hour      // maximum delay unless the network requests one
	maxPostponement       = 24 * time.Hour     // maximum delay, even if the network requests a longer one
	retriesPerLifetime    = 20                 // the delay is the remaining lifetime divided by this
	maxConcurrentRenewals = 8                  // per node
	renewBatch            = 100                // grants per round
	expiryWarning         = 7 * 24 * time.Hour // remaining lifetime below which a connection is expiring
	longLivedMargin       = 24 * time.Hour     // grants with a longer lifetime are renewed this long before expiry, or earlier
	shortLivedMargin      = 10 * time.Minute   // other grants are renewed this long before they expire
)

// renewAt returns when to renew a grant. A long-lived grant is renewed halfway through its lifetime, but at least a day
// before it expires. A short-lived grant is renewed shortly before it expires. renewAt returns the zero time if the
// grant does not expire.
func renewAt(g network.Grant, now time.Time) time.Time {
	if g.Expires.IsZero() {
		return time.Time{}
	}
	lifetime := max(0, g.Expires.Sub(now))
	margin := min(shortLivedMargin, lifetime/2)
	if lifetime > longLivedMargin {
		margin = max(longLivedMargin, lifetime/2)
	}
	at := g.Expires.Add(-margin)
	if earliest := now.Add(renewInterval); at.Before(earliest) {
		return earliest
	}
	return at
}

// endsAt returns when a grant stops working unless a person reconnects the account, or the zero time if it does not
// end. A grant without a refresh token ends when its access token expires.
func endsAt(g network.Grant) time.Time {
	switch {
	case g.RefreshToken == "":
		return g.Expires
	case !g.RefreshExpires.IsZero() && g.Expires.After(g.RefreshExpires):
		return g.Expires
	}
	return g.RefreshExpires
}

// connectionState returns the state of a connection with this grant.
func connectionState(g network.Grant, now time.Time) Connection {
	if at := endsAt(g); !at.IsZero() && at.Sub(now) <= expiryWarning {
		return Expiring
	}
	return Connected
}

// Run renews grants, marks expiring and ended connections, and revokes grants at networks until ctx is canceled. It
// passes errors to report.
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

// Renew runs one round of Run. It does not return an error if a network rejects a grant or fails temporarily, because
// it handles these cases itself.
func (s *Service) Renew(ctx context.Context) error {
	now := s.db.Now()
	return errors.Join(
		s.forEachDue(ctx, s.markExpiring, `SELECT id FROM social_accounts WHERE ends_at > 0 AND ends_at <= ?
			AND connection_state = 'connected' ORDER BY ends_at LIMIT ?`, db.Micros(now.Add(expiryWarning))),
		s.forEachDue(ctx, s.renewGrant, `SELECT id FROM social_accounts WHERE refresh_at > 0 AND refresh_at <= ?
			AND connection_state <> 'lost' ORDER BY refresh_at LIMIT ?`, db.Micros(now)),
		s.forEachDue(ctx, s.retryRevocation, `SELECT id FROM grant_revocations WHERE next_at > 0 AND next_at <= ?
			ORDER BY next_at LIMIT ?`, db.Micros(now)),
		s.forEachDue(ctx, s.markEnded, `SELECT id FROM social_accounts WHERE ends_at > 0 AND ends_at <= ?
			AND connection_state <> 'lost' ORDER BY ends_at LIMIT ?`, db.Micros(now)),
	)
}

// forEachDue calls fn concurrently for the IDs that a query returns.
func (s *Service) forEachDue(ctx context.Context, fn func(context.Context, int64) error, query string,
	dueBefore int64) error {
	ids, err := db.All(ctx, s.db, func(rows *sql.Rows, id *int64) error {
		return rows.Scan(id)
	}, query, dueBefore, renewBatch)
	if err != nil {
		return fmt.Errorf("listing due grants: %w", err)
	}
	var wg sync.WaitGroup
	slots, errs := make(chan struct{}, maxConcurrentRenewals), make([]error, len(ids))
	for i, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = fn(ctx, id)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *Service) markExpiring(ctx context.Context, account int64) error {
	return s.db.InTx(ctx, "social.warn", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		err := tx.QueryRow(ctx, `UPDATE social_accounts SET connection_state = ?, updated_at = ? WHERE id = ?
			AND connection_state = ? AND ends_at > 0 AND ends_at <= ? RETURNING team_id`,
			string(Expiring), db.Micros(tx.Now()), account, string(Connected),
			db.Micros(tx.Now().Add(expiryWarning))).Scan(&team)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // The grant was renewed concurrently.
		}
		if err != nil {
			return fmt.Errorf("marking account %d as expiring: %w", account, err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "social_account.expiring",
			strconv.FormatInt(account, 10), nil)
	})
}

// renewGrant renews a grant unless another node is renewing it.
func (s *Service) renewGrant(ctx context.Context, account int64) error {
	g, err := s.Grant(ctx, account)
	if err != nil || g.Lost {
		return err
	}
	locked, err := s.lockRefresh(ctx, account, g.Version)
	if err != nil || !locked {
		return err
	}
	err = s.exchangeGrant(ctx, account, g)
	switch {
	case err == nil:
		return nil
	case isInvalidGrant(err) && g.RefreshToken == "" && s.db.Now().Before(g.Expires):
		return s.postpone(ctx, account, g.Version, time.Time{}) // The grant cannot be renewed but works until it expires.
	case isInvalidGrant(err):
		return s.markLost(ctx, account, g.Version, "refused")
	}
	var after time.Time
	if networkErr, isNetworkErr := errors.AsType[*network.Error](err); isNetworkErr {
		after, err = networkErr.RetryAt, nil
	}
	return errors.Join(err, s.postpone(ctx, account, g.Version, retryAt(g.Grant, after, s.db.Now())))
}

// retryAt returns when to retry a failed refresh. notBefore is the earliest time that the network allows, or zero.
func retryAt(g network.Grant, notBefore, now time.Time) time.Time {
	at := now.Add(max(minRetryDelay, min(g.Expires.Sub(now)/retriesPerLifetime, maxRetryDelay)))
	if notBefore.After(at) {
		at = notBefore
	}
	if latest := now.Add(maxPostponement); at.After(latest) {
		return latest
	}
	return at
}

// postpone postpones a refresh until a time. With the zero time, the grant is not refreshed again.
func (s *Service) postpone(ctx context.Context, account, version int64, nextAt time.Time) error {
	return s.db.InTx(context.WithoutCancel(ctx), "social.postpone", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0, refresh_at = ? WHERE id = ?
			AND grant_version = ?`, db.Micros(nextAt), account, version)
		if err != nil {
			return fmt.Errorf("postponing the refresh of account %d: %w", account, err)
		}
		return nil
	})
}

// markEnded marks a connection as lost if its grant has ended.
func (s *Service) markEnded(ctx context.Context, account int64) error {
	g, err := s.Grant(ctx, account)
	if at := endsAt(g.Grant); err != nil || at.IsZero() || s.db.Now().Before(at) {
		return err
	}
	return s.markLost(ctx, account, g.Version, "")
}
