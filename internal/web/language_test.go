package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// inGerman are pages that show no English text when they are requested in German.
var inGerman = []string{
	"/media/folder",
	"/account", "/account/password", "/account/passkeys/new", "/account/authenticator/new", "/account/teams",
	"/", "/notices", "/notices/recent", "/notices/settings", "/search",
	"/account/delete", "/settings/delete", "/settings/export", "/docs/app",
	"/analytics", "/voices/new",
	"/settings/team", "/settings/members", "/settings/keys", "/settings/keys/new", "/settings/assistants",
	"/settings/audit",
}

// Pages are in the language that the browser accepts, unless the person has chosen another one.
func TestLanguages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.serve(t, "http://press.example")
		b := w.browser(t)
		for accepted, want := range map[string]string{
			"": "en", "de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "fr, en;q=0.5, de;q=0.1": "en", "fr": "en", "en-GB,de": "en",
			"%%": "en",
		} {
			p := b.do(http.MethodGet, "/sign-in", nil, "Accept-Language", accepted)
			if !strings.Contains(p.text, `<html lang="`+want+`">`) {
				t.Errorf("Accept-Language %q: the page is not in %s", accepted, want)
			}
			if !slices.Contains(p.Header["Vary"], "Accept-Language") {
				t.Errorf("a page may be cached for other languages: %v", p.Header["Vary"])
			}
			if found := englishIn(p.text); want == "de" && len(found) > 0 {
				t.Errorf("the German sign-in page shows %q", found)
			}
		}
		b.in("ada@example.com")
		p := b.post("/account/profile", url.Values{"name": {"Ada"}, "language": {"xx"}})
		if p.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("unknown language: %d", p.StatusCode)
		}
		b.post("/account/profile", url.Values{"name": {"Ada"}, "language": {"de"}})
		p = b.do(http.MethodGet, "/account", nil, "Accept-Language", "en")
		if !strings.Contains(p.text, `<html lang="de">`) || !strings.Contains(p.text, "Gespeichert.") ||
			!strings.Contains(p.text, `<option value="de" lang="de" selected>Deutsch</option>`) {
			t.Errorf("the chosen language is not kept: %s", p.text)
		}
		for _, path := range inGerman {
			if found := englishIn(b.get(path).text); len(found) > 0 {
				t.Errorf("%s shows %q in German", path, found)
			}
		}
		b.post("/account/profile", url.Values{"name": {"Ada"}}) // a form without the field keeps the language
		if p = b.get("/account"); !strings.Contains(p.text, `<html lang="de">`) {
			t.Error("a form without a language has changed it")
		}
		b.post("/account/profile", url.Values{"name": {"Ada"}, "language": {""}})
		if p = b.get("/account"); !strings.Contains(p.text, `<html lang="en">`) {
			t.Error("the language of the browser is not used again")
		}
	})
}
