package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/seal"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Nodes that start at once on an empty database all come up.
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

// A node is ready as long as its database answers and, where it works in the background, its queue carries.
func TestReady(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		key, err := seal.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		clock, blobs := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), testkit.Blobs(t)
		open := func(role server.Role) *server.Server {
			s, err := server.Open(t.Context(), server.Config{Database: url, SealingKey: key, Role: role, Blobs: blobs, Log: silent(), Now: clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		worker, api := open(server.RoleWorker), open(server.RoleAPI)
		ready(t, worker, http.StatusOK, `"queue":"ok"`)
		ready(t, worker, http.StatusOK, `"network_bluesky":"closed"`)
		ready(t, api, http.StatusOK, `"database":"ok"`)
		clock.Advance(31 * time.Second) // nothing runs here, so nothing is carried
		ready(t, worker, http.StatusServiceUnavailable, `"queue":"carries no work"`)
		ready(t, api, http.StatusOK, `"database":"ok"`)
		for _, s := range []*server.Server{worker, api} {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			ready(t, s, http.StatusServiceUnavailable, `"database":"does not answer"`)
		}
	})
}

func ready(t *testing.T, s *server.Server, status int, says string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if w.Code != status || !strings.Contains(w.Body.String(), says) {
		t.Errorf("%d %s, want %d with %s", w.Code, w.Body, status, says)
	}
}

// A database keeps to the store of files that it met first.
func TestAnotherStoreOfFiles(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		key, err := seal.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		open := func(blobs string, look bool) error {
			s, err := server.Open(t.Context(), server.Config{Database: url, SealingKey: key, Role: server.RoleAPI, Blobs: blobs, LookAtFiles: look, Log: silent()})
			if err == nil {
				err = s.Close()
			}
			return err
		}
		own, other := testkit.Blobs(t), testkit.Blobs(t)
		for _, look := range []bool{true, false, false} {
			if err := open(own, look); err != nil {
				t.Fatal(err)
			}
		}
		if err := open(other, false); err == nil || !strings.Contains(err.Error(), "PRESSROOM_BLOBS") {
			t.Errorf("with another store: %v", err)
		}
		if err := open(other, true); err != nil {
			t.Errorf("to look alone: %v", err)
		}
		if err := open(own, false); err != nil {
			t.Errorf("with its own again: %v", err)
		}
	})
}
