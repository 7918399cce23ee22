package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/testkit"
)

// bare returns a frame without services.
func bare(t *testing.T) *Shell {
	t.Helper()
	away := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	s, err := New(Options{
		DB: testkit.Open(t, testkit.SQLite(t), nil), Limiters: loadshed.NewLimiters(1), IsUnavailable: away,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(http.ResponseWriter, *http.Request) {}
	s.Mount(http.NewServeMux(), Route{Pattern: "GET /page", Handler: nothing},
		Route{Pattern: "GET /file", Handler: nothing, SkipsSlot: true}, Route{Pattern: "POST /files",
			Handler: nothing, AcceptsFiles: true})
	return s
}

// TestPageTimeout checks that pages time out and file downloads do not.
func TestPageTimeout(t *testing.T) {
	t.Parallel()
	s := bare(t) // created outside the bubble, because its goroutines do not end
	synctest.Test(t, func(t *testing.T) {
		h := s.LimitConcurrency(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
				s.ServerError(w, r, r.Context().Err())
				return
			case <-time.After(time.Hour):
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		for _, c := range []struct {
			method, path, kind string
			status             int
			took               time.Duration
		}{
			{"GET", "/page", "", 503, pageTimeout}, {"GET", "/nothing", "", 503, pageTimeout}, {"GET", "/file", "", 204, time.Hour},
			{"POST", "/files", "application/x-www-form-urlencoded", 503, pageTimeout},
			{"POST", "/files", "multipart/form-data; boundary=x", 204, time.Hour},
		} {
			began, out := time.Now(), httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
			r.Header.Set("Content-Type", c.kind)
			h.ServeHTTP(out, r)
			if took := time.Since(began); out.Code != c.status || took != c.took {
				t.Errorf("%s %s: %d after %v", c.method, c.path, out.Code, took)
			}
		}
		if s := s.Limiters.Pages.State(); s.Running != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	s := bare(t)
	for _, c := range []struct {
		end    func(context.Context) (context.Context, context.CancelFunc)
		status int
	}{
		{func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) }, 503},
		{func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, 200}, // the recorder's default
	} {
		ctx, cancel := c.end(t.Context())
		out := httptest.NewRecorder()
		s.ServerError(out, httptest.NewRequestWithContext(ctx, http.MethodGet, "/page", nil), ctx.Err())
		if out.Code != c.status || (out.Body.Len() > 0) != (c.status == 503) {
			t.Errorf("%v: %d %s", ctx.Err(), out.Code, out.Body)
		}
		cancel()
	}
}

// TestTimeoutIsNoOutage checks that a timeout is not reported as an outage if the dependencies respond.
func TestTimeoutIsNoOutage(t *testing.T) {
	t.Parallel()
	s := bare(t)
	s.IsReachable = func() bool { return true }
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for ctx, status := range map[context.Context]int{late: 500, t.Context(): 503} {
		out := httptest.NewRecorder()
		s.ServerError(out, httptest.NewRequestWithContext(ctx, http.MethodGet, "/page", nil), context.DeadlineExceeded)
		if out.Code != status {
			t.Errorf("%v: %d", ctx.Err(), out.Code)
		}
	}
}

func TestReadAhead(t *testing.T) {
	t.Parallel()
	broke := errors.New("broke off")
	for _, n := range []int{0, 1, formReadAhead - 1, formReadAhead, formReadAhead + 1, 3 * formReadAhead} {
		for _, end := range []error{nil, broke} {
			from := io.Reader(strings.NewReader(strings.Repeat("x", n)))
			if end != nil {
				from = io.MultiReader(from, errReader{end})
			}
			body, long := readAhead(io.NopCloser(from), formReadAhead)
			if long != (n >= formReadAhead) {
				t.Errorf("%d bytes: more bytes can follow: %t", n, long)
			}
			raw, err := io.ReadAll(body)
			if len(raw) != n || !errors.Is(err, end) {
				t.Errorf("%d bytes of %d, %v", len(raw), n, err)
			}
		}
	}
}

// TestStalledLongForms checks that stalled long forms do not use slots of pages, and that long forms are limited per IP
// network and in total.
func TestStalledLongForms(t *testing.T) {
	t.Parallel()
	s := bare(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, hangUp := context.WithCancel(context.Background())
		h := s.LimitConcurrency(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		stall := func(client string) {
			body, sender := io.Pipe()
			context.AfterFunc(ctx, func() { _ = sender.CloseWithError(ctx.Err()) })
			go func() { _, _ = io.Copy(sender, strings.NewReader(strings.Repeat("x", formReadAhead+1))) }()
			go h.ServeHTTP(httptest.NewRecorder(), postFrom(ctx, client, body))
		}
		for n := range maxLongForms {
			stall(fmt.Sprintf("192.0.2.%d", n))
			stall(fmt.Sprintf("2001:db8:1:%x::1", n)) // a /64 each
		}
		synctest.Wait()
		if held := len(s.longFormSlots); held != 2*maxLongFormsPerNetwork {
			t.Errorf("long forms of two IP networks: %d, want %d", held, 2*maxLongFormsPerNetwork)
		}
		for _, client := range []string{"192.0.2.99", "2001:db8:1:99::1"} {
			checkForms(t, h, client, map[int]int{0: 204, 5: 204, formReadAhead + 1: 503})
		}
		for _, client := range []string{"198.51.100.1", "2001:db8:2::1"} {
			checkForms(t, h, client, map[int]int{0: 204, 5: 204, formReadAhead + 1: 204})
		}
		for n := range maxLongForms {
			stall(fmt.Sprintf("10.0.%d.1", n))
		}
		synctest.Wait()
		checkForms(t, h, "203.0.113.1", map[int]int{0: 204, 5: 204, formReadAhead + 1: 503})
		hangUp()
		synctest.Wait()
		checkForms(t, h, "192.0.2.99", map[int]int{formReadAhead + 1: 204})
		if state := s.Limiters.Pages.State(); state.Running != 0 || len(s.longFormSlots) != 0 {
			t.Errorf("at the end: %+v, %d long forms", state, len(s.longFormSlots))
		}
	})
}

// postFrom returns a form sent by a client.
func postFrom(ctx context.Context, client string, body io.Reader) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/page", body)
	r.RemoteAddr = net.JoinHostPort(client, "4711")
	return r
}

// checkForms sends forms of a client and compares the statuses by the length of the form.
func checkForms(t *testing.T, h http.Handler, client string, wanted map[int]int) {
	t.Helper()
	for length, status := range wanted {
		out := httptest.NewRecorder()
		h.ServeHTTP(out, postFrom(t.Context(), client, strings.NewReader(strings.Repeat("x", length))))
		if out.Code != status {
			t.Errorf("a form of %d bytes from client %s: %d, want %d", length, client, out.Code, status)
		}
	}
}
