package shell

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"": "/", "/": "/", "/upload/1?x=2&y=%2F": "/upload/1?x=2&y=%2F", "/a%20b": "/a%20b", "/docs/errors#x": "/docs/errors",
		"//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "https:evil.example": "/",
		"https://evil.example": "/", "javascript:alert(1)": "/",
		"evil": "/", "/%2f/evil.example": "/", "/%2fevil.example": "/", "/%5cevil.example": "/",
		"%2f%2fevil.example": "/", "/%09/evil.example": "/",
		"/\t/evil.example": "/", "/\n//evil": "/", "\u0020//evil": "/", "///evil": "/", "/a\\b": "/", "/ä": "/%C3%A4",
		"/%zz": "/", "http:/evil": "/", "?x=//evil": "/",
		"//user@evil.example/": "/", "/sign-in?next=/sign-in": "/", "/sign-out": "/", "/" + strings.Repeat("a", MaxNext): "/",
	} {
		if got := LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestLocalPathStaysLocal(t *testing.T) {
	t.Parallel()
	site, _ := url.Parse("https://press.example/sign-in")
	browsers := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/")
	rapid.Check(t, func(t *rapid.T) {
		next := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
			"/", `\`, ":", "https:", "%2f", "%5c", "evil.example", "@", "\t", "%09", "?", "#", "..", ".", "%",
		}),
			rapid.StringN(0, 3, -1)), 0, 8).Draw(t, "next"), "")
		got := LocalPath(next)
		u, err := site.Parse(browsers.Replace(strings.TrimSpace(got)))
		if err != nil || u.Scheme != "https" || u.Host != "press.example" || !strings.HasPrefix(got, "/") {
			t.Fatalf("%q leads to %q, which is %v (%v)", next, got, u, err)
		}
	})
}

func TestClient(t *testing.T) {
	t.Parallel()
	trusted, err := parseProxies([]string{"127.0.0.0/8", "10.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"10.0.0.3:1234", "198.51.100.7", "10.0.0.3"},
		{"127.0.0.1:1234", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"},
		{"[::ffff:127.0.0.1]:1234", "198.51.100.7", "198.51.100.7"},
		{"203.0.113.5:1234", "", "203.0.113.5"},
		{"203.0.113.5:1234", "198.51.100.7", "203.0.113.5"}, // not a trusted proxy
		{"127.0.0.1:1234", "198.51.100.1, 198.51.100.7", "198.51.100.7"},
		{"10.0.0.2:1234", "nonsense", "10.0.0.2"},
		{"10.0.0.2:1234", "198.51.100.7:4711", "198.51.100.7"},
		{"10.0.0.2:1234", "[2001:db8:1:2::9]:4711", "2001:db8:1:2::/64"},
		{"10.0.0.2:1234", "[2001:db8:1:2::9]", "2001:db8:1:2::/64"},
		{"10.0.0.2:1234", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"[2001:db8:1:2::9]:1", "", "2001:db8:1:2::/64"},
		{"[::ffff:203.0.113.5]:1", "", "203.0.113.5"},
		{"pipe", "", "pipe"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/sign-in", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := trusted.client(r); got != c.want {
			t.Errorf("%s for %q is %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}
