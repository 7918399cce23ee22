package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
)

// modelTeam is the expected state of a team, in memory.
type modelTeam struct {
	actor                           *access.Actor
	limits                          access.Daily
	granted, available, held, spent int64
	bookings                        []modelBooking
	work                            []*modelWork
	keys                            int64
}

type modelBooking struct {
	withdraw  bool
	credits   int64
	reference string
}

// modelWork is a reservation with a job. Without a job, the audit would report its age.
type modelWork struct {
	id, key, amount, charged int64
	open                     bool
	at                       time.Time
	charge                   pipeline.Charge
}

// sums returns the expected usage of the team's day. Work counts for the date of its reservation in the team's current
// zone.
func (m *modelTeam) sums(now time.Time, key int64) [6]int64 {
	var usedTeam, usedKeys, reservedKey, reservedTeam, byKey, byKeys int64
	for _, r := range m.work {
		if r.at.In(m.actor.Zone).Format(time.DateOnly) != now.In(m.actor.Zone).Format(time.DateOnly) {
			continue
		}
		if r.open {
			reservedTeam += r.charged
		} else {
			usedTeam += r.charged
		}
		if r.key == 0 {
			continue
		}
		byKeys += r.charged
		if !r.open {
			usedKeys += r.charged
		}
		if r.key == key {
			byKey += r.charged
			if r.open {
				reservedKey += r.charged
			}
		}
	}
	return [6]int64{usedTeam, usedKeys, reservedKey, reservedTeam, byKey, byKeys}
}

// verdict returns the expected error of a charge: a code and a scope, or nothing.
func (m *modelTeam) verdict(now time.Time, key, amount int64) string {
	sums := m.sums(now, key)
	switch {
	case key > 0 && m.limits.KeyCredits >= 0 && sums[4]+amount > m.limits.KeyCredits:
		return "daily_credit_limit_reached connection"
	case key > 0 && m.limits.TeamCredits >= 0 && sums[5]+amount > m.limits.TeamCredits:
		return "daily_credit_limit_reached team"
	case amount > m.available:
		return "insufficient_credits <nil>"
	}
	return ""
}

func (m *modelTeam) reserve(r *modelWork) {
	m.available, m.held = m.available-r.amount, m.held+r.amount
	m.work = append(m.work, r)
}

// machine runs the service and the model side by side.
type machine struct {
	env
	teams []*modelTeam
	free  map[int64]int
	calls map[int64]int // fully refunded calls by team
}

var zones = []string{
	"UTC", "Europe/Berlin", "America/Santiago", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Kiritimati", "America/Los_Angeles",
}

var starts = []string{
	"2026-10-24T21:59:00Z", "2027-03-27T22:30:00Z", "2026-04-23T21:58:00Z", "2026-09-06T03:59:59Z", "2026-11-21T12:00:00Z",
}

func (m *machine) team(t *rapid.T) *modelTeam { return rapid.SampledFrom(m.teams).Draw(t, "team") }

func (m *machine) key(t *rapid.T, team *modelTeam) *access.Actor {
	key := team.actor.KeyID + rapid.Int64Range(0, team.keys-1).Draw(t, "key")
	return changeActor(team.actor, func(a *access.Actor) { a.KeyID, a.Daily = key, team.limits })
}

// book grants or withdraws, sometimes with a known reference.
func (m *machine) book(t *rapid.T) {
	team := m.team(t)
	b := modelBooking{rapid.Bool().Draw(t, "withdraw"), rapid.Int64Range(1, 60).
		Draw(t, "credits"), fmt.Sprint("r", rapid.IntRange(0, 12).Draw(t, "reference"))}
	do, signed := m.Grant, b.credits
	if b.withdraw {
		do, signed = m.Withdraw, -b.credits
	}
	got, err := do(t.Context(), team.actor.TeamID, b.credits, b.reference, "")
	for _, earlier := range team.bookings {
		if earlier.reference == b.reference {
			if (err == nil) != (earlier == b) || err == nil && (!got.Repeated || got.Balance != team.available) {
				t.Fatalf("%+v after %+v: %+v (%v)", b, earlier, got, err)
			}
			return
		}
	}
	if team.available+signed < 0 {
		if err == nil {
			t.Fatalf("%+v out of %d", b, team.available)
		}
		return
	}
	team.available, team.granted = team.available+signed, team.granted+signed
	if err != nil || got.Repeated || got.Balance != team.available {
		t.Fatalf("%+v: %+v (%v), with %d in all", b, got, err, team.available)
	}
	team.bookings = append(team.bookings, b)
}

func (m *machine) reserve(t *rapid.T) {
	team := m.team(t)
	c := charge(m.key(t, team), rapid.Int64Range(1, 12).Draw(t, "amount"))
	want := team.verdict(m.clock.Now(), c.Call.KeyID, c.Amount)
	id, err := m.reserveFor(t.Context(), c)
	m.judge(t, want, err)
	if err == nil {
		m.begin(t, team,
			&modelWork{id: id, key: c.Call.KeyID, amount: c.Amount, charged: c.Amount, open: true, at: m.clock.Now(), charge: c})
	}
}

func (m *machine) automatic(t *rapid.T) {
	team, amount := m.team(t), rapid.Int64Range(1, 12).Draw(t, "amount")
	want := team.verdict(m.clock.Now(), 0, amount)
	var id int64
	err := m.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		id, err = m.ReserveAutomatic(ctx, tx, team.actor.TeamID, 7, "refresh_report", amount)
		return err
	})
	m.judge(t, want, err)
	if err == nil {
		m.begin(t, team, &modelWork{id: id, amount: amount, charged: amount, open: true, at: m.clock.Now()})
	}
}

func (m *machine) begin(t *rapid.T, team *modelTeam, r *modelWork) {
	team.reserve(r)
	m.exec(t,
		`INSERT INTO jobs (id, team_id, type, state, subject, created_at, reservation_id)
		VALUES (?, ?, 'hashtag_search', 'running', '', 1, ?)`,
		fmt.Sprint("hashtag_search:", r.id), team.actor.TeamID, r.id)
}

// judge checks the result of a charge. A call over a limit must wait for midnight.
func (m *machine) judge(t *rapid.T, want string, err error) {
	got := ""
	if err != nil {
		f := apierr.FromError(err)
		got = fmt.Sprintf("%s %v", f.Code, f.Context["scope"])
		if f.Code == apierr.DailyCreditLimit && (f.RetryAfter < time.Second || f.RetryAfter > 25*time.Hour) {
			t.Fatalf("Retry-After is %v", f.RetryAfter)
		}
	}
	if got != want {
		t.Fatalf("%q (%v) instead of %q", got, err, want)
	}
}

// repeat charges a claim that has paid before.
func (m *machine) repeat(t *rapid.T) {
	team := m.team(t)
	r := m.someWork(t, team)
	if r.key == 0 {
		t.Skip("automatic")
	}
	c := r.charge
	c.Call.Actor = changeActor(team.actor, func(a *access.Actor) { a.KeyID = r.key })
	want := "idempotency_key_reused <nil>"
	if c.Amount > team.available {
		want = "insufficient_credits <nil>"
	}
	_, err := m.reserveFor(t.Context(), c)
	m.judge(t, want, err)
	m.judge(t, "idempotency_key_reused <nil>", m.unspent(t.Context(), c.Claim))
}

func (m *machine) someWork(t *rapid.T, team *modelTeam) *modelWork {
	if len(team.work) == 0 {
		t.Skip("no work")
	}
	return rapid.SampledFrom(team.work).Draw(t, "work")
}

func (m *machine) settle(t *rapid.T) {
	team := m.team(t)
	r := m.someWork(t, team)
	charged := rapid.Int64Range(0, r.amount).Draw(t, "charged")
	var done bool
	m.write(t, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if done, err = m.Settle(ctx, tx, r.id, charged); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE jobs SET finished_at = ? WHERE reservation_id = ?`, db.Micros(tx.Now()), r.id)
		return err
	})
	if done != r.open {
		t.Fatalf("settled: %v; it was open: %v", done, r.open)
	}
	if !done {
		return
	}
	if charged == 0 && r.key > 0 {
		m.calls[team.actor.TeamID]++
	}
	r.open, r.charged = false, charged
	team.available, team.held, team.spent = team.available+r.amount-charged, team.held-r.amount, team.spent+charged
}

// advanceClock advances the clock a little, or to about a team's midnight.
func (m *machine) advanceClock(t *rapid.T) {
	if rapid.Bool().Draw(t, "little") {
		m.clock.Advance(time.Duration(rapid.Int64Range(0, 3*3600*1_000_000).Draw(t, "microseconds")) * time.Microsecond)
		return
	}
	local := m.clock.Now().In(m.team(t).actor.Zone)
	midnight := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, local.Location())
	m.set(midnight.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "past")) * time.Microsecond).Add(-time.Microsecond))
}

func (m *machine) changeZone(t *rapid.T) {
	m.team(t).actor.Zone = zone(rapid.SampledFrom(zones).Draw(t, "zone"))
}

func (m *machine) changeLimits(t *rapid.T) {
	m.team(t).limits = access.Daily{
		KeyCredits: rapid.Int64Range(-1, 30).Draw(t, "of a key"), TeamCredits: rapid.Int64Range(-1, 50).Draw(t, "of the team"),
	}
}

// check compares every figure with the model and audits the ledger.
func (m *machine) check(t *rapid.T) {
	now := m.clock.Now()
	for _, team := range m.teams {
		for key := range team.keys {
			a := changeActor(team.actor, func(a *access.Actor) { a.KeyID += key })
			sums := team.sums(now, a.KeyID)
			m.checkUsage(t, a, team.available, sums[0], sums[1], sums[2], sums[3])
		}
		if got, want := m.wallet(t, team.actor.TeamID), [4]int64{-team.granted, team.available, team.held, team.spent}; got != want {
			t.Fatalf("granted, available, reserved and spent: %v instead of %v", got, want)
		}
		if m.free[team.actor.TeamID] != m.calls[team.actor.TeamID] {
			t.Fatalf("%d free calls instead of %d", m.free[team.actor.TeamID], m.calls[team.actor.TeamID])
		}
	}
	m.checkAudit(t)
}

func (m *machine) wallet(t *rapid.T, team int64) [4]int64 {
	var out [4]int64
	err := m.db.QueryRow(t.Context(), `SELECT granted, available, reserved, spent FROM wallets WHERE team_id = ?`,
		team).Scan(&out[0], &out[1], &out[2], &out[3])
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return out
}

// TestCreditsMatchModel compares random operations, times and zones with a simple model.
func TestCreditsMatchModel(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		free := map[int64]int{}
		w.opts.CountFree = func(_ context.Context, _ *db.Tx, team int64) error {
			free[team]++
			return nil
		}
		rapid.Check(t, func(t *rapid.T) {
			m := &machine{env: w, free: free, calls: map[int64]int{}}
			m.set(parseInstant(rapid.SampledFrom(starts).Draw(t, "start")))
			for range 2 {
				m.teams = append(m.teams, &modelTeam{actor: m.actor(t), limits: access.Daily{KeyCredits: -1, TeamCredits: -1}, keys: 2})
			}
			t.Repeat(map[string]func(*rapid.T){
				"": m.check, "book": m.book, "reserve": m.reserve, "reserve more": m.reserve, "automatic": m.automatic, "repeat": m.repeat,
				"settle": m.settle, "pass": m.advanceClock, "move": m.changeZone, "limit": m.changeLimits,
			})
		})
	})
}
