package web_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/erasure"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/web"
	"pressroom.example/pressroom/internal/web/shell"
)

// world is the app behind a real listener, with Ada, who owns a team, and Bea, who edits in two.
type world struct {
	teams    *team.Service
	db       *db.DB
	clock    *testkit.Clock
	app      *web.App
	url      string
	ada, bea team.Person
	harbour  team.Team
	roastery team.Team
	key      int64 // key of the Harbour team
	media    *media.Service
	networks *networks
	connects *account.Connector
	posts    *post.Service
	limiters loadshed.Limiters // created if empty

}

// describe returns the OpenAPI document of an API without operations.
func describe() ([]byte, error) { return []byte(`{"servers":[{"url":"/api/v1"}]}`), nil }

const password = "correct horse battery"

func each(t *testing.T, run func(t *testing.T, w *world)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		guesses, err := ratelimit.NewGuessLimiter()
		if err != nil {
			t.Fatal(err)
		}
		w := &world{teams: team.New(d, guesses, plan.Default()), db: d, clock: clock}
		w.furnish(t)
		w.serve(t, "http://press.example")
		run(t, w)
	})
}

func (w *world) furnish(t *testing.T) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	w.ada, err = w.teams.AddPerson(t.Context(), "Ada <Okafor>", "ada@example.com", password)
	must(err)
	w.bea, err = w.teams.AddPerson(t.Context(), "Bea", "bea@example.com", password)
	must(err)
	w.harbour, err = w.teams.AddTeam(t.Context(),
		team.Team{Name: "Harbour & Sons", Timezone: "Europe/Berlin", Language: "en", Plan: "team"}, w.ada.ID)
	must(err)
	w.roastery, err = w.teams.AddTeam(t.Context(),
		team.Team{Name: "Roastery", Timezone: "America/Lima", Language: "en", Plan: "team"}, w.ada.ID)
	must(err)
	must(w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Editor))
	key, _, err := w.teams.AddKey(t.Context(), team.NewKey{Team: w.harbour.ID, Name: "test", Level: access.Full})
	must(err)
	w.key = key.ID
	w.media = w.library(t, logOf(t))
	w.networks, w.connects = w.connecting(t)
	w.posts = post.New(w.db, w.connects.Accounts, job.NewStore(w.db, nil, 5), nil, nil, post.DefaultLimits, plan.Default())
}

func logOf(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// programs returns an OAuth service.
func (w *world) programs(publicURL string) *oauth.Service {
	return oauth.New(oauth.Options{DB: w.db, PublicURL: publicURL, Tools: "/mcp", API: "/api/v1"})
}

// serve starts the app behind a listener until the test ends.
func (w *world) serve(t *testing.T, publicURL string) {
	t.Helper()
	key, err := tokencrypt.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		t.Fatal(err)
	}
	signIns := team.NewSignIns(w.teams)
	w.app, err = web.New(web.Options{
		Shell: shell.Options{
			PublicURL: publicURL, TrustedProxies: []string{"127.0.0.1"}, Limiters: w.limiters, Teams: w.teams, DB: w.db, Log: logOf(t),
		}, Library: w.media, Connector: w.connects, Posts: w.posts, OAuth: w.programs(publicURL), Describe: describe, TOTP: w.apps(t),
		Approvals: approval.New(approval.Options{DB: w.db, Posts: w.posts, Sealer: sealer, PublicURL: publicURL}),
		Analytics: analytics.New(w.db, w.connects.Accounts, analytics.Options{Catalog: plan.Default()}),
		SignIns:   signIns, FirstRun: team.NewFirstRun(signIns, sealer.Signer("setup code")),
		Notifications: notification.New(w.db, notification.Options{PublicURL: publicURL, Log: logOf(t)}),
		Erasure:       erasure.New(erasure.Options{DB: w.db}),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.app)
	t.Cleanup(server.Close)
	w.url = server.URL
}

// browser is a client with cookies that does not follow redirects.
type browser struct {
	*http.Client

	t *testing.T
	w *world
}

func (w *world) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, t, w}
}

// page is a complete response.
type page struct {
	*http.Response
	text string
}

func (b *browser) do(method, path string, body io.Reader, headers ...string) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.w.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp, string(raw)}
}

func (b *browser) get(path string) page { b.t.Helper(); return b.do(http.MethodGet, path, nil) }

func (b *browser) post(path string, form url.Values) page {
	b.t.Helper()
	return b.do(http.MethodPost, path, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded")
}

func (b *browser) signIn(email, password, next string) page {
	b.t.Helper()
	return b.post("/sign-in", url.Values{"email": {email}, "password": {password}, "next": {next}})
}

// in signs in a person.
func (b *browser) in(email string) *browser {
	b.t.Helper()
	if p := b.signIn(email, password, ""); p.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("signing in: %d %s", p.StatusCode, p.text)
	}
	return b
}

// signedIn reports whether the home page is that of a signed-in person.
func (b *browser) signedIn() bool {
	b.t.Helper()
	return strings.Contains(b.get("/").text, "Your teams")
}

func (p page) wants(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.StatusCode != status {
		t.Errorf("%s %s: %d, want %d", p.Request.Method, p.Request.URL.Path, p.StatusCode, status)
	}
	for _, text := range texts {
		if !strings.Contains(p.text, text) {
			t.Errorf("%s does not show %q: %s", p.Request.URL.Path, text, p.text)
		}
	}
}

func (p page) leads(t *testing.T, to string) {
	t.Helper()
	if p.StatusCode != http.StatusSeeOther || p.Header.Get("Location") != to {
		t.Errorf("%s %s: %d to %s, want %s", p.Request.Method, p.Request.URL.Path, p.StatusCode, p.Header.Get("Location"), to)
	}
}

func TestFrontPage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t)
		found := b.get("/docs/app?q=client+LINK")
		found.wants(t, 200, "Get a client’s approval")
		if strings.Contains(found.text, "Connect an account") || strings.Contains(found.text, `id="page-media"`) {
			t.Error("the search of the help lists parts without its words")
		}
		b.get("/docs/app?q=nosuchthing").wants(t, 200, "Nothing in the help matches “nosuchthing”.")
		b.get("/").wants(t, 200, `href="/sign-in"`, `href="/docs/start"`, `src="/assets/front-light-`, `srcset="/assets/front-dark-`)
		b.get("/docs/app").wants(t, 200, "<h1>Help</h1>", `<a href="/posts/new">Create</a>`)
		b.get("/help").leads(t, "/docs/app")
		for _, path := range []string{"/sign-up", "/forgot-password", "/recover"} {
			b.get(path).leads(t, "/sign-in")
		}
		b.get("/compose").leads(t, "/posts/new")
		for _, path := range []string{"/nothing", "/upload", "/sign-out", "/assets/none.css", "/assets/app.css", "/sign-in/x", "/%00"} {
			b.get(path).wants(t, 404, "This page doesn’t exist")
		}
	})
}

// TestHeaders checks that pages load nothing from elsewhere and cannot be framed or cached.
func TestHeaders(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t).in("ada@example.com")
		for _, path := range []string{"/", "/docs/app", "/nothing", "/upload/x", "/assets/x", "/uploads/x"} {
			h := b.get(path).Header
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
					"media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
				"Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
			} {
				if h.Get(name) != want {
					t.Errorf("%s: %s is %q", path, name, h.Get(name))
				}
			}
			if allowed := h.Get("Permissions-Policy"); !strings.Contains(allowed, "camera=()") ||
				!strings.Contains(allowed, "publickey-credentials-get=(self)") {
				t.Errorf("%s: Permissions-Policy is %q", path, allowed)
			}
		}
		// Applications open these in a window and receive the outcome through it.
		for _, path := range []string{"/oauth/authorize", "/sign-in", "/sign-in/directory"} {
			if got := b.get(path).Header.Get("Cross-Origin-Opener-Policy"); got != "unsafe-none" {
				t.Errorf("%s: Cross-Origin-Opener-Policy is %q", path, got)
			}
		}
		if p := b.get("/"); regexp.MustCompile(`<style|<script>|style=| on[a-z]+=`).MatchString(p.text) {
			t.Errorf("the page has inline code: %s", p.text)
		}
	})
}

// TestAssets checks that an asset's path changes with its content, so that it can be cached forever.
func TestAssets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t)
		css := regexp.MustCompile(`/assets/app-[0-9a-f]{16}\.css`).FindString(b.get("/").text)
		font := regexp.MustCompile(`inter-[0-9a-f]{16}\.woff2`).FindString(b.get(css).text)
		icons := regexp.MustCompile(`/assets/icons-[0-9a-f]{16}\.svg`).FindString(w.browser(t).in("ada@example.com").get("/").text)
		for path, kind := range map[string]string{
			css: "text/css; charset=utf-8", "/assets/" + font: "font/woff2", icons: "image/svg+xml",
		} {
			p := b.get(path)
			p.wants(t, 200)
			if p.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
				p.Header.Get("Content-Type") != kind || strings.Contains(p.Header.Get("Vary"), "Cookie") ||
				p.Uncompressed != (kind != "font/woff2") { // whether the client had to decompress it
				t.Errorf("%s: %v", path, p.Header)
			}
		}
	})
}

func TestTeams(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, bea := w.browser(t).in("ada@example.com"), w.browser(t).in("bea@example.com")
		ada.get("/").wants(t, 200, "<bdi class=\"clip\">Harbour &amp; Sons</bdi>", "Ada &lt;Okafor&gt;", "owner")
		roastery := url.Values{"team": {itoa(w.roastery.ID)}}
		ada.post("/team", roastery).wants(t, 303)
		ada.get("/").wants(t, 200, "<bdi class=\"clip\">Roastery</bdi>")
		bea.post("/team", roastery).wants(t, 404)
		for _, id := range []string{"", "x", "-1", "9999999999999999999"} {
			bea.post("/team", url.Values{"team": {id}}).wants(t, 404)
		}
		bea.get("/").wants(t, 200, "<bdi class=\"clip\">Harbour &amp; Sons</bdi>", "editor")
		w.browser(t).post("/team", roastery).wants(t, 303)
	})
}

// TestManyTeams checks that the menu shows the first teams, the selected one on top, and leads to the others.
func TestManyTeams(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.browser(t).in("ada@example.com")
		if text := ada.get("/").text; strings.Contains(text, "All teams") {
			t.Error("two teams have a link to all teams")
		}
		var last int64
		for i := range 11 {
			one, err := w.teams.AddTeam(t.Context(), team.Team{
				Name: "Team " + strconv.Itoa(i), Timezone: "UTC", Language: "en", Plan: "team",
			}, w.ada.ID)
			if err != nil {
				t.Fatal(err)
			}
			last = one.ID
		}
		ada.post("/team", url.Values{"team": {itoa(last)}}).wants(t, 303)
		home := ada.get("/")
		home.wants(t, 200, `<p class="who row"><strong><bdi>Team 10</bdi>`, `href="/account#your-teams"`)
		if n := strings.Count(home.text, `aria-label="Switch to `); n != 11 {
			t.Errorf("the menu has %d other teams", n)
		}
		ada.get("/account").wants(t, 200, `id="your-teams"`, "Team 9")
	})
}

// TestSecurityText checks security.txt (RFC 9116), which requires a configured contact.
func TestSecurityText(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.browser(t).get("/.well-known/security.txt").wants(t, 404, "This page doesn’t exist")
		app, err := web.New(web.Options{Shell: shell.Options{
			PublicURL: "https://press.example", Teams: w.teams, DB: w.db, Log: logOf(t),
		}, Library: w.media, Connector: w.connects,
			OAuth: w.programs("https://press.example"), Describe: describe, SecurityContact: "mailto:security@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		now := w.clock.Now().UTC()
		for range 2 { // stable during a day
			out := httptest.NewRecorder()
			app.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/.well-known/security.txt", nil))
			expires := now.Truncate(24*time.Hour).AddDate(0, 0, 181).Format(time.RFC3339)
			want := "Contact: mailto:security@example.com\nExpires: " + expires +
				"\nPreferred-Languages: en\nCanonical: https://press.example/.well-known/security.txt\n"
			if out.Code != http.StatusOK || out.Body.String() != want || out.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%d %v\n%s\nwant\n%s", out.Code, out.Header(), out.Body, want)
			}
			w.clock.Advance(now.Truncate(24 * time.Hour).Add(24*time.Hour - time.Second).Sub(now))
		}
	})
}

// apps returns the service of authenticator apps.
func (w *world) apps(t *testing.T) *totp.Service {
	t.Helper()
	key, err := tokencrypt.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return totp.New(w.db, sealer, "pressroom")
}
