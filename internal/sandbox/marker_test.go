package sandbox

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"
)

func startSignedUp(t *testing.T, opts Options) (*fixture, string, string) {
	t.Helper()
	b := start(t, opts)
	b.account(t, "alice.test")
	access, refresh := b.session(t, "alice.test")
	return b, access, refresh
}

func TestReject(t *testing.T) {
	b, access, _ := startSignedUp(t, Options{})
	for range 2 {
		if a := b.put(t, access, "a", "[sandbox:reject]"); a.status != http.StatusBadRequest || a.Name() != "InvalidRequest" {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	if a := b.put(t, access, "b", "[sandbox:reject@threads]"); a.status != http.StatusOK {
		t.Errorf("another network's: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("held: %q", texts)
	}
}

func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 1, time.UTC)
	b, access, _ := startSignedUp(t, Options{Now: func() time.Time { return now }})
	for range 2 {
		a := b.put(t, access, "a", "[sandbox:rate-limit]")
		reset, err := strconv.ParseInt(a.header.Get("ratelimit-reset"), 10, 64)
		if a.status != http.StatusTooManyRequests || a.Name() != "RateLimitExceeded" || err != nil {
			t.Fatalf("HTTP %d, reset %v: %s", a.status, err, a.body)
		}
		if ahead := time.Unix(reset, 0).Sub(now); ahead < 2*time.Second || ahead > 3*time.Second {
			t.Errorf("reset %v ahead", ahead)
		}
	}
}

func TestErrorOnce(t *testing.T) {
	b, access, _ := startSignedUp(t, Options{})
	for i, want := range []int{http.StatusInternalServerError, http.StatusOK, http.StatusOK} {
		if a := b.put(t, access, "a", "[sandbox:error]"); a.status != want {
			t.Errorf("call %d: HTTP %d, want %d", i, a.status, want)
		}
	}
	if a := b.put(t, access, "b", "[sandbox:error]"); a.status != http.StatusInternalServerError {
		t.Errorf("another post: HTTP %d", a.status)
	}
}

func TestExpiredToken(t *testing.T) {
	b, access, refresh := startSignedUp(t, Options{})
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
	again, _ := b.session(t, "alice.test")
	if a := b.put(t, again, "a", text); a.status != http.StatusOK {
		t.Errorf("after a new sign-in: HTTP %d: %s", a.status, a.body)
	}
}

func TestLostAnswer(t *testing.T) {
	b, access, _ := startSignedUp(t, Options{})
	if a := b.put(t, access, "a", "[sandbox:lost-answer]"); a.err == nil {
		t.Fatalf("an answer: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("held after a lost answer: %q", texts)
	}
	if a := b.put(t, access, "a", "[sandbox:lost-answer]"); a.status != http.StatusOK {
		t.Errorf("again: HTTP %d: %s", a.status, a.body)
	}
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("held in the end: %q", texts)
	}
}

// TestSlowClientDisconnects checks that a post is stored even if the client disconnects before the response.
func TestSlowClientDisconnects(t *testing.T) {
	waits, goOn := make(chan time.Duration, 1), make(chan time.Time)
	b, access, _ := startSignedUp(t, Options{After: func(d time.Duration) <-chan time.Time {
		waits <- d
		return goOn
	}})
	done := make(chan struct{})
	request := putRequest(t, access, "[sandbox:slow=3]")
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		b.Handler().ServeHTTP(discard{}, request.WithContext(ctx))
	}()
	if d := <-waits; d != 3*time.Second {
		t.Errorf("waits %v", d)
	}
	if texts := b.texts(t, nil); len(texts) != 0 {
		t.Errorf("held while it waits: %q", texts)
	}
	leave()
	goOn <- time.Time{}
	<-done
	if texts := b.texts(t, nil); len(texts) != 1 {
		t.Errorf("held afterwards: %q", texts)
	}
}

func TestCloseEndsWaiting(t *testing.T) {
	waits := make(chan time.Duration, 1)
	b, access, _ := startSignedUp(t, Options{After: func(d time.Duration) <-chan time.Time {
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
