package oauth

import (
	"strings"
	"testing"
)

func TestIsDocument(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"https://app.example/client.json": true, "https://app.example/a/b?v=2": true,
		"https://app.example:8443/client": true,
		"https://app.example":             false, "https://app.example/": false,
		"http://app.example/client.json": false, "https://a@app.example/client": false,
		"https://app.example/client#x":    false,
		"https://app.example/a/../client": false, "https://app.example/./client": false,
		"https://app.example/%2e%2e/client": false, "program-abc": false, "": false, "https:///client": false,
		"https://app.example/" + strings.Repeat("x", maxURLLength): false,
	} {
		if got := isDocumentURL(id); got != want {
			t.Errorf("%.80q: %v", id, got)
		}
	}
}

func TestReadDocument(t *testing.T) {
	t.Parallel()
	const id = "https://app.example/client.json"
	fit := `{"client_id":"` + id +
		`","client_name":"Helper","redirect_uris":["http://127.0.0.1/","https://app.example/back"],` +
		`"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"none"}`
	c, err := parseDocument(id, []byte(fit))
	if err != nil || c.ID != id || c.Name != "Helper" || len(c.RedirectURIs) != 2 || !c.IsSelfDescribed() {
		t.Errorf("%+v %v", c, err)
	}
	for name, change := range map[string][2]string{
		"another id": {id + `",`, id + `/x",`}, "a password": {`"none"`, `"client_secret_basic"`},
		"a secret":           {`"client_name"`, `"client_secret":"x","client_name"`},
		"no address":         {`"http://127.0.0.1/","https://app.example/back"`, ``},
		"an invalid address": {"https://app.example/back", "http://app.example/back"}, "no JSON": {"{", ""},
		"a list": {fit, "[]"},
	} {
		changed := strings.Replace(fit, change[0], change[1], 1)
		if _, err := parseDocument(id, []byte(changed)); changed == fit || err == nil {
			t.Errorf("%s is accepted: %s", name, changed)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{" Helper  of\nAda ", "Helper of Ada"}, {"", "app.example"}, {"\x00\u202e", "app.example"},
		{"a\u202eb\u200bc", "abc"}, {"\xff\xfeHelper", "Helper"}, {"日本語", "日本語"},
		{strings.Repeat("ü", 200), strings.Repeat("ü", maxName)},
	} {
		if got := clientName(Registration{Name: c[0], Redirects: []string{"https://app.example/back"}}); got != c[1] {
			t.Errorf("%q is shown as %q, want %q", c[0], got, c[1])
		}
	}
}
