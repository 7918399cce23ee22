package web

import (
	"testing"
	"time"

	"pressroom/internal/testkit/must"
)

// A day begins at its first instant, also where the clocks skip midnight.
func TestHomeBounds(t *testing.T) {
	t.Parallel()
	zone := must.Get(time.LoadLocation("America/Havana"))(t)
	bounds := homeBounds(time.Date(2027, 3, 12, 15, 0, 0, 0, zone)) // the clocks go forward on the 14th at midnight
	if len(bounds) != 1+homeDays {
		t.Fatalf("%d bounds", len(bounds))
	}
	for i, at := range bounds[1:] {
		if want := 13 + i; at.Day() != want || at.Hour() > 1 {
			t.Errorf("day %d begins at %v", want, at)
		}
	}
}
