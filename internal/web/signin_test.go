package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (b *browser) cookie() *http.Cookie {
	b.t.Helper()
	u, err := url.Parse(b.w.url)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == "pressroom" {
			return c
		}
	}
	return &http.Cookie{}
}

func TestSignInAndOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t)
		b.get("/sign-in?next=/docs/app").wants(t, 200, `name="next" value="/docs/app"`, "<h1>Sign in</h1>")
		formErr := b.signIn("ada@example.com", "wr<ng", "/docs/app")
		formErr.wants(t, 401, "Incorrect email or password.", `value="ada@example.com"`, `value="/docs/app"`)
		if strings.Contains(formErr.text, "wr&lt;ng") || b.signedIn() {
			t.Error("the page contains the password, or it was accepted")
		}
		right := b.signIn("Ada@example.com", password, "/docs/app")
		right.wants(t, 303)
		if right.Header.Get("Location") != "/docs/app" || !b.signedIn() {
			t.Errorf("%v", right.Header)
		}
		b.get("/sign-in?next=/docs/app").leads(t, "/docs/app")
		kept := b.cookie()
		b.post("/sign-out", nil).wants(t, 303)
		if b.signedIn() {
			t.Error("still signed in after signing out")
		}
		if p := w.browser(t).do(http.MethodGet, "/", nil, "Cookie", kept.String()); strings.Contains(p.text, "Your teams") {
			t.Error("the old cookie is valid after signing out")
		}
	})
}

// TestSessionTokenRenewed checks that signing in replaces the session token, and that the database stores no tokens.
func TestSessionTokenRenewed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		planted := w.browser(t).in("bea@example.com").cookie()
		b := w.browser(t)
		u, _ := url.Parse(w.url)
		b.Jar.SetCookies(u, []*http.Cookie{planted})
		b.in("ada@example.com")
		if b.cookie().Value == planted.Value {
			t.Error("the given token is still used")
		}
		if p := w.browser(t).do(http.MethodGet, "/", nil, "Cookie", planted.String()); strings.Contains(p.text, "Your teams") {
			t.Error("the given token is signed in")
		}
		var n int
		if err := w.db.QueryRow(t.Context(),
			`SELECT COUNT(*) FROM sessions WHERE CAST(token_hash AS TEXT) LIKE ? OR CAST(data AS TEXT) LIKE ?`,
			"%"+b.cookie().Value+"%", "%"+b.cookie().Value+"%").Scan(&n); err != nil || n > 0 {
			t.Errorf("%d sessions contain their token (%v)", n, err)
		}
	})
}

func TestCookies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for publicURL, want := range map[string][]string{
			"http://press.example": {"pressroom-known=; Path=/; HttpOnly; SameSite=Lax", "pressroom=; Path=/; HttpOnly; SameSite=Lax"},
			"https://press.example": {
				"__Host-pressroom-known=; Path=/; HttpOnly; Secure; SameSite=Lax",
				"__Host-pressroom=; Path=/; HttpOnly; Secure; SameSite=Lax",
			},
		} {
			w.serve(t, publicURL)
			cookies := w.browser(t).signIn("ada@example.com", password, "").Cookies()
			if len(cookies) != len(want) {
				t.Fatalf("%d cookies", len(cookies))
			}
			for i, days := range []int{400, 14} {
				c := cookies[i]
				if age := time.Duration(c.MaxAge) * time.Second; age < time.Duration(days-1)*24*time.Hour ||
					age > time.Duration(days+1)*24*time.Hour || len(c.Value) < 26 {
					t.Errorf("%+v", c)
				}
				c.Value, c.MaxAge, c.Expires = "", 0, time.Time{}
				if c.String() != want[i] {
					t.Errorf("%s, want %s", c, want[i])
				}
			}
		}
		var n int
		if err := w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM known_browsers WHERE LENGTH(token_hash) = 32`).
			Scan(&n); err != nil || n != 2 {
			t.Errorf("%d browsers are known (%v)", n, err)
		}
	})
}

// TestSessionsEnd checks that a session ends after a day without use, after two weeks, and with the person's rights.
func TestSessionsEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t).in("ada@example.com")
		for day := range 14 {
			if !b.signedIn() {
				t.Fatalf("signed out on day %d", day)
			}
			w.clock.Advance(24*time.Hour - time.Minute)
		}
		w.clock.Advance(15 * time.Minute)
		if b.signedIn() {
			t.Error("still signed in after two weeks")
		}
		b.in("ada@example.com")
		w.clock.Advance(24*time.Hour + time.Second)
		if b.signedIn() {
			t.Error("still signed in after a day without use")
		}
		if n, err := w.app.SweepSessions(t.Context()); err != nil || n != 2 {
			t.Errorf("%d sessions were deleted (%v)", n, err)
		}
		bea := w.browser(t).in("bea@example.com")
		for name, change := range map[string][2]func() error{
			"suspended": {func() error {
				return w.teams.SetSuspended(t.Context(), w.bea.ID, true)
			}, func() error { return w.teams.SetSuspended(t.Context(), w.bea.ID, false) }},
			"in no team": {func() error { return w.teams.RemoveMember(t.Context(), w.harbour.ID, w.bea.ID) },
				func() error { return w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Viewer) }},
		} {
			if err := change[0](); err != nil || bea.signedIn() {
				t.Errorf("%s: still signed in (%v)", name, err)
			}
			if err := change[1](); err != nil || !bea.signedIn() {
				t.Errorf("no longer %s: signed out (%v)", name, err)
			}
		}
	})
}

// TestTooManyWrongPasswords checks that wrong passwords delay sign-in from the same address and for the same account,
// except in known browsers: behind an untrusted proxy everybody has the same address.
func TestTooManyWrongPasswords(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		known := w.browser(t).in("ada@example.com")
		known.post("/sign-out", nil).wants(t, 303)
		b := w.browser(t)
		for range 5 {
			b.signIn("ada@example.com", "wrong", "").wants(t, 401)
		}
		p := b.signIn("ada@example.com", password, "")
		p.wants(t, 429, "Too many wrong passwords. Try again in 60 seconds.")
		if p.Header.Get("Retry-After") != "60" {
			t.Errorf("%v", p.Header)
		}
		for i := range 25 {
			b.signIn("nobody"+itoa(int64(i))+"@example.com", "wrong", "").wants(t, 401)
		}
		b.signIn("bea@example.com", password, "").wants(t, 429) // from the same address
		known.signIn("ada@example.com", password, "").wants(t, 303)
		known.signIn("bea@example.com", password, "").wants(t, 429) // has not signed in there
		w.clock.Advance(2 * time.Minute)
		b.in("ada@example.com")
	})
}

func TestOtherSitesChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t).in("ada@example.com")
		for _, path := range []string{"/sign-out", "/sign-in", "/team", "/upload/x/files", "/media/1/description"} {
			for _, header := range [][2]string{
				{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
			} {
				b.do(http.MethodPost, path, nil, header[0], header[1]).wants(t, 403, "Nothing was changed.")
			}
		}
		if !b.signedIn() {
			t.Error("signed out by another site")
		}
		b.do(http.MethodPost, "/sign-out", nil, "Sec-Fetch-Site", "same-origin").wants(t, 303)
		b.do(http.MethodPost, "/sign-out", nil, "Origin", "http://press.example").wants(t, 303)
	})
}

func TestForms(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t)
		b.post("/sign-in", url.Values{"email": {strings.Repeat("x", 20_000)}}).wants(t, 400)
		b.do(http.MethodPost, "/sign-in", strings.NewReader("a=%zz"), "Content-Type", "application/x-www-form-urlencoded").wants(t, 400)
		b.do(http.MethodPost, "/sign-in", strings.NewReader("{}"), "Content-Type", "application/json").wants(t, 401)
		for _, path := range []string{"/team", "/media/1/description", "/upload/x/done"} {
			b.post(path, nil).leads(t, "/sign-in?next=%2F&undone=1")
		}
		b.do(http.MethodGet, "/", nil, "Cookie", "pressroom="+strings.Repeat("x", 10_000)).wants(t, 200)
	})
}

func TestBrokenDatabase(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t).in("ada@example.com")
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		p := b.get("/")
		p.wants(t, 500, "An error occurred on our side.")
		if strings.Contains(p.text, "closed") {
			t.Errorf("the page contains details: %s", p.text)
		}
		w.browser(t).signIn("ada@example.com", password, "").wants(t, 500, "An error occurred on our side.")
	})
}
