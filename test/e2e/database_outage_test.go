package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/postgres"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// A node without a database reports the outage to callers and to the operator, and recovers by itself. Calls during the
// outage can be repeated with their idempotency key and take effect once.
func TestPostgresUnreachable(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	h := newInstance(t, s.Create("press"), options{accounts: 1})
	w := h.newEnv(t, options{accounts: 1})
	for name, end := range map[string]func(){"stopped": s.Stop, "killed": s.Kill} {
		f := aPNG(name + ".png")
		planned := w.schedulePost("planned", 48*time.Hour)
		_, to := w.openUpload(f)
		visit := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.root+"/", http.NoBody))(t)
		visit.AddCookie(&http.Cookie{Name: "pressroom", Value: "a session that is looked for"})
		end()
		post := map[string]any{"caption": name, "account_ids": w.accounts}
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "list_posts", map[string]any{}, "").mustBeOverloaded(t, "cut_off")
			call(full(w), "create_post", post, name).mustBeOverloaded(t, "cut_off")
			call(full(w), "cancel_post", map[string]any{"post_id": planned}, "").mustBeOverloaded(t, "cut_off")
		}
		w.put(to, f).mustBeOverloaded(t, "cut_off")
		if page := w.loadPage(client.Do(visit)); page.status != http.StatusServiceUnavailable ||
			!strings.Contains(page.text, "cannot reach its data") {
			t.Errorf("%s: a page: %d %s", name, page.status, page.text)
		}
		if got := w.readiness("database"); got != "503 unreachable" {
			t.Errorf("%s: database check of /readyz: %s", name, got)
		}
		s.Start()
		w.until("the node to be ready", func() bool { return w.readiness("database") == "200 ok" })
		first := w.rest(full(w), "create_post", post, name)
		first.mustBe(t, http.StatusCreated)
		if again := w.rest(full(w), "create_post", post, name); again.text("data.id") != first.text("data.id") {
			t.Errorf("%s: a repeat created a second post: %s", name, again.raw)
		}
		w.publish(first.text("data.id")).mustHave(t, map[string]any{"data.state": "succeeded"})
		w.put(to, f).mustBe(t, http.StatusCreated)
		if held := w.accountsWith(name); len(held) != 1 {
			t.Errorf("%s: published on %v", name, held)
		}
	}
}

// readiness returns the status of /readyz and the result of one check.
func (w *env) readiness(what string) string {
	w.t.Helper()
	recorder := httptest.NewRecorder()
	w.MetricsHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	var checks map[string]string
	must.NoError(w.t, json.NewDecoder(recorder.Body).Decode(&checks))
	return fmt.Sprint(recorder.Code, " ", checks[what])
}

// The database is killed repeatedly. Callers that retry with their idempotency keys lose no call, create nothing
// twice and get no internal errors.
func TestKilledDatabaseUnderCallers(t *testing.T) {
	t.Parallel()
	const callers, each, kills = 6, 40, 3
	s := postgres.Start(t)
	h := newInstance(t, s.Create("press"), options{accounts: 1})
	w := h.newEnv(t, options{accounts: 1})
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	done := make(chan struct{}, callers*each)
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				key := fmt.Sprint(caller, " ", i)
				w.until("an answer", func() bool {
					got, err := w.tryRest(w.base, full(w), "create_post", map[string]any{"caption": key, "account_ids": w.accounts}, key)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					statuses[got.status]++
					return got.status == http.StatusCreated
				})
				done <- struct{}{}
			}
		})
	}
	for range kills {
		for range callers * each / (kills + 1) {
			<-done
		}
		s.Kill()
		s.Start()
	}
	all.Wait()
	for status := range statuses {
		// stops when the first caller is done
		if status != http.StatusCreated && status != http.StatusServiceUnavailable && status != http.StatusConflict {
			t.Errorf("statuses = %v", statuses)
		}
	}
	if statuses[http.StatusServiceUnavailable] == 0 {
		t.Errorf("no call failed because of a killed database: %v", statuses)
	}
	if n := w.count("posts WHERE team_id = ?", w.team); n != callers*each {
		t.Errorf("%d posts for %d calls", n, callers*each)
	}
}

// A node whose SQLite file cannot grow rejects writes but still serves reads. Writes work again when there is space.
func TestFullDiskUnderSQLite(t *testing.T) {
	t.Parallel()
	var inside *db.DB
	o := options{accounts: 1, extend: func(p server.ExtensionServices) []operation.Operation {
		inside = p.DB
		return nil
	}}
	w := newInstance(t, testkit.SQLite(t), o).newEnv(t, o)
	grow := func(statement string) {
		// The limit applies per connection, so set it on the connection that writes.
		must.NoError(t, inside.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			var n int64
			return tx.QueryRow(ctx, statement).Scan(&n)
		}))
	}
	w.draft("there before")
	grow("PRAGMA max_page_count = 1") // SQLite raises the limit to the current size
	long := map[string]any{"caption": strings.Repeat("many words ", 100), "account_ids": w.accounts}
	var rejected answer
	key := 0
	w.until("the disk to be full", func() bool {
		key++
		rejected = w.rest(full(w), "create_post", long, fmt.Sprint(key))
		return rejected.status != http.StatusCreated
	})
	rejected.mustBeOverloaded(t, "cut_off")
	w.tool(full(w), "create_post", long, fmt.Sprint(key)).mustBeOverloaded(t, "cut_off")
	w.full("list_posts", nil)
	grow("PRAGMA max_page_count = 1073741823")
	w.rest(full(w), "create_post", long, fmt.Sprint(key)).mustBe(t, http.StatusCreated)
	if n := w.count("posts WHERE team_id = ?", w.team); n != key+1 {
		t.Errorf("%d posts, want %d", n, key+1)
	}
}

// Without its blob store, a node rejects only calls that need the store. Links work again after the outage.
func TestBlobStoreUnreachable(t *testing.T) { // not parallel, because credentials come from the environment
	s := s3.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", s.ID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.Secret)
	to := must.Get(url.Parse(s.Endpoint))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // the signature covers the host
	}}
	var away atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	bucket := s.Bucket(t)
	h := newInstance(t, testkit.SQLite(t),
		options{accounts: 1, blobs: strings.Replace(bucket, url.QueryEscape(s.Endpoint), url.QueryEscape(front.URL), 1)})
	w := h.newEnv(t, options{accounts: 1})
	f := aPNG("boat.png")
	_, link := w.openUpload(f)
	away.Store(true)
	w.put(link, f).mustBeOverloaded(t, "cut_off")
	w.draft("needs no files")
	if got := w.readiness("files"); !strings.HasPrefix(got, "200 unreachable") {
		t.Errorf("blob store check of /readyz: %s", got)
	}
	away.Store(false)
	w.put(link, f).mustBe(t, http.StatusCreated)
}
