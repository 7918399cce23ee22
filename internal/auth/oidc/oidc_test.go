package oidc_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/oauth2-proxy/mockoidc"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
)

// env is a directory and its provider, which authenticates without interaction.
type env struct {
	*oidc.Directory
	provider *oidcserver.Provider
	clock    *testkit.Clock
}

func open(t *testing.T) env {
	t.Helper()
	provider := oidcserver.Run(t)
	clock := testkit.NewClock(time.Now())
	d := must.Get(oidc.New(oidc.Options{
		Issuer: provider.Issuer(), ClientID: provider.ClientID, ClientSecret: provider.ClientSecret,
		PublicURL: "https://press.example", Roots: provider.Roots, Now: clock.Now, Log: slog.New(slog.DiscardHandler),
	}))(t)
	return env{d, provider, clock}
}

// visit visits the provider and returns the parameters of its redirect.
func (w env) visit(t *testing.T, address string) url.Values {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody))(t)
	resp := must.Get(w.provider.Client().Do(req))(t)
	defer resp.Body.Close()
	back := must.Get(resp.Location())(t)
	if got := back.Scheme + "://" + back.Host + back.Path; got != "https://press.example"+oidc.ReturnPath {
		t.Fatalf("sent back to %s", got)
	}
	return back.Query()
}

// person is a user of the provider with claims.
type person struct {
	mockoidc.MockUser

	claims map[string]any
}

// Claims returns the claims of a token.
func (p *person) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	raw, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	out := jwt.MapClaims{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	maps.Copy(out, p.claims)
	return out, nil
}

func (w env) knows(claims map[string]any) {
	w.provider.QueueUser(&person{mockoidc.MockUser{Subject: "1"}, claims})
}

func TestDirectoryIdentity(t *testing.T) {
	t.Parallel()
	w := open(t)
	for name, c := range map[string]struct {
		claims map[string]any
		want   oidc.Person // empty if sign-in fails
	}{
		"verified": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "name": "Ada"},
			oidc.Person{Issuer: w.provider.Issuer(), Subject: "1", Email: "ada@example.com", Name: "Ada"},
		},
		"verified, as text": {
			map[string]any{"email": "ada@example.com", "email_verified": "true"},
			oidc.Person{Issuer: w.provider.Issuer(), Subject: "1", Email: "ada@example.com"},
		},
		"no subject": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "sub": ""}, oidc.Person{},
		},
		"not verified":    {map[string]any{"email": "ada@example.com", "email_verified": false}, oidc.Person{}},
		"verified unsaid": {map[string]any{"email": "ada@example.com"}, oidc.Person{}},
		"no address":      {map[string]any{"email_verified": true}, oidc.Person{}},
		"for another": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "aud": "another"}, oidc.Person{},
		},
		"of another": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "iss": "https://evil.example"},
			oidc.Person{},
		},
		"too old": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "exp": 1000}, oidc.Person{},
		},
		"an earlier answer": {
			map[string]any{"email": "ada@example.com", "email_verified": true, "nonce": "another"}, oidc.Person{},
		},
	} {
		w.knows(c.claims)
		address, attempt, err := w.Begin(t.Context(), "/posts", false)
		must.NoError(t, err)
		got, err := w.Finish(t.Context(), attempt, w.visit(t, address))
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want.Subject != "") {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
	}
}

// A sign-in without readable groups is rejected, and the log names the setting.
func TestUnreadableGroups(t *testing.T) {
	t.Parallel()
	w := open(t)
	var log bytes.Buffer
	w.Log, w.GroupRoles = slog.New(slog.NewTextHandler(&log, nil)), []oidc.GroupRole{{Group: "press", Team: 1, Role: access.Editor}}
	for _, groups := range []any{nil, []any{map[string]any{"id": "press"}}} {
		log.Reset()
		w.knows(map[string]any{"email": "ada@example.com", "email_verified": true, "groups": groups})
		address, attempt, err := w.Begin(t.Context(), "/", false)
		must.NoError(t, err)
		person, err := w.Finish(t.Context(), attempt, w.visit(t, address))
		if !apierr.Is(err, apierr.Unauthorized) || person.Subject != "" || !strings.Contains(log.String(), "PRESSROOM_OIDC_GROUPS_CLAIM") {
			t.Errorf("%v: %+v (%v) %s", groups, person, err, &log)
		}
	}
}

func TestRejectedAnswers(t *testing.T) {
	t.Parallel()
	w := open(t)
	for name, change := range map[string]func(*oidc.Attempt, url.Values){
		"another state":             func(_ *oidc.Attempt, q url.Values) { q.Set("state", "another") },
		"no state":                  func(a *oidc.Attempt, q url.Values) { a.State = ""; q.Del("state") },
		"another browser's attempt": func(a *oidc.Attempt, _ url.Values) { a.Verifier = strings.Repeat("x", 43) },
		"an invalid code":           func(_ *oidc.Attempt, q url.Values) { q.Set("code", "made-up") },
		"canceled":                  func(_ *oidc.Attempt, q url.Values) { q.Del("code"); q.Set("error", "access_denied") },
		"expired attempt":           func(a *oidc.Attempt, _ url.Values) { a.BegunAt = a.BegunAt.Add(-16 * time.Minute) },
		"no attempt":                func(a *oidc.Attempt, _ url.Values) { *a = oidc.Attempt{} },
	} {
		w.knows(map[string]any{"email": "ada@example.com", "email_verified": true})
		address, attempt, err := w.Begin(t.Context(), "/", false)
		must.NoError(t, err)
		answer := w.visit(t, address)
		change(&attempt, answer)
		_, err = w.Finish(t.Context(), attempt, answer)
		if code := apierr.FromError(err).Code; code != apierr.Unauthorized && code != apierr.ValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The request to the provider does not identify the browser, and its code is useless to others.
func TestAuthorizationRequest(t *testing.T) {
	t.Parallel()
	w := open(t)
	address, attempt, err := w.Begin(t.Context(), "/", false)
	must.NoError(t, err)
	u := must.Get(url.Parse(address))(t)
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("state") != attempt.State || q.Get("nonce") != attempt.Nonce ||
		q.Get("response_type") != "code" || strings.Contains(address, attempt.Verifier) {
		t.Errorf("%s", address)
	}
}

// An unresponsive directory delays only one sign-in, and is tried again later.
func TestUnresponsiveDirectory(t *testing.T) {
	t.Parallel()
	asked, answers := 0, false
	var provider *httptest.Server
	provider = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if !answers {
			http.Error(w, "out of order", http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": provider.URL, "authorization_endpoint": provider.URL + "/in",
			"token_endpoint": provider.URL + "/token", "jwks_uri": provider.URL + "/keys",
		})
	}))
	t.Cleanup(provider.Close)
	roots := x509.NewCertPool()
	roots.AddCert(provider.Certificate())
	clock := testkit.NewClock(time.Now())
	d := must.Get(oidc.New(oidc.Options{
		Issuer: provider.URL, ClientID: "press", PublicURL: "https://press.example", Roots: roots, Now: clock.Now,
		Log: slog.New(slog.DiscardHandler),
	}))(t)
	for range 3 {
		if _, _, err := d.Begin(t.Context(), "/", false); !apierr.Is(err, apierr.ProviderUnavailable) {
			t.Errorf("%v", err)
		}
	}
	if asked != 1 {
		t.Errorf("%d requests", asked)
	}
	answers = true
	clock.Advance(3 * time.Second)
	if _, _, err := d.Begin(t.Context(), "/", false); err != nil {
		t.Error(err)
	}
}

// A slow directory does not delay canceled requests, even if other requests are waiting.
func TestSlowDirectory(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	provider := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		http.Error(w, "at last", http.StatusBadGateway)
	}))
	t.Cleanup(provider.Close)
	roots := x509.NewCertPool()
	roots.AddCert(provider.Certificate())
	d := must.Get(oidc.New(oidc.Options{
		Issuer: provider.URL, ClientID: "press", PublicURL: "https://press.example", Roots: roots, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	}))(t)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := d.Begin(t.Context(), "/", false)
		first <- err
	}()
	<-asked
	gone, leave := context.WithCancel(t.Context())
	leave()
	go func() {
		_, _, err := d.Begin(gone, "/", false)
		second <- err
	}()
	select {
	case err := <-second:
		if !apierr.Is(err, apierr.ProviderUnavailable) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("a request that was given up waits for the directory")
	}
	close(answer)
	if err := <-first; !apierr.Is(err, apierr.ProviderUnavailable) {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	if d, err := oidc.New(oidc.Options{}); d != nil || err != nil {
		t.Errorf("%v (%v)", d, err)
	}
	for name, o := range map[string]oidc.Options{
		"oidc-only without a directory": {Exclusive: true}, "no address": {Issuer: "login", ClientID: "x"},
		"groups without a directory":     {GroupRoles: []oidc.GroupRole{{Group: "press", Team: 1, Role: access.Editor}}},
		"a file":                         {Issuer: "file:///etc", ClientID: "x"},
		"not encrypted":                  {Issuer: "http://login.example", ClientID: "x"},
		"not encrypted, on this machine": {Issuer: "http://127.0.0.1:5556/dex", ClientID: "x"},
		"no client":                      {Issuer: "https://login.example"},
	} {
		if _, err := oidc.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A step-up requires that the directory authenticated the person after the request.
func TestStepUpRequiresRecentAuthTime(t *testing.T) {
	t.Parallel()
	w := open(t)
	for name, c := range map[string]struct {
		again bool
		at    any // auth_time; nil for none
		in    bool
	}{
		"no step-up, unsaid":    {false, nil, true},
		"no step-up, long ago":  {false, w.clock.Now().Add(-time.Hour).Unix(), true},
		"step-up, unsaid":       {true, nil, false},
		"step-up, long ago":     {true, w.clock.Now().Add(-2 * time.Minute).Unix(), false},
		"step-up, now":          {true, w.clock.Now().Unix(), true},
		"step-up, as a text":    {true, strconv.FormatInt(w.clock.Now().Unix(), 10), true},
		"step-up, no number":    {true, "just now", false},
		"step-up, an object":    {true, map[string]any{"at": 1}, false},
		"no step-up, no number": {false, "NaN", true},
		"step-up, in fractions": {true, float64(w.clock.Now().Unix()) + 0.5, true},
	} {
		claims := map[string]any{"email": "ada@example.com", "email_verified": true}
		if c.at != nil {
			claims["auth_time"] = c.at
		}
		w.knows(claims)
		address, attempt, err := w.Begin(t.Context(), "/settings/keys/new", c.again)
		must.NoError(t, err)
		sent := must.Get(url.Parse(address))(t)
		if q := sent.Query(); (q.Get("prompt") == "login" && q.Get("max_age") == "0") != c.again {
			t.Errorf("%s: asked with %v", name, q)
		}
		got, err := w.Finish(t.Context(), attempt, w.visit(t, address))
		if (err == nil) != c.in || got.AuthenticatedAt.After(w.clock.Now()) {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
	}
}
