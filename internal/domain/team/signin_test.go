package team_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (w env) addPerson(t *testing.T, email, password string, role access.Role) team.Person {
	t.Helper()
	p := must.Get(w.AddPerson(t.Context(), "Somebody", email, password))(t)
	if role != "" {
		must.NoError(t, w.SetMember(t.Context(), w.team.ID, p.ID, role))
	}
	return p
}

// newAttempts returns a function that creates attempts from different clients.
func newAttempts() func(email, password string) team.Attempt {
	n := 0
	return func(email, password string) team.Attempt {
		n++
		return team.Attempt{Email: email, Password: password, From: fmt.Sprint("client ", n)}
	}
}

// SignIn returns the same error for every reason why a person may not sign in.
func TestSignIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, try := team.NewSignIns(w.Service), newAttempts()
		held := w.addPerson(t, "held@example.com", "wobbly pass word", access.Editor)
		must.NoError(t, w.SetSuspended(t.Context(), held.ID, true))
		w.addPerson(t, "none@example.com", "", access.Editor)
		w.addPerson(t, "teamless@example.com", "wobbly pass word", "")
		var previous error
		for _, c := range [][2]string{
			{"ada@example.com", "wrong"}, {"nobody@example.com", "correct horse quartz"},
			{"held@example.com", "wobbly pass word"}, {"none@example.com", ""},
			{"teamless@example.com", "wrong"}, {"teamless@example.com", ""}, {"", ""}, {"ada@example.com", ""},
			{"ada@example.com\x00", "correct horse quartz"}, {"\xff", "\xff"},
		} {
			_, err := signIns.SignIn(t.Context(), try(c[0], c[1]))
			if !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%q: %v", c[0], err)
			}
			if previous != nil && previous.Error() != err.Error() {
				t.Errorf("%q: error %q, but others get %q", c[0], err, previous)
			}
			previous = err
		}
		// A person without a team gets ErrNoTeam each time with the right password.
		for range 7 {
			if p, err := signIns.SignIn(t.Context(), try("teamless@example.com", "wobbly pass word")); !errors.Is(err,
				team.ErrNoTeam) || p.ID != 0 {
				t.Errorf("person without a team: %+v (%v)", p, err)
			}
		}
		for _, email := range []string{"ada@example.com", " ADA@Example.com "} {
			p, err := signIns.SignIn(t.Context(), try(email, "correct horse quartz"))
			if err != nil || p.Email != "ada@example.com" || p.Name != "Ada" {
				t.Errorf("%+v (%v)", p, err)
			}
		}
	})
}

// Five wrong passwords per address and client cause no delay. Then the delay doubles up to an hour. The right password
// resets the delay.
func TestPasswordGuessDelay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		w.addPerson(t, "bea@example.com", "wobbly pass word", access.Viewer)
		try := func(email, password string) error {
			_, err := signIns.SignIn(t.Context(), team.Attempt{Email: email, Password: password, From: "one client"})
			return err
		}
		for range 2 {
			for range 4 {
				_ = try("ada@example.com", "wrong")
			}
			must.NoError(t, try("ada@example.com", "correct horse quartz"))
		}
		w.clock.Advance(24 * time.Hour)
		for i := range 5 {
			if err := try("ada@example.com", "wrong"); !apierr.Is(err, apierr.Unauthorized) {
				t.Fatalf("guess %d: %v", i, err)
			}
		}
		w.clock.Advance(5 * time.Second)
		err := try(" Ada@example.com", "correct horse quartz")
		if f := apierr.FromError(err); f.Code != apierr.RateLimited || f.RetryAfter != 55*time.Second ||
			!strings.Contains(f.Detail, "in 55 seconds") {
			t.Errorf("right password after five wrong passwords: %v", err)
		}
		if err := try("bea@example.com", "wobbly pass word"); err != nil {
			t.Errorf("another account: %v", err)
		}
		w.clock.Advance(55 * time.Second)
		for _, minutes := range []int{2, 4, 8, 16, 32, 60, 60} {
			delay := time.Duration(minutes) * time.Minute
			if err := try("ada@example.com", "wrong"); !apierr.Is(err, apierr.Unauthorized) {
				t.Fatalf("guess before the delay of %s: %v", delay, err)
			}
			if wait := apierr.FromError(try("ada@example.com", "wrong")).RetryAfter; wait != delay {
				t.Fatalf("delay %s, want %s", wait, delay)
			}
			w.clock.Advance(delay)
		}
		if err := try("ada@example.com", "correct horse quartz"); err != nil {
			t.Errorf("the right password after the delay: %v", err)
		}
	})
}

// A client is limited to 30 wrong passwords across all addresses.
func TestGuessesForManyEmails(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		for i := range 31 {
			_, err := signIns.SignIn(t.Context(),
				team.Attempt{Email: fmt.Sprint(i, "@example.com"), Password: "x", From: "one client"})
			if apierr.Is(err, apierr.RateLimited) != (i == 30) {
				t.Errorf("address %d of one client: %v", i, err)
			}
		}
		if n := w.count(t, "sign_in_tries"); n != 0 {
			t.Errorf("single attempts for different addresses stored %d rows", n)
		}
	})
}

// Wrong passwords from a few clients do not delay others.
func TestNoLockoutByWrongPasswords(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, try := team.NewSignIns(w.Service), newAttempts()
		for range 5 {
			if _, err := signIns.SignIn(t.Context(), try("ada@example.com", "wrong")); !apierr.Is(err,
				apierr.Unauthorized) {
				t.Fatal(err)
			}
		}
		if _, err := signIns.SignIn(t.Context(), try("ada@example.com", "correct horse quartz")); err != nil {
			t.Errorf("right password from another client: %v", err)
		}
	})
}

// Behind an untrusted proxy, all people share one client. A known browser can still sign in.
func TestAllClientsShareProxyAddress(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		known := w.signIn(t, w.owner.ID, "")
		for i := range 200 {
			_, _ = signIns.SignIn(t.Context(),
				team.Attempt{Email: fmt.Sprint(i, "@example.com"), Password: "x", From: "the proxy"})
		}
		attempt := team.Attempt{Email: "ada@example.com", Password: "correct horse quartz", From: "the proxy"}
		if _, err := signIns.SignIn(t.Context(), attempt); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("unknown browser: %v", err)
		}
		attempt.Browser = known
		if _, err := signIns.SignIn(t.Context(), attempt); err != nil {
			t.Errorf("known browser: %v", err)
		}
		if err := signIns.CheckSecret("the proxy", func() error { return nil }); err != nil {
			t.Errorf("passkey: %v", err)
		}
	})
}

// Rate limits are the same for addresses with and without an account.
func TestThrottleDoesNotRevealAccounts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		errs := map[string][]string{}
		for _, email := range []string{"ada@example.com", "nobody@example.com"} {
			signIns, try := team.NewSignIns(w.Service), newAttempts()
			for i := range 40 {
				a := try(email, "wrong")
				if i%3 == 0 {
					a.From = "one client"
				}
				_, err := signIns.SignIn(t.Context(), a)
				errs[email] = append(errs[email], err.Error())
				w.clock.Advance(20 * time.Second)
			}
		}
		if diff := cmp.Diff(errs["ada@example.com"], errs["nobody@example.com"]); diff != "" {
			t.Error(diff)
		}
	})
}

// Concurrent guesses are counted individually.
func TestConcurrentGuesses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, try := team.NewSignIns(w.Service), newAttempts()
		var wg sync.WaitGroup
		var checked atomic.Int64
		for range 40 {
			a := try("ada@example.com", "wrong")
			wg.Go(func() {
				if _, err := signIns.SignIn(t.Context(), a); apierr.Is(err, apierr.Unauthorized) {
					checked.Add(1)
				}
			})
		}
		wg.Wait()
		if checked.Load() != 10 {
			t.Errorf("%d of 40 guesses were checked, want 10", checked.Load())
		}
	})
}

// Wrong codes are limited across all nodes. Each node counts the first attempts separately.
func TestCodeGuessDelay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		nodes := []*team.SignIns{team.NewSignIns(w.Service), team.NewSignIns(w.Service)}
		wrong := apierr.New(apierr.Unauthorized, "wrong")
		checked := 0
		for i := range 20 {
			_ = nodes[i%2].GuessCode(t.Context(), 7, "", func() error { checked++; return wrong })
		}
		if checked > 5+4 {
			t.Errorf("%d codes were checked", checked)
		}
		tryCorrect := func(person int64) error {
			return nodes[0].GuessCode(t.Context(), person, "", func() error { return nil })
		}
		if err := tryCorrect(7); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("right code: %v", err)
		}
		if err := tryCorrect(8); err != nil {
			t.Errorf("code of another person: %v", err)
		}
		w.clock.Advance(time.Hour)
		if err := tryCorrect(7); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

func TestAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		bea := w.addPerson(t, "bea@example.com", "wobbly pass word", access.Editor)
		a, err := w.Account(t.Context(), bea.ID)
		want := team.Account{
			Person: bea, HasPassword: true,
			Teams: []team.OwnTeam{{ID: w.team.ID, Name: "Harbour", Timezone: "Europe/Berlin", Role: access.Editor}},
		}
		if diff := cmp.Diff(want, a); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		for name, change := range map[string]func() error{
			"suspended":  func() error { return w.SetSuspended(t.Context(), bea.ID, true) },
			"in no team": func() error { return w.RemoveMember(t.Context(), w.team.ID, bea.ID) },
		} {
			must.NoError(t, change())
			if _, err := w.Account(t.Context(), bea.ID); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
			must.NoError(t, w.SetSuspended(t.Context(), bea.ID, false))
		}
	})
}
