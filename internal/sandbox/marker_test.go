package sandbox

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// startWithSession starts a sandbox with a Bluesky account, and returns an access token and a refresh token.
func startWithSession(t *testing.T, opts Options) (*fixture, string, string) {
	t.Helper()
	b := start(t, opts)
	b.account(t, "alice.test")
	access, refresh := b.session(t, "alice.test")
	return b, access, refresh
}

func TestMarkerReject(t *testing.T) {
	b, access, _ := startWithSession(t, Options{})
	for range 2 {
		if a := b.put(t, access, "a", "[sandbox:reject]"); a.status != http.StatusBadRequest || a.Name() != "InvalidRequest" {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	if a := b.put(t, access, "b", "[sandbox:reject@threads]"); a.status != http.StatusOK {
		t.Errorf("marker of another network: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("stored posts: %q", texts)
	}
}

func TestMarkerRateLimit(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 1, time.UTC)
	b, access, _ := startWithSession(t, Options{Now: func() time.Time { return now }})
	for range 2 {
		a := b.put(t, access, "a", "[sandbox:rate-limit]")
		reset, err := strconv.ParseInt(a.header.Get("ratelimit-reset"), 10, 64)
		if a.status != http.StatusTooManyRequests || a.Name() != "RateLimitExceeded" || err != nil {
			t.Fatalf("HTTP %d, reset %v: %s", a.status, err, a.body)
		}
		if delay := time.Unix(reset, 0).Sub(now); delay < 2*time.Second || delay > 3*time.Second {
			t.Errorf("reset in %v", delay)
		}
	}
}

func TestMarkerError(t *testing.T) {
	b, access, _ := startWithSession(t, Options{})
	for i, want := range []int{http.StatusInternalServerError, http.StatusOK, http.StatusOK} {
		if a := b.put(t, access, "a", "[sandbox:error]"); a.status != want {
			t.Errorf("call %d: HTTP %d, want %d", i, a.status, want)
		}
	}
	if a := b.put(t, access, "b", "[sandbox:error]"); a.status != http.StatusInternalServerError {
		t.Errorf("another post: HTTP %d", a.status)
	}
}

func TestMarkerExpiredToken(t *testing.T) {
	b, access, refresh := startWithSession(t, Options{})
	other, _ := b.session(t, "alice.test")
	text := "[sandbox:expired-token]"
	for range 2 {
		if a := b.put(t, access, "a", text); a.status != http.StatusBadRequest || a.Name() != "ExpiredToken" {
			t.Errorf("put: HTTP %d: %s", a.status, a.body)
		}
	}
	if a := b.call(t, "com.atproto.server.refreshSession", refresh, nil); a.status != http.StatusBadRequest || a.Name() != "ExpiredToken" {
		t.Errorf("refresh: HTTP %d: %s", a.status, a.body)
	}
	if a := b.put(t, other, "b", "another session"); a.status != http.StatusOK {
		t.Errorf("another session: HTTP %d: %s", a.status, a.body)
	}
	fresh, _ := b.session(t, "alice.test")
	if a := b.put(t, fresh, "a", text); a.status != http.StatusOK {
		t.Errorf("after a new sign-in: HTTP %d: %s", a.status, a.body)
	}
}

func TestMarkerLostAnswer(t *testing.T) {
	b, access, _ := startWithSession(t, Options{})
	if a := b.put(t, access, "a", "[sandbox:lost-answer]"); a.err == nil {
		t.Fatalf("got a response: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("stored posts after the lost response: %q", texts)
	}
	if a := b.put(t, access, "a", "[sandbox:lost-answer]"); a.status != http.StatusOK {
		t.Errorf("second attempt: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("stored posts after the second attempt: %q", texts)
	}
}

// TestClientDisconnects checks that a post is stored even if the client disconnects before the response.
func TestClientDisconnects(t *testing.T) {
	waits, elapse := make(chan time.Duration, 1), make(chan time.Time)
	b, access, _ := startWithSession(t, Options{After: func(d time.Duration) <-chan time.Time {
		waits <- d
		return elapse
	}})
	done := make(chan struct{})
	request := putRequest(t, access, "[sandbox:slow=3]")
	ctx, disconnect := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		b.Handler().ServeHTTP(discard{}, request.WithContext(ctx))
	}()
	if d := <-waits; d != 3*time.Second {
		t.Errorf("waits %v", d)
	}
	if texts := b.texts(t, nil); len(texts) != 0 {
		t.Errorf("stored posts during the wait: %q", texts)
	}
	disconnect()
	elapse <- time.Time{}
	<-done
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("stored posts after the wait: %q", texts)
	}
}

func TestCloseEndsWaiting(t *testing.T) {
	waits := make(chan time.Duration, 1)
	b, access, _ := startWithSession(t, Options{After: func(d time.Duration) <-chan time.Time {
		waits <- d
		return nil
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Handler().ServeHTTP(discard{}, putRequest(t, access, "[sandbox:slow=60]"))
	}()
	<-waits
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	<-done
}
