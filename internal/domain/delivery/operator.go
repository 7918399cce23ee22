package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// PhaseCount is the number of deliveries in a phase.
type PhaseCount struct {
	Phase      string
	Deliveries int64
	Oldest     time.Time // creation time of the oldest delivery
}

// Phases returns the phases of unfinished deliveries, in order.
func Phases() []string {
	return []string{string(phasePlanned), string(phasePrepared), string(phaseCommitting), string(phaseUnconfirmed),
		string(phaseLinking),
		string(phaseFinishing)}
}

// CountByPhase counts the unfinished deliveries of all teams.
func (s *Service) CountByPhase(ctx context.Context) ([]PhaseCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, c *PhaseCount) error {
		var oldest int64
		err := rows.Scan(&c.Phase, &c.Deliveries, &oldest)
		c.Oldest = db.Time(oldest)
		return err
	}, `SELECT phase, COUNT(*), MIN(created_at) FROM deliveries WHERE phase <> 'ended' GROUP BY phase ORDER BY phase`)
	if err != nil {
		return nil, fmt.Errorf("counting deliveries: %w", err)
	}
	return out, nil
}

// CountUnconfirmed returns the number of unconfirmed deliveries of all teams, and the time since which the oldest has
// been unconfirmed. The time is zero if there are none.
func (s *Service) CountUnconfirmed(ctx context.Context) (int64, time.Time, error) {
	var n, oldest int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MIN(ended_at), 0) FROM deliveries
		WHERE outcome = 'unconfirmed'`).Scan(&n, &oldest)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("counting unconfirmed accounts: %w", err)
	}
	return n, db.Time(oldest), nil
}

// StuckDelivery is an old unfinished delivery, with details about why it has not ended.
type StuckDelivery struct {
	ID          string
	TeamID      int64
	PostID      string
	AccountID   int64
	Platform    string
	Phase       string
	Since       time.Time // creation time
	Tries       int64
	InProgress  bool      // whether a node is working on the delivery
	WaitsUntil  time.Time // the delivery waits until then; zero if it does not wait
	LastResult  string    // result of the last attempt; empty if unknown
	NetworkCode string    // from the network; untrusted
}

const maxStuck = 50 // per list

// ListStuck returns up to 50 unfinished deliveries that were created before the given time, oldest first. It includes
// all teams.
func (s *Service) ListStuck(ctx context.Context, before time.Time) ([]StuckDelivery, error) {
	now := s.db.Now()
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, d *StuckDelivery) error {
		var since, lease, waitsUntil int64
		err := rows.Scan(&d.ID, &d.TeamID, &d.PostID, &d.AccountID, &d.Platform, &d.Phase, &since, &d.Tries, &lease,
			&waitsUntil, &d.LastResult, &d.NetworkCode)
		d.Since, d.InProgress = db.Time(since), db.Time(lease).After(now)
		if until := db.Time(waitsUntil); until.After(now) {
			d.WaitsUntil = until
		}
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, a.platform, d.phase, d.created_at, d.tries, d.lease_until,
		d.not_before, COALESCE(t.result, ''), COALESCE(t.network_code, '')
		FROM deliveries d JOIN social_accounts a ON a.id = d.account_id
		LEFT JOIN delivery_attempts t ON t.id = (SELECT MAX(x.id) FROM delivery_attempts x WHERE x.delivery_id = d.id)
		WHERE d.phase <> 'ended' AND d.created_at < ? ORDER BY d.created_at, d.id LIMIT ?`, db.Micros(before), maxStuck)
	if err != nil {
		return nil, fmt.Errorf("listing old deliveries: %w", err)
	}
	return out, nil
}

// Wake runs a delivery immediately, for the operator. It returns not_found if there is no such delivery, or if the
// delivery has ended, is running or must wait before the next call.
func (s *Service) Wake(ctx context.Context, id string) error {
	return s.db.InTx(ctx, "delivery.wake_by_hand", func(ctx context.Context, tx *db.Tx) error {
		now := db.Micros(tx.Now())
		n, err := tx.Exec(ctx, `UPDATE deliveries SET wake_at = ? WHERE id = ? AND phase <> 'ended'
			AND lease_until < ? AND not_before <= ?`, now, id, now, now)
		if err != nil {
			return fmt.Errorf("waking delivery %s: %w", id, err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return nil
	})
}

// Failure is a network call that was rejected or failed.
type Failure struct {
	At          time.Time
	TeamID      int64
	PostID      string
	Platform    string
	Call        string // prepare, commit or resolve
	Result      string // a network.ErrorClass
	NetworkCode string // from the network; untrusted
	NetworkText string // from the network; untrusted
}

// Calls counts the recent calls to a network for posts. Lookups and failed calls are included.
type Calls struct {
	LastCallAt  time.Time // time of the newest call
	Total       int64
	Failed      int64 // calls that were rejected or failed
	RateLimited int64 // failed calls that exceeded a limit of the network
}

// FailureRate returns the fraction of failed calls, from 0 to 1.
func (c Calls) FailureRate() float64 { return float64(c.Failed) / float64(max(c.Total, 1)) }

// CountCalls counts the calls to each network since the given time, among the newest 2,000 attempts.
func (s *Service) CountCalls(ctx context.Context, since time.Time) (map[string]Calls, error) {
	type row struct {
		Calls

		platform string
	}
	callCounts, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var last int64
		err := rows.Scan(&r.platform, &last, &r.Total, &r.Failed, &r.RateLimited)
		r.LastCallAt = db.Time(last)
		return err
	}, `SELECT a.platform, MAX(t.started_at), COUNT(*),
		SUM(CASE WHEN t.result IN ('', 'answered', 'published', 'processing') THEN 0 ELSE 1 END),
		SUM(CASE WHEN t.result IN ('rate', 'quota') THEN 1 ELSE 0 END)
		FROM (SELECT id, delivery_id, started_at, call, result FROM delivery_attempts ORDER BY id DESC LIMIT ?) t
		JOIN deliveries d ON d.id = t.delivery_id JOIN social_accounts a ON a.id = d.account_id
		WHERE t.call IN ('prepare', 'commit', 'resolve') AND t.started_at >= ? GROUP BY a.platform`, maxCountedAttempts, db.Micros(since))
	if err != nil {
		return nil, fmt.Errorf("counting calls: %w", err)
	}
	out := make(map[string]Calls, len(callCounts))
	for _, r := range callCounts {
		out[r.platform] = r.Calls
	}
	return out, nil
}

const (
	maxCountedAttempts  = 2000 // number of newest attempts that are counted
	maxSearchedAttempts = 500  // number of newest attempts that are searched
	maxFailures         = 30   // maximum number of returned failures
)

// RecentFailures returns up to 30 failed calls among the newest 500 attempts, newest first.
func (s *Service) RecentFailures(ctx context.Context) ([]Failure, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, f *Failure) error {
		var at int64
		err := rows.Scan(&at, &f.TeamID, &f.PostID, &f.Platform, &f.Call, &f.Result, &f.NetworkCode, &f.NetworkText)
		f.At = db.Time(at)
		return err
	}, `SELECT t.started_at, d.team_id, d.post_id, a.platform, t.call, t.result, t.network_code, t.network_text
		FROM (SELECT id, delivery_id, started_at, call, result, network_code, network_text FROM delivery_attempts
		ORDER BY id DESC LIMIT ?) t JOIN deliveries d ON d.id = t.delivery_id
		JOIN social_accounts a ON a.id = d.account_id
		WHERE t.call IN ('prepare', 'commit', 'resolve') AND t.result NOT IN ('', 'answered', 'published',
		'processing') ORDER BY t.id DESC LIMIT ?`, maxSearchedAttempts, maxFailures)
	if err != nil {
		return nil, fmt.Errorf("listing failed calls: %w", err)
	}
	return out, nil
}
