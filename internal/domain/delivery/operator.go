package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// PhaseCount is how many deliveries stand in a phase.
type PhaseCount struct {
	Phase      string
	Deliveries int64
	Oldest     time.Time // when the oldest of them was made
}

// Phases are those in which deliveries have not ended, in their order.
func Phases() []string {
	return []string{string(planned), string(prepared), string(committing), string(doubtful), string(linking)}
}

// CountByPhase counts the deliveries that have not ended, of every team.
func (s *Service) CountByPhase(ctx context.Context) ([]PhaseCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, l *PhaseCount) error {
		var oldest int64
		err := rows.Scan(&l.Phase, &l.Deliveries, &oldest)
		l.Oldest = db.Time(oldest)
		return err
	}, `SELECT phase, COUNT(*), MIN(created_at) FROM deliveries WHERE phase <> 'ended' GROUP BY phase ORDER BY phase`)
	if err != nil {
		return nil, fmt.Errorf("counting deliveries: %w", err)
	}
	return out, nil
}

// CountUnconfirmed counts the accounts of posts, of every team, of which nobody knows whether they went out, and tells since when the
// oldest of them is; the zero time where there is none.
func (s *Service) CountUnconfirmed(ctx context.Context) (int64, time.Time, error) {
	var n, oldest int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MIN(ended_at), 0) FROM deliveries WHERE outcome = 'unconfirmed'`).Scan(&n, &oldest)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("counting unconfirmed accounts: %w", err)
	}
	return n, db.Time(oldest), nil
}

// StuckDelivery is a delivery that has taken long, and what it waits for.
type StuckDelivery struct {
	ID          string
	TeamID      int64
	PostID      string
	AccountID   int64
	Platform    string
	Phase       string
	Since       time.Time // when it was made
	Tries       int64
	Held        bool      // somebody works on it now
	RestsUntil  time.Time // it is not tried before; zero where it is not resting
	Last        string    // what the last attempt met with; empty where there was none, or its end is not known
	NetworkCode string    // the network's own: untrusted
}

const maxStuck = 50 // that are listed at once

// ListStuck lists deliveries of every team that were made before a time and have not ended, the oldest first and 50 at most.
func (s *Service) ListStuck(ctx context.Context, before time.Time) ([]StuckDelivery, error) {
	now := s.db.Now()
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, d *StuckDelivery) error {
		var since, lease, rest int64
		err := rows.Scan(&d.ID, &d.TeamID, &d.PostID, &d.AccountID, &d.Platform, &d.Phase, &since, &d.Tries, &lease, &rest, &d.Last, &d.NetworkCode)
		d.Since, d.Held = db.Time(since), db.Time(lease).After(now)
		if until := db.Time(rest); until.After(now) {
			d.RestsUntil = until
		}
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, a.platform, d.phase, d.created_at, d.tries, d.lease_until, d.not_before, COALESCE(t.result, ''), COALESCE(t.network_code, '')
		FROM deliveries d JOIN social_accounts a ON a.id = d.account_id
		LEFT JOIN delivery_attempts t ON t.id = (SELECT MAX(x.id) FROM delivery_attempts x WHERE x.delivery_id = d.id)
		WHERE d.phase <> 'ended' AND d.created_at < ? ORDER BY d.created_at, d.id LIMIT ?`, db.Micros(before), maxStuck)
	if err != nil {
		return nil, fmt.Errorf("looking for deliveries that take long: %w", err)
	}
	return out, nil
}

// Wake has a delivery looked at now that nobody works on, for the operator. How long it rests stays, as the network
// asked for it or fails: not_found where there is none of this id that could be woken.
func (s *Service) Wake(ctx context.Context, id string) error {
	return s.db.InTx(ctx, "delivery.wake_by_hand", func(ctx context.Context, tx *db.Tx) error {
		now := db.Micros(tx.Now())
		n, err := tx.Exec(ctx, `UPDATE deliveries SET wake_at = ? WHERE id = ? AND phase <> 'ended' AND lease_until < ? AND not_before <= ?`, now, id, now, now)
		if err != nil {
			return fmt.Errorf("waking delivery %s: %w", id, err)
		}
		if n == 0 {
			return apierr.Missing()
		}
		return nil
	})
}

// Failure is an attempt that a network did not answer as hoped.
type Failure struct {
	At          time.Time
	TeamID      int64
	PostID      string
	Platform    string
	Call        string // prepare, commit or resolve
	Result      string // a network.Class
	NetworkCode string // the network's own: untrusted
	NetworkText string // the network's own: untrusted
}

const (
	searchedAttempts = 500 // newest attempts that are looked through
	maxFailures      = 30  // that are told of
)

// RecentFailures lists what networks refused or failed at lately, the newest first: at most 30, out of the last 500 attempts.
func (s *Service) RecentFailures(ctx context.Context) ([]Failure, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, f *Failure) error {
		var at int64
		err := rows.Scan(&at, &f.TeamID, &f.PostID, &f.Platform, &f.Call, &f.Result, &f.NetworkCode, &f.NetworkText)
		f.At = db.Time(at)
		return err
	}, `SELECT t.started_at, d.team_id, d.post_id, a.platform, t.call, t.result, t.network_code, t.network_text
		FROM (SELECT id, delivery_id, started_at, call, result, network_code, network_text FROM delivery_attempts ORDER BY id DESC LIMIT ?) t JOIN deliveries d ON d.id = t.delivery_id JOIN social_accounts a ON a.id = d.account_id
		WHERE t.call IN ('prepare', 'commit', 'resolve') AND t.result NOT IN ('', 'answered', 'published', 'processing') ORDER BY t.id DESC LIMIT ?`, searchedAttempts, maxFailures)
	if err != nil {
		return nil, fmt.Errorf("looking for what networks failed at: %w", err)
	}
	return out, nil
}
