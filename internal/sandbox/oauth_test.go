package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/testkit/must"
)

func consentQuery() url.Values {
	return url.Values{
		"client_id": {"app"}, "redirect_uri": {"https://app.test/back?kept=1"}, "response_type": {"code"},
		"scope": {"threads_basic,threads_content_publish"}, "state": {"<state>"},
	}
}

// with changes values and returns them. changes contains pairs of a name and a value. An empty value removes the name.
func with(values url.Values, changes ...string) url.Values {
	for i := 0; i < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			values.Del(changes[i])
		}
	}
	return values
}

// form sends a form without following redirects.
func (b *fixture) form(t *testing.T, method, path string, values url.Values) answer {
	t.Helper()
	target, body := b.url+path, strings.NewReader(values.Encode())
	if method == http.MethodGet {
		target, body = target+"?"+values.Encode(), strings.NewReader("")
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), method, target, body))(t)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	result, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, result, err}
}

// consentRedirect returns the query of the redirect after the consent.
func (b *fixture) consentRedirect(t *testing.T, values url.Values) url.Values {
	t.Helper()
	a := b.form(t, http.MethodPost, "/threads/oauth/authorize", with(values, "decision", "allow", "account", "mira.keller"))
	redirect, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther || redirect.Host != "app.test" || redirect.Query().Get("kept") != "1" {
		t.Fatalf("HTTP %d, to %s: %s", a.status, redirect, a.body)
	}
	return redirect.Query()
}

// exchange returns the form that exchanges a code. For changes, see with.
func exchange(code string, changes ...string) url.Values {
	return with(url.Values{
		"client_id": {"app"}, "client_secret": {"s"}, "grant_type": {"authorization_code"}, "code": {code},
		"redirect_uri": {"https://app.test/back?kept=1"},
	}, changes...)
}

func TestConsentPage(t *testing.T) {
	b := start(t, Options{})
	must.NoError(t, b.base.Store.InTx(t.Context(), func(t1 store.Tx) error {
		return t1.SaveAccount(t.Context(), "threads", store.Account{ID: "1", Handle: "anna.b", DisplayName: `Anna <b>`, Password: []byte{}})
	}))
	a := b.form(t, http.MethodGet, "/threads/oauth/authorize", consentQuery())
	page := string(a.body)
	for _, part := range []string{
		"@harbour.coffee", "Anna &lt;b&gt;", "&lt;state&gt;", "threads_content_publish", `value="allow"`, `value="deny"`, "<legend>",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if a.status != http.StatusOK || strings.Contains(page, "<script") ||
		!strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("HTTP %d: the page may run scripts", a.status)
	}
}

// The consent page does not redirect an invalid request.
func TestInvalidConsentRequest(t *testing.T) {
	b := start(t, Options{})
	for _, changes := range [][]string{
		{"client_id", ""}, {"redirect_uri", ""}, {"redirect_uri", "javascript:alert(1)"}, {"redirect_uri", "/back"},
		{"redirect_uri", "https://a.b/#c"},
		{"response_type", "token"}, {"scope", ""}, {"code_challenge", "x"}, {"account", "nobody"}, {"account", ""},
	} {
		a := b.form(t, http.MethodGet, "/threads/oauth/authorize",
			with(with(consentQuery(), "account", "mira.keller", "decision", "allow"), changes...))
		if a.status != http.StatusBadRequest || a.header.Get("Location") != "" {
			t.Errorf("%q: HTTP %d to %q", changes, a.status, a.header.Get("Location"))
		}
	}
}

func TestAuthorizationCodes(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	const verifier = "a-verifier-of-some-length"
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		consent, exchange []string
		delay             time.Duration
		status            int
	}{
		"without PKCE":         {nil, nil, 0, http.StatusOK},
		"another client":       {nil, []string{"client_id", "other"}, 0, http.StatusBadRequest},
		"another redirect URI": {nil, []string{"redirect_uri", "https://app.test/back"}, 0, http.StatusBadRequest},
		"no secret":            {nil, []string{"client_secret", ""}, 0, http.StatusBadRequest},
		"another grant type":   {nil, []string{"grant_type", "password"}, 0, http.StatusBadRequest},
		"just before expiry":   {nil, nil, 10*time.Minute - time.Second, http.StatusOK},
		"expired":              {nil, nil, 10 * time.Minute, http.StatusBadRequest},
		"PKCE": {
			[]string{"code_challenge", challenge, "code_challenge_method", "S256"}, []string{"code_verifier", verifier}, 0, http.StatusOK,
		},
		"wrong verifier": {
			[]string{"code_challenge", challenge, "code_challenge_method", "S256"},
			[]string{"code_verifier", "another"}, 0, http.StatusBadRequest,
		},
		"missing verifier": {
			[]string{"code_challenge", challenge, "code_challenge_method", "S256"}, nil, 0, http.StatusBadRequest,
		},
		"verifier without a challenge": {nil, []string{"code_verifier", verifier}, 0, http.StatusOK},
		"unknown code":                 {nil, []string{"code", "made up"}, 0, http.StatusBadRequest},
	} {
		redirect := b.consentRedirect(t, with(consentQuery(), c.consent...))
		if redirect.Get("state") != "<state>" {
			t.Errorf("%s: redirect with %v", name, redirect)
		}
		issuedAt := now
		now = now.Add(c.delay)
		for i, want := range []int{c.status, http.StatusBadRequest} { // a code can be used once
			if i > 0 && c.status != http.StatusOK {
				break
			}
			form := exchange(redirect.Get("code"), c.exchange...)
			if a := b.form(t, http.MethodPost, "/threads/oauth/access_token", form); a.status != want {
				t.Errorf("%s, attempt %d: HTTP %d: %s", name, i, a.status, a.body)
			}
		}
		now = issuedAt
	}
}

// threadsToken returns an access token of mira.keller.
func (b *fixture) threadsToken(t *testing.T) string {
	t.Helper()
	a := b.form(t, http.MethodPost, "/threads/oauth/access_token", exchange(b.consentRedirect(t, consentQuery()).Get("code")))
	var result struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(a.body, &result); err != nil || result.Token == "" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result.Token
}
