package app

import (
	"context"
	"crypto/rand"
	"crypto/x509"
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
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// comesBack is where the tests' programs have people come back to. Nothing is there.
const comesBack = "http://127.0.0.1:33418/callback"

// leaves keeps a browser from following what leads out of the program.
func (b *browser) leaves() *browser {
	b.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), b.root) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return b
}

// consents opens a program's address, chooses a level where one is given, answers by the button and gives what comes
// back to the program.
func (b *browser) consents(address, level, button string) url.Values {
	b.t.Helper()
	p := b.leaves().open(strings.TrimPrefix(address, b.root)).wants(http.StatusOK, "Let an assistant in?")
	f := p.form(button)
	if level != "" {
		f.fill("level", level)
	}
	return f.press().back()
}

// back is what comes back to a program.
func (p *page) back() url.Values {
	p.b.t.Helper()
	to := p.header.Get("Location")
	if p.status != http.StatusSeeOther || !strings.HasPrefix(to, comesBack) {
		p.b.t.Fatalf("%s is answered with %d %q: %s", p.path, p.status, to, p.text())
	}
	u, err := url.Parse(to)
	must(p.b.t, err)
	return u.Query()
}

// sdkClient is the SDK's own client, with the way in that it has for people.
func (c *crew) sdkClient(t *testing.T, person *browser, level string) (*sdk.ClientSession, error) {
	t.Helper()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: comesBack,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Harbour helper", RedirectURIs: []string{comesBack}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			got := person.consents(args.URL, level, map[bool]string{true: "Allow", false: "Refuse"}[level != ""])
			if got.Get("error") != "" {
				return nil, errors.New(got.Get("error"))
			}
			return &auth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, nil
		},
	})
	must(t, err)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: c.root + "/mcp", OAuthHandler: handler, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() }) // there is no session to end
	}
	return session, err
}

// A program that knows nothing but the address of the tools finds everything else, a person lets it in, and it may do
// what the person chose.
func TestAssistantOfTheSDK(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		session, err := c.sdkClient(t, c.as(t, access.Owner), "drafts")
		must(t, err)
		list, err := session.ListTools(t.Context(), nil)
		must(t, err)
		if len(list.Tools) < 20 {
			t.Errorf("%d tools are listed", len(list.Tools))
		}
		who, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_identity", Arguments: map[string]any{}})
		must(t, err)
		raw, err := json.Marshal(who.StructuredContent)
		must(t, err)
		if who.IsError || !strings.Contains(string(raw), `"capabilities":["read","write"]`) || !strings.Contains(string(raw), c.team.Name) {
			t.Errorf("it is %s", raw)
		}
		wrote, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "create_post", Arguments: map[string]any{"caption": "Fresh buns", "account_ids": []int64{c.account}}})
		must(t, err)
		if wrote.IsError {
			t.Errorf("a draft: %+v", wrote.Content[0])
		}
		published, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{
				Name: "search_hashtags", Arguments: map[string]any{"keyword": "buns", "platform": "instagram", "idempotency_key": "k"},
			})
		must(t, err)
		if text := published.Content[0].(*sdk.TextContent).Text; !published.IsError || !strings.Contains(text, "spend_not_allowed") {
			t.Errorf("spending: %s", text)
		}
		if _, err := c.sdkClient(t, c.as(t, access.Owner), ""); err == nil || !strings.Contains(err.Error(), "access_denied") {
			t.Errorf("after a refusal: %v", err)
		}
	})
}

// program is one that speaks the protocol by hand.
type program struct {
	*crew

	t        *testing.T
	id       string
	verifier string
}

// registers has a program register with addresses to come back to.
func (c *crew) registers(t *testing.T, redirects ...string) *program {
	t.Helper()
	if len(redirects) == 0 {
		redirects = []string{comesBack}
	}
	p := &program{crew: c, t: t, verifier: oauth2.GenerateVerifier()}
	body, err := json.Marshal(map[string]any{"client_name": "Harbour helper", "redirect_uris": redirects})
	must(t, err)
	status, got := p.post("/oauth/register", "application/json", string(body))
	if status != http.StatusCreated {
		t.Fatalf("registering: %d %v", status, got)
	}
	p.id, _ = got["client_id"].(string)
	return p
}

// post sends a body and reads the JSON that comes back.
func (p *program) post(path, kind, body string) (int, map[string]any) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.root+path, strings.NewReader(body))
	must(p.t, err)
	r.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(r)
	must(p.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(p.t, err)
	if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		p.t.Errorf("%s is answered with the headers %v", path, resp.Header)
	}
	var out map[string]any
	if len(raw) > 0 {
		must(p.t, json.Unmarshal(raw, &out))
	}
	return resp.StatusCode, out
}

// asks is the address that the program sends a person to, with some of it changed; an empty value is left out.
func (p *program) asks(change ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {p.id}, "redirect_uri": {comesBack}, "state": {"a state/of=its own"},
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

// code is one that a person gave.
func (p *program) code(person *browser, level string) string {
	p.t.Helper()
	got := person.consents(p.asks(), level, "Allow")
	if got.Get("code") == "" || got.Get("state") != "a state/of=its own" || got.Get("iss") != p.root {
		p.t.Fatalf("came back with %v", got)
	}
	return got.Get("code")
}

// token asks for tokens, with some of the request changed.
func (p *program) token(change ...string) (int, map[string]any) {
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

// exchange asks for tokens by a code.
func (p *program) exchange(code string, change ...string) (int, map[string]any) {
	p.t.Helper()
	return p.token(append([]string{
		"grant_type", "authorization_code", "code", code, "redirect_uri", comesBack, "code_verifier", p.verifier,
		"resource", p.root + "/mcp",
	}, change...)...)
}

// refresh asks for the next tokens.
func (p *program) refresh(token string, change ...string) (int, map[string]any) {
	p.t.Helper()
	return p.token(append([]string{"grant_type", "refresh_token", "refresh_token", token}, change...)...)
}

// pair are an access and a refresh token.
type pair struct{ access, refresh string }

func (p *program) wantTokens(status int, got map[string]any) pair {
	p.t.Helper()
	out := pair{fmt.Sprint(got["access_token"]), fmt.Sprint(got["refresh_token"])}
	if status != http.StatusOK || got["token_type"] != "Bearer" || got["expires_in"] != 3600.0 ||
		!strings.HasPrefix(out.access, "pra_") || !strings.HasPrefix(out.refresh, "prr_") {
		p.t.Fatalf("no tokens: %d %v", status, got)
	}
	return out
}

func (p *program) wantError(what string, status int, got map[string]any, code string) {
	p.t.Helper()
	if status != http.StatusBadRequest || got["error"] != code || got["access_token"] != nil {
		p.t.Errorf("%s: %d %v, want %s", what, status, got, code)
	}
}

// calls asks the tools for who the token acts for, and gives the status and the header that says how to get in.
func (h *house) calls(t *testing.T, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_identity","arguments":{}}}`))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
}

// dies waits until a token is good no more: what nodes remember of keys and tokens holds for a second at most.
func (p *program) dies(what, token string) {
	p.t.Helper()
	for until := time.Now().Add(5 * time.Second); ; {
		status, challenge := p.calls(p.t, token)
		if status == http.StatusUnauthorized {
			if want := `Bearer resource_metadata="` + p.root + `/.well-known/oauth-protected-resource/mcp"`; challenge != want {
				p.t.Errorf("%s: the way in is %s, want %s", what, challenge, want)
			}
			return
		}
		if time.Now().After(until) {
			p.t.Fatalf("%s: the token still works: %d", what, status)
		}
	}
}

func (p *program) works(token string) {
	p.t.Helper()
	if status, _ := p.calls(p.t, token); status != http.StatusOK {
		p.t.Errorf("the token does not work: %d", status)
	}
}

// Codes are good once, for their program, its address and its verifier alone, and for a minute.
func TestAssistantsCodes(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		p, other := c.registers(t), c.registers(t)
		for name, change := range map[string]struct {
			change []string
			want   string
		}{
			"another verifier":    {[]string{"code_verifier", oauth2.GenerateVerifier()}, "invalid_grant"},
			"no verifier":         {[]string{"code_verifier", ""}, "invalid_grant"},
			"the challenge":       {[]string{"code_verifier", oauth2.S256ChallengeFromVerifier(p.verifier)}, "invalid_grant"},
			"another address":     {[]string{"redirect_uri", "http://127.0.0.1:1/callback"}, "invalid_grant"},
			"no address":          {[]string{"redirect_uri", ""}, "invalid_grant"},
			"another program":     {[]string{"client_id", other.id}, "invalid_grant"},
			"no program":          {[]string{"client_id", ""}, "invalid_client"},
			"another audience":    {[]string{"resource", "https://elsewhere.example/mcp"}, "invalid_target"},
			"the whole service":   {[]string{"resource", h.root}, "invalid_target"},
			"another way":         {[]string{"grant_type", "client_credentials"}, "unsupported_grant_type"},
			"a code that is none": {[]string{"code", "prc_" + rand.Text()}, "invalid_grant"},
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
		p.works(first.access)
		status, got = p.exchange(code)
		p.wantError("a second time", status, got, "invalid_grant")
		p.dies("after its code came twice", first.access)
		status, got = p.refresh(first.refresh)
		p.wantError("after its code came twice", status, got, "invalid_grant")
		if n := h.count(t, "api_keys WHERE kind = 'assistant' AND revoked_at = 0"); n != 0 {
			t.Errorf("%d connections stand", n)
		}
	})
}

// Of many that exchange one code at once, one gets tokens. The others came second, so those are good no more.
func TestAssistantsCodeAtOnce(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p := c.registers(t)
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
			t.Errorf("%d got tokens for one code", got.Load())
		}
	})
}

// Refresh tokens are good once, but for a moment, and their second use ends the connection.
func TestAssistantsRefresh(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p, other := c.registers(t), c.registers(t)
		first := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "full")))
		status, got := other.refresh(first.refresh)
		p.wantError("another program", status, got, "invalid_grant")
		status, got = p.refresh(first.refresh, "resource", "https://elsewhere.example/mcp")
		p.wantError("another audience", status, got, "invalid_target")
		status, got = p.refresh(first.access)
		p.wantError("an access token", status, got, "invalid_grant")

		h.advance(59 * time.Minute)
		p.works(first.access)
		h.advance(2 * time.Minute)
		p.dies("after an hour", first.access)
		status, got = p.refresh(first.refresh, "scope", "read")
		p.wantError("less than was granted", status, got, "invalid_scope")
		second := p.wantTokens(p.refresh(first.refresh, "scope", "read write publish spend"))
		again := p.wantTokens(p.refresh(first.refresh)) // its answer was lost
		p.works(second.access)
		p.works(again.access)

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
		p.dies("after two lines of one token", goesOn.access)

		fresh := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "full")))
		next := p.wantTokens(p.refresh(fresh.refresh))
		h.advance(31 * time.Second)
		status, got = p.refresh(fresh.refresh)
		p.wantError("a second use", status, got, "invalid_grant")
		p.dies("after a second use", next.access)
		status, got = p.refresh(next.refresh)
		p.wantError("after a second use", status, got, "invalid_grant")
	})
}

// A token is worth nothing where keys alone are taken, once it is taken back, and once the person may do no more.
func TestAssistantsTokensEnd(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p, other := c.registers(t), c.registers(t)
		had := p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "all")))
		p.works(had.access)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+"/api/v1/me", http.NoBody)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+had.access)
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != `Bearer realm="api"` {
			t.Errorf("the API takes a token: %d %v", resp.StatusCode, resp.Header)
		}

		revoke := func(by *program, token string) {
			t.Helper()
			if status, got := by.post("/oauth/revoke", "application/x-www-form-urlencoded",
				url.Values{"client_id": {by.id}, "token": {token}}.Encode()); status != http.StatusOK {
				t.Errorf("taking back: %d %v", status, got)
			}
		}
		revoke(other, had.refresh)
		revoke(p, "nothing")
		p.works(had.access)
		revoke(p, had.refresh)
		p.dies("taken back", had.access)
		status, got := p.refresh(had.refresh)
		p.wantError("taken back", status, got, "invalid_grant")

		had = p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "all")))
		must(t, h.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		status, got = p.refresh(had.refresh)
		p.wantError("no member any more", status, got, "invalid_grant")
		had = p.wantTokens(p.exchange(p.code(c.as(t, access.Admin), "full")))
		must(t, h.db.InTx(t.Context(), "test.public_address", setResource("https://before.example/mcp")))
		p.dies("of another address", had.access)
		status, got = p.refresh(had.refresh)
		p.wantError("of another address", status, got, "invalid_grant")
	})
}

// Nothing is led on to before it is known whose address it is. After that, the program hears what is wrong.
func TestAssistantsRequests(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		owner, nobody := c.as(t, access.Owner).leaves(), h.browser(t).leaves()
		p := c.registers(t, comesBack, "https://app.example/back?x=1")
		for name, change := range map[string][]string{
			"unknown program": {"client_id", "program-none"}, "no program": {"client_id", ""}, "no address": {"redirect_uri", ""},
			"another host": {"redirect_uri", "http://127.0.0.2:33418/callback"},
			"another path": {"redirect_uri", "http://127.0.0.1:33418/callback/x"},
			"below it":     {"redirect_uri", comesBack + "/.."}, "with a query": {"redirect_uri", comesBack + "?a=b"},
			"elsewhere":   {"redirect_uri", "https://elsewhere.example/"},
			"with a user": {"redirect_uri", "http://127.0.0.1:33418@elsewhere.example/callback"},
			"script":      {"redirect_uri", "javascript:alert(1)"}, "relative": {"redirect_uri", "/"},
			"without its query": {"redirect_uri", "https://app.example/back"},
			"upper case":        {"redirect_uri", "HTTPS://app.example/back?x=1"},
		} {
			for _, b := range []*browser{owner, nobody} {
				if got := b.open(p.asks(change...)); got.status < 400 || got.status >= 500 || got.header.Get("Location") != "" {
					t.Errorf("%s: %d %s", name, got.status, got.header.Get("Location"))
				}
			}
		}
		for name, c := range map[string]struct {
			change []string
			want   string
		}{
			"no PKCE":           {[]string{"code_challenge", ""}, "invalid_request"},
			"plain PKCE":        {[]string{"code_challenge_method", "plain"}, "invalid_request"},
			"no method":         {[]string{"code_challenge_method", ""}, "invalid_request"},
			"a short challenge": {[]string{"code_challenge", "abc"}, "invalid_request"},
			"implicit":          {[]string{"response_type", "token"}, "unsupported_response_type"},
			"no scope of ours":  {[]string{"scope", "openid profile"}, "invalid_scope"},
			"another audience":  {[]string{"resource", "https://elsewhere.example/mcp"}, "invalid_target"},
		} {
			for _, b := range []*browser{owner, nobody} {
				if got := b.open(p.asks(c.change...)).
					back(); got.Get("error") != c.want || got.Get("state") != "a state/of=its own" ||
					got.Get("iss") != h.root || got.Has("code") {
					t.Errorf("%s: %v", name, got)
				}
			}
		}
		page := owner.open(p.asks("redirect_uri", "https://app.example/back?x=1", "code_challenge", "")).
			wants(http.StatusBadRequest, "PKCE is required", "Go back to app.example")
		page.holds(`href="https://app.example/back?x=1&amp;error=invalid_request&amp;`).lacks("<script>")
		port := strings.Replace(comesBack, "33418", "50123", 1)
		owner.open(p.asks("redirect_uri", port, "resource", h.root+"/mcp/")).wants(http.StatusOK, "127.0.0.1:50123")
		kept := owner.open(p.asks("redirect_uri", "https://app.example/back?x=1")).wants(http.StatusOK, "app.example").
			form("Refuse").press()
		if to := kept.header.Get("Location"); !strings.HasPrefix(to, "https://app.example/back?x=1&error=access_denied&") {
			t.Errorf("a refusal leads to %s", to)
		}
	})
}

// The page says who asks and for what, and never grants more than was asked for or than the role has.
func TestAssistantsConsent(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p := c.registers(t)
		signedOut := h.browser(t).leaves()
		page := signedOut.open(p.asks("scope", "")).wants(http.StatusOK, "Sign in").form("Sign in").
			fill("email", c.people[access.Owner].Email).fill("password", password).press()
		page.wants(http.StatusOK, "Harbour helper", "Nobody has checked that name", "127.0.0.1:33418", c.team.Name, "Drafts", "Full")
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https: http://127.0.0.1:33418;") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("the policy is %s", policy)
		}
		for name, want := range map[string]struct {
			role         access.Role
			scope, level string
			granted      string
		}{
			"an editor does not spend":      {access.Editor, "read write publish spend", "all", "read write publish"},
			"a viewer reads":                {access.Viewer, "read write publish spend", "read_only", "read"},
			"no more than chosen":           {access.Owner, "", "read_only", "read"},
			"no more than asked":            {access.Owner, "read publish offline_access", "all", "read publish"},
			"not what no role has":          {access.Editor, "read write publish spend", "full", ""},
			"not what it did not ask for":   {access.Owner, "read", "full", ""},
			"not what nobody offers":        {access.Owner, "read write", "everything", ""},
			"an admin as an owner of money": {access.Admin, "read write publish spend", "full", "read write publish spend"},
		} {
			f := c.as(t, want.role).leaves().open(p.asks("scope", want.scope)).wants(http.StatusOK).form("Allow")
			answer := f.fill("level", want.level).press()
			if want.granted == "" {
				answer.wants(http.StatusUnprocessableEntity, "Choose what it may do.")
				continue
			}
			status, got := p.exchange(answer.back().Get("code"))
			if p.wantTokens(status, got); got["scope"] != want.granted {
				t.Errorf("%s: %v, want %s", name, got["scope"], want.granted)
			}
		}
		c.as(t, access.Client).leaves().open(p.asks()).wants(http.StatusOK, "Assistants are for the team’s own people").
			form("Go back").press().back()
		foreign := h.crew(t)
		c.as(t, access.Owner).leaves().open(p.asks()).form("Allow").fill("team", fmt.Sprint(foreign.team.ID)).press().
			wants(http.StatusUnprocessableEntity, "Choose one of your teams.")
	})
}

// A team whose plan or owner does not want assistants gets none, and the page says so.
func TestAssistantsNotWanted(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p, owner := c.registers(t), c.as(t, access.Owner).leaves()
		code := p.code(owner, "full")
		must(t, h.Teams.SetAccess(t.Context(), c.team.ID, false))
		owner.open(p.asks()).
			wants(http.StatusOK, "The owner has switched access for assistants and keys off.",
				"There is no team of yours that it can work in.").lacks(`value="allow"`)
		must(t, h.Teams.SetAccess(t.Context(), c.team.ID, true))
		lesser, err := h.Teams.AddTeam(t.Context(),
			team.Team{Name: "Small Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "free"}, c.people[access.Owner].ID)
		must(t, err)
		answer := owner.open(p.asks()).
			wants(http.StatusOK, "This team’s plan has no access for assistants.", c.team.Name).form("Allow").
			fill("team", fmt.Sprint(lesser.ID)).press()
		answer.wants(http.StatusUnprocessableEntity, "This team’s plan has no access for assistants.")
		p.wantTokens(p.exchange(code))
	})
}

// What programs are told of the service holds its public address, whatever host was asked.
func TestAssistantsMetadata(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		for path, want := range map[string]string{
			"/.well-known/oauth-authorization-server":       `"issuer":"` + h.root + `"`,
			"/.well-known/oauth-protected-resource":         `"resource":"` + h.root + `/mcp"`,
			"/.well-known/oauth-protected-resource/mcp":     `"authorization_servers":["` + h.root + `"]`,
			"/.well-known/oauth-authorization-server?x=y":   `"code_challenge_methods_supported":["S256"]`,
			"/.well-known/oauth-protected-resource/mcp?x=y": `"bearer_methods_supported":["header"]`,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+path, http.NoBody)
			must(t, err)
			r.Host = "elsewhere.example"
			r.Header.Set("X-Forwarded-Host", "elsewhere.example")
			resp, err := http.DefaultClient.Do(r)
			must(t, err)
			body, err := io.ReadAll(resp.Body)
			must(t, err)
			must(t, resp.Body.Close())
			if !strings.Contains(string(body), want) || strings.Contains(string(body), "elsewhere") ||
				resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: %s", path, body)
			}
		}
	})
}

// What programs say of themselves is bounded, and shown as nothing but text.
func TestAssistantsRegistration(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p := &program{crew: c, t: t}
		for name, refused := range map[string][2]string{
			"no JSON":           {`client_name=x`, "invalid_client_metadata"},
			"no address":        {`{"client_name":"x"}`, "invalid_redirect_uri"},
			"plain http":        {`{"redirect_uris":["http://app.example/"]}`, "invalid_redirect_uri"},
			"a fragment":        {`{"redirect_uris":["https://app.example/#x"]}`, "invalid_redirect_uri"},
			"a pattern":         {`{"redirect_uris":["https://*.example/"]}`, "invalid_redirect_uri"},
			"one that is wrong": {`{"redirect_uris":["https://app.example/","javascript:alert(1)"]}`, "invalid_redirect_uri"},
			"too many": {
				`{"redirect_uris":["https://app.example/"` + strings.Repeat(`,"https://app.example/"`, 10) + `]}`, "invalid_redirect_uri",
			},
			"another way": {`{"redirect_uris":["https://app.example/"],"grant_types":["implicit"]}`, "invalid_client_metadata"},
			"too long": {
				`{"redirect_uris":["https://app.example/"],"client_name":"` + strings.Repeat("x", 20_000) + `"}`, "invalid_client_metadata",
			},
		} {
			status, got := p.post("/oauth/register", "application/json", refused[0])
			p.wantError(name, status, got, refused[1])
		}
		status, got := p.post("/oauth/register", "application/json",
			`{"redirect_uris":["`+comesBack+`"],"client_name":"<b>Bank\u202e\u0000\n `+strings.Repeat("x",
				200)+`","token_endpoint_auth_method":"client_secret_post"}`)
		if status != http.StatusCreated || got["token_endpoint_auth_method"] != "none" || got["client_secret"] != nil ||
			len(fmt.Sprint(got["client_name"])) != 80 {
			t.Errorf("registered: %d %v", status, got)
		}
		p.id, _ = got["client_id"].(string)
		c.as(t, access.Owner).open(p.asks()).wants(http.StatusOK, "<b>Bank xxx").lacks("<b>Bank", "\u202e")
		for range 30 {
			if status, got = p.post("/oauth/register", "application/json",
				`{"redirect_uris":["`+comesBack+`"]}`); status != http.StatusCreated {
				break
			}
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("many programs: %d %v", status, got)
		}
	})
}

// setResource lets every token be one for another address, as after a move of the service.
func setResource(address string) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE oauth_grants SET resource = ?`, address)
		return err
	}
}

// With a person, and with a team, goes what was granted to their assistants.
func TestAssistantsLeave(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		p := c.registers(t)
		editors := p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "drafts")))
		owners := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "drafts")))
		p.works(editors.access)
		must(t, h.Erasure.DeletePerson(t.Context(), c.people[access.Editor].ID))
		p.dies("of somebody who is gone", editors.access)
		if grants, tokens := h.count(t, "oauth_grants"), h.count(t, "oauth_tokens"); grants != 1 || tokens != 2 {
			t.Errorf("%d grants and %d tokens are left", grants, tokens)
		}
		p.works(owners.access)
		must(t, h.Erasure.RequestDeletion(t.Context(), c.people[access.Owner].ID, c.team.ID, c.team.Name, false))
		for until := time.Now().
			Add(20 * time.Second); h.count(t, "oauth_grants")+h.count(t, "oauth_tokens")+h.count(t,
			"api_keys WHERE team_id = ?", c.team.ID) > 0; {
			must(t, h.Erasure.Work(t.Context()))
			if time.Now().After(until) {
				t.Fatal("what was granted stays when its team is deleted")
			}
		}
	})
}

// A program that describes itself is let in once somebody is signed in: nobody else makes us fetch what it says, and
// nothing private is fetched.
func TestAssistantsByDocument(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, address string) {
		t.Parallel()
		var fetched atomic.Int64
		documents := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fetched.Add(1)
			if r.URL.Path == "/moved.json" {
				http.Redirect(w, r, "/client.json", http.StatusFound)
				return
			}
			_ = json.NewEncoder(w).
				Encode(map[string]any{
					"client_id": "https://" + r.Host + r.URL.Path, "client_name": "Described helper",
					"redirect_uris": []string{"http://127.0.0.1/callback"},
				})
		}))
		t.Cleanup(documents.Close)
		h := open(t, address, func(cfg *server.Config) {
			cfg.ImportRoots = x509.NewCertPool()
			cfg.ImportRoots.AddCert(documents.Certificate())
		})
		c := h.crew(t)
		p := &program{crew: c, t: t, id: documents.URL + "/client.json", verifier: oauth2.GenerateVerifier()}
		h.browser(t).leaves().open(p.asks()).wants(http.StatusOK, "Sign in")
		owner := c.as(t, access.Owner).leaves()
		owner.open(p.asks("client_id", strings.Replace(p.id, "127.0.0.1", "127.0.0.2", 1))).
			wants(http.StatusUnprocessableEntity, "The metadata document of this application is invalid")
		if fetched.Load() != 0 {
			t.Errorf("%d documents were fetched too many", fetched.Load())
		}
		owner.open(p.asks("client_id", documents.URL+"/moved.json")).
			wants(http.StatusUnprocessableEntity, "The metadata document of this application is invalid")
		owner.open(p.asks()).wants(http.StatusOK, "Described helper", "It describes itself at 127.0.0.1")
		p.works(p.wantTokens(p.exchange(p.code(owner, "drafts"))).access)
		if fetched.Load() != 2 {
			t.Errorf("%d documents were fetched", fetched.Load())
		}
	})
}
