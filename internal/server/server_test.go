package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Several nodes can start concurrently with an empty database.
func TestNodesStartTogether(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		cfg := server.Config{Database: url, Log: silent()}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				d, err := server.OpenDatabase(t.Context(), cfg)
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// A node is ready while its database responds and, on workers, its queue delivers work.
func TestReady(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		key := must.Get(tokencrypt.NewKey())(t)
		clock, blobs := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), testkit.Blobs(t)
		open := func(role server.Role) *server.Server {
			s := must.Get(server.Open(t.Context(),
				server.Config{Database: url, SealingKey: key, Role: role, Blobs: blobs, Log: silent(), Now: clock.Now}))(t)
			return s
		}
		worker, api := open(server.RoleWorker), open(server.RoleAPI)
		ready(t, worker, http.StatusOK, `"queue":"ok"`)
		ready(t, worker, http.StatusOK, `"network_bluesky":"closed"`)
		ready(t, api, http.StatusOK, `"database":"ok"`)
		clock.Advance(31 * time.Second) // nothing runs, so the queue delivers nothing
		ready(t, worker, http.StatusServiceUnavailable, `"queue":"delivers no work"`)
		ready(t, api, http.StatusOK, `"database":"ok"`)
		for _, s := range []*server.Server{worker, api} {
			must.NoError(t, s.Close())
			ready(t, s, http.StatusServiceUnavailable, `"database":"unreachable"`)
		}
	})
}

// ready checks the details for the operator, and that others get only the status.
func ready(t *testing.T, s *server.Server, status int, want string) {
	t.Helper()
	public := map[int]string{http.StatusOK: `{"status":"ok"}`, http.StatusServiceUnavailable: `{"status":"unavailable"}`}[status]
	for _, c := range []struct {
		handler http.Handler
		want    string
	}{{s.MetricsHandler(), want}, {s.Handler(), public}} {
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if w.Code != status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d %s, want %d with %s", w.Code, w.Body, status, c.want)
		}
		if c.want == public && strings.TrimSpace(w.Body.String()) != public {
			t.Errorf("the public listener returns more than the status: %s", w.Body)
		}
	}
}

// Every response of the public listener has the security headers: pages, the API, the tools, and errors.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	for public, hsts := range map[string]string{"https://press.example.com": "max-age=31536000", "http://127.0.0.1:8080": ""} {
		s := must.Get(server.Open(t.Context(),
			server.Config{
				PublicURL: public, Database: testkit.SQLite(t), SealingKey: key, Role: server.RoleAPI,
				Blobs: testkit.Blobs(t), Log: silent(),
			}))(t)
		t.Cleanup(func() { _ = s.Close() })
		for _, path := range []string{
			"/", "/sign-in", "/nowhere", "/livez", "/readyz", "/api/v1/me", "/api/v1/nowhere", "/mcp", "/oauth/token",
			"/files/x/y", "/assets/x",
		} {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			for name, want := range map[string]string{
				"Strict-Transport-Security": hsts, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Result().Header.Values(name); len(got) > 1 || w.Header().Get(name) != want {
					t.Errorf("%s %s: %s is %q, want %q", public, path, name, got, want)
				}
			}
		}
	}
}

// A database works only with the file store that it was first used with.
func TestOtherFileStore(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		key := must.Get(tokencrypt.NewKey())(t)
		open := func(blobs string, look bool) error {
			s, err := server.Open(t.Context(),
				server.Config{Database: url, SealingKey: key, Role: server.RoleAPI, Blobs: blobs, ReadOnlyFiles: look, Log: silent()})
			if err == nil {
				err = s.Close()
			}
			return err
		}
		own, other := testkit.Blobs(t), testkit.Blobs(t)
		for _, look := range []bool{true, false, false} {
			must.NoError(t, open(own, look))
		}
		if err := open(other, false); err == nil || !strings.Contains(err.Error(), "PRESSROOM_BLOBS") {
			t.Errorf("with another store: %v", err)
		}
		if err := open(other, true); err != nil {
			t.Errorf("only to read: %v", err)
		}
		if err := open(own, false); err != nil {
			t.Errorf("with its own again: %v", err)
		}
	})
}
