package program

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Links printed by admin commands open pages of the running server and work once.
func TestLinksForPeople(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	o.serve()
	root := strings.TrimSuffix(o.base, "/api/v1")
	at := []string{"--public-url", root + "/"}

	recovery := value(o.mustRun(append([]string{"people", "recover", " ADA@example.com"}, at...)...), "link")
	ada := &http.Client{Jar: newJar(t)}
	for _, want := range []string{"Your new password is set.", "already been used"} {
		if text := sendForm(t, ada, recovery, url.Values{"password": {"four plain words here"}}); !strings.Contains(text, want) {
			t.Errorf("no %q: %s", want, text)
		}
	}
	invitation := value(o.mustRun(append([]string{
		"teams", "invite", "--team", "1", "--email", "carol@example.com", "--role", "editor",
	}, at...)...), "link")
	if text := sendForm(t, &http.Client{Jar: newJar(t)}, invitation+"/join",
		url.Values{"name": {"Carol"}, "password": {"five plain words are here"}}); !strings.Contains(text, "You joined the team.") {
		t.Errorf("%s", text)
	}
	o.mustFail("--unconfirmed", "people", "operator", "carol@example.com", "--on")
	for _, c := range [][]string{{"--off", "<nil>"}, {"--on", "true"}} {
		if got := value(o.mustRun("people", "operator", "ada@example.com", c[0], "--unconfirmed"), "operator"); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	for _, last := range [][]string{{"people", "operator", "ada@example.com", "--off"}, {"people", "suspend", "--person", "1"}} {
		o.mustFail("only operator who can sign in", last...)
	}
	carol := value(o.mustRun("people", "operator", "carol@example.com", "--on", "--unconfirmed"), "id")
	o.mustRun("people", "operator", "ada@example.com", "--off")
	o.mustFail("only operator who can sign in", "teams", "member", "--team", "1", "--person", carol, "--role", "none")
	if got := value(o.mustRun("people", "operator", "carol@example.com", "--off", "--force"), "operator"); got != "<nil>" {
		t.Errorf("forced: %s", got)
	}

	o.mustFail("no person", append([]string{"people", "recover", "nobody@example.com"}, at...)...)
	o.mustFail("no person", "people", "operator", "nobody@example.com", "--on")
	o.mustFail("--on", "people", "operator", "ada@example.com")
	o.mustFail("mail server", append([]string{"people", "recover", "ada@example.com", "--mail"}, at...)...)
	o.mustFail("linked to the directory", "people", "unlink", "ada@example.com")
	o.mustFail("absolute URL", "people", "recover", "ada@example.com", "--public-url", "press")
	o.mustFail("public-url", "people", "recover", "ada@example.com")
	o.mustFail("already in the team",
		append([]string{"teams", "invite", "--team", "1", "--email", "ada@example.com", "--role", "editor"}, at...)...)
	o.mustFail("role", append([]string{"teams", "invite", "--team", "1", "--email", "x@example.com", "--role", "owner"}, at...)...)
	o.mustFail("not found", append([]string{"teams", "invite", "--team", "9", "--email", "x@example.com", "--role", "editor"}, at...)...)
}

func newJar(t *testing.T) http.CookieJar {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	return jar
}

// sendForm submits a form and returns the resulting page.
func sendForm(t *testing.T, client *http.Client, address string, form url.Values) string {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode())))(t)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp := must.Get(client.Do(req))(t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(t)
	return string(raw)
}
