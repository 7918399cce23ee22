package credit

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// parseInstant parses a time.
func parseInstant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestDayLength(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		for _, c := range []struct {
			name, zone, begins, ends string
			hours                    int
		}{
			{"an hour twice", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 25},
			{"an hour skipped", "Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z", 23},
			{"midnight skipped in Cairo", "Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z", 23},
			{"midnight skipped in Santiago", "America/Santiago", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z", 23},
			{"the last hour twice in Santiago", "America/Santiago", "2027-04-03T03:00:00Z", "2027-04-04T04:00:00Z", 25},
			{"midnight twice in Havana", "America/Havana", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", 25},
			{"half an hour", "Australia/Lord_Howe", "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z", 0},
			{"a plain day", "Asia/Kathmandu", "2026-11-20T18:15:00Z", "2026-11-21T18:15:00Z", 24},
		} {
			begins, ends := parseInstant(c.begins), parseInstant(c.ends)
			if c.hours > 0 && ends.Sub(begins) != time.Duration(c.hours)*time.Hour {
				t.Fatalf("%s: %v", c.name, ends.Sub(begins))
			}
			w.set(begins.Add(-time.Microsecond))
			a := changeActor(w.actorWithCredits(t, 100), func(a *access.Actor) { a.Zone, a.Daily.KeyCredits = zone(c.zone), 10 })
			w.reserve(t, a, 10)
			rejectedUntil(t, w, a, begins)
			w.set(begins)
			w.checkUsage(t, a, 90, 0, 0, 0, 0)
			w.reserve(t, a, 4)
			rejectedUntil(t, w, a, ends)
			w.set(ends.Add(-time.Microsecond))
			w.checkUsage(t, a, 86, 0, 0, 4, 4)
			rejectedUntil(t, w, a, ends)
			w.set(ends)
			w.checkUsage(t, a, 86, 0, 0, 0, 0)
			w.reserve(t, a, 10)
			u, err := w.DailyUsage(t.Context(), w.db, a, ends.Add(-time.Microsecond))
			if err != nil || u.ReservedTeam != 4 || !u.Ends.Equal(ends) {
				t.Errorf("%s: usage of the day before: %+v (%v)", c.name, u, err)
			}
		}
	})
}

// rejectedUntil checks the Retry-After of a call over the limit: whole seconds, rounded up.
func rejectedUntil(t *testing.T, w env, a *access.Actor, midnight time.Time) {
	t.Helper()
	_, err := w.reserveFor(t.Context(), charge(a, 7))
	want := (midnight.Sub(w.clock.Now()) + time.Second - 1).Truncate(time.Second)
	if f := apierr.FromError(err); f.Code != apierr.DailyCreditLimit || f.RetryAfter != want {
		t.Errorf("%v: %v of %v, not %v", a.Zone, err, f.RetryAfter, want)
	}
}

func TestSettledAfterMidnight(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := changeActor(w.actorWithCredits(t, 100), func(a *access.Actor) { a.Daily = access.Daily{KeyCredits: 10, TeamCredits: 10} })
		evening := w.clock.Now()
		charged, refunded := w.reserve(t, a, 6), w.reserve(t, a, 4)
		w.clock.Advance(13 * time.Hour)
		w.checkUsage(t, a, 90, 0, 0, 0, 0)
		w.settle(t, charged, 5)
		w.settle(t, refunded, 0)
		w.checkUsage(t, a, 95, 0, 0, 0, 0)
		w.reserve(t, a, 10)
		u, err := w.DailyUsage(t.Context(), w.db, a, evening)
		if err != nil || u.UsedTeam != 5 || u.UsedKeys != 5 || u.ReservedTeam != 0 {
			t.Errorf("the day before: %+v (%v)", u, err)
		}
	})
}

func TestRefundFreesLimit(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := changeActor(w.actorWithCredits(t, 100), func(a *access.Actor) { a.Daily = access.Daily{KeyCredits: 10, TeamCredits: 10} })
		id := w.reserve(t, a, 10)
		rejectedUntil(t, w, a, noon.Add(12*time.Hour))
		w.settle(t, id, 3)
		w.reserve(t, a, 7)
		rejectedUntil(t, w, a, noon.Add(12*time.Hour))
	})
}

// TestChangeTimeZone checks that the day is in the team's current zone.
func TestChangeTimeZone(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		w.reserve(t, a, 1) // at noon
		w.clock.Advance(11 * time.Hour)
		w.reserve(t, a, 2) // at 23:00
		w.checkUsage(t, a, 97, 0, 0, 3, 3)
		for name, reserved := range map[string]int64{
			"Asia/Tokyo":           2, // 8 in the morning of the 22nd, which began at 15:00
			"Europe/Berlin":        2, // the 22nd has just begun
			"Pacific/Kiritimati":   3, // 13:00 of the 22nd, which began at 10:00
			"America/Los_Angeles":  3,
			"Pacific/Pago_Pago":    3, // noon of the 21st, which began at 11:00
			"America/Anchorage":    3,
			"Australia/Lord_Howe":  2,
			"America/Buenos_Aires": 3,
		} {
			w.checkUsage(t, changeActor(a, func(a *access.Actor) { a.Zone = zone(name) }), 97, 0, 0, reserved, reserved)
		}
	})
}

func TestOtherTeamsNotCounted(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a, other := w.actorWithCredits(t, 100), w.actorWithCredits(t, 100)
		w.reserve(t, other, 9)
		w.checkUsage(t, a, 100, 0, 0, 0, 0)
		w.checkUsage(t, changeActor(other, func(o *access.Actor) { o.KeyID++ }), 91, 0, 0, 0, 9)
		w.checkUsage(t, changeActor(other, func(o *access.Actor) { o.KeyID = 0 }), 91, 0, 0, 0, 9)
	})
}

func getCredits(t *testing.T, w env, a *access.Actor) string {
	t.Helper()
	op := w.Operations()[0]
	answer, err := op.Run(t.Context(), operation.Call{Actor: a, Operation: op.Tool, Now: w.clock.Now()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.App != "/settings/credits" || answer.Billing != nil {
		t.Errorf("%+v", answer)
	}
	raw, err := json.Marshal(answer.Data)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestGetCredits(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		nobody := w.actor(t)
		a := changeActor(w.actorWithCredits(t, 100), func(a *access.Actor) { a.Daily = access.Daily{KeyCredits: 20, TeamCredits: -1} })
		w.settle(t, w.reserve(t, a, 8), 6)
		w.reserve(t, a, 4)
		w.reserve(t, changeActor(a, func(a *access.Actor) { a.KeyID++ }), 3)
		w.settle(t, w.automatic(t, a, 5), 5)
		before := w.rows(t)
		const rest = `"used_today":{"team":11,"keys_and_tools":6},"daily_limits":{"key":20,"team":-1},` +
			`"reserved_today":{"key":4,"team":7}}`
		for _, r := range access.Roles() {
			want := `{` + rest
			if r == access.Owner || r == access.Admin {
				want = `{"balance":82,` + rest
			}
			if got := getCredits(t, w, changeActor(a, func(a *access.Actor) { a.Role = r })); got != want {
				t.Errorf("%s: %s", r, got)
			}
		}
		nobody.Daily = access.Daily{}
		const none = `{"balance":0,"used_today":{"team":0,"keys_and_tools":0},` +
			`"daily_limits":{"key":0,"team":0},"reserved_today":{"key":0,"team":0}}`
		if got := getCredits(t, w, nobody); got != none {
			t.Errorf("a team without a wallet: %s", got)
		}
		if after := w.rows(t); after != before {
			t.Errorf("a read changed rows: %s, before %s", after, before)
		}
	})
}

func TestUsageSeesOnlyCommitted(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		w.write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := w.Reserve(ctx, tx, charge(a, 10))
			w.checkUsage(t, a, 100, 0, 0, 0, 0)
			return err
		})
		w.checkUsage(t, a, 90, 0, 0, 10, 10)
	})
}
