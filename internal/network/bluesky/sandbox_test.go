package bluesky_test

import (
	"testing"
	"time"

	"pressroom/internal/network"
)

// What the sandbox's markers ask for arrives as the class of error that people want to try out.
func TestSandboxMarkers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]network.Class{ // of commits in a row
		"[sandbox:reject]":        {network.Rejected, network.Rejected},
		"[sandbox:rate-limit]":    {network.Rate, network.Rate},
		"[sandbox:error]":         {network.Uncertain, ""},
		"[sandbox:lost-answer]":   {network.Uncertain, ""},
		"[sandbox:expired-token]": {network.AuthRefresh, network.AuthRefresh},
		"[sandbox:slow=0]":        {"", ""},
		"[sandbox:reject@x]":      {"", ""},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := sandboxWorld(t)
			g := w.connect(t)
			d := prepared(t, g, "post-1", text)
			for i, class := range want {
				checkCommit(t, g, d, i, class)
			}
			if most := len(w.posts(t)); most > 1 {
				t.Errorf("%d posts", most)
			}
		})
	}
}

func checkCommit(t *testing.T, g network.Grant, d network.Draft, i int, want network.Class) {
	t.Helper()
	_, err := newNetwork().Commit(t.Context(), g, d, nil)
	if class(err) != want {
		t.Errorf("commit %d: %v, want %q", i, err, want)
	}
	if want == network.Rate {
		if ahead := time.Until(wantClass(t, err, network.Rate, "").After); ahead <= 0 || ahead > 3*time.Second {
			t.Errorf("not before %v from now", ahead)
		}
	}
}

func TestSandboxExpiredTokenNeedsAPerson(t *testing.T) {
	t.Parallel()
	w := sandboxWorld(t)
	g := w.connect(t)
	d := prepared(t, g, "post-1", "[sandbox:expired-token]")
	_, err := newNetwork().Commit(t.Context(), g, d, nil)
	wantClass(t, err, network.AuthRefresh, "ExpiredToken")
	_, err = newNetwork().Refresh(t.Context(), g)
	wantClass(t, err, network.AuthDead, "ExpiredToken")
	if _, err := newNetwork().Commit(t.Context(), w.connect(t), d, nil); err != nil {
		t.Errorf("after connecting again: %v", err)
	}
}
