package account

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
)

const day = 24 * time.Hour

func TestRenewAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for life, want := range map[time.Duration]time.Duration{
		60 * day: 30 * day, 2 * day: day, 30 * time.Hour: 6 * time.Hour, day: day - 10*time.Minute,
		time.Hour:        50 * time.Minute,
		10 * time.Minute: 5 * time.Minute, time.Minute: time.Minute, -day: time.Minute,
	} {
		if got := renewAt(network.Grant{Expires: now.Add(life)}, now).Sub(now); got != want {
			t.Errorf("grant with a lifetime of %v is renewed after %v, want %v", life, got, want)
		}
	}
	if at := renewAt(network.Grant{RefreshExpires: now}, now); !at.IsZero() {
		t.Errorf("grant without expiry is renewed at %v", at)
	}
}

// A grant is renewed before it expires, but not immediately.
func TestRenewalTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		life := time.Duration(rapid.Int64Range(-int64(day), int64(400*day)).Draw(t, "life"))
		after := renewAt(network.Grant{Expires: now.Add(life)}, now).Sub(now)
		if after < renewInterval || life > 2*renewInterval && after >= life {
			t.Fatalf("grant with a lifetime of %v is renewed after %v", life, after)
		}
	})
}

func TestConnectionState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		grant network.Grant
		want  Connection
	}{
		"without expiry": {network.Grant{}, Connected},
		"renewable":      {network.Grant{RefreshToken: "r", Expires: now.Add(time.Hour)}, Connected},
		"renewable for months": {network.Grant{RefreshToken: "r", Expires: now.Add(time.Hour),
			RefreshExpires: now.Add(90 * day)}, Connected},
		"renewable for days": {network.Grant{RefreshToken: "r", Expires: now.Add(time.Hour),
			RefreshExpires: now.Add(7 * day)}, Expiring},
		"access outlives the refresh": {network.Grant{RefreshToken: "r", Expires: now.Add(60 * day),
			RefreshExpires: now.Add(day)}, Connected},
		"not renewable, for months": {network.Grant{Expires: now.Add(60 * day)}, Connected},
		"not renewable, for days":   {network.Grant{Expires: now.Add(7 * day)}, Expiring},
	} {
		if got := connectionState(c.grant, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestRetryAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ left, after, want time.Duration }{
		{10 * time.Minute, 0, 5 * time.Minute}, {-day, 0, 5 * time.Minute}, {2 * day, 0, 144 * time.Minute},
		{30 * day, 0, 6 * time.Hour},
		{10 * time.Minute, time.Hour, time.Hour}, {10 * time.Minute, time.Second, 5 * time.Minute},
		{30 * day, 90 * day, day},
	} {
		if got := retryAt(network.Grant{Expires: now.Add(c.left)}, now.Add(c.after), now).Sub(now); got != c.want {
			t.Errorf("%v left, network delay %v: retried after %v, want %v", c.left, c.after, got, c.want)
		}
	}
}
