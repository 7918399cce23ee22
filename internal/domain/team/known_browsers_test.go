package team_test

import (
	"strings"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/testkit/must"
)

// signedIn returns a browser's tokens after a person signed in.
func (w env) signedIn(t *testing.T, person int64, browser string) string {
	t.Helper()
	return must.Get(w.NoteSignIn(t.Context(),
		team.SignedIn{Person: person, Method: "password", Browser: browser, BrowserName: "Firefox on Linux"}))(t)
}

// An attack from many clients delays strangers, on all nodes and up to an hour, but no browser that signed in before.
func TestPasswordGuessesFromKnownBrowsers(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		door, other, try := team.NewSignIns(w.Service), team.NewSignIns(w.Service), attempts()
		ada, bea := w.owner, w.person(t, "bea@example.com", "wobbly pass word", access.Viewer)
		known, others := w.signedIn(t, ada.ID, ""), w.signedIn(t, bea.ID, "")
		var longest time.Duration
		checked := 0
		for range 300 {
			_, err := door.SignIn(t.Context(), try("ada@example.com", "wrong"))
			longest = max(longest, apierr.Of(err).RetryAfter)
			if apierr.Is(err, apierr.Unauthorized) {
				checked++
			}
			w.clock.Advance(2 * time.Minute)
		}
		if longest < 58*time.Minute || longest > time.Hour || checked > 10+10+10 {
			t.Errorf("%d of 300 guesses in ten hours were checked, and the longest delay was %s", checked, longest)
		}
		right := try("ada@example.com", "correct horse quartz")
		for _, browser := range []string{"", others, strings.Repeat("x", 5000), ".."} {
			right.Browser = browser
			_, err := other.SignIn(t.Context(), right)
			if f := apierr.Of(err); f.Code != apierr.RateLimited || !strings.Contains(f.Detail,
				"Sign in from a browser you have used before or with a passkey") {
				t.Errorf("a stranger on another node: %v", err)
			}
		}
		right.Browser = known
		for _, node := range []*team.SignIns{door, other} {
			if p, err := node.SignIn(t.Context(), right); err != nil || p.ID != ada.ID {
				t.Errorf("a browser that signed in before: %v", err)
			}
		}
		w.clock.Advance(24 * time.Hour)
		if _, err := other.SignIn(t.Context(), try("ada@example.com", "correct horse quartz")); err != nil {
			t.Errorf("a day after the attack: %v", err)
		}
		if _, err := w.SweepSignIns(t.Context()); err != nil || w.count(t, "sign_in_tries") != 0 {
			t.Errorf("%d rows are left after a day (%v)", w.count(t, "sign_in_tries"), err)
		}
	})
}

// A stolen known browser guesses no faster than others, from any address.
func TestStolenBrowserThrottled(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		door, other, try := team.NewSignIns(w.Service), team.NewSignIns(w.Service), attempts()
		stolen := w.signedIn(t, w.owner.ID, "")
		checked := 0
		for i := range 200 {
			a := try("ada@example.com", "wrong")
			a.Browser = stolen
			node := door
			if i%2 == 1 {
				node = other
			}
			if _, err := node.SignIn(t.Context(), a); apierr.Is(err, apierr.Unauthorized) {
				checked++
			}
		}
		if checked > 5+4 { // each node counts the first attempts separately
			t.Errorf("%d guesses were checked at once", checked)
		}
		a := try("ada@example.com", "correct horse quartz")
		a.Browser = stolen
		if _, err := other.SignIn(t.Context(), a); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("the right password after them: %v", err)
		}
		if _, err := door.SignIn(t.Context(), try("ada@example.com", "correct horse quartz")); err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
	})
}

// A browser is known for each person who signed in with it, until all of their sessions are ended.
func TestKnownBrowsers(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		door := team.NewSignIns(w.Service)
		ada, bea := w.owner.ID, w.person(t, "bea@example.com", "wobbly pass word", access.Viewer).ID
		first := w.signedIn(t, ada, "")
		both := w.signedIn(t, bea, first)
		second := w.signedIn(t, ada, "")
		if again := w.signedIn(t, ada, both+".something else"); again != both {
			t.Error("a known browser gets something else to hold")
		}
		knows := func(browser string, person int64, want bool) {
			t.Helper()
			if w.KnownFor(t.Context(), w.db, person, browser) != want {
				t.Errorf("%d is known: %t", person, !want)
			}
		}
		knows(first, bea, false) // planted tokens become nobody's
		knows(both, ada, true)
		knows(both, bea, true)
		must.Get(door.ChangePassword(t.Context(),
			team.Change{Person: ada, Old: "correct horse quartz", New: "vivid tundra sextant 9"}))(t)
		knows(both, ada, false)
		must.NoError(t, w.KeepBrowser(t.Context(), ada, both))
		knows(both, ada, true)
		knows(second, ada, false)
		must.NoError(t, w.EndSessions(t.Context(), ada))
		knows(both, ada, false)
		knows(both, bea, true)
		var held []string
		for range 21 {
			w.clock.Advance(time.Minute)
			held = append(held, w.signedIn(t, bea, ""))
		}
		knows(both, bea, false)
		knows(held[0], bea, false)
		knows(held[1], bea, true)
		w.clock.Advance(team.BrowserLife)
		knows(held[1], bea, false)
		knows(held[20], bea, false)
		if n, err := w.SweepSignIns(t.Context()); err != nil || n == 0 || w.count(t, "known_browsers") != 0 {
			t.Errorf("%d swept, %d left (%v)", n, w.count(t, "known_browsers"), err)
		}
	})
}
