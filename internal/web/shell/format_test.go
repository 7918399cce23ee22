package shell

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 1536: "1.5 KB", 14_029: "14 KB", 999_400: "999 KB", 999_600: "1 MB",
		50 << 20: "52 MB", 4 << 30: "4.3 GB", 1000 << 30: "1.1 TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestRoundLimit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int64{1000: 1000, 50 << 20: 50e6, 4 << 30: 4e9, 1536 << 20: 1536e6, 1<<20 + 1: 1<<20 + 1} {
		if got := RoundLimit(n); got != want {
			t.Errorf("%d is rounded to %d, want %d", n, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", -30 * time.Second: "just now", time.Minute: "1 minute ago",
		90 * time.Minute: "1 hour ago", 23 * time.Hour: "23 hours ago", 25 * time.Hour: "1 day ago",
		6*24*time.Hour + 23*time.Hour: "6 days ago", 8 * 24 * time.Hour: "19 Nov 2026", -48 * time.Hour: "29 Nov 2026",
	} {
		if got := string(RelativeTimeHTML(locale.English, now.Add(-passed), now)); !strings.Contains(got, ">"+want+"<") {
			t.Errorf("%v: %s, want %s", passed, got, want)
		}
	}
	const want = `<time datetime="2026-11-27T10:00:00Z" title="Fri 27 Nov 2026, 10:00 UTC">2 hours ago</time>`
	if got := string(RelativeTimeHTML(locale.English, now.Add(-2*time.Hour), now)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
