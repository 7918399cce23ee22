package totp

import (
	"context"
	"encoding/base32"
	"fmt"
	"testing"
	"time"

	"github.com/pquerna/otp/hotp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The test vectors of RFC 6238, appendix B, for SHA-1: the last six of their eight digits.
func TestVectors(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		now := step(time.Unix(at, 0))
		if got := matchingStep(secret, want, now, 0); got != now {
			t.Errorf("%s at %d s is of step %d, want %d", want, at, got, now)
		}
	}
}

// fixture is a person with an authenticator app.
type fixture struct {
	*Service

	db     *db.DB
	clock  *testkit.Clock
	holder Holder
	secret string
	codes  []string
}

func (h *fixture) code(ahead int) string {
	out, err := hotp.GenerateCode(h.secret, uint64(step(h.clock.Now())+int64(ahead)))
	if err != nil {
		panic(err)
	}
	return out
}

// remove removes the app with its codes, as the team package does.
func (h *fixture) remove(t *testing.T) {
	t.Helper()
	must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM totp_recovery_codes`)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM totp_secrets`)
		}
		return err
	}))
}

func newSealer(t *testing.T, keys ...string) *tokencrypt.Sealer {
	t.Helper()
	all := ""
	for _, k := range keys {
		all += k + ","
	}
	s := must.Get(tokencrypt.New(all))(t)
	return s
}

func newKey(t *testing.T) string {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	return key
}

func each(t *testing.T, run func(t *testing.T, h *fixture)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		h := &fixture{Service: New(d, newSealer(t, newKey(t)), "pressroom"), db: d, clock: clock}
		must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return tx.QueryRow(ctx,
				`INSERT INTO people (name, email, created_at) VALUES ('Ada', 'ada@example.com', 1)
		RETURNING id`).Scan(&h.holder.Person)
		}))
		setup := must.Get(h.Begin(h.holder.Person, "ada@example.com"))(t)
		h.secret = setup.Secret
		if _, err := h.Add(t.Context(), h.holder.Person, setup.SealedSecret, "000000"); !apierr.Is(err,
			apierr.ValidationFailed) {
			t.Fatalf("a wrong code confirms a setup: %v", err)
		}
		added := must.Get(h.Add(t.Context(), h.holder.Person, setup.SealedSecret, h.code(0)))(t)
		h.holder.Epoch, h.codes = added.Epoch, added.Codes
		run(t, h)
	})
}

// A code is accepted once, including the code that confirmed the app. Earlier codes are then rejected.
func TestReplayedCodeRejected(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		check := func(code string) error { return h.Check(t.Context(), h.holder, code) }
		if err := check(h.code(0)); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("the code that confirmed the app signs in: %v", err)
		}
		h.clock.Advance(2 * period)
		next := h.code(1)
		must.NoError(t, check(next[:3]+" "+next[3:]))
		for _, replayed := range []string{next, h.code(0), h.code(-1)} {
			if err := check(replayed); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%s is accepted after %s: %v", replayed, next, err)
			}
		}
		h.clock.Advance(10 * period)
		for _, far := range []int{-2, 2} {
			if err := check(h.code(far)); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("a code of %d steps away is accepted: %v", far, err)
			}
		}
		must.NoError(t, check(h.code(0)))
	})
}

// Only one of several concurrent sign-ins with the same code succeeds.
func TestConcurrentCodeUse(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		h.clock.Advance(5 * period)
		code, results := h.code(0), make(chan error)
		for range 4 {
			go func() { results <- h.Check(t.Context(), h.holder, code) }()
		}
		in := 0
		for range 4 {
			if err := <-results; err == nil {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%d sign-ins with one code", in)
		}
	})
}

// Each recovery code works once, in any spelling; new codes replace earlier ones; the database contains none.
func TestRecoveryCodes(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		if len(h.codes) != 10 {
			t.Fatalf("%d codes", len(h.codes))
		}
		left, err := h.Recover(t.Context(), h.holder, " "+h.codes[3]+" ")
		if err != nil || left != 9 {
			t.Fatalf("%d left (%v)", left, err)
		}
		if _, err := h.Recover(t.Context(), h.holder, h.codes[3]); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("a recovery code works twice: %v", err)
		}
		anew := must.Get(h.NewCodes(t.Context(), h.holder.Person))(t)
		if _, err := h.Recover(t.Context(), h.holder, h.codes[4]); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("an earlier code works: %v", err)
		}
		if _, err := h.Recover(t.Context(), h.holder, anew[0]); err != nil {
			t.Error(err)
		}
		if _, err := h.Recover(t.Context(), Holder{h.holder.Person, h.holder.Epoch + 1}, anew[1]); err == nil {
			t.Error("an ended sign-in continues")
		}
		app, err := h.App(t.Context(), h.holder.Person)
		if err != nil || app.Codes != 9 {
			t.Errorf("%+v (%v)", app, err)
		}
		h.remove(t)
		if app, err := h.App(t.Context(), h.holder.Person); err != nil || app != nil {
			t.Errorf("%+v (%v)", app, err)
		}
		if _, err := h.Recover(t.Context(), h.holder, anew[1]); err == nil {
			t.Error("a code works after its app was removed")
		}
	})
}

// A secret can be opened only with its key and for its person, and is resealed with a new key.
func TestSecretsEncrypted(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		former, next := newKey(t), newKey(t)
		h.sealer = newSealer(t, former)
		h.remove(t)
		setup := must.Get(h.Begin(h.holder.Person, "ada@example.com"))(t)
		if _, err := h.Resume(h.holder.Person+1, "", setup.SealedSecret); err == nil {
			t.Error("another person can resume a setup")
		}
		h.secret = setup.Secret
		must.Get(h.Add(t.Context(), h.holder.Person, setup.SealedSecret, h.code(0)))(t)
		h.holder.Epoch++
		lone := New(h.db, newSealer(t, next), "pressroom")
		if err := lone.CheckSealing(t.Context()); err == nil {
			t.Error("a node starts without the key that sealed")
		}
		both := New(h.db, newSealer(t, next, former), "pressroom")
		must.NoError(t, both.CheckSealing(t.Context()))
		for _, want := range []string{"1 0", "0 0"} {
			done, left, err := both.Reseal(t.Context())
			if got := fmt.Sprint(done, left); err != nil || got != want {
				t.Errorf("resealed, left: %s (%v), want %s", got, err, want)
			}
		}
		must.NoError(t, lone.CheckSealing(t.Context()))
		h.clock.Advance(5 * period)
		must.NoError(t, lone.Check(t.Context(), h.holder, h.code(0)))
		var sealed []byte
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT sealed FROM totp_secrets`).Scan(&sealed))
		if _, err := lone.sealer.Open(sealed, associatedData(h.holder.Person+1)); err == nil {
			t.Error("a secret opens for another person")
		}
	})
}
