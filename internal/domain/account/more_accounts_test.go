package account_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// listingNetwork is a network whose consent gives access to several accounts.
type listingNetwork struct {
	handleNetwork

	accounts int
	more     bool // there may be more accounts
}

func (*listingNetwork) Kinds() []string { return []string{""} }

func (*listingNetwork) Authorize(a network.Authorization) string {
	return "https://network.test/?state=" + a.State
}

func (n *listingNetwork) Exchange(context.Context, network.Authorization, string) ([]network.Candidate, error) {
	var found []network.Candidate
	for i := range n.accounts {
		id := fmt.Sprint("did:", i+1)
		found = append(found, network.Candidate{Grant: network.Grant{Account: id, Username: id, Access: "access"}})
	}
	if n.more {
		return found, network.ErrMoreAccounts
	}
	return found, nil
}

// authorize runs a sign-in with a link.
func (h *env) authorize(t *testing.T, c *account.Connector, token string) (account.Outcome, error) {
	t.Helper()
	page := must.Get(url.Parse(must.Get(c.Begin(t.Context(), h.owner, token, ""))(t)))(t)
	return c.Return(t.Context(), h.owner, account.Callback{Platform: "bluesky", State: page.Query().Get("state"), Code: "code"})
}

// A choice says if the person may have more accounts than were read. If the account to reconnect may be one of them, the
// sign-in does not call it another account.
func TestMoreAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accounts int
		more     bool
		listed   int // accounts of the choice
		want     bool
	}{
		"all":                  {accounts: 2, listed: 2},
		"one of several":       {accounts: 1, more: true, listed: 1, want: true},
		"some":                 {accounts: 2, more: true, listed: 2, want: true},
		"more than are stored": {accounts: 501, listed: 500, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &listingNetwork{accounts: c.accounts, more: c.more}
			h := newEnv(t, testkit.Open(t, testkit.SQLite(t), nil), n)
			connector := h.connector()
			out := must.Get(h.authorize(t, connector, h.token(t, connector)))(t)
			choice := must.Get(connector.Choice(t.Context(), h.owner, out.Choice))(t)
			if len(choice.Accounts) != c.listed || choice.More != c.want {
				t.Errorf("%d accounts, more: %v", len(choice.Accounts), choice.More)
			}
		})
	}
}

// A sign-in that read no account, or not the one to reconnect, says that there may be more.
func TestAccountMayBeOneOfMore(t *testing.T) {
	t.Parallel()
	n := &listingNetwork{accounts: 1}
	h := newEnv(t, testkit.Open(t, testkit.SQLite(t), nil), n)
	c := h.connector()
	must.Get(h.authorize(t, c, h.token(t, c)))(t)
	must.NoError(t, h.service.MarkLost(t.Context(), 1, account.AnyGrant))
	n.accounts, n.more = 0, true
	for name, link := range map[string]string{"new": `{"platform":"bluesky"}`, "reconnect": `{"account_id":1}`} {
		token := strings.TrimPrefix(must.Get(h.requestLink(t, c, "free", link))(t).URL, "https://press.example/connect/")
		if _, err := h.authorize(t, c, token); !strings.Contains(apierr.FromError(err).Detail, "more accounts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
