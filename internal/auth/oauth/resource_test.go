package oauth

import "testing"

func TestIsResource(t *testing.T) {
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
		s := New(Options{PublicURL: public, Tools: "/mcp"})
		for address, want := range written {
			if got := s.isResource(address); got != want {
				t.Errorf("%s at %s: %v", address, public, got)
			}
		}
	}
}
