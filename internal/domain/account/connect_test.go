package account_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// handleNetwork is a network that accepts any handle.
type handleNetwork struct{ network.Network }

func (handleNetwork) Platform() string { return "bluesky" }

func (handleNetwork) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Server: c.Server, Account: "did:" + c.Identifier, Username: c.Identifier, AccessToken: "access",
		RefreshToken: "refresh"}, nil
}

// env has a team with its owner and an account service.
type env struct {
	db          *db.DB
	service     *account.Service
	team, owner int64
	observer    *fakeObserver
}

// fakeObserver is an account.Observer that records disconnected accounts.
type fakeObserver struct{ disconnected []int64 }

func (*fakeObserver) AccountConnected(context.Context, *db.Tx, int64) error { return nil }

func (o *fakeObserver) AccountDisconnected(_ context.Context, _ *db.Tx, account int64) error {
	o.disconnected = append(o.disconnected, account)
	return nil
}

func newEnv(t *testing.T, d *db.DB, networks ...network.Network) *env {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	sealer := must.Get(tokencrypt.New(key))(t)
	teams := team.New(d, nil, plan.Default())
	owner := must.Get(teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
	created := must.Get(teams.AddTeam(t.Context(), team.Team{Name: "Harbour", Timezone: "UTC", Language: "en", Plan: "free"},
		owner.ID))(t)
	observer := &fakeObserver{}
	return &env{d, account.New(d, sealer, observer, networks...), created.ID, owner.ID, observer}
}

func (h *env) connector() *account.Connector {
	return account.NewConnector(account.ConnectorOptions{Accounts: h.service, Catalog: plan.Default(),
		PublicURL: "https://press.example"})
}

func (h *env) requestLink(t *testing.T, c *account.Connector, plan, args string) (account.ConnectLink, error) {
	t.Helper()
	call := operation.Call{Actor: &access.Actor{TeamID: h.team, PersonID: h.owner, Plan: plan, Zone: time.UTC},
		Now: h.db.Now()}
	got, err := c.Operations()[0].Run(t.Context(), call, []byte(args))
	link, _ := got.Data.(account.ConnectLink)
	return link, err
}

func (h *env) token(t *testing.T, c *account.Connector) string {
	t.Helper()
	link := must.Get(h.requestLink(t, c, "free", `{"platform":"bluesky"}`))(t)
	return strings.TrimPrefix(link.URL, "https://press.example/connect/")
}

func credentials(handle string) network.Credentials {
	return network.Credentials{Server: "https://pds.test", Identifier: handle, Password: "secret"}
}

func TestSlotsLeft(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		h := newEnv(t, d, handleNetwork{})
		c := h.connector()
		must.Get(c.SignIn(t.Context(), h.owner, h.token(t, c), credentials("first.test")))(t)
		for plan, want := range map[string]string{"free": `"slots_left":2`, "agency": `"slots_left":null`,
			"gone": `"slots_left":0`} {
			link := must.Get(h.requestLink(t, c, plan, `{"platform":"bluesky"}`))(t)
			if raw, err := json.Marshal(link); err != nil || !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s (%v)", plan, raw, err)
			}
		}
		if _, err := h.requestLink(t, c, "free", `{"account_id":1}`); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("link for a connected account: %v", err)
		}
		must.NoError(t, h.service.MarkLost(t.Context(), 1, account.AnyGrant))
		link, err := h.requestLink(t, c, "free", `{"account_id":1}`)
		if raw, _ := json.Marshal(link); err != nil || strings.Contains(string(raw), "slots_left") {
			t.Errorf("%s (%v)", raw, err)
		}
		if n := must.Get(h.service.CountUsed(t.Context(), h.team))(t); n != 1 {
			t.Errorf("CountUsed with a lost account is %d, want 1", n)
		}
		must.Get(h.service.Disconnect(t.Context(), h.owner, h.team, 1))(t)
		if n := must.Get(h.service.CountUsed(t.Context(), h.team))(t); n != 0 {
			t.Errorf("CountUsed with a disconnected account is %d, want 0", n)
		}
	})
}

// Only three of ten concurrent connections succeed, because the plan allows three accounts.
func TestConcurrentLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		h := newEnv(t, d, handleNetwork{})
		c := h.connector()
		if got := h.useConcurrently(t, c, func() string {
			return h.token(t, c)
		}); got[""] != 3 || got[apierr.PlanLimitReached] != 7 {
			t.Errorf("%v", got)
		}
	})
}

// A link that is used concurrently connects only one account.
func TestConcurrentLinkUse(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		h := newEnv(t, d, handleNetwork{})
		c := h.connector()
		token := h.token(t, c)
		if got := h.useConcurrently(t, c, func() string {
			return token
		}); got[""] != 1 || got[apierr.ValidationFailed] != 9 {
			t.Errorf("%v", got)
		}
	})
}

// useConcurrently signs in ten accounts concurrently and counts the results by error code.
func (h *env) useConcurrently(t *testing.T, c *account.Connector, token func() string) map[apierr.Code]int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[apierr.Code]int{}
	for i := range 10 {
		link := token()
		all.Go(func() {
			_, err := c.SignIn(t.Context(), h.owner, link, credentials(fmt.Sprintf("h%d.test", i)))
			var code apierr.Code
			if err != nil {
				code = apierr.FromError(err).Code
			}
			mu.Lock()
			defer mu.Unlock()
			got[code]++
		})
	}
	all.Wait()
	return got
}

// Offer and SignIn return not_found for invalid tokens.
func FuzzOffer(f *testing.F) {
	d := testkit.Open(f, testkit.SQLite(f), nil)
	key, err := tokencrypt.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		f.Fatal(err)
	}
	c := account.NewConnector(account.ConnectorOptions{Accounts: account.New(d, sealer, nil, handleNetwork{}),
		Catalog: plan.Default(), PublicURL: "https://press.example"})
	f.Add("")
	f.Add(strings.Repeat("A", 150))
	f.Add("AQAAAAAAAAAB")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := c.Offer(t.Context(), 1, token); !apierr.Is(err, apierr.NotFound) {
			t.Fatalf("%q: %v", token, err)
		}
		if _, err := c.SignIn(t.Context(), 1, token, network.Credentials{}); !apierr.Is(err, apierr.NotFound) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}
