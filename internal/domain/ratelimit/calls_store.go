package ratelimit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// exhaustedTTL is how long a node remembers that a team has no calls left. It is short because other nodes may return
// calls.
const exhaustedTTL = time.Second

// renewLease returns the unused calls of an old lease to the database and takes a new lease. The new lease is empty if
// no calls are left.
func (c *FreeCalls) renewLease(ctx context.Context, actor *access.Actor, old lease) (lease, error) {
	next := lease{limit: actor.Daily.FreeCalls, zone: actor.Zone.String()}
	if old.recheckAt > 0 && old.remaining == 0 {
		today, exhausted, err := c.checkExhausted(ctx, actor)
		if err != nil || exhausted {
			return next.forDay(today, c.now()), err
		}
	}
	err := c.db.InTx(ctx, "limit.lease_calls", func(ctx context.Context, tx *db.Tx) error {
		if err := returnLease(ctx, tx, actor.TeamID, old); err != nil {
			return err
		}
		today, err := c.addToDay(ctx, tx, actor.TeamID, actor.Zone, func(used int64) int64 {
			next.remaining = leaseSize(next.limit - used)
			return next.remaining
		})
		next = next.forDay(today, db.Micros(tx.Now()))
		return err
	})
	return next, err
}

// forDay returns a copy of the lease for the day d.
func (l lease) forDay(d dayCount, now int64) lease {
	l.dayStart, l.dayEnd, l.recheckAt = d.dayStart, d.dayEnd, 0
	if l.remaining == 0 {
		l.recheckAt = now + exhaustedTTL.Microseconds()
	}
	return l
}

// checkExhausted returns the stored count and reports whether the team still has no calls left. It does not write to
// the database.
func (c *FreeCalls) checkExhausted(ctx context.Context, actor *access.Actor) (dayCount, bool, error) {
	stored, _, err := readDay(ctx, c.db, actor.TeamID, "")
	if err != nil {
		return dayCount{}, false, err
	}
	// If a new day has begun, the transaction must reset the count.
	return stored, stored == stored.at(c.db.Now(), actor.Zone) && stored.used >= actor.Daily.FreeCalls, nil
}

// CountRefunded counts a fully refunded paid call against the team's daily allowance, in the transaction that refunds
// the call. If this node's lease has calls left, CountRefunded uses one, and a rollback does not return it. Otherwise
// it counts the call in the database, even beyond the limit, because the call has been served.
func (c *FreeCalls) CountRefunded(ctx context.Context, tx *db.Tx, team int64) error {
	if c.teamLeaseFor(team).spend(db.Micros(tx.Now())) {
		return nil
	}
	var name string
	if err := tx.QueryRow(ctx, `SELECT timezone FROM teams WHERE id = ?`, team).Scan(&name); err != nil {
		return fmt.Errorf("reading the time zone of team %d: %w", team, err)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return fmt.Errorf("loading the time zone of team %d: %w", team, err)
	}
	_, err = c.addToDay(ctx, tx, team, zone, func(int64) int64 { return 1 })
	return err
}

// addToDay adds to a team's count for the current day. increment returns the number to add, given the calls used so
// far.
func (c *FreeCalls) addToDay(
	ctx context.Context, tx *db.Tx, team int64, zone *time.Location, increment func(used int64) int64,
) (dayCount, error) {
	stored, err := c.lockDay(ctx, tx, team)
	if err != nil {
		return dayCount{}, err
	}
	today := stored.at(tx.Now(), zone)
	today.used += increment(today.used)
	if today == stored {
		return today, nil
	}
	_, err = tx.Exec(ctx, `UPDATE free_calls SET starts_at = ?, ends_at = ?, used = ? WHERE team_id = ?`, today.dayStart,
		today.dayEnd, today.used, team)
	if err != nil {
		return dayCount{}, fmt.Errorf("counting free calls of team %d: %w", team, err)
	}
	return today, nil
}

// lockDay locks and returns a team's count. For a new team, the count is zero.
func (c *FreeCalls) lockDay(ctx context.Context, tx *db.Tx, team int64) (dayCount, error) {
	d, found, err := readDay(ctx, tx, team, c.db.ForUpdate())
	if err != nil || found {
		return d, err
	}
	// If two nodes insert at once, the second waits for the first and finds its row.
	_, err = tx.Exec(ctx,
		`INSERT INTO free_calls (team_id, starts_at, ends_at, used) VALUES (?, 0, 0, 0)
		ON CONFLICT (team_id) DO NOTHING`, team)
	if err != nil {
		return dayCount{}, fmt.Errorf("creating the free calls of team %d: %w", team, err)
	}
	d, _, err = readDay(ctx, tx, team, c.db.ForUpdate())
	return d, err
}

func readDay(ctx context.Context, q db.Querier, team int64, lock string) (dayCount, bool, error) {
	var d dayCount
	err := q.QueryRow(ctx, `SELECT starts_at, ends_at, used FROM free_calls WHERE team_id = ?`+lock, team).
		Scan(&d.dayStart, &d.dayEnd, &d.used)
	if errors.Is(err, sql.ErrNoRows) {
		return dayCount{}, false, nil
	}
	if err != nil {
		return dayCount{}, false, fmt.Errorf("reading the free calls of team %d: %w", team, err)
	}
	return d, true, nil
}

// returnLease subtracts the unused calls of a lease from the team's count if the count is still for the same day.
func returnLease(ctx context.Context, tx *db.Tx, team int64, l lease) error {
	if l.remaining == 0 {
		return nil
	}
	return returnLeases(ctx, tx, []unusedLease{{team, l}})
}

// returnLeases returns the leases of many teams in one statement, so that shutdown is fast.
func returnLeases(ctx context.Context, tx *db.Tx, leases []unusedLease) error {
	const row = `(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))`
	rows, args := make([]string, len(leases)), make([]any, 0, 3*len(leases))
	for i, u := range leases {
		rows[i], args = row, append(args, u.team, u.lease.dayStart, u.lease.remaining)
	}
	_, err := tx.Exec(ctx, `WITH given (team_id, starts_at, calls) AS (VALUES `+strings.Join(rows, ", ")+`)
		UPDATE free_calls SET used = used - given.calls FROM given
		WHERE free_calls.team_id = given.team_id AND free_calls.starts_at = given.starts_at`, args...)
	if err != nil {
		return fmt.Errorf("returning free calls of %d teams: %w", len(leases), err)
	}
	return nil
}

// closeBatch is the number of leases that Close returns per transaction.
const closeBatch = 500

// Close returns all unused leases to the database. Do not call Take afterwards, because the calls that it leases would
// be lost.
func (c *FreeCalls) Close(ctx context.Context) error {
	var errs []error
	for batch := range slices.Chunk(c.drainAll(), closeBatch) {
		errs = append(errs, c.db.InTx(ctx, "limit.return_leases", func(ctx context.Context, tx *db.Tx) error {
			return returnLeases(ctx, tx, batch)
		}))
	}
	return errors.Join(errs...)
}

// unusedLease is a lease with calls left, and its team.
type unusedLease struct {
	team  int64
	lease lease
}

// drainAll drains every lease and returns those that had calls left, sorted by team. Because of this order, nodes that
// stop at the same time rarely deadlock. After a deadlock, one of the transactions is retried.
func (c *FreeCalls) drainAll() []unusedLease {
	var out []unusedLease
	c.leases.Range(func(team, t any) bool {
		if l := t.(*teamLease).drain(); l.remaining > 0 { //nolint:forcetypeassert // the map holds only *teamLease
			out = append(out, unusedLease{team.(int64), l}) //nolint:forcetypeassert // as above
		}
		return true
	})
	slices.SortFunc(out, func(a, b unusedLease) int { return cmp.Compare(a.team, b.team) })
	return out
}
