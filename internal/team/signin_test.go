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

	"pressroom/internal/access"
	"pressroom/internal/fault"
	"pressroom/internal/team"
)

func (w world) person(t *testing.T, email, password string, role access.Role) team.Person {
	t.Helper()
	p, err := w.AddPerson(t.Context(), "Somebody", email, password)
	if err != nil {
		t.Fatal(err)
	}
	if role != "" {
		if err := w.SetMember(t.Context(), w.team.ID, p.ID, role); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// attempts come each from a client of its own.
func attempts() func(email, password string) team.Attempt {
	n := 0
	return func(email, password string) team.Attempt {
		n++
		return team.Attempt{Email: email, Password: password, From: fmt.Sprint("client ", n)}
	}
}

// Whoever may not sign in hears the same, whatever the reason is.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		door, try := team.NewSignIns(w.Service), attempts()
		held := w.person(t, "held@example.com", "pass word", access.Editor)
		if err := w.SetHold(t.Context(), held.ID, true); err != nil {
			t.Fatal(err)
		}
		w.person(t, "none@example.com", "", access.Editor)
		w.person(t, "teamless@example.com", "pass word", "")
		var refusal error
		for _, c := range [][2]string{
			{"ada@example.com", "wrong"}, {"nobody@example.com", "correct horse"}, {"held@example.com", "pass word"}, {"none@example.com", ""},
			{"teamless@example.com", "wrong"}, {"teamless@example.com", ""}, {"", ""}, {"ada@example.com", ""}, {"ada@example.com\x00", "correct horse"}, {"\xff", "\xff"},
		} {
			_, err := door.SignIn(t.Context(), try(c[0], c[1]))
			if !fault.Is(err, fault.Unauthorized) {
				t.Errorf("%q: %v", c[0], err)
			}
			if refusal != nil && refusal.Error() != err.Error() {
				t.Errorf("%q is told %q, others %q", c[0], err, refusal)
			}
			refusal = err
		}
		// Somebody in no team is told so by the right password, as often as it is given.
		for range 7 {
			if p, err := door.SignIn(t.Context(), try("teamless@example.com", "pass word")); !errors.Is(err, team.ErrNoTeam) || p.ID != 0 {
				t.Errorf("in no team: %+v (%v)", p, err)
			}
		}
		for _, email := range []string{"ada@example.com", " ADA@Example.com "} {
			p, err := door.SignIn(t.Context(), try(email, "correct horse"))
			if err != nil || p.Email != "ada@example.com" || p.Name != "Ada" {
				t.Errorf("%+v (%v)", p, err)
			}
		}
	})
}

// Five wrong passwords a minute are what an address and a client have; right ones do not count.
func TestGuessingPasswords(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		door, try := team.NewSignIns(w.Service), attempts()
		w.person(t, "bea@example.com", "pass word", access.Viewer)
		for range 7 {
			if _, err := door.SignIn(t.Context(), try("ada@example.com", "correct horse")); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			if _, err := door.SignIn(t.Context(), try("ada@example.com", "wrong")); !fault.Is(err, fault.Unauthorized) {
				t.Fatalf("guess %d: %v", i, err)
			}
			w.clock.Advance(time.Second)
		}
		_, err := door.SignIn(t.Context(), try(" Ada@example.com", "correct horse"))
		if f := fault.Of(err); f.Code != fault.RateLimited || f.RetryAfter != 55*time.Second || !strings.Contains(f.Detail, "in 55 seconds") {
			t.Errorf("the right password after five wrong ones: %v", err)
		}
		if _, err := door.SignIn(t.Context(), try("bea@example.com", "pass word")); err != nil {
			t.Errorf("somebody else: %v", err)
		}
		w.clock.Advance(55 * time.Second)
		if _, err := door.SignIn(t.Context(), try("ada@example.com", "correct horse")); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		for i := range 6 {
			_, err := door.SignIn(t.Context(), team.Attempt{Email: fmt.Sprint(i, "@example.com"), Password: "x", From: "one client"})
			if fault.Is(err, fault.RateLimited) != (i == 5) {
				t.Errorf("address %d of one client: %v", i, err)
			}
		}
	})
}

// Guesses that come at once are counted one by one.
func TestGuessingAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		door, try := team.NewSignIns(w.Service), attempts()
		var wg sync.WaitGroup
		var checked atomic.Int64
		for range 40 {
			a := try("ada@example.com", "wrong")
			wg.Go(func() {
				if _, err := door.SignIn(t.Context(), a); fault.Is(err, fault.Unauthorized) {
					checked.Add(1)
				}
			})
		}
		wg.Wait()
		if checked.Load() != 5 {
			t.Errorf("%d of 40 guesses were checked, want 5", checked.Load())
		}
	})
}

func TestAccount(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		bea := w.person(t, "bea@example.com", "pass word", access.Editor)
		a, err := w.Account(t.Context(), bea.ID)
		want := team.Account{Person: bea, HasPassword: true, Teams: []team.OwnTeam{{ID: w.team.ID, Name: "Harbour", Timezone: "Europe/Berlin", Role: access.Editor}}}
		if diff := cmp.Diff(want, a); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		for name, change := range map[string]func() error{
			"on hold":    func() error { return w.SetHold(t.Context(), bea.ID, true) },
			"in no team": func() error { return w.RemoveMember(t.Context(), w.team.ID, bea.ID) },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Account(t.Context(), bea.ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
			if err := w.SetHold(t.Context(), bea.ID, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}
