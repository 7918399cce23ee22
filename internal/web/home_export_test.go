package web

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A day starts at its first instant, even if the clocks skip midnight.
func TestHomeBounds(t *testing.T) {
	t.Parallel()
	zone := must.Get(time.LoadLocation("America/Havana"))(t)
	bounds := homeBounds(time.Date(2027, 3, 12, 15, 0, 0, 0, zone)) // the clocks go forward on the 14th at midnight
	if len(bounds) != 1+homeDays {
		t.Fatalf("%d bounds", len(bounds))
	}
	for i, at := range bounds[1:] {
		if want := 13 + i; at.Day() != want || at.Hour() > 1 {
			t.Errorf("day %d starts at %v", want, at)
		}
	}
}

// Accounts that published this week come first on the home page.
func TestActiveFirst(t *testing.T) {
	t.Parallel()
	weeks := []analytics.AccountComparison{{ID: 1}, {ID: 2, Now: analytics.PeriodMetrics{Posts: 3}}, {ID: 3,
		Now: analytics.PeriodMetrics{Posts: 1}}}
	shown, others := sortActiveFirst(weeks, 2)
	if len(shown) != 2 || shown[0].ID != 2 || shown[1].ID != 3 || others != 1 {
		t.Errorf("shown %v and %d others", shown, others)
	}
}
