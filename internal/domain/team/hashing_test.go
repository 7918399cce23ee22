package team_test

import (
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
)

// At most 16 sign-ins by strangers wait for a password hash, at most 8 of them from one client. Others are rejected
// immediately. A known browser is never rejected.
func TestHashQueueLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from    func(i int) string
		waiting int
	}{
		"many clients": {func(i int) string { return fmt.Sprint("192.0.2.", i) }, 16},
		"one client":   {func(int) string { return "192.0.2.1" }, 8},
		"one site":     {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::/64", i) }, 8},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, w env) {
				signIns, known := team.NewSignIns(w.Service), w.signIn(t, w.owner.ID, "")
				release := signIns.HoldHashes()
				const all = 25
				errs := make(chan error, all)
				for i := range all {
					go func() {
						_, err := signIns.SignIn(t.Context(),
							team.Attempt{Email: fmt.Sprint(i, "@example.com"), Password: "wrong", From: c.from(i)})
						errs <- err
					}()
				}
				for range all - c.waiting {
					if f := apierr.FromError(<-errs); f.Code != apierr.RateLimited || f.RetryAfter <= 0 {
						t.Errorf("a stranger while the queue is full: %v", f)
					}
				}
				if _, err := signIns.SignIn(t.Context(),
					team.Attempt{
						Email: "ada@example.com", Password: "correct horse quartz", From: c.from(0), Browser: known,
					}); err != nil {
					t.Errorf("known browser: %v", err)
				}
				release()
				for range c.waiting {
					if err := <-errs; !apierr.Is(err, apierr.Unauthorized) {
						t.Errorf("a stranger who waited: %v", err)
					}
				}
			})
		})
	}
}

// Joining with the email address of an existing account hashes no password, and failed attempts are limited.
func TestJoiningWithAccountComputesNoHash(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		w.addPerson(t, "bea@example.com", "wobbly pass word", "")
		_, token := w.invite(t, w.owner.ID, "bea@example.com", access.Editor)
		release := signIns.HoldHashes() // Hashing would block.
		defer release()
		for i := range 11 {
			_, err := signIns.Join(t.Context(), token,
				team.NewMember{Name: "Bea", Password: goodPassword, From: "192.0.2.1"})
			if i < 10 && !strings.Contains(apierr.FromError(err).Detail, "That did not work.") || i == 10 && !apierr.Is(err,
				apierr.RateLimited) {
				t.Errorf("attempt %d: %v", i, err)
			}
		}
	})
}

// Wrong passwords from one IPv6 site are counted together. Known browsers in the site are not delayed.
func TestGuessesFromOneSite(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, known := team.NewSignIns(w.Service), w.signIn(t, w.owner.ID, "")
		signIns.ChargeSite("2001:db8:1::/48")
		try := func(email, password, from, browser string) error {
			_, err := signIns.SignIn(t.Context(),
				team.Attempt{Email: email, Password: password, From: from, Browser: browser})
			return err
		}
		if err := try("a@example.com", "wrong", "2001:db8:1:a::/64", ""); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("last allowed attempt: %v", err)
		}
		if err := try("b@example.com", "wrong", "2001:db8:1:b::/64", ""); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("another attempt from another subnet of the site: %v", err)
		}
		if err := try("b@example.com", "wrong", "2001:db8:2:b::/64", ""); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("attempt from another site: %v", err)
		}
		if err := try("ada@example.com", "correct horse quartz", "2001:db8:1:b::/64", known); err != nil {
			t.Errorf("a known browser in the site: %v", err)
		}
	})
}

// An attacker who guesses codes does not delay the person in a known browser. A known browser has the same limit.
func TestCodeGuessesFromKnownBrowsers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, known, second := team.NewSignIns(w.Service), w.signIn(t, w.owner.ID, ""), w.signIn(t, w.owner.ID, "")
		guess := func(browser string, err error) error {
			return signIns.GuessCode(t.Context(), w.owner.ID, browser, func() error { return err })
		}
		wrong := apierr.New(apierr.Unauthorized, "wrong")
		for _, browser := range []string{"", known} {
			for range 5 {
				if err := guess(browser, wrong); !apierr.Is(err, apierr.Unauthorized) {
					t.Errorf("allowed attempt: %v", err)
				}
			}
			if err := guess(browser, nil); !apierr.Is(err, apierr.RateLimited) {
				t.Errorf("after five wrong codes: %v", err)
			}
			if err := guess(second, nil); err != nil {
				t.Errorf("another known browser: %v", err)
			}
		}
	})
}
