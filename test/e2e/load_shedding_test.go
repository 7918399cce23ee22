package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// slotBlocker occupies slots of a node with calls that wait until they are released.
type slotBlocker struct{ in, out chan struct{} }

type placeKept struct {
	Kept bool `json:"kept"`
}

// extend adds the operation keep_place, which occupies a slot even if its client disconnects.
func (c *slotBlocker) extend(p server.ExtensionServices) []operation.Operation {
	return append(paidTestOperation(p), operation.Define(operation.Spec{
		Tool: "keep_place", Method: http.MethodGet, Path: "/hashtags/standins/place", Needs: access.Read,
		Success: http.StatusOK, Unmetered: true,
		Summary: "Keep a place", Description: "Keeps its place until it is let go.", Example: operation.Example{Data: placeKept{true}},
	}, func(context.Context, operation.Call, struct{}) (operation.Response[placeKept], error) {
		c.in <- struct{}{}
		<-c.out
		return operation.Response[placeKept]{Data: placeKept{true}, App: "/"}, nil
	}))
}

// fill occupies the given number of slots of a node until empty is called.
func (c *slotBlocker) fill(w *env, base string, places int) {
	w.t.Helper()
	for range places {
		go func() { _, _ = w.tryRest(base, full(w), "keep_place", nil, "") }() // the client may have disconnected
		<-c.in
	}
}

func (c *slotBlocker) empty() { close(c.out) }

// withSlotBlocker runs a test with a slotBlocker on each kind of database.
func withSlotBlocker(t *testing.T, o options, run func(t *testing.T, h *instance, o options, c *slotBlocker)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		c, o := &slotBlocker{make(chan struct{}), make(chan struct{})}, o
		o.extend = c.extend
		run(t, newInstance(t, url, o), o, c)
	})
}

// mustBeOverloaded checks the response of a node without a free slot.
func (a answer) mustBeOverloaded(t *testing.T, reason string) {
	t.Helper()
	a.mustReject(t, http.StatusServiceUnavailable, "service_unavailable", reason)
	wait := a.number("context.retry_after_seconds")
	if told := a.header.Get("Retry-After"); wait < 1 || told != "" && told != strconv.FormatInt(wait, 10) {
		t.Errorf("Retry-After %q: %s", told, a.raw)
	}
}

// An overloaded node rejects calls over REST, MCP and in the app, without effects or charges. Health checks and
// calls that stop something still succeed. When slots are free, the same call with the same key takes effect once.
func TestOverloadedNode(t *testing.T) {
	t.Parallel()
	withSlotBlocker(t, options{accounts: 1, maxCalls: 2}, func(t *testing.T, h *instance, o options, c *slotBlocker) {
		w := h.newEnv(t, o)
		w.grant(100)
		planned := w.schedulePost("planned", 48*time.Hour)
		before, counted := w.footprint(), w.texts(freeCalls, w.team)
		c.fill(w, w.base, 2)

		post := map[string]any{"caption": "in the rush", "account_ids": w.accounts}
		report := map[string]any{"type": "profile", "platform": "instagram", "subject": "harbour"}
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "list_posts", map[string]any{}, "").mustBeOverloaded(t, "busy")
			call(full(w), "create_post", post, "rush").mustBeOverloaded(t, "busy")
			call(full(w), "create_report", report, "a report").mustBeOverloaded(t, "busy")
			call(full(w), "create_post", map[string]any{"colour": "red"}, "").
				mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "unknown_argument")
			call("no key", "list_posts", map[string]any{}, "").mustBe(t, http.StatusUnauthorized)
		}
		for _, path := range []string{"/livez", "/readyz", "/sign-in"} {
			if got := w.loadPage(client.Get(w.root + path)); got.status != http.StatusOK {
				t.Errorf("%s: %d", path, got.status)
			}
		}
		if effects := w.footprint().changesSince(before); effects != (rows{}) {
			t.Errorf("rejected calls changed %+v", effects)
		}
		for row := range w.texts(freeCalls, w.team) {
			if !counted[row] {
				t.Errorf("rejected calls were counted: %s, was %v", row, counted)
			}
		}
		w.rest(full(w), "cancel_post", map[string]any{"post_id": planned}, "").mustHave(t, map[string]any{"data.status": "draft"})

		c.empty()
		var first answer
		w.until("room", func() bool {
			first = w.rest(full(w), "create_post", post, "rush")
			return first.status != http.StatusServiceUnavailable
		})
		first.mustBe(t, http.StatusCreated)
		if again := w.rest(full(w), "create_post", post, "rush"); again.text("data.id") != first.text("data.id") {
			t.Errorf("a repeat created a second post: %s", again.raw)
		}
	})
}

// Calls that wait for a job occupy no slot.
func TestWaitingUsesNoSlot(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1, maxCalls: 1}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{accounts: 1})
		job := w.full("publish_post", map[string]any{"post_id": w.draft("waited for " + gatedMarker)}).text("data.job_id")
		waits := make(chan answer, 4)
		for range cap(waits) {
			go func() {
				got, err := w.tryRest(w.base, full(w), "get_job", map[string]any{"job_id": job, "wait_seconds": 25}, "")
				if err != nil {
					t.Error(err)
				}
				waits <- got
			}()
		}
		for range 20 { // during the waiting calls
			w.full("list_posts", nil)
		}
		h.open()
		for range cap(waits) {
			(<-waits).mustHave(t, map[string]any{"data.finished": true})
		}
	})
}

// Uploads have separate slots. Slow uploads do not delay other calls. An upload without a slot gets a Retry-After, and
// its link stays valid.
func TestUploadsHaveOwnSlots(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1, maxCalls: 1}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{accounts: 1})
		f := aPNG("slow.png")
		_, slow := w.openUpload(f)
		_, quick := w.openUpload(aPNG("quick.png"))
		body, sender := io.Pipe()
		ended := make(chan answer, 1)
		go func() {
			got, err := w.tryPut(slow, f.mime, io.MultiReader(bytes.NewReader(f.bytes[:10]), body))
			if err != nil {
				t.Error(err)
			}
			ended <- got
		}()
		w.until("the slow file to have its place", func() bool {
			return w.put(quick, file{mime: f.mime, bytes: []byte("not it")}).status == http.StatusServiceUnavailable
		})
		w.put(quick, aPNG("quick.png")).mustBeOverloaded(t, "busy")
		w.full("list_posts", nil)
		must.Get(sender.Write(f.bytes[10:]))(t)
		must.NoError(t, sender.Close())
		(<-ended).mustBe(t, http.StatusCreated)
		w.until("room", func() bool { return w.put(quick, aPNG("quick.png")).status == http.StatusCreated })
	})
}

// Slowly sent forms occupy no slot, regardless of their size. Meanwhile, pages, calls and other forms are served.
func TestSlowFormsUseNoSlot(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1, maxCalls: 1}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{accounts: 1})
		body, sender := io.Pipe()
		slow := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, w.root+"/sign-in", body))(t)
		slow.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		ended := make(chan int, 1)
		go func() {
			resp, err := client.Do(slow)
			if err != nil {
				t.Error(err)
				ended <- 0
				return
			}
			resp.Body.Close()
			ended <- resp.StatusCode
		}()
		must.Get(sender.Write([]byte("email=ada&more=")))(t)
		if got := w.loadPage(client.Get(w.root + "/sign-in")); got.status != http.StatusOK {
			t.Errorf("during a slow form: %d", got.status)
		}
		must.Get(sender.Write(bytes.Repeat([]byte("x"), 1<<20)))(t)
		// These paths redirect signed-out people to the sign-in page.
		for _, path := range []string{"/sign-in", "/livez", "/readyz", "/settings/keys", "/operator"} {
			resp, err := noRedirects.Get(w.root + path)
			if got := w.loadPage(resp, err); got.status >= http.StatusInternalServerError {
				t.Errorf("%s during a slow long form: %d", path, got.status)
			}
		}
		form := url.Values{"email": {"nobody@example.com"}, "password": {"not the password"}}
		if got := w.loadPage(client.PostForm(w.root+"/sign-in", form)); got.status != http.StatusUnauthorized {
			t.Errorf("a form during a slow long form: %d", got.status)
		}
		w.full("list_posts", nil)
		must.NoError(t, sender.Close())
		if status := <-ended; status >= http.StatusInternalServerError {
			t.Errorf("status of the slow form = %d", status)
		}
	})
}

var noRedirects = &http.Client{Timeout: client.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}
