package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pressroom/internal/shed"
)

// fill takes all places of a room, until the test ends.
func fill(t *testing.T, r *shed.Room) {
	t.Helper()
	for range shed.Places() {
		if err := r.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Leave)
	}
}

// A full node tells people and programs so in their own way, and sends files as ever.
func TestFullNode(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		b := w.browser(t).in("ada@example.com")
		item := b.sent(w.batch(t).page, "a.png", raw)
		fill(t, w.app.Rooms.Pages)
		// The page after a form needs a place too: what led there was done.
		b.get("/").wants(t, 503, "If a form led here, it was done", "do not send the form again")
		b.post("/team", url.Values{"team": {itoa(w.harbour.ID)}}).wants(t, 503, "Nothing was done. Try again")
		if p := b.get(item.file()); p.StatusCode != http.StatusOK || p.text != string(raw) {
			t.Errorf("a file: %d", p.StatusCode)
		}
		b.get("/approval/x/media/1").wants(t, 503)
		b.get("/approval/x/videos/1").wants(t, 404)
		programs := w.browser(t)
		for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke"} {
			p := programs.post(path, url.Values{"client_id": {"x"}, "token": {"x"}})
			p.wants(t, 503, `"error":"temporarily_unavailable"`)
			if p.Header.Get("Retry-After") == "" || p.Header.Get("Access-Control-Allow-Origin") != "*" || p.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", path, p.Header)
			}
		}
		programs.get("/.well-known/oauth-authorization-server").wants(t, 200)
		programs.get("/.well-known/oauth-protected-resource/mcp").wants(t, 200)
		programs.do(http.MethodOptions, "/oauth/token", nil).wants(t, 204)
	})
}

// Files leave in nobody's place: they take as long as whoever reads them.
func TestFilesNeedNoPlace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		urgent := map[string]bool{}
		for _, route := range w.app.Routes() {
			urgent[route.Pattern] = route.Urgent
		}
		for _, pattern := range []string{"GET /media/{id}/file", "GET /approval/{token}/videos/{id}", "GET /settings/export.zip", "GET /settings/credits/statement.csv", "GET /reports/{id}/posts.csv"} {
			if !urgent[pattern] {
				t.Errorf("%s takes a place for as long as it is read", pattern)
			}
		}
	})
}

// watching is a body that looks at a room each time it is read.
type watching struct {
	io.Reader
	room *shed.Room
	read int
	most int // places taken meanwhile
}

func (b *watching) Read(p []byte) (int, error) {
	b.read++
	b.most = max(b.most, b.room.State().Running)
	return b.Reader.Read(p)
}

// Whoever sends slowly holds no place: not with a form, and not with a file that nobody asked for.
func TestWhatComesSlowlyHoldsNoPlace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		batch := w.batch(t, picture(t, 1))
		for _, c := range []struct {
			method, path, kind string
			room               *shed.Room
			status             int
		}{
			{http.MethodPut, batch.links[0].path, "image/png", w.app.Rooms.Uploads, 401},
			{http.MethodPost, batch.page + "/files?name=a.png", "image/png", w.app.Rooms.Uploads, 401},
			{http.MethodPost, "/sign-in", "application/x-www-form-urlencoded", w.app.Rooms.Pages, 401},
			{http.MethodPost, "/oauth/token", "application/x-www-form-urlencoded", w.app.Rooms.Pages, 400},
		} {
			body := &watching{Reader: strings.NewReader("email=x&password=y&" + strings.Repeat("x", 5000)), room: c.room}
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, body)
			r.Header.Set("Content-Type", c.kind)
			out := httptest.NewRecorder()
			w.app.ServeHTTP(out, r)
			if out.Code != c.status || body.read == 0 || body.most != 0 || c.room.State().Running != 0 {
				t.Errorf("%s %s: %d, read %d times in %d places, and %+v is left", c.method, c.path, out.Code, body.read, body.most, c.room.State())
			}
		}
	})
}
