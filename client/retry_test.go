package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Temporary errors are retried with the same key. Other errors are returned immediately.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handlers []http.HandlerFunc
		requests int
		code     string        // of the final error
		pause    time.Duration // at least, before the first retry
	}{
		"a proxy's 503":              {[]http.HandlerFunc{proxy(503), ok()}, 2, "", 0},
		"a proxy's 502 with seconds": {[]http.HandlerFunc{proxy(502, "Retry-After", "7"), ok()}, 2, "", 7 * time.Second},
		"429 with seconds":           {[]http.HandlerFunc{problem(429, CodeRateLimited, "Retry-After", "3"), ok()}, 2, "", 3 * time.Second},
		"429 for an hour": {
			[]http.HandlerFunc{problem(429, CodeDailyCallLimitReached, "Retry-After", "3600"), ok()}, 1, CodeDailyCallLimitReached, 0,
		},
		"an idempotency key in progress": {
			[]http.HandlerFunc{problem(409, CodeIdempotencyKeyInProgress, "Retry-After", "1"), ok()}, 2, "", time.Second,
		},
		"500 with a key": {[]http.HandlerFunc{problem(500, CodeInternalError), ok()}, 2, "", 0},
		"cut off":        {[]http.HandlerFunc{cutOff, ok()}, 2, "", 0},
		"always busy": {
			[]http.HandlerFunc{problem(429, CodeRateLimited, "Retry-After", "1")}, 5, CodeRateLimited, time.Second,
		},
		"a reused idempotency key":  {[]http.HandlerFunc{problem(422, CodeIdempotencyKeyReused), ok()}, 1, CodeIdempotencyKeyReused, 0},
		"an unavailable provider":   {[]http.HandlerFunc{problem(502, CodeProviderUnavailable), ok()}, 1, CodeProviderUnavailable, 0},
		"no credits":                {[]http.HandlerFunc{problem(402, CodeInsufficientCredits), ok()}, 1, CodeInsufficientCredits, 0},
		"a code of a later version": {[]http.HandlerFunc{problem(422, "brand_new"), ok()}, 1, "brand_new", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := newFakeService(t, c.handlers...)
			a, err := client.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}})
			if CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Fatalf("%v", err)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(s.requests), c.requests)
			}
			if c.pause > 0 && (len(s.pauses) == 0 || s.pauses[0] < c.pause || s.pauses[0] > c.pause+time.Second) {
				t.Errorf("pauses %v, want %v", s.pauses, c.pause)
			}
			key := s.requests[0].Header.Get("Idempotency-Key")
			for _, r := range s.requests {
				if got := r.Header.Get("Idempotency-Key"); got == "" || got != key {
					t.Errorf("the key changed from %q to %q", key, got)
				}
			}
			if err == nil && a.IdempotencyKey != key {
				t.Errorf("the response has the key %q, want %q", a.IdempotencyKey, key)
			}
		})
	}
}

// Each write has a new key unless the caller sets one. Reads have no key.
func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s, c := newFakeService(t, ok())
	in := CreatePostInput{Caption: "c", AccountIDs: []int64{1}}
	for _, options := range [][]CallOption{nil, nil, {IdempotencyKey("mine")}} {
		if _, err := c.CreatePost(t.Context(), in, options...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.GetPost(t.Context(), GetPostInput{ID: "p"}, IdempotencyKey("mine")); err != nil {
		t.Fatal(err)
	}
	keys := []string{}
	for _, r := range s.requests {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if keys[0] == keys[1] || len(keys[0]) < 20 || keys[2] != "mine" || keys[3] != "" {
		t.Errorf("the keys were %q", keys)
	}
	if _, err := c.CreatePost(t.Context(), in, IdempotencyKey("")); err == nil {
		t.Error("an empty key was sent")
	}
}

// A date in Retry-After is relative to the response's Date header.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"120", "", 2 * time.Minute},
		{"0", "", 0},
		{"-5", "", 0},
		{"soon", "", 0},
		{"", "", 0},
		{"99999999999999999999", "", 0},
		{now.Add(30 * time.Second).Format(http.TimeFormat), "", 30 * time.Second},
		{now.Add(-30 * time.Second).Format(http.TimeFormat), "", 0},
		{now.Add(time.Hour).Format(http.TimeFormat), now.Add(time.Hour - 5*time.Second).Format(http.TimeFormat), 5 * time.Second},
	} {
		h := http.Header{"Retry-After": {c.after}, "Date": {c.date}}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q at %q: %s, want %s", c.after, c.date, got, c.want)
		}
	}
}

// A canceled call returns the key with which it can be repeated.
func TestCancellation(t *testing.T) {
	t.Parallel()
	reached, held := make(chan struct{}), make(chan struct{})
	_, c := newFakeService(t, func(http.ResponseWriter, *http.Request) {
		close(reached)
		<-held
	})
	defer close(held)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	_, err := c.CreatePost(ctx, CreatePostInput{Caption: "c", AccountIDs: []int64{1}}, IdempotencyKey("k"))
	lost, is := asType[*UnansweredError](err)
	if !is || lost.IdempotencyKey != "k" || lost.Attempts != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A call does not wait past its deadline.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	s, c := newFakeService(t, problem(429, CodeRateLimited, "Retry-After", "30"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := c.GetIdentity(ctx)
	if e, ok := asType[*Error](err); !ok || e.RetryAfter != 30*time.Second || len(s.requests) != 1 || len(s.pauses) != 0 {
		t.Errorf("%v after %d requests and %v", err, len(s.requests), s.pauses)
	}
}

func TestAttemptsTimeOut(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	s, c := newFakeService(t, func(http.ResponseWriter, *http.Request) { <-held }, ok())
	defer close(held)
	c.retry.attemptTimeout = 500 * time.Millisecond
	if _, err := c.GetPost(t.Context(), GetPostInput{ID: "p"}); err != nil || len(s.requests) != 2 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
	_, c = newFakeService(t, func(http.ResponseWriter, *http.Request) { <-held })
	c.retry.attemptTimeout, c.retry.attempts = 500*time.Millisecond, 2
	_, err := c.GetPost(t.Context(), GetPostInput{ID: "p"})
	if _, is := asType[*UnansweredError](err); !is || errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "within 500ms") {
		t.Errorf("only the attempt timed out: %v", err)
	}
}

func TestPermanentErrors(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(ok()) // with an untrusted certificate
	defer s.Close()
	c, err := New(s.URL, "prk_test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetIdentity(t.Context())
	if lost, is := asType[*UnansweredError](err); !is || lost.Attempts != 1 {
		t.Errorf("%v", err)
	}
}

// Unsent is true only if no attempt had a connection.
func TestUnsent(t *testing.T) {
	t.Parallel()
	s, c := newFakeService(t, cutOff)
	s.Close()
	_, err := c.GetIdentity(t.Context())
	if lost, is := asType[*UnansweredError](err); !is || !lost.Unsent || lost.Attempts != 5 {
		t.Errorf("not listening: %v", err)
	}
	s, c = newFakeService(t, cutOff)
	c.retry.sleep = func(context.Context, time.Duration) error {
		s.Close()
		return nil
	}
	_, err = c.GetIdentity(t.Context())
	if lost, is := asType[*UnansweredError](err); !is || lost.Unsent {
		t.Errorf("cut off, then not listening: %v", err)
	}
}

// The transport retries by itself if a reused connection closes without a response. Its first attempt also counts.
func TestUnsentOnReusedConnection(t *testing.T) {
	t.Parallel()
	var s *fakeService
	s, c := newFakeService(t, ok(), func(w http.ResponseWriter, _ *http.Request) { // performs the call without responding
		s.Listener.Close()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	})
	if _, err := c.GetIdentity(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}})
	if lost, is := asType[*UnansweredError](err); !is || lost.Unsent || len(s.requests) != 2 {
		t.Errorf("%d requests: %+v", len(s.requests), err)
	}
}

// A job's waiting time is shorter than the timeout of an attempt.
func TestWaitSeconds(t *testing.T) {
	t.Parallel()
	job := func(finished bool) http.HandlerFunc {
		return respond(200, "application/json",
			fmt.Sprintf(`{"data":{"job_id":"j","state":"succeeded","finished":%v},"meta":{"request_id":"r"}}`, finished))
	}
	for attempt, seconds := range map[time.Duration]string{
		0: "20", time.Minute: "20", 20 * time.Second: "10", 1500 * time.Millisecond: "",
	} {
		s, c := newFakeService(t, job(false), job(false), job(false), job(true))
		c.retry.attemptTimeout = attempt
		if _, err := c.Wait(t.Context(), "j"); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.requests {
			if got := r.URL.Query().Get("wait_seconds"); got != seconds {
				t.Errorf("with the timeout %s: wait_seconds=%q", attempt, got)
			}
		}
		if len(s.pauses) != 3 || s.pauses[2] < 400*time.Millisecond {
			t.Errorf("with the timeout %s: pauses %v", attempt, s.pauses)
		}
	}
}
