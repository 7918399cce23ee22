package retryafter_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/retryafter"
)

func TestParse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "4000000000": 4000000000 * time.Second, "Fri, 27 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Fri, 27 Nov 2026 11:59:30 GMT": 0, "": 0, "0": 0, "-5": 0, "1.5": 0, "99999999999999999999": 0, "soon": 0,
	} {
		if got := retryafter.Parse(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
