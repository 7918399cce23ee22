package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// redirectURI is the redirect URI of test clients. No server listens there.
const redirectURI = "http://127.0.0.1:33418/callback"

// keepRedirects makes the browser return redirects to other sites instead of following them.
func (b *browser) keepRedirects() *browser {
	b.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), b.root) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return b
}

// consent opens an authorization URL, selects a level unless it is empty, presses the button and returns the parameters
// of the redirect.
func (b *browser) consent(address, level, button string) url.Values {
	b.t.Helper()
	p := b.keepRedirects().open(strings.TrimPrefix(address, b.root)).shows(http.StatusOK, "It wants to act for you in pressroom.")
	f := p.form(button)
	if level != "" {
		f.fill("level", level)
	}
	return f.press().redirectParams()
}

// redirectParams returns the parameters of the redirect to the client.
func (p *page) redirectParams() url.Values {
	p.b.t.Helper()
	to := p.header.Get("Location")
	if p.status != http.StatusSeeOther || !strings.HasPrefix(to, redirectURI) {
		p.b.t.Fatalf("%s is answered with %d %q: %s", p.path, p.status, to, p.text())
	}
	u := must.Get(url.Parse(to))(p.b.t)
	return u.Query()
}

// sdkClient connects the MCP SDK's client with its own OAuth flow.
func (c *crew) sdkClient(t *testing.T, person *browser, level string) (*sdk.ClientSession, error) {
	t.Helper()
	handler := must.Get(auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirectURI,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Harbour helper", RedirectURIs: []string{redirectURI}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			got := person.consent(args.URL, level, map[bool]string{true: "Allow", false: "Deny"}[level != ""])
			if got.Get("error") != "" {
				return nil, errors.New(got.Get("error"))
			}
			return &auth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, nil
		},
	}))(t)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: c.root + "/mcp", OAuthHandler: handler, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() }) // fails if there is no session
	}
	return session, err
}

// A client that knows only the MCP URL discovers everything else, is authorized by a person, and gets the selected
// rights.
func TestAssistantSDKClient(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		session := must.Get(c.sdkClient(t, c.as(t, access.Owner), "drafts"))(t)
		list := must.Get(session.ListTools(t.Context(), nil))(t)
		if len(list.Tools) < 20 {
			t.Errorf("%d tools listed", len(list.Tools))
		}
		who := must.Get(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_identity", Arguments: map[string]any{}}))(t)
		raw := must.Get(json.Marshal(who.StructuredContent))(t)
		if who.IsError || !strings.Contains(string(raw), `"capabilities":["read","write"]`) || !strings.Contains(string(raw), c.team.Name) {
			t.Errorf("identity = %s", raw)
		}
		wrote := must.Get(session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "create_post", Arguments: map[string]any{"caption": "Fresh buns",
				"account_ids": []int64{c.account}}}))(t)
		if wrote.IsError {
			t.Errorf("creating a draft: %+v", wrote.Content[0])
		}
		published := must.Get(session.CallTool(t.Context(),
			&sdk.CallToolParams{
				Name: "search_hashtags", Arguments: map[string]any{"keyword": "buns", "platform": "instagram", "idempotency_key": "k"},
			}))(t)
		if text := published.Content[0].(*sdk.TextContent).Text; !published.IsError || !strings.Contains(text, "spend_not_allowed") {
			t.Errorf("calling a paid tool: %s", text)
		}
		if _, err := c.sdkClient(t, c.as(t, access.Owner), ""); err == nil || !strings.Contains(err.Error(), "access_denied") {
			t.Errorf("after access was denied: %v", err)
		}
	})
}

// A code works once, for one minute, and only with its client, redirect URI and verifier.
func TestAssistantsAuthorizationCodes(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		p, other := c.register(t), c.register(t)
		for name, change := range map[string]struct {
			change []string
			want   string
		}{
			"another verifier":  {[]string{"code_verifier", oauth2.GenerateVerifier()}, "invalid_grant"},
			"no verifier":       {[]string{"code_verifier", ""}, "invalid_grant"},
			"the challenge":     {[]string{"code_verifier", oauth2.S256ChallengeFromVerifier(p.verifier)}, "invalid_grant"},
			"another address":   {[]string{"redirect_uri", "http://127.0.0.1:1/callback"}, "invalid_grant"},
			"no address":        {[]string{"redirect_uri", ""}, "invalid_grant"},
			"another program":   {[]string{"client_id", other.id}, "invalid_grant"},
			"no program":        {[]string{"client_id", ""}, "invalid_client"},
			"another audience":  {[]string{"resource", "https://elsewhere.example/mcp"}, "invalid_target"},
			"the whole service": {[]string{"resource", h.root}, "invalid_target"},
			"another way":       {[]string{"grant_type", "client_credentials"}, "unsupported_grant_type"},
			"an unknown code":   {[]string{"code", "prc_" + rand.Text()}, "invalid_grant"},
		} {
			status, got := p.exchange(p.code(owner, "read_only"), change.change...)
			p.wantError(name, status, got, change.want)
		}
		late := p.code(owner, "read_only")
		h.advance(61 * time.Second)
		status, got := p.exchange(late)
		p.wantError("too late", status, got, "invalid_grant")

		code := p.code(owner, "read_only")
		first := p.wantTokens(p.exchange(code, "resource", h.root+"/mcp/"))
		p.checkValid(first.access)
		status, got = p.exchange(code)
		p.wantError("a second time", status, got, "invalid_grant")
		p.waitUntilInvalid("after its code came twice", first.access)
		status, got = p.refresh(first.refresh)
		p.wantError("after its code came twice", status, got, "invalid_grant")
		if n := h.count(t, "api_keys WHERE kind = 'assistant' AND revoked_at = 0"); n != 0 {
			t.Errorf("%d connections remain", n)
		}
	})
}

// Only one of several concurrent exchanges of a code returns tokens. These tokens are then revoked, because the code
// was reused.
func TestConcurrentAssistantsCode(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p := c.register(t)
		code := p.code(c.as(t, access.Owner), "full")
		var got atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if status, _ := p.exchange(code); status == http.StatusOK {
					got.Add(1)
				}
			})
		}
		all.Wait()
		if got.Load() != 1 || h.count(t, "api_keys WHERE kind = 'assistant'") != 1 {
			t.Errorf("%d exchanges of one code returned tokens", got.Load())
		}
	})
}

// A refresh token can be reused only within a short grace period. A later use ends the connection.
func TestAssistantsRefresh(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p, other := c.register(t), c.register(t)
		first := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "full")))
		status, got := other.refresh(first.refresh)
		p.wantError("another program", status, got, "invalid_grant")
		status, got = p.refresh(first.refresh, "resource", "https://elsewhere.example/mcp")
		p.wantError("another audience", status, got, "invalid_target")
		status, got = p.refresh(first.access)
		p.wantError("an access token", status, got, "invalid_grant")

		h.advance(59 * time.Minute)
		p.checkValid(first.access)
		h.advance(2 * time.Minute)
		p.waitUntilInvalid("after an hour", first.access)
		status, got = p.refresh(first.refresh, "scope", "read")
		p.wantError("less than was granted", status, got, "invalid_scope")
		second := p.wantTokens(p.refresh(first.refresh, "scope", "read write publish spend"))
		again := p.wantTokens(p.refresh(first.refresh)) // as if the first response were lost
		p.checkValid(second.access)
		p.checkValid(again.access)

		h.advance(29 * 24 * time.Hour)
		third := p.wantTokens(p.refresh(second.refresh))
		h.advance(31 * 24 * time.Hour)
		status, got = p.refresh(third.refresh)
		p.wantError("after 30 days", status, got, "invalid_grant")

		stolen := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "full")))
		mine, theirs := p.wantTokens(p.refresh(stolen.refresh)), p.wantTokens(p.refresh(stolen.refresh))
		goesOn := p.wantTokens(p.refresh(mine.refresh))
		status, got = p.refresh(theirs.refresh)
		p.wantError("a pair beside the one that went on", status, got, "invalid_grant")
		p.waitUntilInvalid("after two lines of one token", goesOn.access)

		fresh := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "full")))
		next := p.wantTokens(p.refresh(fresh.refresh))
		h.advance(31 * time.Second)
		status, got = p.refresh(fresh.refresh)
		p.wantError("a second use", status, got, "invalid_grant")
		p.waitUntilInvalid("after a second use", next.access)
		status, got = p.refresh(next.refresh)
		p.wantError("after a second use", status, got, "invalid_grant")
	})
}

// A token is valid for the tools, the REST API or both, as the client requested. All are checked in the same way.
func TestAssistantsResources(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p, owner := c.register(t), c.as(t, access.Owner)
		get := func(path, token string) int {
			t.Helper()
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+path, http.NoBody))(t)
			r.Header.Set("Authorization", "Bearer "+token)
			resp := must.Get(http.DefaultClient.Do(r))(t)
			must.NoError(t, resp.Body.Close())
			return resp.StatusCode
		}
		api, tools := h.root+"/api/v1", h.root+"/mcp"
		for resource, accepts := range map[string]struct{ api, tools bool }{
			tools: {false, true}, api: {true, false}, api + "&resource=" + url.QueryEscape(tools): {true, true},
		} {
			first, _, both := strings.Cut(resource, "&")
			address := p.authorizeURL("resource", first)
			if both {
				address += "&resource=" + url.QueryEscape(tools)
			}
			got := owner.consent(address, "read_only", "Allow")
			tokens := p.wantTokens(p.exchange(got.Get("code"), "resource", ""))
			if status := get("/api/v1/me", tokens.access); (status == http.StatusOK) != accepts.api {
				t.Errorf("%s: the REST API returns %d", resource, status)
			}
			if status := get("/api/v1/me?x=1", tokens.access); (status == http.StatusUnauthorized) == accepts.api {
				t.Errorf("%s: the REST API returns %d", resource, status)
			}
			if status := get("/mcp", tokens.access); (status != http.StatusUnauthorized) != accepts.tools {
				t.Errorf("%s: the tools return %d", resource, status)
			}
			other := map[bool]string{true: tools, false: api}[accepts.api || both]
			status, rejected := p.refresh(tokens.refresh, "resource", other)
			p.wantError(resource, status, rejected, "invalid_target")
		}
	})
}

// The REST API rejects tokens for the tools. A token ends when it is revoked or its person leaves the team.
func TestAssistantsTokenExpiry(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p, other := c.register(t), c.register(t)
		had := p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "all")))
		p.checkValid(had.access)
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+"/api/v1/me", http.NoBody))(t)
		r.Header.Set("Authorization", "Bearer "+had.access)
		resp := must.Get(http.DefaultClient.Do(r))(t)
		must.NoError(t, resp.Body.Close())
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != `Bearer realm="api"` {
			t.Errorf("the REST API accepts an OAuth token: %d %v", resp.StatusCode, resp.Header)
		}

		revoke := func(by *oauthClient, token string) {
			t.Helper()
			if status, got := by.post("/oauth/revoke", "application/x-www-form-urlencoded",
				url.Values{"client_id": {by.id}, "token": {token}}.Encode()); status != http.StatusOK {
				t.Errorf("revocation: %d %v", status, got)
			}
		}
		revoke(other, had.refresh)
		revoke(p, "nothing")
		p.checkValid(had.access)
		revoke(p, had.refresh)
		p.waitUntilInvalid("taken back", had.access)
		status, got := p.refresh(had.refresh)
		p.wantError("taken back", status, got, "invalid_grant")

		had = p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "all")))
		must.NoError(t, h.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		status, got = p.refresh(had.refresh)
		p.wantError("no longer a member", status, got, "invalid_grant")
		had = p.wantTokens(p.exchange(p.code(c.as(t, access.Admin), "full")))
		must.NoError(t, h.db.InTx(t.Context(), "test.public_address", setResource("https://before.example/mcp")))
		p.waitUntilInvalid("of another address", had.access)
		status, got = p.refresh(had.refresh)
		p.wantError("of another address", status, got, "invalid_grant")
	})
}
