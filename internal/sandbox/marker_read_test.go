package sandbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadMarkers(t *testing.T) {
	for text, want := range map[string]markers{
		"":                              {},
		"[sandbox:reject]":              {names: map[string]bool{markReject: true}},
		"a[sandbox:reject@bluesky]b":    {names: map[string]bool{markReject: true}},
		"[sandbox:reject@threads]":      {},
		"[sandbox:slow=3]":              {slow: 3 * time.Second},
		"[sandbox:slow=9999]":           {slow: maxSlow},
		"[sandbox:slow=0]":              {},
		"[sandbox:slow] [sandbox:slow=": {},
		"[sandbox:unknown] [Sandbox:reject] sandbox:reject":          {},
		"[sandbox:slow=2@bluesky][sandbox:slow=1][sandbox:slow=9@x]": {slow: 2 * time.Second},
		"[sandbox:error][sandbox:lost-answer][sandbox:rate-limit][sandbox:expired-token]": {
			names: map[string]bool{markError: true, markLostAnswer: true, markRateLimit: true, markExpiredToken: true},
		},
		"[sandbox:unconfirmed@bluesky] [sandbox:unconfirmed@x]": {names: map[string]bool{markUnconfirmed: true}},
	} {
		got := readMarkers(text, "bluesky")
		if len(got.names) == 0 {
			got.names = nil
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(markers{})); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}
