package passkey_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/authenticator"
	"pressroom.example/pressroom/internal/testkit/must"
)

const origin = "https://press.example"

type env struct {
	*passkey.Service
	db    *db.DB
	clock *testkit.Clock
}

func each(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		s := must.Get(passkey.New(d, origin))(t)
		run(t, env{s, d, clock})
	})
}

// person creates a person with or without a password hash.
func (w env) person(t *testing.T, password string) int64 {
	t.Helper()
	var id int64
	must.NoError(t, w.db.InTx(t.Context(), "test.person", func(ctx context.Context, tx *db.Tx) error {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM people`).Scan(&n); err != nil {
			return err
		}
		return tx.QueryRow(ctx,
			`INSERT INTO people (name, email, password_hash, created_at) VALUES (?, ?, ?, 0) RETURNING id`, "Ada",
			fmt.Sprintf("p%d@example.com", n), password).Scan(&id)
	}))
	return id
}

func (w env) set(t *testing.T, statement string, args ...any) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test.set", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// device creates a passkey of a person on a new device.
func (w env) device(t *testing.T, person int64) *authenticator.Device {
	t.Helper()
	d := &authenticator.Device{Origin: origin}
	must.NoError(t, w.register(t, person, d))
	return d
}

func (w env) register(t *testing.T, person int64, d *authenticator.Device) error {
	t.Helper()
	asked, err := w.BeginRegistration(t.Context(), passkey.Registrant{Person: person, Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		return err
	}
	answer := must.Get(d.Create(asked.Options))(t)
	made, err := w.FinishRegistration(person, asked.State, answer, " Laptop ")
	if err != nil {
		return err
	}
	return w.Add(t.Context(), person, made)
}

func (w env) enter(t *testing.T, d *authenticator.Device) (int64, error) {
	t.Helper()
	asked := must.Get(w.BeginSignIn())(t)
	answer := must.Get(d.Get(asked.Options))(t)
	return w.SignIn(t.Context(), asked.State, answer)
}

func TestRegisterAndSignIn(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.person(t, "")
		ada := w.person(t, "")
		first, second := w.device(t, ada), w.device(t, ada)
		w.clock.Advance(time.Hour)
		for _, d := range []*authenticator.Device{first, second, first} {
			if who, err := w.enter(t, d); err != nil || who != ada {
				t.Errorf("%d (%v)", who, err)
			}
		}
		list, err := w.List(t.Context(), ada)
		if err != nil || len(list) != 2 || list[0].Name != "Laptop" || !list[0].UsedAt.Equal(w.clock.Now()) ||
			!list[0].CreatedAt.Equal(w.clock.Now().Add(-time.Hour)) {
			t.Errorf("%+v (%v)", list, err)
		}
		if list, err := w.List(t.Context(), ada-1); err != nil || len(list) != 0 {
			t.Errorf("another person's: %+v (%v)", list, err)
		}
	})
}

// A passkey with a decreased signature count was cloned and is disabled.
func TestClonedPasskey(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ada := w.person(t, "x")
		d := w.device(t, ada)
		for range 2 {
			must.Get(w.enter(t, d))(t)
		}
		clone := *d
		clone.SignCount = 1
		if _, err := w.enter(t, &clone); !apierr.Is(err, apierr.Unauthorized) ||
			!strings.Contains(apierr.FromError(err).Detail, "copied") {
			t.Errorf("the copy: %v", err)
		}
		if _, err := w.enter(t, d); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("the original passkey: %v", err)
		}
		list, err := w.List(t.Context(), ada)
		if err != nil || !list[0].Copied {
			t.Errorf("%+v (%v)", list, err)
		}
		// Password managers do not count signatures.
		silent := w.device(t, ada)
		for range 3 {
			silent.SignCount = ^uint32(0) // 0 with the next signature
			if _, err := w.enter(t, silent); err != nil {
				t.Errorf("one that does not count: %v", err)
			}
		}
	})
}

func TestRejectedPasskeys(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ada := w.person(t, "x")
		d := w.device(t, ada)
		asked := must.Get(w.BeginSignIn())(t)
		answer := must.Get(d.Get(asked.Options))(t)
		later := must.Get(w.BeginSignIn())(t)
		fresh := must.Get(w.BeginRegistration(t.Context(), passkey.Registrant{Person: ada}))(t)
		for name, c := range map[string]struct {
			kept, answer []byte
			code         apierr.Code
		}{
			"response to another challenge": {later.State, answer, apierr.Unauthorized},
			"no challenge":                  {nil, answer, apierr.ValidationFailed},
			"registration challenge":        {fresh.State, answer, apierr.ValidationFailed},
			"no response":                   {asked.State, nil, apierr.ValidationFailed},
			"something else":                {asked.State, []byte(`{"id":"x"}`), apierr.ValidationFailed},
		} {
			if _, err := w.SignIn(t.Context(), c.kept, c.answer); !apierr.Is(err, c.code) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, change := range map[string]func(*authenticator.Device){
			"another site":         func(d *authenticator.Device) { d.Origin = "https://press.example.evil.test" },
			"no user verification": func(d *authenticator.Device) { d.Unverified = true },
			"another port":         func(d *authenticator.Device) { d.Origin = origin + ":444" },
			"http instead of https": func(d *authenticator.Device) {
				d.Origin = strings.Replace(origin, "https", "http", 1)
			},
			"another person's passkey": func(d *authenticator.Device) { _, err := d.Create(fresh.Options); must.NoError(t, err) },
		} {
			other := *d
			change(&other)
			if _, err := w.enter(t, &other); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%s: %v", name, err)
			}
			if name != "another person's passkey" {
				if err := w.register(t, ada, &other); err == nil {
					t.Errorf("%s: registered", name)
				}
			}
		}
		w.clock.Advance(6 * time.Minute)
		if _, err := w.SignIn(t.Context(), asked.State, answer); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("too late: %v", err)
		}
		if _, err := w.enter(t, d); err != nil {
			t.Errorf("the right one: %v", err)
		}
		w.set(t, `UPDATE people SET held_at = 1 WHERE id = ?`, ada)
		if _, err := w.enter(t, d); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("suspended: %v", err)
		}
	})
}

func TestRenameAndRemove(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ada, bea := w.person(t, ""), w.person(t, "x")
		d := w.device(t, ada)
		list, err := w.List(t.Context(), ada)
		must.NoError(t, err)
		id := list[0].ID
		if err := errors.Join(w.Rename(t.Context(), ada, id, " Phone "),
			w.Rename(t.Context(), ada, id, "Phone")); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"", " ", "two\nlines", strings.Repeat("x", 101)} {
			if err := w.Rename(t.Context(), ada, id, name); apierr.FromError(err).Context["argument"] != "name" {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, err := range []error{
			w.Rename(t.Context(), bea, id, "Mine"), w.Remove(t.Context(), bea, id, nil),
			w.Remove(t.Context(), ada, id+1, nil),
		} {
			if !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%v", err)
			}
		}
		if err := w.Remove(t.Context(), ada, id, nil); !strings.Contains(apierr.FromError(err).Detail, "only way to sign in") {
			t.Errorf("the only way to sign in: %v", err)
		}
		w.device(t, ada)
		must.NoError(t, w.Remove(t.Context(), ada, id, nil))
		if _, err := w.enter(t, d); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("a removed one: %v", err)
		}
		list, err = w.List(t.Context(), ada)
		if err != nil || len(list) != 1 || list[0].Name != "Laptop" {
			t.Errorf("%+v (%v)", list, err)
		}
		w.set(t, `UPDATE people SET password_hash = 'x' WHERE id = ?`, ada)
		must.NoError(t, w.Remove(t.Context(), ada, list[0].ID, nil))
	})
}

func TestTooMany(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ada := w.person(t, "x")
		for range 20 {
			w.device(t, ada)
		}
		if err := w.register(t, ada, &authenticator.Device{Origin: origin}); !strings.Contains(apierr.FromError(err).Detail,
			"20 passkeys") {
			t.Errorf("%v", err)
		}
	})
}

// Passkeys require a domain name.
func TestIPAddressHosts(t *testing.T) {
	t.Parallel()
	for address, possible := range map[string]bool{
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost:8080": true,
		"https://press.example.com": true, "": false,
	} {
		s, err := passkey.New(nil, address)
		if err != nil || s.Possible() != possible {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if possible {
			continue
		}
		if _, err := s.BeginSignIn(); err == nil {
			t.Errorf("%s asks for a passkey", address)
		}
	}
}
