package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// service answers one request after another as it is told, and remembers what it was asked.
type service struct {
	*httptest.Server

	mu      sync.Mutex
	asked   []*http.Request
	answers []http.HandlerFunc
	waits   []time.Duration
}

const success = `{"data":{"id":"p","status":"draft","caption":"c"},"meta":{"request_id":"r"}}`

func serving(t *testing.T, answers ...http.HandlerFunc) (*service, *Client) {
	t.Helper()
	s := &service{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r)
		answer := s.answers[min(len(s.asked), len(s.answers))-1]
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := New(s.URL, "prk_test")
	if err != nil {
		t.Fatal(err)
	}
	c.retry.sleep = func(ctx context.Context, d time.Duration) error {
		s.waits = append(s.waits, d)
		return ctx.Err()
	}
	return s, c
}

func answer(status int, kind, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func ok() http.HandlerFunc { return answer(http.StatusOK, "application/json", success) }

func problem(status int, code string, header ...string) http.HandlerFunc {
	body := fmt.Sprintf(
		`{"type":"x","title":"T.","status":%d,"detail":"D.","code":%q,"context":{"argument":"caption","reason":"too_long"}}`, status, code)
	return answer(status, "application/problem+json", body, header...)
}

func proxy(status int, header ...string) http.HandlerFunc {
	return answer(status, "text/html", "<h1>busy</h1>", header...)
}

// cut ends the connection in the middle of an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `{"data":`)
	panic(http.ErrAbortHandler)
}

// What passes by itself is repeated, with the same key; what does not is given back at once.
func TestRepeats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		code    string        // of the refusal in the end
		wait    time.Duration // that the first pause has at least
	}{
		"a proxy's 503":            {[]http.HandlerFunc{proxy(503), ok()}, 2, "", 0},
		"a proxy's 502 in seconds": {[]http.HandlerFunc{proxy(502, "Retry-After", "7"), ok()}, 2, "", 7 * time.Second},
		"429 in seconds":           {[]http.HandlerFunc{problem(429, CodeRateLimited, "Retry-After", "3"), ok()}, 2, "", 3 * time.Second},
		"429 that lasts": {
			[]http.HandlerFunc{problem(429, CodeDailyCallLimitReached, "Retry-After", "3600"), ok()}, 1, CodeDailyCallLimitReached, 0,
		},
		"a key in use": {
			[]http.HandlerFunc{problem(409, CodeIdempotencyKeyInProgress, "Retry-After", "1"), ok()}, 2, "", time.Second,
		},
		"500 with a key": {[]http.HandlerFunc{problem(500, CodeInternalError), ok()}, 2, "", 0},
		"cut off":        {[]http.HandlerFunc{cut, ok()}, 2, "", 0},
		"always busy": {
			[]http.HandlerFunc{problem(429, CodeRateLimited, "Retry-After", "1")}, 5, CodeRateLimited, time.Second,
		},
		"a key that was used":       {[]http.HandlerFunc{problem(422, CodeIdempotencyKeyReused), ok()}, 1, CodeIdempotencyKeyReused, 0},
		"a network that said no":    {[]http.HandlerFunc{problem(502, CodeProviderUnavailable), ok()}, 1, CodeProviderUnavailable, 0},
		"no credits":                {[]http.HandlerFunc{problem(402, CodeInsufficientCredits), ok()}, 1, CodeInsufficientCredits, 0},
		"a code of a later version": {[]http.HandlerFunc{problem(422, "brand_new"), ok()}, 1, "brand_new", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := serving(t, c.answers...)
			a, err := client.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}})
			if CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Fatalf("%v", err)
			}
			if len(s.asked) != c.asked {
				t.Errorf("%d requests in place of %d", len(s.asked), c.asked)
			}
			if c.wait > 0 && (len(s.waits) == 0 || s.waits[0] < c.wait || s.waits[0] > c.wait+time.Second) {
				t.Errorf("it paused %v in place of %v", s.waits, c.wait)
			}
			key := s.asked[0].Header.Get("Idempotency-Key")
			for _, r := range s.asked {
				if got := r.Header.Get("Idempotency-Key"); got == "" || got != key {
					t.Errorf("the key changed from %q to %q", key, got)
				}
			}
			if err == nil && a.IdempotencyKey != key {
				t.Errorf("the answer tells the key %q in place of %q", a.IdempotencyKey, key)
			}
		})
	}
}

// Each call has a key of its own, a read has none, and a key of the caller's is taken.
func TestKeysAreNew(t *testing.T) {
	t.Parallel()
	s, c := serving(t, ok())
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
	for _, r := range s.asked {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if keys[0] == keys[1] || len(keys[0]) < 20 || keys[2] != "mine" || keys[3] != "" {
		t.Errorf("the keys were %q", keys)
	}
	if _, err := c.CreatePost(t.Context(), in, IdempotencyKey("")); err == nil {
		t.Error("an empty key was sent")
	}
}

// A date is counted from the clock of the answer that names it, however wrong one's own is.
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
			t.Errorf("%q at %q: %s in place of %s", c.after, c.date, got, c.want)
		}
	}
}

// A key reaches nobody but the service it was given for.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other, _ := serving(t, ok())
	for _, status := range []int{301, 302, 303, 307, 308} {
		s, c := serving(t, answer(status, "text/plain", "", "Location", other.URL+"/api/v1/me"))
		_, err := c.GetIdentity(t.Context())
		refused, is := errors.AsType[*Error](err)
		if !is || refused.Status != status || !strings.Contains(refused.Detail, "redirect") || len(s.asked) != 1 {
			t.Errorf("%d: %v after %d requests", status, err, len(s.asked))
		}
	}
	if len(other.asked) != 0 {
		t.Errorf("the other host was asked: %v", other.asked)
	}
}

// What is no problem document is told as what it is, and what is no answer of the API's is none.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		says   string
	}{
		"a proxy's 404":     {proxy(404), 404, "proxy"},
		"a page":            {proxy(200), 200, "no JSON"},
		"another JSON":      {answer(200, "application/json", `{"ok":true}`), 200, "meta"},
		"a broken problem":  {answer(422, "application/problem+json", `{`), 422, "proxy"},
		"a problem unnamed": {answer(422, "application/problem+json", `{"title":"x"}`), 422, "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := serving(t, c.answer)
			_, err := client.GetIdentity(t.Context())
			refused, is := errors.AsType[*Error](err)
			if !is || refused.Status != c.status || refused.Code != "" || !strings.Contains(refused.Detail, c.says) || len(s.asked) != 1 {
				t.Errorf("%v after %d requests", err, len(s.asked))
			}
		})
	}
}

func TestRefusalsTellAll(t *testing.T) {
	t.Parallel()
	_, c := serving(t, problem(422, CodeValidationFailed, "X-Request-Id", "req-1"))
	_, err := c.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}}, IdempotencyKey("k"))
	refused, is := errors.AsType[*Error](err)
	if !is {
		t.Fatal(err)
	}
	want := &Error{
		Operation: "create_post", Status: 422, Code: CodeValidationFailed, Title: "T.", Detail: "D.",
		Context:   Context{Argument: "caption", Reason: "too_long"},
		RequestID: "req-1", IdempotencyKey: "k", Attempts: 1,
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Error(diff)
	}
	if text := err.Error(); text != "create_post: 422 validation_failed caption too_long: D. [request req-1]" {
		t.Error(text)
	}
}

// A call whose context ends is given up, and tells the key with which it can be repeated.
func TestContextsEnd(t *testing.T) {
	t.Parallel()
	reached, held := make(chan struct{}), make(chan struct{})
	_, c := serving(t, func(http.ResponseWriter, *http.Request) {
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
	lost, is := errors.AsType[*UnansweredError](err)
	if !is || lost.IdempotencyKey != "k" || lost.Attempts != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Nobody waits for what would come too late.
func TestDeadlinesAreHeeded(t *testing.T) {
	t.Parallel()
	s, c := serving(t, problem(429, CodeRateLimited, "Retry-After", "30"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := c.GetIdentity(ctx)
	if refused, is := errors.AsType[*Error](err); !is || refused.RetryAfter != 30*time.Second || len(s.asked) != 1 || len(s.waits) != 0 {
		t.Errorf("%v after %d requests and %v", err, len(s.asked), s.waits)
	}
}

func TestAttemptsTimeOut(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	s, c := serving(t, func(http.ResponseWriter, *http.Request) { <-held }, ok())
	defer close(held)
	c.retry.attempt = 500 * time.Millisecond
	if _, err := c.GetPost(t.Context(), GetPostInput{ID: "p"}); err != nil || len(s.asked) != 2 {
		t.Errorf("%v after %d requests", err, len(s.asked))
	}
	_, c = serving(t, func(http.ResponseWriter, *http.Request) { <-held })
	c.retry.attempt, c.retry.attempts = 500*time.Millisecond, 2
	_, err := c.GetPost(t.Context(), GetPostInput{ID: "p"})
	if _, is := errors.AsType[*UnansweredError](err); !is || errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "within 500ms") {
		t.Errorf("the caller's time was not over: %v", err)
	}
}

func TestWhatNoRepeatMends(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(ok()) // with a certificate that nobody trusts
	defer s.Close()
	c, err := New(s.URL, "prk_test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetIdentity(t.Context())
	if lost, is := errors.AsType[*UnansweredError](err); !is || lost.Attempts != 1 {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://press.example.com":          "https://press.example.com/api/v1",
		"https://press.example.com/":         "https://press.example.com/api/v1",
		"https://press.example.com/api/v1":   "https://press.example.com/api/v1",
		"https://press.example.com/api/v1//": "https://press.example.com/api/v1",
		"https://example.com/press/":         "https://example.com/press/api/v1",
		"http://127.0.0.1:8080":              "http://127.0.0.1:8080/api/v1",
		"http://[::1]:8080":                  "http://[::1]:8080/api/v1",
		"http://localhost":                   "http://localhost/api/v1",
		"http://press.example.com":           "",
		"http://127.0.0.1.example.com":       "",
		"ftp://press.example.com":            "",
		"press.example.com":                  "",
		"https://ada:pw@press.example.com":   "",
		"https://press.example.com?key=prk_": "",
		"https://press.example.com/#x":       "",
		"":                                   "",
		"http://%zz":                         "",
	} {
		c, err := New(address, "prk_x")
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is taken", address)
		case want != "" && (err != nil || c.base.String() != want):
			t.Errorf("%q: %v %v", address, c, err)
		}
	}
	for _, key := range []string{"", " ", "prk_\nx", "prk_é"} {
		if _, err := New("https://press.example.com", key); err == nil {
			t.Errorf("the key %q is taken", key)
		}
	}
	if _, err := New("http://press.example.com", "prk_x", WithPlainHTTP()); err != nil {
		t.Error(err)
	}
}

// Arguments stand where the description puts them; what is left out is not sent, what is empty is.
func TestArguments(t *testing.T) {
	t.Parallel()
	c, err := New("https://press.example.com/base", "prk_x")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name string
		in   any
		url  string
		body string
	}{
		{"list_posts", ListPostsInput{}, "/posts", ""},
		{"list_posts", ListPostsInput{
			Status: PostStatusDraft, Limit: 3, AccountID: new(int64(1<<53 + 1)),
		}, "/posts?account_id=9007199254740993&limit=3&status=draft", ""},
		{"list_media", ListMediaInput{FolderID: new(int64)}, "/media?folder_id=0", ""},
		{"list_social_accounts", ListSocialAccountsInput{ActiveOnly: new(false)}, "/social-accounts?active_only=false", ""},
		{"get_report", GetReportInput{
			Type: "profile", ID: "a b/c", Sections: []string{"times", "posts"},
		}, "/reports/profile/a%20b%2Fc?sections=times%2Cposts", ""},
		{"get_job", map[string]any{"job_id": "social_post:1"}, "/jobs/social_post:1", ""},
		{"update_post", UpdatePostInput{ID: "p"}, "/posts/p", `{}`},
		{"update_post", UpdatePostInput{ID: "p", MediaIDs: []int64{}, Caption: new("")}, "/posts/p", `{"caption":"","media_ids":[]}`},
		{"update_post", UpdatePostInput{ID: "p", ClearScheduledAt: true}, "/posts/p", `{"scheduled_at":null}`},
		{"update_post", &UpdatePostInput{ID: "p", ClearScheduledAt: true}, "/posts/p", `{"scheduled_at":null}`},
		{"update_post", map[string]any{"id": "p", "scheduled_at": nil, "caption": nil}, "/posts/p", `{"scheduled_at":null}`},
		{"update_post", map[string]json.RawMessage{
			"id": json.RawMessage(`"p"`), "scheduled_at": json.RawMessage("null"),
		}, "/posts/p", `{"scheduled_at":null}`},
		{"update_post", struct {
			ID string  `json:"id"`
			At *string `json:"scheduled_at"`
		}{ID: "p"}, "/posts/p", `{}`},
		{"publish_post", PublishPostInput{PostID: "p"}, "/posts/p/publish", `{}`},
		{"create_post", CreatePostInput{Caption: "<&>"}, "/posts", `{"caption":"\u003c\u0026\u003e"}`},
		{"create_post", json.RawMessage(
			`{"caption":"x","account_ids":[9007199254740993]}`), "/posts", `{"account_ids":[9007199254740993],"caption":"x"}`},
		{"get_identity", nil, "/me", ""},
	} {
		o, err := find(k.name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.prepare(o, k.in, nil)
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if got := strings.TrimPrefix(p.target.String(), "https://press.example.com/base/api/v1"); got != k.url || string(p.body) != k.body {
			t.Errorf("%s: %s %s in place of %s %s", k.name, got, p.body, k.url, k.body)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.GetPost(t.Context(), GetPostInput{ID: id}); err == nil || CodeOf(err) != "" {
			t.Errorf("the id %q was sent: %v", id, err)
		}
	}
	if _, err := c.UpdatePost(t.Context(),
		UpdatePostInput{ID: "p", ScheduledAt: new("2027-01-01T10:00Z"), ClearScheduledAt: true}); err == nil || CodeOf(err) != "" {
		t.Errorf("a time that is set and cleared was sent: %v", err)
	}
	if _, err := c.Call(t.Context(), "delete_everything", nil); err == nil {
		t.Error("an operation that there is not was called")
	}
	if _, err := c.Call(t.Context(), "create_post", json.RawMessage(`[1]`)); err == nil {
		t.Error("a list was sent as arguments")
	}
}

// Text that is not UTF-8 would arrive as another one, so it is not sent.
func TestTextIsUTF8(t *testing.T) {
	t.Parallel()
	s, c := serving(t, ok())
	bad := "sm\xf8rrebr\xf8d"
	for _, in := range []any{
		CreatePostInput{Caption: bad, AccountIDs: []int64{1}},
		&CreatePostInput{Caption: bad},
		UpdatePostInput{ID: "p", Caption: &bad},
		CreateUploadsInput{Files: []UploadFile{{FileName: bad}}},
		map[string]any{"caption": bad},
		map[string]any{bad: 1},
		map[string]any{"parts": []any{map[string]any{"text": bad}}},
		json.RawMessage(`{"caption":"` + bad + `"}`),
		map[string]any{"caption": json.RawMessage(`"` + bad + `"`)},
	} {
		if _, err := c.Call(t.Context(), "create_post", in); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%#v: %v", in, err)
		}
	}
	if len(s.asked) != 0 {
		t.Errorf("%d of them were sent", len(s.asked))
	}
	if _, err := c.Call(t.Context(), "create_post",
		map[string]any{"caption": "smørrebrød \ufffd", "account_ids": []int64{1}, "at": time.Now()}); err != nil {
		t.Error(err)
	}
}

// A call that came to no connection was not done; one of which an attempt came through may have been.
func TestUnsent(t *testing.T) {
	t.Parallel()
	s, c := serving(t, cut)
	s.Close()
	_, err := c.GetIdentity(t.Context())
	if lost, is := errors.AsType[*UnansweredError](err); !is || !lost.Unsent || lost.Attempts != 5 {
		t.Errorf("nobody listens: %v", err)
	}
	s, c = serving(t, cut)
	c.retry.sleep = func(context.Context, time.Duration) error {
		s.Close()
		return nil
	}
	_, err = c.GetIdentity(t.Context())
	if lost, is := errors.AsType[*UnansweredError](err); !is || lost.Unsent {
		t.Errorf("cut off, and then nobody listens: %v", err)
	}
}

// The transport sends a call again by itself where a kept connection ends without an answer: the first sending counts.
func TestUnsentOverAKeptConnection(t *testing.T) {
	t.Parallel()
	var s *service
	s, c := serving(t, ok(), func(w http.ResponseWriter, _ *http.Request) { // what is done, and not answered for
		s.Listener.Close()
		kept, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		kept.Close()
	})
	if _, err := c.GetIdentity(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}})
	if lost, is := errors.AsType[*UnansweredError](err); !is || lost.Unsent || len(s.asked) != 2 {
		t.Errorf("the service was asked %d times, and then: %+v", len(s.asked), err)
	}
}

// Files that cannot be described fail alone, and what the service refuses is counted among all of them.
func TestUploadsOfUnfitFiles(t *testing.T) {
	t.Parallel()
	links := answer(http.StatusCreated, "application/json",
		`{"data":{"job_id":"j","upload":{"uploads":[{"media_id":7,"state":"stored"},{"media_id":8,"state":"stored"}]}},"meta":{"request_id":"r"}}`)
	files := []File{
		FileOf("empty.png", nil), FileOf("a.png", []byte("a")), FileOf("sm\xf8r.png", []byte("b")), FileOf("c.png", []byte("c")),
	}
	_, c := serving(t, links)
	results, err := c.Upload(t.Context(), files, UploadInput{})
	if len(results) != 4 || !errors.Is(results[0].Err, ErrEmptyFile) || results[1].MediaID != 7 ||
		results[2].Err == nil || results[3].MediaID != 8 || !errors.Is(err, ErrEmptyFile) {
		t.Errorf("%+v: %v", results, err)
	}
	s, c := serving(t, links)
	if results, err := c.Upload(t.Context(), files[:1], UploadInput{}); len(results) != 1 || !errors.Is(err,
		ErrEmptyFile) || len(s.asked) != 0 {
		t.Errorf("%+v: %v after %d requests", results, err, len(s.asked))
	}
	_, c = serving(t,
		answer(422, "application/problem+json",
			`{"code":"validation_failed","detail":"D.","context":{"argument":"files.size_bytes","reason":"out_of_range","item":1}}`))
	_, err = c.Upload(t.Context(), files, UploadInput{})
	if refused, is := errors.AsType[*Error](err); !is || refused.Context.Item == nil || *refused.Context.Item != 3 ||
		!strings.Contains(err.Error(), "(item 3) out_of_range: c.png: D.") {
		t.Errorf("%v", err)
	}
}

// Times are exact to the microsecond, both ways.
func TestMoments(t *testing.T) {
	t.Parallel()
	var m Moment
	if err := json.Unmarshal([]byte(`{"team":"2026-03-29T10:15:00.123456+02:00","utc":"2026-03-29T08:15:00.123456Z"}`), &m); err != nil {
		t.Fatal(err)
	}
	if !m.Team.Equal(m.UTC) || At(m.UTC) != "2026-03-29T08:15:00.123456Z" || At(m.Team) != "2026-03-29T10:15:00.123456+02:00" {
		t.Errorf("%v, %s, %s", m, At(m.Team), At(m.UTC))
	}
	if got := At(m.UTC.Add(789 * time.Nanosecond)); got != "2026-03-29T08:15:00.123456Z" {
		t.Error(got)
	}
}

// A service that always names the same page does not keep a program forever.
func TestPagesEnd(t *testing.T) {
	t.Parallel()
	page := func(id, cursor string) http.HandlerFunc {
		return answer(200, "application/json",
			fmt.Sprintf(`{"data":{"posts":[{"id":%q}]},"meta":{"request_id":"r"},"page":{"has_more":%v,"cursor":%q}}`,
				id, cursor != "", cursor))
	}
	_, c := serving(t, page("a", "1"), page("b", "2"), page("c", ""))
	var ids []string
	for post, err := range c.ListPostsAll(t.Context(), ListPostsInput{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, post.ID)
	}
	if !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Error(ids)
	}
	s, c := serving(t, page("a", "1"))
	var failure error
	for _, err := range c.ListPostsPages(t.Context(), ListPostsInput{}) {
		failure = err
	}
	if failure == nil || len(s.asked) != 2 {
		t.Errorf("%v after %d requests", failure, len(s.asked))
	}
	s, c = serving(t, page("a", "1"), problem(403, CodeReadNotAllowed))
	for _, err := range c.ListPostsAll(t.Context(), ListPostsInput{}) {
		failure = err
	}
	if CodeOf(failure) != CodeReadNotAllowed || len(s.asked) != 2 {
		t.Errorf("%v after %d requests", failure, len(s.asked))
	}
}

// Pages of an operation that is called by its name need no arguments, and begin anew each time.
func TestCallPages(t *testing.T) {
	t.Parallel()
	page := func(cursor string) http.HandlerFunc {
		return answer(200, "application/json",
			fmt.Sprintf(`{"data":{},"meta":{"request_id":"r"},"page":{"has_more":%v,"cursor":%q}}`, cursor != "", cursor))
	}
	for _, in := range []map[string]any{nil, {"limit": 1}} {
		s, c := serving(t, page("1"), page(""), page("1"), page(""))
		all := c.CallPages(t.Context(), "list_posts", in)
		for range 2 {
			for _, err := range all {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		var cursors []string
		for _, r := range s.asked {
			cursors = append(cursors, r.URL.Query().Get("cursor"))
		}
		if !slices.Equal(cursors, []string{"", "1", "", "1"}) || in["cursor"] != nil {
			t.Errorf("%v: it asked for the pages %q", in, cursors)
		}
	}
}

// A question about a job is answered within an attempt, however short that is.
func TestWaitsWithinAnAttempt(t *testing.T) {
	t.Parallel()
	job := func(finished bool) http.HandlerFunc {
		return answer(200, "application/json",
			fmt.Sprintf(`{"data":{"job_id":"j","state":"succeeded","finished":%v},"meta":{"request_id":"r"}}`, finished))
	}
	for attempt, seconds := range map[time.Duration]string{
		0: "20", time.Minute: "20", 20 * time.Second: "10", 1500 * time.Millisecond: "",
	} {
		s, c := serving(t, job(false), job(false), job(false), job(true))
		c.retry.attempt = attempt
		if _, err := c.Wait(t.Context(), "j"); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.asked {
			if got := r.URL.Query().Get("wait_seconds"); got != seconds {
				t.Errorf("with %s for an attempt it asked to wait for %q seconds", attempt, got)
			}
		}
		if len(s.waits) != 3 || s.waits[2] < 400*time.Millisecond {
			t.Errorf("with %s for an attempt it paused %v", attempt, s.waits)
		}
	}
}

// An upload that fails at a later batch tells the key of the whole, with which it goes on.
func TestUploadsTellTheirKey(t *testing.T) {
	t.Parallel()
	links := make([]string, batchFiles)
	for i := range links {
		links[i] = fmt.Sprintf(`{"media_id":%d,"state":"stored"}`, i+1)
	}
	first := answer(http.StatusCreated, "application/json",
		`{"data":{"job_id":"j","upload":{"uploads":[`+strings.Join(links, ",")+`]}},"meta":{"request_id":"r"}}`)
	files := slices.Repeat([]File{FileOf("a.png", []byte("bytes"))}, batchFiles+1)
	for name, fails := range map[string]http.HandlerFunc{"refused": problem(422, CodeValidationFailed), "unanswered": cut} {
		s, c := serving(t, first, fails)
		_, err := c.Upload(t.Context(), files, UploadInput{}, IdempotencyKey("k"))
		refused, is := errors.AsType[*Error](err)
		lost, was := errors.AsType[*UnansweredError](err)
		told := is && refused.IdempotencyKey == "k" || was && lost.IdempotencyKey == "k"
		if !told || s.asked[1].Header.Get("Idempotency-Key") != "k-2" {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// An upload on which nothing moves is begun again, and ends when it was stored.
func TestStandstill(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	var links *service
	links, c := serving(t,
		func(w http.ResponseWriter, r *http.Request) {
			body := fmt.Sprintf(
				`{"data":{"job_id":"j","upload":{"uploads":[{"url":%q,"state":"waiting"}]}},"meta":{"request_id":"r"}}`,
				links.URL+"/uploads/1")
			answer(http.StatusCreated, "application/json", body)(w, r)
		},
		func(http.ResponseWriter, *http.Request) { <-held },
		answer(http.StatusCreated, "application/json", `{"data":{"media_id":7}}`),
	)
	defer close(held)
	c.retry.still = 500 * time.Millisecond
	results, err := c.Upload(t.Context(), []File{FileOf("a.png", []byte("bytes"))}, UploadInput{})
	if err != nil || results[0].MediaID != 7 || len(links.asked) != 3 {
		t.Errorf("%v: %v after %d requests", results, err, len(links.asked))
	}
	for _, r := range links.asked[1:] {
		if r.Header.Get("Authorization") != "" {
			t.Error("the API key was sent to an upload link")
		}
	}
}

// endless is a file of as many zeros, which nobody has in memory.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	clear(p[:n])
	e.left -= n
	return int(n), nil
}

func (e *endless) Close() error { return nil }

// However large a file is, little of it is in memory at a time. It runs alone, as it looks at the memory of all.
func TestUploadsTakeLittleMemory(t *testing.T) {
	const size = 512 << 20
	var links *service
	var peak, received uint64
	links, c := serving(t,
		func(w http.ResponseWriter, r *http.Request) {
			body := fmt.Sprintf(
				`{"data":{"job_id":"j","upload":{"uploads":[{"url":%q,"state":"waiting"}]}},"meta":{"request_id":"r"}}`,
				links.URL+"/uploads/1")
			answer(http.StatusCreated, "application/json", body)(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			piece := make([]byte, 1<<20)
			for n, err := r.Body.Read(piece); n > 0 || err == nil; n, err = r.Body.Read(piece) {
				before := received
				received += uint64(n)
				if received>>26 != before>>26 { // every 64 MiB
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapAlloc)
				}
			}
			answer(http.StatusCreated, "application/json", `{"data":{"media_id":7}}`)(w, r)
		},
	)
	file := File{Name: "zeros.mp4", Size: size, SHA256: strings.Repeat("0", 64), Open: func() (io.ReadCloser, error) {
		return &endless{size}, nil
	}}
	results, err := c.Upload(t.Context(), []File{file}, UploadInput{})
	if err != nil || results[0].MediaID != 7 || received != size {
		t.Fatalf("%v: %v after %d bytes", results, err, received)
	}
	if peak > 48<<20 {
		t.Errorf("%d MiB were in use", peak>>20)
	}
}
