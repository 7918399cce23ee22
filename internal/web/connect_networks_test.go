package web_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/network"
)

// networks is a network's consent page and token endpoint behind a real listener.
type networks struct {
	*httptest.Server

	mu       sync.Mutex
	accounts []string          // accounts granted by a consent
	deny     string            // error instead of a code
	codes    map[string]string // to the hash of its verifier
}

func (n *networks) set(deny string, accounts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deny, n.accounts = deny, accounts
}

func (n *networks) authorize(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q, back := r.URL.Query(), url.Values{"state": {r.URL.Query().Get("state")}}
	if n.deny != "" {
		back.Set("error", n.deny)
	} else {
		code := rand.Text()
		n.codes[code] = q.Get("challenge") + q.Get("redirect_uri")
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

func (n *networks) token(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	code := r.PostFormValue("code")
	if want, ok := n.codes[code]; !ok || want != challenge(r.PostFormValue("verifier"))+r.PostFormValue("redirect_uri") {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	delete(n.codes, code)
	_ = json.NewEncoder(w).Encode(n.accounts)
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return hex.EncodeToString(sum[:])
}

// moreAccounts is the last account of a consent with more accounts than were read.
const moreAccounts = "…"

// unreadAccounts is the last account of a consent with accounts that a temporary error hid.
const unreadAccounts = "!"

// consents is a network with OAuth consent.
type consents struct {
	network.Network

	at string
}

func (c consents) Platform() string { return "instagram" }

// Kinds returns the only way to sign in.
func (c consents) Kinds() []string { return []string{""} }

func (c consents) Authorize(a network.Authorization) string {
	return c.at + "/authorize?" + url.Values{
		"state": {a.State}, "challenge": {challenge(a.Verifier)}, "redirect_uri": {a.Redirect},
	}.Encode()
}

func (c consents) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	form := url.Values{"code": {code}, "verifier": {a.Verifier}, "redirect_uri": {a.Redirect}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, &network.Error{Class: network.Transient, Err: err}
	}
	defer resp.Body.Close()
	var names []string
	if resp.StatusCode != http.StatusOK {
		return nil, &network.Error{Class: network.Rejected, Message: "the network's own words"}
	}
	if err := json.NewDecoder(resp.Body).Decode(&names); err != nil {
		return nil, &network.Error{Class: network.Transient, Err: err}
	}
	var out []network.Candidate
	for _, name := range names {
		switch name {
		case moreAccounts:
			return out, network.ErrMoreAccounts
		case unreadAccounts:
			return out, network.ErrUnreadAccounts
		}
		out = append(out,
			network.Candidate{
				Grant: network.Grant{
					Account: "id of " + name, Username: name, AccessToken: "secret access",
					RefreshToken: "secret refresh",
				}, DisplayName: "<b>" + name,
			})
	}
	return out, nil
}

// passwords is a network with sign-in on our page.
type passwords struct{ network.Network }

func (passwords) Platform() string { return "bluesky" }

func (passwords) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	switch {
	case c.Identifier == "down.test":
		return network.Grant{}, &network.Error{Class: network.Transient, Err: errors.New("cut off")}
	case c.Password != "app-pass":
		return network.Grant{}, &network.Error{Class: network.ReconnectRequired, Message: "the network's own words"}
	}
	return network.Grant{
		Server: c.Server, Account: "did:" + c.Identifier, Username: c.Identifier, AccessToken: "secret access",
		RefreshToken: "secret refresh",
	}, nil
}
