package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
)

func (w *world) connecting(t *testing.T) (*networks, *account.Connector) {
	t.Helper()
	n := &networks{codes: map[string]string{}, accounts: []string{"harbour"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", n.authorize)
	mux.HandleFunc("POST /token", n.token)
	n.Server = httptest.NewServer(mux)
	t.Cleanup(n.Close)
	key, err := tokencrypt.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		t.Fatal(err)
	}
	offered := plan.Default()
	for i := range offered.Plans {
		if offered.Plans[i].ID == "team" {
			offered.Plans[i].SocialAccounts = 2
		}
	}
	public := func(address string) error {
		if !strings.HasPrefix(address, "https://") {
			return errors.New("not public")
		}
		return nil
	}
	return n,
		account.NewConnector(account.ConnectorOptions{
			Accounts: account.New(w.db, sealer, nil, consents{at: n.URL}, passwords{}), Catalog: offered,
			PublicURL: "http://press.example", CheckServer: public,
		})
}

// link creates a link with Ada's key and returns the path of its page.
func (w *world) link(t *testing.T, args string) string {
	t.Helper()
	op := w.connects.Operations()[0]
	got, err := op.Run(t.Context(),
		operation.Call{
			Actor: &access.Actor{TeamID: w.harbour.ID, PersonID: w.ada.ID, KeyID: 1, Plan: "team", Zone: time.UTC}, Now: w.clock.Now(),
		}, []byte(args))
	if err != nil {
		t.Fatal(err)
	}
	link, _ := got.Data.(account.ConnectLink)
	return strings.TrimPrefix(link.URL, "http://press.example")
}

const newInstagram = `{"platform":"instagram"}`

// consent completes the network's page and returns the redirect.
func (b *browser) consent(page string) string {
	b.t.Helper()
	to := b.post(page, nil)
	if to.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.Header.Get("Location"), b.w.networks.URL+"/authorize?") {
		b.t.Fatalf("%d to %q: %s", to.StatusCode, to.Header.Get("Location"), to.text)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, to.Header.Get("Location"), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	resp.Body.Close()
	back, found := strings.CutPrefix(resp.Header.Get("Location"), "http://press.example")
	if !found {
		b.t.Fatalf("back to %q", resp.Header.Get("Location"))
	}
	return back
}

func (w *world) connectedAccount(t *testing.T) string {
	t.Helper()
	var all string
	err := w.db.QueryRow(t.Context(),
		`SELECT COUNT(*) || ' ' || COALESCE(MAX(username), '') || ' ' || COALESCE(MAX(connection_state), '')
		FROM social_accounts`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (w *world) wantAccounts(t *testing.T, want string) {
	t.Helper()
	if got := w.connectedAccount(t); got != want {
		t.Errorf("accounts: %q, want %q", got, want)
	}
}

func TestConnecting(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		page := w.link(t, newInstagram)
		w.browser(t).get(page).leads(t, "/sign-in?"+url.Values{"next": {page}}.Encode())
		ada := w.browser(t).in("ada@example.com")
		shown := ada.get(page)
		shown.wants(t, 200, "Connect Instagram</h1>", "Connect an Instagram account", "Harbour &amp; Sons",
			"A program or assistant that acts for <bdi>Ada &lt;Okafor&gt;</bdi> requested this.", "Continue to Instagram")
		if policy := shown.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https: "+w.networks.URL+";") {
			t.Errorf("form-action does not allow the network: %s", policy)
		}
		w.wantAccounts(t, "0  ")
		back := ada.consent(page)
		done := ada.get(back)
		done.wants(t, 303)
		w.wantAccounts(t, "1 harbour connected")
		ada.get(done.Header.Get("Location")).wants(t, 200, "<h1>Connected</h1>", "Instagram", "harbour", "Harbour &amp; Sons")
		w.browser(t).in("bea@example.com").get(done.Header.Get("Location")).wants(t, 404)
		ada.get(back).wants(t, 422, "was already used")
		ada.get(page).wants(t, 422, "has already been used")
		ada.post(page, nil).wants(t, 422)
		var by int64
		if err := w.db.QueryRow(t.Context(), `SELECT person_id FROM events WHERE kind = 'social_account.connected'`).
			Scan(&by); err != nil || by != w.ada.ID {
			t.Errorf("connected by person %d (%v)", by, err)
		}
	})
}

// TestLinkPermissions checks who may use a link, and that it expires after an hour.
func TestLinkPermissions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		page := w.link(t, newInstagram)
		ada, bea := w.browser(t).in("ada@example.com"), w.browser(t).in("bea@example.com")
		bea.get(page).wants(t, 404)
		bea.post(page, nil).wants(t, 404)
		if err := w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Admin); err != nil {
			t.Fatal(err)
		}
		bea.get(page).wants(t, 200)
		for _, forged := range []string{
			page + "A", page[:len(page)-1], page[:20] + "A" + page[21:], "/connect/x",
			"/connect/" + strings.Repeat("A", 5000), "/connect/%00",
		} {
			if forged != page {
				ada.get(forged).wants(t, 404)
			}
		}
		w.clock.Advance(time.Hour)
		ada.get(page).wants(t, 422, "This link has expired.")
		ada.post(page, nil).wants(t, 422)
		for _, path := range []string{
			"/connect/choose/0", "/connect/choose/x", "/connect/choose/9", "/connected/9", "/connected/-1",
			"/connect/callback/x?state=a&code=b", "/connect/callback/bluesky", "/connect/callback/%ff",
		} {
			ada.get(path).wants(t, 404)
		}
	})
}

// TestStates checks that a callback is accepted once, within ten minutes, from the person who started it.
func TestStates(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if err := w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Admin); err != nil {
			t.Fatal(err)
		}
		page := w.link(t, newInstagram)
		ada, bea := w.browser(t).in("ada@example.com"), w.browser(t).in("bea@example.com")
		first := ada.consent(page)
		back := ada.consent(page)
		bea.get(back).wants(t, 422, "is unknown, has expired or was already used")
		w.browser(t).get(back).wants(t, 401, "You are signed out")
		ada.get(first).wants(t, 422, "is unknown, has expired or was already used")
		ada.get("/connect/callback/instagram?code=x").wants(t, 422)
		w.wantAccounts(t, "0  ")
		ada.get(back).wants(t, 303)
		w.wantAccounts(t, "1 harbour connected")
		late := ada.consent(w.link(t, newInstagram))
		w.clock.Advance(10 * time.Minute)
		ada.get(late).wants(t, 422, "has expired")
		if n, err := w.connects.Sweep(t.Context()); err != nil || n != 2 {
			t.Errorf("deleted %d states (%v)", n, err)
		}
	})
}

// TestDemotedDuringConnect checks that the role is checked again in the callback.
func TestDemotedDuringConnect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bea := w.browser(t).in("bea@example.com")
		role := func(r access.Role) {
			if err := w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, r); err != nil {
				t.Fatal(err)
			}
		}
		role(access.Admin)
		w.networks.set("", "first", "second")
		choice := bea.get(bea.consent(w.link(t, newInstagram))).Header.Get("Location")
		w.networks.set("", "first")
		back := bea.consent(w.link(t, newInstagram))
		role(access.Editor)
		bea.get(back).wants(t, 404)
		bea.get(choice).wants(t, 404)
		bea.post(choice, url.Values{"account": {"0"}}).wants(t, 404)
		w.wantAccounts(t, "0  ")
	})
}

func TestDenied(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var log bytes.Buffer
		w.app.Log = slog.New(slog.NewTextHandler(&log, nil))
		page := w.link(t, newInstagram)
		ada := w.browser(t).in("ada@example.com")
		for deny, text := range map[string]string{
			"access_denied": "You did not allow access", "server_error": "The network did not complete the sign-in",
			"unauthorized_scope_error": "has not approved the permissions",
		} {
			w.networks.set(deny)
			ada.get(ada.consent(page)).wants(t, 422, text, `href="`+page+`"`)
		}
		if n := strings.Count(log.String(), "next_step=\"Complete App Review"); n != 1 {
			t.Errorf("%d log lines for the operator: %s", n, log.String())
		}
		w.networks.set("")
		ada.get(ada.consent(page)).wants(t, 422, "No account can be connected")
		w.networks.set("", "harbour")
		forged := regexp.MustCompile(`code=[^&]*`).ReplaceAllString(ada.consent(page), "code=guessed")
		rejected := ada.get(forged)
		rejected.wants(t, 422, "did not accept this sign-in")
		if strings.Contains(rejected.text, "guessed") || strings.Contains(rejected.text, "own words") {
			t.Errorf("the page contains the secret: %s", rejected.text)
		}
		w.wantAccounts(t, "0  ")
		ada.get(ada.consent(page)).wants(t, 303)
	})
}

func TestChooseAccounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.networks.set("", "first", "second")
		page := w.link(t, newInstagram)
		ada, bea := w.browser(t).in("ada@example.com"), w.browser(t).in("bea@example.com")
		choice := ada.get(ada.consent(page)).Header.Get("Location")
		shown := ada.get(choice)
		shown.wants(t, 200, "first", "second", "&lt;b&gt;second", "Choose the one to connect to")
		if strings.Contains(shown.text, "Already connected") {
			t.Error("the page says that an account is connected")
		}
		if strings.Contains(shown.text, "secret") {
			t.Error("the page contains a token")
		}
		bea.get(choice).wants(t, 404)
		bea.post(choice, url.Values{"account": {"0"}}).wants(t, 404)
		for _, which := range []string{"", "x", "-1", "2"} {
			ada.post(choice, url.Values{"account": {which}}).wants(t, 422)
		}
		w.wantAccounts(t, "0  ")
		ada.post(choice, url.Values{"account": {"1"}}).wants(t, 303)
		w.wantAccounts(t, "1 second connected")
		ada.post(choice, url.Values{"account": {"0"}}).wants(t, 404)
		ada.get(choice).wants(t, 404)
		anew := ada.get(ada.get(ada.consent(w.link(t, newInstagram))).Header.Get("Location"))
		anew.wants(t, 200, "second</bdi></strong> <span class=\"tag plain\">Already connected")
		if n := strings.Count(anew.text, "Already connected"); n != 1 {
			t.Errorf("%d accounts are marked as connected", n)
		}
		const mayBeMore = "You may have more accounts than this page can list."
		w.networks.set("", "first", moreAccounts)
		ada.get(ada.get(ada.consent(w.link(t, newInstagram))).Header.Get("Location")).wants(t, 200, "first", mayBeMore)
		if strings.Contains(anew.text, mayBeMore) {
			t.Error("the page says that a complete list is truncated")
		}
		w.networks.set("", "first", unreadAccounts)
		ada.get(ada.get(ada.consent(w.link(t, newInstagram))).Header.Get("Location")).wants(t, 200, "first",
			"Some of your accounts could not be loaded because of a temporary error at Instagram.")
	})
}

// TestReconnecting checks that only the same account is accepted and that the old grant stays until then.
func TestReconnecting(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.browser(t).in("ada@example.com")
		ada.get(ada.consent(w.link(t, newInstagram))).wants(t, 303)
		var id, version int64
		if err := w.db.QueryRow(t.Context(), `SELECT id, grant_version FROM social_accounts`).Scan(&id, &version); err != nil {
			t.Fatal(err)
		}
		if err := w.connects.Accounts.MarkLost(t.Context(), id, account.AnyGrant); err != nil {
			t.Fatal(err)
		}
		page := w.link(t, fmt.Sprintf(`{"account_id":%d}`, id))
		ada.get(page).wants(t, 200, "will be reconnected", "harbour")
		w.networks.set("", "another")
		ada.get(ada.consent(page)).wants(t, 422, "not the account to reconnect", `href="`+page+`"`)
		w.wantAccounts(t, "1 harbour lost")
		if g, err := w.connects.Accounts.Grant(t.Context(), id); err != nil || g.Version != version {
			t.Errorf("the grant was changed (%v)", err)
		}
		w.networks.set("", "another", "harbour")
		ada.get(ada.consent(page)).leads(t, "/connected/"+itoa(id)+"?renewed=1")
		w.wantAccounts(t, "1 harbour connected")
	})
}

func TestConnectWithFullPlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.browser(t).in("ada@example.com")
		for _, name := range []string{"first", "second"} {
			w.networks.set("", name)
			ada.get(ada.consent(w.link(t, newInstagram))).wants(t, 303)
		}
		page := w.link(t, newInstagram)
		ada.get(page).wants(t, 200, "does not allow another account")
		ada.post(page, nil).wants(t, 403, "allows no more accounts")
		w.wantAccounts(t, "2 second connected")
	})
}

func TestConnectSignIn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		address := w.link(t, `{"platform":"bluesky"}`)
		ada := w.browser(t).in("ada@example.com")
		ada.get(address).wants(t, 200, `value="https://bsky.social"`, "App password")
		try := func(server, handle, password string) page {
			return ada.post(address, url.Values{"server": {server}, "identifier": {handle}, "password": {password}})
		}
		formErr := try("https://pds.test", "harbour.test", "wr-ng")
		formErr.wants(t, 422, "The server rejected", `value="https://pds.test"`, `value="harbour.test"`)
		if strings.Contains(formErr.text, "wr-ng") || strings.Contains(formErr.text, "own words") {
			t.Errorf("the page contains the secret: %s", formErr.text)
		}
		try("https://pds.test", "down.test", "app-pass").wants(t, 502, "Try again in a few minutes.")
		try("https://pds.test", "", "app-pass").wants(t, 422, "Enter the server")
		try("http://10.0.0.1", "harbour.test", "app-pass").wants(t, 422, "This server is not allowed")
		w.wantAccounts(t, "0  ")
		try(" https://pds.test", "harbour.test ", "app-pass").wants(t, 303)
		w.wantAccounts(t, "1 harbour.test connected")
		try("https://pds.test", "harbour.test", "app-pass").wants(t, 422, "has already been used")
		if err := w.connects.Accounts.MarkLost(t.Context(), 1, account.AnyGrant); err != nil {
			t.Fatal(err)
		}
		address = w.link(t, `{"account_id":1}`)
		try("https://pds.test", "other.test", "app-pass").wants(t, 422, "not the account to reconnect")
		w.wantAccounts(t, "1 harbour.test lost")
		try("https://pds.test", "harbour.test", "app-pass").leads(t, "/connected/1?renewed=1")
		w.wantAccounts(t, "1 harbour.test connected")
	})
}
