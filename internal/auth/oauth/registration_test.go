package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A client that causes too many fetches or registrations is rejected for a while. Known clients still work.
func TestRegistrationRateLimit(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		known := w.register(t)
		w.RegistrationDelay = func(from string) time.Duration {
			return map[string]time.Duration{"there": time.Minute}[from]
		}
		for name, try := range map[string]func() error{
			"registering": func() error {
				_, err := w.Register(t.Context(), "there", oauth.Registration{Redirects: []string{back}})
				return err
			},
			"fetching": func() error {
				_, err := w.Client(t.Context(), "there", "https://app.example/client.json")
				return err
			},
		} {
			if err := try(); apierr.FromError(err).Code != apierr.RateLimited || apierr.FromError(err).RetryAfter != time.Minute {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.Client(t.Context(), "there", known.ID); err != nil || w.fetched != 0 {
			t.Errorf("known clients: %v, fetched %d times", err, w.fetched)
		}
	})
}

// Registrations need no sign-in, so their size is limited, and so is the number of those without a grant. The oldest
// unused ones are deleted first. Clients in use are never deleted.
func TestRegistrationLimits(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		ctx := t.Context()
		long := func(bytes int) oauth.Registration {
			half := "https://app.example/" + strings.Repeat("x", bytes/2-len("https://app.example/"))
			return oauth.Registration{Redirects: []string{half, half}}
		}
		must.Get(w.Register(ctx, "here", long(2000)))(t)
		var rejected *oauth.Error
		if _, err := w.Register(ctx, "here", long(2002)); !errors.As(err, &rejected) ||
			rejected.Code != oauth.InvalidRedirect {
			t.Errorf("2,002 bytes of redirect URIs: %v", err)
		}
		used := w.register(t)
		w.connect(t, used.ID)
		w.clock.Advance(time.Second)
		oldest := w.register(t)
		w.clock.Advance(time.Second)
		w.flood(t, "", 9_999)
		w.clock.Advance(time.Second)
		newest := w.register(t)
		if n := w.count(t, "oauth_clients WHERE used_at = 0"); n != 10_000 {
			t.Errorf("%d unused registrations are kept", n)
		}
		for _, kept := range []string{used.ID, oldest.ID, newest.ID} {
			if _, err := w.Client(ctx, "here", kept); err != nil {
				t.Errorf("%s: %v", kept, err)
			}
		}
		if _, err := w.Client(ctx, "here", "flood-1"); !apierr.Is(err, apierr.NotFound) ||
			!strings.Contains(err.Error(), "Start again from the app you came from.") {
			t.Errorf("the oldest of the network that has the most: %v", err)
		}
	})
}

// flood adds unused registrations from an IP network. An empty network is for registrations from before IP networks
// were recorded.
func (w *env) flood(t *testing.T, network string, n int) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test.flood", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(? AS BIGINT))
			INSERT INTO oauth_clients (client_id, name, redirects, created_at, network) SELECT 'flood-' || CAST(? AS
		TEXT) || i, 'Flood', '[]', CAST(? AS BIGINT) + i, CAST(? AS TEXT) FROM n`,
			n, network, db.Micros(tx.Now()), network)
		return err
	}))
}

// A network that keeps registering clients evicts only its own registrations, even from many addresses.
func TestRegistrationLimitPerNetwork(t *testing.T) {
	t.Parallel()
	for network, address := range map[string]string{
		"2001:db8:1::/48": "2001:db8:1:%x::/64", "198.51.100.0/24": "198.51.100.%d",
	} {
		t.Run(network, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, w *env) {
				ctx := t.Context()
				register := func(from string) oauth.Client {
					t.Helper()
					w.clock.Advance(time.Millisecond)
					c := must.Get(w.Register(ctx, from, oauth.Registration{Name: "Helper", Redirects: []string{back}}))(t)
					return c
				}
				victim := register("203.0.113.7")
				w.clock.Advance(time.Second)
				w.flood(t, "", 8_990)
				first := register(fmt.Sprintf(address, 250))
				w.flood(t, network, 990)
				w.clock.Advance(time.Second)
				for i := range 20 {
					register(fmt.Sprintf(address, i))
				}
				if n := w.count(t, "oauth_clients WHERE network = '"+network+"'"); n != 1_000 {
					t.Errorf("%d registrations of the network", n)
				}
				if _, err := w.Client(ctx, "here", victim.ID); err != nil {
					t.Errorf("another network's registration: %v", err)
				}
				if _, err := w.Client(ctx, "here", first.ID); !apierr.Is(err, apierr.NotFound) {
					t.Errorf("the oldest of its own: %v", err)
				}
				for range 20 { // beyond the limit for all networks
					register("192.0.2.1")
				}
				if _, err := w.Client(ctx, "here", victim.ID); err != nil || w.count(t, "oauth_clients") != 10_000 {
					t.Errorf("%d registrations; somebody else's: %v", w.count(t, "oauth_clients"), err)
				}
			})
		})
	}
}
