package team_test

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/knownbrowser"
	"pressroom.example/pressroom/internal/testkit/must"
)

// signIn records a sign-in of a person and returns the browser's new tokens.
func (w env) signIn(t *testing.T, person int64, browser string) string {
	t.Helper()
	return must.Get(w.RecordSignIn(t.Context(),
		team.SignInEvent{Person: person, Method: "password", Browser: browser, BrowserName: "Firefox on Linux"}))(t)
}

// Guesses from many clients delay unknown browsers on all nodes, up to an hour, but not known browsers.
func TestPasswordGuessesFromKnownBrowsers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, other, try := team.NewSignIns(w.Service), team.NewSignIns(w.Service), newAttempts()
		ada, bea := w.owner, w.addPerson(t, "bea@example.com", "wobbly pass word", access.Viewer)
		known, others := w.signIn(t, ada.ID, ""), w.signIn(t, bea.ID, "")
		var longest time.Duration
		checked := 0
		for range 300 {
			_, err := signIns.SignIn(t.Context(), try("ada@example.com", "wrong"))
			longest = max(longest, apierr.FromError(err).RetryAfter)
			if apierr.Is(err, apierr.Unauthorized) {
				checked++
			}
			w.clock.Advance(2 * time.Minute)
		}
		if longest < 58*time.Minute || longest > time.Hour || checked > 10+10+10 {
			t.Errorf("%d of 300 guesses in ten hours were checked, longest delay %s", checked, longest)
		}
		attempt := try("ada@example.com", "correct horse quartz")
		for _, browser := range []string{"", others, strings.Repeat("x", 5000), ".."} {
			attempt.Browser = browser
			_, err := other.SignIn(t.Context(), attempt)
			if f := apierr.FromError(err); f.Code != apierr.RateLimited || !strings.Contains(f.Detail,
				"Sign in from a browser you have used before or with a passkey") {
				t.Errorf("unknown browser on another node: %v", err)
			}
		}
		attempt.Browser = known
		for _, node := range []*team.SignIns{signIns, other} {
			if p, err := node.SignIn(t.Context(), attempt); err != nil || p.ID != ada.ID {
				t.Errorf("known browser: %v", err)
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

// Guesses with a stolen known browser are limited across addresses and nodes.
func TestStolenBrowserThrottled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, other, try := team.NewSignIns(w.Service), team.NewSignIns(w.Service), newAttempts()
		stolen := w.signIn(t, w.owner.ID, "")
		checked := 0
		for i := range 200 {
			a := try("ada@example.com", "wrong")
			a.Browser = stolen
			node := signIns
			if i%2 == 1 {
				node = other
			}
			if _, err := node.SignIn(t.Context(), a); apierr.Is(err, apierr.Unauthorized) {
				checked++
			}
		}
		if checked > 5+4 { // each node counts the first attempts separately
			t.Errorf("%d guesses were checked", checked)
		}
		a := try("ada@example.com", "correct horse quartz")
		a.Browser = stolen
		if _, err := other.SignIn(t.Context(), a); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("right password after the guesses: %v", err)
		}
		if _, err := signIns.SignIn(t.Context(), try("ada@example.com", "correct horse quartz")); err != nil {
			t.Errorf("right password from an unknown browser: %v", err)
		}
	})
}

// A browser is known for each person who signed in with it, until all sessions of the person end.
func TestKnownBrowsers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		ada, bea := w.owner.ID, w.addPerson(t, "bea@example.com", "wobbly pass word", access.Viewer).ID
		first := w.signIn(t, ada, "")
		both := w.signIn(t, bea, first)
		second := w.signIn(t, ada, "")
		if again := w.signIn(t, ada, both+".something else"); again != both {
			t.Error("a known browser got other tokens")
		}
		checkKnown := func(browser string, person int64, want bool) {
			t.Helper()
			if w.KnownFor(t.Context(), w.db, person, browser) != want {
				t.Errorf("person %d is known: %t", person, !want)
			}
		}
		checkKnown(first, bea, false) // A planted token is not known for another person.
		checkKnown(both, ada, true)
		checkKnown(both, bea, true)
		must.Get(signIns.ChangePassword(t.Context(),
			team.PasswordChange{Person: ada, Old: "correct horse quartz", New: "vivid tundra sextant 9"}))(t)
		checkKnown(both, ada, false)
		must.NoError(t, w.KeepBrowser(t.Context(), ada, both))
		checkKnown(both, ada, true)
		checkKnown(second, ada, false)
		must.NoError(t, w.EndSessions(t.Context(), ada))
		checkKnown(both, ada, false)
		checkKnown(both, bea, true)
		var browsers []string
		for range 21 {
			w.clock.Advance(time.Minute)
			browsers = append(browsers, w.signIn(t, bea, ""))
		}
		checkKnown(both, bea, false)
		checkKnown(browsers[0], bea, false)
		checkKnown(browsers[1], bea, true)
		w.clock.Advance(knownbrowser.Lifetime)
		checkKnown(browsers[1], bea, false)
		checkKnown(browsers[20], bea, false)
		if n, err := w.SweepSignIns(t.Context()); err != nil || n == 0 || w.count(t, "known_browsers") != 0 {
			t.Errorf("deleted %d, %d left (%v)", n, w.count(t, "known_browsers"), err)
		}
	})
}
