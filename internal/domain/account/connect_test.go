package account_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
)

// handles is a network on which everybody may sign in by any handle.
type handles struct{ network.Network }

func (handles) Platform() string { return "bluesky" }

func (handles) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Server: c.Server, Account: "did:" + c.Identifier, Username: c.Identifier, Access: "access", Refresh: "refresh"}, nil
}

// home is a team with its owner and the services over some networks.
type home struct {
	db          *db.DB
	service     *account.Service
	team, owner int64
}

func furnish(t *testing.T, d *db.DB, networks ...network.Network) *home {
	t.Helper()
	key, err := tokencrypt.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		t.Fatal(err)
	}
	teams := team.New(d, nil, plan.Shipped())
	owner, err := teams.AddPerson(t.Context(), "Ada", "ada@example.com", "")
	if err != nil {
		t.Fatal(err)
	}
	made, err := teams.AddTeam(t.Context(), team.Team{Name: "Harbour", Timezone: "UTC", Language: "en", Plan: "free"}, owner.ID)
	if err != nil {
		t.Fatal(err)
	}
	return &home{d, account.New(d, sealer, networks...), made.ID, owner.ID}
}

func (h *home) connector() *account.Connector {
	return account.NewConnector(account.ConnectorOptions{Accounts: h.service, Terms: plan.Shipped(), PublicURL: "https://press.example"})
}

func (h *home) ask(t *testing.T, c *account.Connector, plan, args string) (account.Link, error) {
	t.Helper()
	call := operation.Call{Actor: &access.Actor{TeamID: h.team, PersonID: h.owner, Plan: plan, Zone: time.UTC}, Now: h.db.Now()}
	got, err := c.Operations()[0].Run(t.Context(), call, []byte(args))
	link, _ := got.Data.(account.Link)
	return link, err
}

func (h *home) token(t *testing.T, c *account.Connector) string {
	t.Helper()
	link, err := h.ask(t, c, "free", `{"platform":"bluesky"}`)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(link.URL, "https://press.example/connect/")
}

func as(handle string) network.Credentials {
	return network.Credentials{Server: "https://pds.test", Identifier: handle, Password: "secret"}
}

func TestSlotsLeft(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := furnish(t, d, handles{})
		c := h.connector()
		if _, err := c.SignIn(t.Context(), h.owner, h.token(t, c), as("first.test")); err != nil {
			t.Fatal(err)
		}
		for plan, want := range map[string]string{"free": `"slots_left":2`, "agency": `"slots_left":null`, "gone": `"slots_left":0`} {
			link, err := h.ask(t, c, plan, `{"platform":"bluesky"}`)
			if err != nil {
				t.Fatal(err)
			}
			if raw, err := json.Marshal(link); err != nil || !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s (%v)", plan, raw, err)
			}
		}
		if _, err := h.ask(t, c, "free", `{"account_id":1}`); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("an account that works: %v", err)
		}
		if err := h.service.Lose(t.Context(), 1, account.AnyGrant); err != nil {
			t.Fatal(err)
		}
		link, err := h.ask(t, c, "free", `{"account_id":1}`)
		if raw, _ := json.Marshal(link); err != nil || strings.Contains(string(raw), "slots_left") {
			t.Errorf("%s (%v)", raw, err)
		}
	})
}

// Ten people at once take no more than the three places of the plan.
func TestManyLinksAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := furnish(t, d, handles{})
		c := h.connector()
		if got := h.atOnce(t, c, func() string { return h.token(t, c) }); got[""] != 3 || got[apierr.PlanLimitReached] != 7 {
			t.Errorf("%v", got)
		}
	})
}

// One link connects one account.
func TestOneLinkAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		h := furnish(t, d, handles{})
		c := h.connector()
		token := h.token(t, c)
		if got := h.atOnce(t, c, func() string { return token }); got[""] != 1 || got[apierr.ValidationFailed] != 9 {
			t.Errorf("%v", got)
		}
	})
}

// atOnce signs ten accounts in at the same time and counts how that ended.
func (h *home) atOnce(t *testing.T, c *account.Connector, token func() string) map[apierr.Code]int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[apierr.Code]int{}
	for i := range 10 {
		link := token()
		all.Go(func() {
			_, err := c.SignIn(t.Context(), h.owner, link, as(fmt.Sprintf("h%d.test", i)))
			var code apierr.Code
			if err != nil {
				code = apierr.Of(err).Code
			}
			mu.Lock()
			defer mu.Unlock()
			got[code]++
		})
	}
	all.Wait()
	return got
}

// What anybody writes in place of a link is not_found, whatever it is.
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
	c := account.NewConnector(account.ConnectorOptions{Accounts: account.New(d, sealer, handles{}), Terms: plan.Shipped(), PublicURL: "https://press.example"})
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
