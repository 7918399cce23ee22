package subscription

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

func TestNext(t *testing.T) {
	t.Parallel()
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	for _, c := range []struct {
		plan        Schedule
		after, want string
	}{
		{Schedule{Weekly, 1, 9}, "2026-11-26T12:00:00+01:00", "2026-11-30T09:00:00+01:00"},
		{Schedule{Weekly, 4, 12}, "2026-11-26T12:00:00+01:00", "2026-12-03T12:00:00+01:00"},
		{Schedule{Weekly, 4, 13}, "2026-11-26T12:00:00+01:00", "2026-11-26T13:00:00+01:00"},
		{Schedule{Weekly, 7, 0}, "2026-11-22T00:00:00+01:00", "2026-11-29T00:00:00+01:00"},
		{Schedule{Weekly, 3, 9}, "2026-11-26T12:00:00+01:00", "2026-12-02T09:00:00+01:00"},
		{Schedule{Monthly, 26, 13}, "2026-11-26T12:00:00+01:00", "2026-11-26T13:00:00+01:00"},
		{Schedule{Monthly, 1, 9}, "2026-12-01T09:00:00+01:00", "2027-01-01T09:00:00+01:00"},
		{Schedule{Monthly, 28, 9}, "2027-01-31T09:00:00+01:00", "2027-02-28T09:00:00+01:00"},
		// Daylight saving time begins on Sunday 28 March 2027. The local hour remains 9.
		{Schedule{Weekly, 1, 9}, "2027-03-22T09:00:00+01:00", "2027-03-29T09:00:00+02:00"},
		{Schedule{Weekly, 7, 2}, "2027-03-22T09:00:00+01:00", "2027-03-28T03:00:00+02:00"},
		// The same instant in another zone.
		{Schedule{Weekly, 1, 0}, "2026-11-29T23:30:00Z", "2026-12-07T00:00:00+01:00"},
	} {
		after, want := must.Get(time.Parse(time.RFC3339, c.after))(t), must.Get(time.Parse(time.RFC3339, c.want))(t)
		if got := c.plan.Next(after, berlin); !got.Equal(want) {
			t.Errorf("%+v after %s: %s, want %s", c.plan, c.after, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, bad := range []Schedule{
		{"daily", 1, 9}, {Weekly, 0, 9}, {Weekly, 8, 9}, {Monthly, 29, 9}, {Monthly, 1, 24}, {Weekly, 1, -1},
	} {
		if bad.check() == nil {
			t.Errorf("the invalid schedule %+v is accepted", bad)
		}
	}
}
