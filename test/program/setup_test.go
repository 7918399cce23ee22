package program

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The first person of an installation needs the setup code from the log, which works once.
func TestSetUpInTheBrowser(t *testing.T) {
	t.Parallel()
	o := &operator{t: t, env: []string{
		"PRESSROOM_DATABASE=sqlite:" + filepath.Join(t.TempDir(), "pressroom.db"), "PRESSROOM_METRICS_ADDR=",
	}}
	served := o.serve()
	root := strings.TrimSuffix(o.base, "/api/v1")
	codes := regexp.MustCompile(`"code":"([A-Z2-7-]{19})"`)
	o.until("the setup code", func() bool { return codes.MatchString(served.log.String()) })
	code := codes.FindStringSubmatch(served.log.String())[1]

	visitor := &http.Client{Jar: newJar(t)}
	for _, path := range []string{"/", "/sign-in"} {
		resp := must.Get(visitor.Do(must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, root+path, nil))(t)))(t)
		resp.Body.Close()
		if got := resp.Request.URL.Path; got != "/setup" {
			t.Errorf("%s redirects to %s", path, got)
		}
	}
	form := url.Values{
		"code": {"AAAA-AAAA-AAAA-AAAA"}, "name": {"Ada Okafor"}, "email": {"ada@example.com"},
		"password": {"four plain words here"}, "team": {"Harbour Coffee"}, "timezone": {"Europe/Berlin"},
	}
	rejected := sendForm(t, visitor, root+"/setup", form)
	for _, want := range []string{"Incorrect setup code.", `value="Harbour Coffee"`, `value="Europe/Berlin"`} {
		if !strings.Contains(rejected, want) {
			t.Errorf("no %q: %s", want, rejected)
		}
	}
	form.Set("code", strings.ToLower(code))
	if page := sendForm(t, visitor, root+"/setup", form); !strings.Contains(page, "Your account and your team are ready.") {
		t.Errorf("not set up: %s", page)
	}
	form.Set("email", "mallory@example.com")
	if page := sendForm(t, &http.Client{Jar: newJar(t)}, root+"/setup", form); !strings.Contains(page, "Sign in") {
		t.Errorf("set up twice: %s", page)
	}
	people, _ := o.mustRun("people", "list").([]any)
	if len(people) != 1 || value(people[0], "operator") != "true" {
		t.Errorf("people: %v", people)
	}
}
