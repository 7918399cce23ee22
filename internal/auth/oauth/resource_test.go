package oauth

import (
	"net/url"
	"testing"
)

func TestResourcesOf(t *testing.T) {
	t.Parallel()
	for public, written := range map[string]map[string]bool{
		"https://press.example": {
			"https://press.example/mcp": true, "https://press.example/mcp/": true, "HTTPS://Press.Example/mcp": true,
			"https://press.example:443/mcp": true,
			"https://press.example":         false, "https://press.example/": false, "https://press.example/MCP": false,
			"http://press.example/mcp": false, "https://press.example:8443/mcp": false,
			"https://press.example/mcp?x=1": false,
			"https://press.example/mcp#x":   false, "https://a@press.example/mcp": false,
			"https://press.example/mcp//": false, "https://press.example/x/../mcp": false,
			"https://press.example.elsewhere.example/mcp": false, "/mcp": false, "": false, "%": false,
		},
		"https://Press.example:443": {"https://press.example/mcp": true, "https://press.example:8443/mcp": false},
		"http://127.0.0.1:8080": {
			"http://127.0.0.1:8080/mcp": true, "http://localhost:8080/mcp": false, "http://127.0.0.1/mcp": false,
		},
	} {
		s := New(Options{PublicURL: public, Tools: "/mcp", API: "/api/v1"})
		for address, want := range written {
			if got, err := s.resourcesOf(url.Values{"resource": {address}}); (err == nil) != want || want && got != s.ToolsResource() {
				t.Errorf("%s at %s: %q (%v)", address, public, got, err)
			}
		}
	}
	s := New(Options{PublicURL: "https://press.example", Tools: "/mcp", API: "/api/v1"})
	for want, named := range map[string][]string{
		"":                             nil,
		"https://press.example/api/v1": {"https://press.example/api/v1/", "https://press.example/api/v1"},
		"https://press.example/mcp https://press.example/api/v1": {"https://press.example/api/v1", "https://press.example/mcp"},
	} {
		if got, err := s.resourcesOf(url.Values{"resource": named}); err != nil || got != want {
			t.Errorf("%q: %q (%v)", named, got, err)
		}
	}
}
