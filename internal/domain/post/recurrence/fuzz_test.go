package recurrence

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
)

// Parse returns validation_failed for invalid rules. The occurrences of valid rules are found quickly.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,FR;INTERVAL=2",
		"FREQ=MONTHLY;BYDAY=-1FR;COUNT=5", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=DAILY;UNTIL=20270101T000000Z",
		"FREQ=WEEKLY;INTERVAL=99999999999", "FREQ=;", ";;=", "FREQ=MONTHLY;BYMONTHDAY=30;BYDAY=5MO"} {
		f.Add(rule)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	start := time.Date(2026, 3, 28, 2, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text, start, zone)
		if err != nil {
			if !apierr.Is(err, apierr.ValidationFailed) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		started := time.Now()
		last := time.Time{}
		for _, at := range firstOccurrences(r, last, 20) {
			if !at.After(last) {
				t.Fatalf("%q: %v is not after %v", text, at, last)
			}
			last = at
		}
		if elapsed := time.Since(started); elapsed > 5*time.Second {
			t.Fatalf("%q took %v", text, elapsed)
		}
	})
}
