package apicli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/apicli/profile"
	"pressroom.example/pressroom/internal/testkit/must"
)

func testTerminal(folder string) (Terminal, *bytes.Buffer, *bytes.Buffer) {
	var out, problems bytes.Buffer
	return Terminal{Env: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &problems,
		Profiles: profile.Open(folder)}, &out, &problems
}

func storeProfile(t *testing.T, s profile.Store, p profile.Profile) {
	t.Helper()
	must.NoError(t, s.Update(t.Context(), p.Name, func(*profile.Profile) (*profile.Profile, error) { return &p, nil }))
}

// authority issues tokens and rejects them at the API.
type authority struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string // paths, and the revoked tokens
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.requests = append(a.requests, r.URL.Path+r.FormValue("token"))
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize",
				"token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register", "revocation_endpoint": a.URL + "/revoke"})
		case "/register":
			fmt.Fprint(w, `{"client_id":"client"}`)
		case "/token":
			if r.FormValue("grant_type") == "refresh_token" {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":"invalid_grant"}`)
				return
			}
			fmt.Fprint(w, `{"access_token":"access","refresh_token":"refresh","token_type":"Bearer","expires_in":3600}`)
		case "/revoke":
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *authority) count(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(a.requests), func(p string) bool { return p != path }))
}

// approve redirects to the command line as the browser does after a person approves.
func (a *authority) approve(address string) error {
	asked, err := url.Parse(address)
	if err != nil {
		return err
	}
	query := asked.Query()
	back := query.Get("redirect_uri") + "?" + url.Values{"code": {"code"}, "state": {query.Get("state")}, "iss": {a.URL}}.Encode()
	go func() {
		if response, err := http.Get(back); err == nil {
			_ = response.Body.Close()
		}
	}()
	return nil
}

// A sign-in that fails after its approval is revoked at the service. Without a profile folder, no approval is
// requested.
func TestLoginFails(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	term, _, _ := testTerminal(t.TempDir())
	if err := Login(t.Context(), term, LoginOptions{URL: a.URL, Open: a.approve}); err == nil || a.count("/revokerefresh") != 1 {
		t.Errorf("%v, requests %v", err, a.requests)
	}
	if _, err := term.Profiles.Get(profile.Default); !errors.Is(err, profile.ErrNotFound) {
		t.Errorf("stored: %v", err)
	}
	term, _, _ = testTerminal("/proc/pressroom")
	if err := Login(t.Context(), term, LoginOptions{URL: a.URL, Open: a.approve}); err == nil || a.count("/register") != 1 {
		t.Errorf("%v, requests %v", err, a.requests)
	}
}

// After a sign-in has ended, commands say which command to run and do not repeat the call.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	term, out, problems := testTerminal(t.TempDir())
	storeProfile(t, term.Profiles, profile.Profile{Name: profile.Default, URL: a.URL,
		OAuth: &profile.OAuth{TokenURL: a.URL + "/token", RefreshToken: "spent"}})
	const hint = "the sign-in has ended: run pressroom login --profile default"
	if status := Run(t.Context(), term, []string{"posts", "create", "--caption", "x", "--account-ids", "1"}); status != StatusRejected ||
		!strings.Contains(problems.String(), hint) || strings.Contains(problems.String(), "idempotency-key") || a.count("/token") != 1 {
		t.Errorf("%d %s, requests %v", status, problems, a.requests)
	}
	term.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	must.NoError(t, ServeMCP(t.Context(), term, MCPOptions{}))
	if !strings.Contains(out.String(), `"message":"`+hint+`"`) {
		t.Errorf("pressroom mcp: %s", out)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A refresh that runs during a logout or a new login does not restore the earlier sign-in.
func TestRefreshDuringChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(context.Context, Terminal) error{
		"logout": func(ctx context.Context, term Terminal) error { return Logout(ctx, term, "") },
		"login": func(ctx context.Context, term Terminal) error {
			p := profile.Profile{Name: profile.Default, Key: "prk_new"}
			before, err := term.replaceProfile(ctx, &p)
			if err == nil && before.OAuth.RefreshToken != "refresh1" {
				err = errors.New("the spent sign-in is ended: " + before.OAuth.RefreshToken)
			}
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			term, _, _ := testTerminal(t.TempDir())
			p := profile.Profile{Name: profile.Default, OAuth: &profile.OAuth{
				TokenURL: "none:", RevocationURL: "none:", RefreshToken: "refresh0",
			}}
			storeProfile(t, term.Profiles, p)
			slow := roundTripper(func(*http.Request) (*http.Response, error) {
				<-time.After(time.Second)
				const body = `{"access_token":"access1","refresh_token":"refresh1","token_type":"Bearer","expires_in":3600}`
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(body)),
				}, nil
			})
			go func() {
				_, _ = profile.NewSource(term.Profiles, p, &http.Client{Transport: slow}, time.Now).Credential(t.Context())
			}()
			synctest.Wait() // until the request is sent
			if err := change(t.Context(), term); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			<-time.After(time.Minute)
			if got, _ := term.Profiles.Get(profile.Default); got.OAuth != nil {
				t.Errorf("%s: %s is stored", name, got.OAuth.RefreshToken)
			}
		})
	}
}
