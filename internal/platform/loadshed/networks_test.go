package loadshed_test

import (
	"testing"

	"pressroom.example/pressroom/internal/platform/loadshed"
)

func TestNetworkPrefix(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"198.51.100.7":          "198.51.100.0/24",
		"::ffff:198.51.100.7":   "198.51.100.0/24",
		"198.51.100.7/32":       "198.51.100.0/24",
		"2001:db8:1:2::3":       "2001:db8:1::/48",
		"2001:db8:1:ffff::/64":  "2001:db8:1::/48",
		"fe80:1:2:3::4%eth0":    "fe80:1:2::/48",
		"::ffff:198.51.100.7/0": "198.51.100.0/24",
		"@":                     "@",
		"":                      "",
	} {
		if got := loadshed.NetworkPrefix(client); got != want {
			t.Errorf("%q: %s, want %s", client, got, want)
		}
	}
}
