package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"

	"golang.org/x/oauth2"
)

// oauthClient is an OAuth client that uses no library.
type oauthClient struct {
	*crew

	t        *testing.T
	id       string
	verifier string
}

// register registers an OAuth client with redirect URIs.
func (c *crew) register(t *testing.T, redirects ...string) *oauthClient {
	t.Helper()
	if len(redirects) == 0 {
		redirects = []string{redirectURI}
	}
	p := &oauthClient{crew: c, t: t, verifier: oauth2.GenerateVerifier()}
	body := must.Get(json.Marshal(map[string]any{"client_name": "Harbour helper", "redirect_uris": redirects}))(t)
	status, got := p.post("/oauth/register", "application/json", string(body))
	if status != http.StatusCreated {
		t.Fatalf("client registration: %d %v", status, got)
	}
	p.id, _ = got["client_id"].(string)
	return p
}

// post sends a body and returns the status and the parsed JSON.
func (p *oauthClient) post(path, kind, body string) (int, map[string]any) {
	p.t.Helper()
	r := must.Get(http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.root+path, strings.NewReader(body)))(p.t)
	r.Header.Set("Content-Type", kind)
	resp := must.Get(http.DefaultClient.Do(r))(p.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(p.t)
	if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		p.t.Errorf("%s: response headers %v", path, resp.Header)
	}
	var out map[string]any
	if len(raw) > 0 {
		must.NoError(p.t, json.Unmarshal(raw, &out))
	}
	return resp.StatusCode, out
}

// authorizeURL returns the authorization URL with some parameters changed. Empty parameters are omitted.
func (p *oauthClient) authorizeURL(change ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {p.id}, "redirect_uri": {redirectURI}, "state": {"a state/of=its own"},
		"scope":          {"read write publish spend"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(p.verifier)}, "code_challenge_method": {"S256"}, "resource": {p.root + "/mcp"},
	}
	for pair := range slices.Chunk(change, 2) {
		q.Set(pair[0], pair[1])
		if pair[1] == "" {
			q.Del(pair[0])
		}
	}
	return "/oauth/authorize?" + q.Encode()
}

// code returns an authorization code that a person has granted.
func (p *oauthClient) code(person *browser, level string) string {
	p.t.Helper()
	got := person.consent(p.authorizeURL(), level, "Allow")
	if got.Get("code") == "" || got.Get("state") != "a state/of=its own" || got.Get("iss") != p.root {
		p.t.Fatalf("no code in the redirect: %v", got)
	}
	return got.Get("code")
}

// token sends a token request with some parameters changed.
func (p *oauthClient) token(change ...string) (int, map[string]any) {
	p.t.Helper()
	form := url.Values{"client_id": {p.id}}
	for pair := range slices.Chunk(change, 2) {
		form.Set(pair[0], pair[1])
		if pair[1] == "" {
			form.Del(pair[0])
		}
	}
	return p.post("/oauth/token", "application/x-www-form-urlencoded", form.Encode())
}

// exchange exchanges a code for tokens.
func (p *oauthClient) exchange(code string, change ...string) (int, map[string]any) {
	p.t.Helper()
	return p.token(append([]string{
		"grant_type", "authorization_code", "code", code, "redirect_uri", redirectURI, "code_verifier", p.verifier,
		"resource", p.root + "/mcp",
	}, change...)...)
}

// refresh exchanges a refresh token for new tokens.
func (p *oauthClient) refresh(token string, change ...string) (int, map[string]any) {
	p.t.Helper()
	return p.token(append([]string{"grant_type", "refresh_token", "refresh_token", token}, change...)...)
}

// pair is an access token and a refresh token.
type pair struct{ access, refresh string }

func (p *oauthClient) wantTokens(status int, got map[string]any) pair {
	p.t.Helper()
	out := pair{fmt.Sprint(got["access_token"]), fmt.Sprint(got["refresh_token"])}
	if status != http.StatusOK || got["token_type"] != "Bearer" || got["expires_in"] != 3600.0 ||
		!strings.HasPrefix(out.access, "pra_") || !strings.HasPrefix(out.refresh, "prr_") {
		p.t.Fatalf("no tokens: %d %v", status, got)
	}
	return out
}

func (p *oauthClient) wantError(what string, status int, got map[string]any, code string) {
	p.t.Helper()
	if status != http.StatusBadRequest || got["error"] != code || got["access_token"] != nil {
		p.t.Errorf("%s: %d %v, want %s", what, status, got, code)
	}
}

// callIdentity calls get_identity with a token and returns the status and the WWW-Authenticate header.
func (h *env) callIdentity(t *testing.T, token string) (int, string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_identity","arguments":{}}}`)))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	resp := must.Get(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
}

// waitUntilInvalid waits until a token is rejected. Nodes cache keys and tokens for up to a second.
func (p *oauthClient) waitUntilInvalid(what, token string) {
	p.t.Helper()
	for until := time.Now().Add(5 * time.Second); ; {
		status, challenge := p.callIdentity(p.t, token)
		if status == http.StatusUnauthorized {
			if want := `Bearer resource_metadata="` + p.root + `/.well-known/oauth-protected-resource/mcp"`; challenge != want {
				p.t.Errorf("%s: WWW-Authenticate %s, want %s", what, challenge, want)
			}
			return
		}
		if time.Now().After(until) {
			p.t.Fatalf("%s: the token still works: %d", what, status)
		}
	}
}

func (p *oauthClient) checkValid(token string) {
	p.t.Helper()
	if status, _ := p.callIdentity(p.t, token); status != http.StatusOK {
		p.t.Errorf("the token is rejected: %d", status)
	}
}
