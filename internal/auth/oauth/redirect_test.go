package oauth

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckRedirect(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://app.example/back", "https://app.example:8443/back?x=1", "https://app.example", "http://127.0.0.1/",
		"http://127.0.0.1:33418", "http://localhost:8787/callback", "http://[::1]:9/cb",
		"com.example.app:/oauth", "com.example.app://back", "cursor://anysphere.cursor-mcp/oauth/callback",
		"vscode://host/back",
	} {
		if err := checkRedirect(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{
		"", "/back", "//app.example/", "app.example", "https:", "https:///back", "https://", "https:app.example/back",
		"https://app.example/#", "https://app.example/#x", "http://app.example/", "http://127.0.0.2/",
		"http://127.0.0.1.elsewhere.example/", "http://localhost.elsewhere.example/", "http://2130706433/",
		"http://0x7f000001/", "http://[::ffff:127.0.0.1]/", "https://a@app.example/",
		"http://127.0.0.1@elsewhere.example/",
		"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "blob:https://app.example/x", "myapp:/back",
		"https://*.example/", "https://app.example/*", `https://app.example\@elsewhere.example/`,
		"https://app.example/\n", "https://app.example/ x", "https://äpp.example/", "https://app.example/%zz",
		"https://app.example/" + strings.Repeat("x", maxURLLength),
	} {
		if err := checkRedirect(address); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	registered := []string{
		"https://app.example/back", "https://app.example:8443/other?x=1", "http://127.0.0.1:33418/cb?a=b",
		"http://localhost/cb", "http://[::1]/", "com.example.app:/oauth",
	}
	for named, want := range map[string]bool{
		"https://app.example/back": true, "https://app.example:8443/other?x=1": true,
		"http://127.0.0.1:33418/cb?a=b": true, "http://127.0.0.1:1/cb?a=b": true, "http://127.0.0.1/cb?a=b": true,
		"http://localhost:9/cb": true, "http://[::1]:9/": true, "http://[::1]:9": true, "com.example.app:/oauth": true,
		"https://app.example/back/": false, "https://app.example/back?": false, "https://app.example:443/back": false,
		"https://APP.example/back": false, "https://app.example:1/other?x=1": false,
		"http://127.0.0.1:1/cb": false, "http://127.0.0.1:1/cb?a=b&c=d": false, "http://127.0.0.1:1/CB?a=b": false,
		"http://127.0.0.1:1/c%62?a=b": false, "http://localhost:1/cb?a=b": false, "https://127.0.0.1:1/cb?a=b": false,
		"http://127.0.0.1:1@elsewhere.example/cb?a=b": false, "http://127.0.0.1:x/cb?a=b": false,
		"http://localhost:9/cb#x": false, "http://localhost:9/cb?": false, "com.example.app:/oauth/x": false, "": false,
	} {
		if got := isRegistered(registered, named); got != want {
			t.Errorf("%q matches: %v", named, got)
		}
	}
}

// A matching redirect URI equals a registered one, except for the port of a loopback address.
func TestMatchesOnlyRegistered(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{
		"http", "https", ":", "/", "//", "127.0.0.1", "localhost", "[::1]", "@", "\\", "#", "?", "a=b", "app.example",
		".", "..", ":80", ":33418", "%2f", "%40", "cb", "*", " ", "\n", "com.example.app", "ä", "0x7f.1",
	})
	address := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
	})
	near := rapid.Custom(func(t *rapid.T) string {
		base := rapid.SampledFrom([]string{
			"https://app.example/cb", "http://127.0.0.1:33418/cb?a=b", "http://localhost/cb", "http://[::1]:1/",
			"com.example.app:/cb",
		}).Draw(t, "base")
		at := rapid.IntRange(0, len(base)).Draw(t, "at")
		return base[:at] + rapid.OneOf(part, rapid.Just("")).Draw(t, "more") + base[at:]
	})
	either := rapid.OneOf(address, near)
	rapid.Check(t, func(t *rapid.T) {
		registered, named := either.Draw(t, "registered"), either.Draw(t, "named")
		checkMatches(t, registered, named)
		checkMatches(t, named, named)
	})
}

func checkMatches(t interface {
	Fatalf(format string, args ...any)
}, registered, named string,
) {
	if !isRegistered([]string{registered}, named) || registered == named && checkRedirect(named) == nil {
		return
	}
	r, err := url.Parse(registered)
	n, other := url.Parse(named)
	if err != nil || other != nil || checkRedirect(named) != nil {
		t.Fatalf("%q matches %q, which cannot be read", named, registered)
	}
	if n.Scheme != "http" || n.Hostname() != r.Hostname() || !isLoopback(n.Hostname()) || n.RawQuery != r.RawQuery ||
		strings.Trim(n.EscapedPath(), "/") != strings.Trim(r.EscapedPath(), "/") {
		t.Fatalf("%q matches %q", named, registered)
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("http://127.0.0.1:33418/cb?a=b", "http://127.0.0.1:1/cb?a=b")
	f.Add("https://app.example/back", "https://app.example/back#")
	f.Add("com.example.app:/x", "com.example.app:/x")
	f.Fuzz(func(t *testing.T, registered, named string) { checkMatches(t, registered, named) })
}

// Added parameters preserve the existing query.
func TestWithQuery(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://app.example/back":     "https://app.example/back?code=a%26b",
		"https://app.example/?x=%20&y": "https://app.example/?x=%20&y&code=a%26b",
		"com.example.app:/oauth":       "com.example.app:/oauth?code=a%26b",
		"com.example.app:oauth":        "com.example.app:oauth?code=a%26b",
		"http://127.0.0.1:9":           "http://127.0.0.1:9?code=a%26b",
	} {
		if got := withQuery(address, url.Values{"code": {"a&b"}}); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
