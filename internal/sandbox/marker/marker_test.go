package marker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]Set{
		"":                              {},
		"[sandbox:reject]":              {names: map[string]bool{Reject: true}},
		"a[sandbox:reject@bluesky]b":    {names: map[string]bool{Reject: true}},
		"[sandbox:reject@threads]":      {},
		"[sandbox:slow=3]":              {Slow: 3 * time.Second},
		"[sandbox:slow=9999]":           {Slow: MaxSlow},
		"[sandbox:slow=0]":              {},
		"[sandbox:slow] [sandbox:slow=": {},
		"[sandbox:unknown] [Sandbox:reject] sandbox:reject":          {},
		"[sandbox:slow=2@bluesky][sandbox:slow=1][sandbox:slow=9@x]": {Slow: 2 * time.Second},
		"[sandbox:error][sandbox:lost-answer][sandbox:rate-limit][sandbox:expired-token]": {
			names: map[string]bool{Failure: true, lostResponse: true, RateLimit: true, ExpiredToken: true},
		},
		"[sandbox:unconfirmed@bluesky] [sandbox:unconfirmed@x]": {names: map[string]bool{unconfirmed: true}},
	} {
		got := Read(text, "bluesky")
		if len(got.names) == 0 {
			got.names = nil
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Set{})); diff != "" {
			t.Errorf("Read(%q):\n%s", text, diff)
		}
	}
}
