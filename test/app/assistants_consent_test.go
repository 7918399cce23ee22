package app

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Errors before the validation of the redirect URI are shown to the person. Later errors are sent to the client.
func TestAuthorizationRequestErrors(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, nobody := c.as(t, access.Owner).keepRedirects(), h.browser(t).keepRedirects()
		p := c.register(t, redirectURI, "https://app.example/back?x=1")
		for name, change := range map[string][]string{
			"unknown program": {"client_id", "program-none"}, "no program": {"client_id", ""}, "no address": {"redirect_uri", ""},
			"another host": {"redirect_uri", "http://127.0.0.2:33418/callback"},
			"another path": {"redirect_uri", "http://127.0.0.1:33418/callback/x"},
			"below it":     {"redirect_uri", redirectURI + "/.."}, "with a query": {"redirect_uri", redirectURI + "?a=b"},
			"elsewhere":   {"redirect_uri", "https://elsewhere.example/"},
			"with a user": {"redirect_uri", "http://127.0.0.1:33418@elsewhere.example/callback"},
			"script":      {"redirect_uri", "javascript:alert(1)"}, "relative": {"redirect_uri", "/"},
			"without its query": {"redirect_uri", "https://app.example/back"},
			"upper case":        {"redirect_uri", "HTTPS://app.example/back?x=1"},
		} {
			for _, b := range []*browser{owner, nobody} {
				if got := b.open(p.authorizeURL(change...)); got.status < 400 || got.status >= 500 || got.header.Get("Location") != "" {
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
				if got := b.open(p.authorizeURL(c.change...)).
					redirectParams(); got.Get("error") != c.want || got.Get("state") != "a state/of=its own" ||
					got.Get("iss") != h.root || got.Has("code") {
					t.Errorf("%s: %v", name, got)
				}
			}
		}
		page := owner.open(p.authorizeURL("redirect_uri", "https://app.example/back?x=1", "code_challenge", "")).
			shows(http.StatusBadRequest, "PKCE is required", "Go back to app.example")
		page.contains(`href="https://app.example/back?x=1&amp;error=invalid_request&amp;`).lacks("<script>")
		port := strings.Replace(redirectURI, "33418", "50123", 1)
		owner.open(p.authorizeURL("redirect_uri", port, "resource", h.root+"/mcp/")).shows(http.StatusOK, "127.0.0.1:50123")
		kept := owner.open(p.authorizeURL("redirect_uri", "https://app.example/back?x=1")).shows(http.StatusOK, "app.example").
			form("Deny").press()
		if to := kept.header.Get("Location"); !strings.HasPrefix(to, "https://app.example/back?x=1&error=access_denied&") {
			t.Errorf("access_denied redirects to %s", to)
		}
	})
}

// The consent page shows the client and its request. It never grants more than was requested or than the role allows.
func TestAssistantsConsent(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p := c.register(t)
		signedOut := h.browser(t).keepRedirects()
		page := signedOut.open(p.authorizeURL("scope", "")).shows(http.StatusOK, "Sign in").form("Sign in").
			fill("email", c.people[access.Owner].Email).fill("password", password).press()
		page.shows(http.StatusOK, "Harbour helper", "This name is not verified", "127.0.0.1:33418", c.team.Name, "Drafts", "Full")
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https: http://127.0.0.1:33418;") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("Content-Security-Policy = %s", policy)
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
			f := c.as(t, want.role).keepRedirects().open(p.authorizeURL("scope", want.scope)).shows(http.StatusOK).form("Allow")
			answer := f.fill("level", want.level).press()
			if want.granted == "" {
				answer.shows(http.StatusUnprocessableEntity, "Select what the app may do.")
				continue
			}
			status, got := p.exchange(answer.redirectParams().Get("code"))
			if p.wantTokens(status, got); got["scope"] != want.granted {
				t.Errorf("%s: %v, want %s", name, got["scope"], want.granted)
			}
		}
		c.as(t, access.Client).keepRedirects().open(p.authorizeURL()).
			shows(http.StatusOK, "Clients of this team cannot connect apps and assistants").
			form("Go back").press().redirectParams()
		foreign := h.crew(t)
		c.as(t, access.Owner).keepRedirects().open(p.authorizeURL()).
			form("Allow").fill("team", fmt.Sprint(foreign.team.ID)).press().
			shows(http.StatusUnprocessableEntity, "Select one of your teams.")
	})
}

// The consent page says if the team's plan or owner does not allow assistants.
func TestAssistantsDisabled(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p, owner := c.register(t), c.as(t, access.Owner).keepRedirects()
		code := p.code(owner, "full")
		must.NoError(t, h.Teams.SetAccess(t.Context(), c.team.ID, false))
		owner.open(p.authorizeURL()).
			shows(http.StatusOK, "The owner has turned off API and tool access.",
				"It cannot act in any of your teams.").lacks(`value="allow"`)
		must.NoError(t, h.Teams.SetAccess(t.Context(), c.team.ID, true))
		lesser := must.Get(h.Teams.AddTeam(t.Context(),
			team.Team{Name: "Small Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "free"}, c.people[access.Owner].ID))(t)
		answer := owner.open(p.authorizeURL()).
			shows(http.StatusOK, "This team’s plan does not include apps and assistants.", c.team.Name).form("Allow").
			fill("team", fmt.Sprint(lesser.ID)).press()
		answer.shows(http.StatusUnprocessableEntity, "This team’s plan does not include apps and assistants.")
		p.wantTokens(p.exchange(code))
	})
}

// The OAuth metadata contains the public URL, regardless of the Host header.
func TestAssistantsMetadata(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		for path, want := range map[string]string{
			"/.well-known/oauth-authorization-server":       `"issuer":"` + h.root + `"`,
			"/.well-known/oauth-protected-resource":         `"resource":"` + h.root + `/mcp"`,
			"/.well-known/oauth-protected-resource/mcp":     `"authorization_servers":["` + h.root + `"]`,
			"/.well-known/oauth-authorization-server?x=y":   `"code_challenge_methods_supported":["S256"]`,
			"/.well-known/oauth-protected-resource/mcp?x=y": `"bearer_methods_supported":["header"]`,
		} {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+path, http.NoBody))(t)
			r.Host = "elsewhere.example"
			r.Header.Set("X-Forwarded-Host", "elsewhere.example")
			resp := must.Get(http.DefaultClient.Do(r))(t)
			body := must.Get(io.ReadAll(resp.Body))(t)
			must.NoError(t, resp.Body.Close())
			if !strings.Contains(string(body), want) || strings.Contains(string(body), "elsewhere") ||
				resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: %s", path, body)
			}
		}
	})
}

// Client registration limits the client's metadata and shows it as plain text.
func TestAssistantsRegistration(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p := &oauthClient{crew: c, t: t}
		for name, rejected := range map[string][2]string{
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
			status, got := p.post("/oauth/register", "application/json", rejected[0])
			p.wantError(name, status, got, rejected[1])
		}
		status, got := p.post("/oauth/register", "application/json",
			`{"redirect_uris":["`+redirectURI+`"],"client_name":"<b>Bank\u202e\u0000\n `+strings.Repeat("x",
				200)+`","token_endpoint_auth_method":"client_secret_post"}`)
		if status != http.StatusCreated || got["token_endpoint_auth_method"] != "none" || got["client_secret"] != nil ||
			len(fmt.Sprint(got["client_name"])) != 80 {
			t.Errorf("registration: %d %v", status, got)
		}
		p.id, _ = got["client_id"].(string)
		c.as(t, access.Owner).open(p.authorizeURL()).shows(http.StatusOK, "<b>Bank xxx").lacks("<b>Bank", "\u202e")
		for range 30 {
			if status, got = p.post("/oauth/register", "application/json",
				`{"redirect_uris":["`+redirectURI+`"]}`); status != http.StatusCreated {
				break
			}
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("too many registrations: %d %v", status, got)
		}
	})
}

// setResource changes the resource of every token, as if the public URL had changed.
func setResource(address string) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE oauth_grants SET resource = ?`, address)
		return err
	}
}

// Removing a person from a team ends the connections of the person's assistants. Deleting a team ends all connections.
func TestAssistantsRevokedOnRemoval(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		p := c.register(t)
		editors := p.wantTokens(p.exchange(p.code(c.as(t, access.Editor), "drafts")))
		owners := p.wantTokens(p.exchange(p.code(c.as(t, access.Owner), "drafts")))
		p.checkValid(editors.access)
		must.NoError(t, h.Erasure.DeletePerson(t.Context(), c.people[access.Editor].ID))
		p.waitUntilInvalid("of somebody who is gone", editors.access)
		if grants, tokens := h.count(t, "oauth_grants"), h.count(t, "oauth_tokens"); grants != 1 || tokens != 2 {
			t.Errorf("%d grants and %d tokens remain", grants, tokens)
		}
		p.checkValid(owners.access)
		must.NoError(t, h.Erasure.RequestDeletion(t.Context(), c.people[access.Owner].ID, c.team.ID, c.team.Name, false))
		for until := time.Now().
			Add(20 * time.Second); h.count(t, "oauth_grants")+h.count(t, "oauth_tokens")+h.count(t,
			"api_keys WHERE team_id = ?", c.team.ID) > 0; {
			must.NoError(t, h.Erasure.DeletePendingTeams(t.Context()))
			if time.Now().After(until) {
				t.Fatal("grants remain after their team was deleted")
			}
		}
	})
}

// Client metadata documents are fetched only for signed-in people and never from private addresses.
func TestAssistantsClientMetadataDocument(t *testing.T) {
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
		p := &oauthClient{crew: c, t: t, id: documents.URL + "/client.json", verifier: oauth2.GenerateVerifier()}
		h.browser(t).keepRedirects().open(p.authorizeURL()).shows(http.StatusOK, "Sign in")
		owner := c.as(t, access.Owner).keepRedirects()
		owner.open(p.authorizeURL("client_id", strings.Replace(p.id, "127.0.0.1", "127.0.0.2", 1))).
			shows(http.StatusUnprocessableEntity, "The metadata document of this application is invalid")
		if fetched.Load() != 0 {
			t.Errorf("%d unexpected fetches of metadata documents", fetched.Load())
		}
		owner.open(p.authorizeURL("client_id", documents.URL+"/moved.json")).
			shows(http.StatusUnprocessableEntity, "The metadata document of this application is invalid")
		owner.open(p.authorizeURL()).shows(http.StatusOK, "Described helper", "Its metadata comes from 127.0.0.1")
		p.checkValid(p.wantTokens(p.exchange(p.code(owner, "drafts"))).access)
		if fetched.Load() != 2 {
			t.Errorf("%d fetches of metadata documents", fetched.Load())
		}
	})
}
