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

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// spentFor is how long a node believes that a team has no calls left: another node may give some back.
const spentFor = time.Second

// lease gives an old lease back and takes a new one, which is empty where no calls are left.
func (c *Calls) lease(ctx context.Context, actor *access.Actor, old lease) (lease, error) {
	fresh := lease{limit: actor.Daily.FreeCalls, zone: actor.Zone.String()}
	if old.askAgain > 0 && old.left == 0 {
		today, spent, err := c.spent(ctx, actor)
		if err != nil || spent {
			return fresh.of(today, c.now()), err
		}
	}
	err := c.db.InTx(ctx, "limit.lease_calls", func(ctx context.Context, tx *db.Tx) error {
		if err := giveBack(ctx, tx, actor.TeamID, old); err != nil {
			return err
		}
		today, err := c.count(ctx, tx, actor.TeamID, actor.Zone, func(used int64) int64 {
			fresh.left = leaseSize(fresh.limit - used)
			return fresh.left
		})
		fresh = fresh.of(today, db.Micros(tx.Now()))
		return err
	})
	return fresh, err
}

// of is the lease as one of that day's.
func (l lease) of(d day, now int64) lease {
	l.since, l.until, l.askAgain = d.since, d.until, 0
	if l.left == 0 {
		l.askAgain = now + spentFor.Microseconds()
	}
	return l
}

// spent tells, without writing, whether the team still has nothing left; the day is that which is counted.
func (c *Calls) spent(ctx context.Context, actor *access.Actor) (day, bool, error) {
	stored, _, err := read(ctx, c.db, actor.TeamID, "")
	if err != nil {
		return day{}, false, err
	}
	// A day that has to be written anew is for the transaction.
	return stored, stored == stored.at(c.db.Now(), actor.Zone) && stored.used >= actor.Daily.FreeCalls, nil
}

// CountFree counts one call of the team's day in a settlement's transaction: it was taken for a paid one, and all of
// its price has gone back. It is one of those that this node holds, where it holds any; the transaction that is taken
// back then costs the team that one call. Else the call is counted past the limit too, as it is done.
func (c *Calls) CountFree(ctx context.Context, tx *db.Tx, team int64) error {
	if c.purse(team).spend(db.Micros(tx.Now())) {
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
	_, err = c.count(ctx, tx, team, zone, func(int64) int64 { return 1 })
	return err
}

// count brings a team's count to the day that it is now and adds to it. The adding may hang on what is used already.
func (c *Calls) count(
	ctx context.Context, tx *db.Tx, team int64, zone *time.Location, more func(used int64) int64,
) (day, error) {
	stored, err := c.locked(ctx, tx, team)
	if err != nil {
		return day{}, err
	}
	today := stored.at(tx.Now(), zone)
	today.used += more(today.used)
	if today == stored {
		return today, nil
	}
	_, err = tx.Exec(ctx, `UPDATE free_calls SET starts_at = ?, ends_at = ?, used = ? WHERE team_id = ?`, today.since,
		today.until, today.used, team)
	if err != nil {
		return day{}, fmt.Errorf("counting free calls of team %d: %w", team, err)
	}
	return today, nil
}

// locked reads a team's count for changing it. That of a new team is of no day yet.
func (c *Calls) locked(ctx context.Context, tx *db.Tx, team int64) (day, error) {
	d, found, err := read(ctx, tx, team, c.db.ForUpdate())
	if err != nil || found {
		return d, err
	}
	// Two nodes may meet here; the second waits for the first and finds its row.
	_, err = tx.Exec(ctx,
		`INSERT INTO free_calls (team_id, starts_at, ends_at, used) VALUES (?, 0, 0, 0)
		ON CONFLICT (team_id) DO NOTHING`, team)
	if err != nil {
		return day{}, fmt.Errorf("beginning to count the free calls of team %d: %w", team, err)
	}
	d, _, err = read(ctx, tx, team, c.db.ForUpdate())
	return d, err
}

func read(ctx context.Context, q db.Querier, team int64, lock string) (day, bool, error) {
	var d day
	err := q.QueryRow(ctx, `SELECT starts_at, ends_at, used FROM free_calls WHERE team_id = ?`+lock, team).
		Scan(&d.since, &d.until, &d.used)
	if errors.Is(err, sql.ErrNoRows) {
		return day{}, false, nil
	}
	if err != nil {
		return day{}, false, fmt.Errorf("reading the free calls of team %d: %w", team, err)
	}
	return d, true, nil
}

// giveBack takes what is left of a lease off the count, if that is still the count of the same day.
func giveBack(ctx context.Context, tx *db.Tx, team int64, l lease) error {
	if l.left == 0 {
		return nil
	}
	return giveAllBack(ctx, tx, []unspent{{team, l}})
}

// giveAllBack is giveBack for many teams, in one statement: the end of a program waits for it.
func giveAllBack(ctx context.Context, tx *db.Tx, all []unspent) error {
	const row = `(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))`
	rows, args := make([]string, len(all)), make([]any, 0, 3*len(all))
	for i, u := range all {
		rows[i], args = row, append(args, u.team, u.lease.since, u.lease.left)
	}
	_, err := tx.Exec(ctx, `WITH given (team_id, starts_at, calls) AS (VALUES `+strings.Join(rows, ", ")+`)
		UPDATE free_calls SET used = used - given.calls FROM given WHERE free_calls.team_id = given.team_id AND free_calls.starts_at = given.starts_at`, args...)
	if err != nil {
		return fmt.Errorf("giving back free calls of %d teams: %w", len(all), err)
	}
	return nil
}

// closeBatch bounds one transaction of Close, so that it holds up nobody.
const closeBatch = 500

// Close gives all unspent leases back. Nothing is to be taken any more: what is, would be lost to its team.
func (c *Calls) Close(ctx context.Context) error {
	var failed []error
	for batch := range slices.Chunk(c.unspent(), closeBatch) {
		failed = append(failed, c.db.InTx(ctx, "limit.return_leases", func(ctx context.Context, tx *db.Tx) error {
			return giveAllBack(ctx, tx, batch)
		}))
	}
	return errors.Join(failed...)
}

type unspent struct {
	team  int64
	lease lease
}

// unspent empties every lease. They are in the order of their teams, so that nodes that end together hardly ever wait
// for each other in a circle; where they do, one of the transactions is made again.
func (c *Calls) unspent() []unspent {
	var out []unspent
	c.purses.Range(func(team, p any) bool {
		if l := p.(*purse).empty(); l.left > 0 { //nolint:forcetypeassert // nothing else is kept in the map
			out = append(out, unspent{team.(int64), l}) //nolint:forcetypeassert // nor under anything else
		}
		return true
	})
	slices.SortFunc(out, func(a, b unspent) int { return cmp.Compare(a.team, b.team) })
	return out
}
