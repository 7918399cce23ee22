package account_test

import (
	"context"
	"errors"
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
	partial  error // why there may be more accounts
}

func (*listingNetwork) Kinds() []string { return []string{""} }

func (*listingNetwork) Authorize(a network.Authorization) string {
	return "https://network.test/?state=" + a.State
}

func (n *listingNetwork) Exchange(context.Context, network.Authorization, string) ([]network.Candidate, error) {
	var found []network.Candidate
	for i := range n.accounts {
		id := fmt.Sprint("did:", i+1)
		found = append(found, network.Candidate{Grant: network.Grant{Account: id, Username: id, AccessToken: "access"}})
	}
	return found, n.partial
}

// authorize runs a sign-in with a link.
func (h *env) authorize(t *testing.T, c *account.Connector, token string) (account.Outcome, error) {
	t.Helper()
	page := must.Get(url.Parse(must.Get(c.Begin(t.Context(), h.owner, token, ""))(t)))(t)
	return c.HandleCallback(t.Context(), h.owner, account.Callback{Platform: "bluesky",
		State: page.Query().Get("state"), Code: "code"})
}

// A choice reports whether and why the person may have more accounts than were read. In that case, the account to
// reconnect may be one of them, so the sign-in does not report another account.
func TestMoreAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accounts int
		partial  error
		listed   int  // accounts of the choice
		more     bool // the choice says that there are too many to list
	}{
		"all":                  {accounts: 2, listed: 2},
		"one of several":       {accounts: 1, partial: network.ErrMoreAccounts, listed: 1, more: true},
		"some":                 {accounts: 2, partial: network.ErrMoreAccounts, listed: 2, more: true},
		"more than are stored": {accounts: 501, listed: 500, more: true},
		"one, others unread":   {accounts: 1, partial: network.ErrUnreadAccounts, listed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &listingNetwork{accounts: c.accounts, partial: c.partial}
			h := newEnv(t, testkit.Open(t, testkit.SQLite(t), nil), n)
			connector := h.connector()
			out := must.Get(h.authorize(t, connector, h.token(t, connector)))(t)
			choice := must.Get(connector.Choice(t.Context(), h.owner, out.Choice))(t)
			unread := errors.Is(c.partial, network.ErrUnreadAccounts)
			if len(choice.Accounts) != c.listed || choice.HasMore != c.more || choice.Incomplete != unread {
				t.Errorf("%d accounts, more: %v, unread: %v", len(choice.Accounts), choice.HasMore, choice.Incomplete)
			}
		})
	}
}

// A sign-in says that there may be more accounts if it read no account or only accounts other than the one to
// reconnect.
func TestAccountMayBeOneOfMore(t *testing.T) {
	t.Parallel()
	n := &listingNetwork{accounts: 1}
	h := newEnv(t, testkit.Open(t, testkit.SQLite(t), nil), n)
	c := h.connector()
	must.Get(h.authorize(t, c, h.token(t, c)))(t)
	must.NoError(t, h.service.MarkLost(t.Context(), 1, account.AnyGrant))
	n.accounts = 0
	for partial, want := range map[error]string{
		network.ErrMoreAccounts: "more accounts", network.ErrUnreadAccounts: "Connect again in a few minutes",
	} {
		n.partial = partial
		for name, link := range map[string]string{"new": `{"platform":"bluesky"}`, "reconnect": `{"account_id":1}`} {
			token := strings.TrimPrefix(must.Get(h.requestLink(t, c, "free", link))(t).URL, "https://press.example/connect/")
			if _, err := h.authorize(t, c, token); !strings.Contains(apierr.FromError(err).Detail, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
