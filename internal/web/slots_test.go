package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/platform/loadshed"
)

// fill takes all slots of a limiter until the test ends.
func fill(t *testing.T, r *loadshed.Limiter) {
	t.Helper()
	for range loadshed.DefaultLimit() {
		if err := r.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Release)
	}
}

// TestFullNode checks the errors of a full node for people and programs, and that files are still served.
func TestFullNode(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		b := w.browser(t).in("ada@example.com")
		item := b.sendOK(w.batch(t).page, "a.png", raw)
		fill(t, w.app.Limiters.Pages)
		// The page after a form needs a slot too; the form was processed.
		b.get("/").wants(t, 503, "If you sent a form, it was processed", "do not send the form again")
		b.post("/team", url.Values{"team": {itoa(w.harbour.ID)}}).wants(t, 503, "Nothing was changed. Try again")
		if p := b.get(item.file()); p.StatusCode != http.StatusOK || p.text != string(raw) {
			t.Errorf("file: %d", p.StatusCode)
		}
		b.get("/approval/x/media/1").wants(t, 503)
		b.get("/approval/x/videos/1").wants(t, 404)
		programs := w.browser(t)
		for _, path := range []string{"/settings/keys", "/operator"} { // urgent routes and operators get through
			if p := programs.get(path); p.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s: %d", path, p.StatusCode)
			}
		}
		for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke"} {
			p := programs.post(path, url.Values{"client_id": {"x"}, "token": {"x"}})
			p.wants(t, 503, `"error":"temporarily_unavailable"`)
			if p.Header.Get("Retry-After") == "" || p.Header.Get("Access-Control-Allow-Origin") != "*" ||
				p.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", path, p.Header)
			}
		}
		programs.get("/.well-known/oauth-authorization-server").wants(t, 200)
		programs.get("/.well-known/oauth-protected-resource/mcp").wants(t, 200)
		programs.do(http.MethodOptions, "/oauth/token", nil).wants(t, 204)
	})
}

func TestFilesWithoutSlot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		urgent := map[string]bool{}
		for _, route := range w.app.Routes() {
			urgent[route.Pattern] = route.SkipsSlot
		}
		for _, pattern := range []string{
			"GET /media/{id}/file", "GET /approval/{token}/images/{id}", "GET /approval/{token}/videos/{id}",
			"GET /settings/export.zip", "GET /settings/credits/statement.csv", "GET /reports/{id}/posts.csv",
		} {
			if !urgent[pattern] {
				t.Errorf("%s uses a slot while its body is read", pattern)
			}
		}
	})
}

// watching is a body that checks a limiter each time it is read.
type watching struct {
	io.Reader
	limiter *loadshed.Limiter
	read    int
	most    int // maximum of slots taken
}

func (b *watching) Read(p []byte) (int, error) {
	b.read++
	b.most = max(b.most, b.limiter.State().Running)
	return b.Reader.Read(p)
}

// TestSlowSendersHoldNoSlot checks slow forms and unexpected files.
func TestSlowSendersHoldNoSlot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		batch := w.batch(t, picture(t, 1))
		text := "email=x&password=y&" + strings.Repeat("x", 5000)
		long := formField + "Open\r\n" + formFile + strings.Repeat("x", 3<<20) + "\r\n--x--\r\n"
		for _, c := range []struct {
			method, path, kind, sent string
			limiter                  *loadshed.Limiter
			status                   int
		}{
			{http.MethodPut, batch.links[0].path, "image/png", text, w.app.Limiters.Uploads, 401},
			{http.MethodPost, batch.page + "/files?name=a.png", "image/png", text, w.app.Limiters.Uploads, 401},
			{http.MethodPost, "/sign-in", "application/x-www-form-urlencoded", text, w.app.Limiters.Pages, 401},
			{http.MethodPost, "/sign-in", formKind, long, w.app.Limiters.Pages, 400},
			{http.MethodPost, "/sign-in?resume=1&next=/posts/new", formKind, long, w.app.Limiters.Pages, 200},
			{http.MethodPost, "/oauth/token", "application/x-www-form-urlencoded", text, w.app.Limiters.Pages, 400},
		} {
			body := &watching{Reader: strings.NewReader(c.sent), limiter: c.limiter}
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, body)
			r.Header.Set("Content-Type", c.kind)
			out := httptest.NewRecorder()
			w.app.ServeHTTP(out, r)
			if out.Code != c.status || body.read == 0 || body.most != 0 || c.limiter.State().Running != 0 {
				t.Errorf("%s %s: %d, read %d times in %d slots, and %+v is left", c.method, c.path, out.Code,
					body.read, body.most, c.limiter.State())
			}
		}
	})
}

// stalling is a body that sends its bytes and then blocks until it is released.
type stalling struct {
	io.Reader

	stalled  chan struct{} // closed once everything was read
	released <-chan struct{}
	once     sync.Once
}

func stall(sent string, released <-chan struct{}) *stalling {
	return &stalling{Reader: strings.NewReader(sent), stalled: make(chan struct{}), released: released}
}

func (b *stalling) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	b.once.Do(func() { close(b.stalled) })
	<-b.released
	return 0, io.ErrUnexpectedEOF
}

// hand passes a request of the browser's person to the app without a connection.
func (b *browser) hand(path, kind string, length int64, body io.Reader, out http.ResponseWriter) {
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, path, body)
	r.Header.Set("Content-Type", kind)
	r.ContentLength = length
	at, err := url.Parse(b.w.url)
	if err != nil {
		b.t.Error(err)
	}
	for _, cookie := range b.Jar.Cookies(at) {
		r.AddCookie(cookie)
	}
	b.w.app.ServeHTTP(out, r)
}

const (
	formKind  = "multipart/form-data; boundary=x"
	formFile  = "--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.mp4\"\r\n\r\n"
	formField = "--x\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\n"
)

// TestStalledFormsHoldNoSlot checks forms with files that stall, and the limit per person.
func TestStalledFormsHoldNoSlot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.limiters = loadshed.NewLimiters(3)
		w.serve(t, "http://press.example")
		ada, bea := w.browser(t).in("ada@example.com"), w.browser(t).in("bea@example.com")
		page, n := w.batch(t).page, uint8(0)
		for name, c := range map[string]struct {
			path, sent string
			held       int // a post's further forms are read for their texts, as far as long forms are
		}{
			"before the first file":         {page + "/files", "--x\r\n", 6},
			"in a file that was rejected":   {page + "/files", formFile + strings.Repeat("x", 200<<10), 6},
			"in a field of a post":          {"/posts/new", formField + "Open fr", 10},
			"in a post's file, as rejected": {"/posts/new", formFile + strings.Repeat("x", 200<<10), 10},
		} {
			release := make(chan struct{})
			var all sync.WaitGroup
			held := 0
			for range 12 {
				body, out, ended := stall(c.sent, release), httptest.NewRecorder(), make(chan struct{})
				all.Go(func() {
					ada.hand(c.path, formKind, -1, body, out)
					close(ended)
				})
				select {
				case <-body.stalled: // a little of a rejected body is read too
				case <-ended:
				}
				if out.Body.Len() == 0 {
					held++
				} else if out.Code != http.StatusTooManyRequests {
					t.Errorf("%s: form above the limit: %d", name, out.Code)
				}
			}
			if running := w.app.Limiters.Uploads.State().Running; held != c.held || running != 0 {
				t.Errorf("%s: %d stalled forms of one person hold %d slots", name, held, running)
			}
			n++
			bea.send(page, "b.png", picture(t, n)).wants(t, 200)
			close(release)
			all.Wait()
		}
		ada.send(page, "a.png", picture(t, n+1)).wants(t, 200)
	})
}

// answered is a body that records whether it was read before an answer was written.
type answered struct {
	out   *httptest.ResponseRecorder
	early bool
}

func (b *answered) Read([]byte) (int, error) {
	b.early = b.early || b.out.Body.Len() == 0
	return 0, io.ErrUnexpectedEOF
}

func TestRejectedByLength(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, page := w.browser(t).in("ada@example.com"), w.batch(t).page
		for _, c := range []struct {
			kind   string
			length int64
			status int
		}{{formKind, 1 << 40, 413}, {formKind, 1 << 20, 422}, {"video/mp4", 1 << 40, 413}} {
			out := httptest.NewRecorder()
			body := &answered{out: out}
			ada.hand(page+"/files", c.kind, c.length, body, out)
			if out.Code != c.status || body.early != (c.status == 422) {
				t.Errorf("%d bytes of %s: %d, read before the answer: %t", c.length, c.kind, out.Code, body.early)
			}
			if c.status == 413 && !strings.Contains(out.Body.String(), "exceeds the size limit") {
				t.Errorf("%s", out.Body)
			}
		}
	})
}

// TestFormWithFilesSlots checks that a post's form with files takes a page slot once it was read.
func TestFormWithFilesSlots(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.browser(t).in("ada@example.com")
		fill(t, w.app.Limiters.Pages)
		out := httptest.NewRecorder()
		ada.hand("/posts/new", formKind, -1, strings.NewReader(formField+"Open\r\n--x--\r\n"), out)
		if out.Code != http.StatusServiceUnavailable || out.Header().Get("Retry-After") == "" ||
			!strings.Contains(out.Body.String(), "the post is not saved") {
			t.Errorf("%d, Retry-After %q: %s", out.Code, out.Header().Get("Retry-After"), out.Body)
		}
	})
}
