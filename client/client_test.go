package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeService records requests and serves each with its own handler. The last handler serves all further requests.
type fakeService struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*http.Request
	handlers []http.HandlerFunc
	pauses   []time.Duration
}

const success = `{"data":{"id":"p","status":"draft","caption":"c"},"meta":{"request_id":"r"}}`

func newFakeService(t *testing.T, handlers ...http.HandlerFunc) (*fakeService, *Client) {
	t.Helper()
	s := &fakeService{handlers: handlers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		handler := s.handlers[min(len(s.requests), len(s.handlers))-1]
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := New(s.URL, "prk_test")
	if err != nil {
		t.Fatal(err)
	}
	c.retry.sleep = func(ctx context.Context, d time.Duration) error {
		s.pauses = append(s.pauses, d)
		return ctx.Err()
	}
	return s, c
}

func respond(status int, kind, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func ok() http.HandlerFunc { return respond(http.StatusOK, "application/json", success) }

func problem(status int, code string, header ...string) http.HandlerFunc {
	body := fmt.Sprintf(
		`{"type":"x","title":"T.","status":%d,"detail":"D.","code":%q,"context":{"argument":"caption","reason":"too_long"}}`, status, code)
	return respond(status, "application/problem+json", body, header...)
}

func proxy(status int, header ...string) http.HandlerFunc {
	return respond(status, "text/html", "<h1>busy</h1>", header...)
}

// cutOff closes the connection in the middle of a response.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `{"data":`)
	panic(http.ErrAbortHandler)
}

// The key is sent only to the service.
func TestRedirectsNotFollowed(t *testing.T) {
	t.Parallel()
	other, _ := newFakeService(t, ok())
	for _, status := range []int{301, 302, 303, 307, 308} {
		s, c := newFakeService(t, respond(status, "text/plain", "", "Location", other.URL+"/api/v1/me"))
		_, err := c.GetIdentity(t.Context())
		e, ok := asType[*Error](err)
		if !ok || e.Status != status || !strings.Contains(e.Detail, "redirect") || len(s.requests) != 1 {
			t.Errorf("%d: %v after %d requests", status, err, len(s.requests))
		}
	}
	if len(other.requests) != 0 {
		t.Errorf("the other host received requests: %v", other.requests)
	}
}

// Responses that are not from the API are errors.
func TestForeignResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
		detail  string
	}{
		"a proxy's 404":          {proxy(404), 404, "proxy"},
		"a page":                 {proxy(200), 200, "not JSON"},
		"another JSON":           {respond(200, "application/json", `{"ok":true}`), 200, "meta"},
		"a broken problem":       {respond(422, "application/problem+json", `{`), 422, "proxy"},
		"problem without a code": {respond(422, "application/problem+json", `{"title":"x"}`), 422, "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := newFakeService(t, c.handler)
			_, err := client.GetIdentity(t.Context())
			e, ok := asType[*Error](err)
			if !ok || e.Status != c.status || e.Code != "" || !strings.Contains(e.Detail, c.detail) || len(s.requests) != 1 {
				t.Errorf("%v after %d requests", err, len(s.requests))
			}
		})
	}
}

// Each call gets the current credential. A call without a credential sends nothing and is not retried.
func TestCredential(t *testing.T) {
	t.Parallel()
	s, _ := newFakeService(t, ok())
	calls, ended := 0, errors.New("signed out")
	c, err := New(s.URL, "", WithCredential(func(context.Context) (string, error) {
		if calls++; calls == 3 {
			return "", ended
		}
		return fmt.Sprint("token", calls), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		_, err := c.GetIdentity(t.Context())
		if err != nil || s.requests[n-1].Header.Get("Authorization") != fmt.Sprint("Bearer token", n) {
			t.Errorf("%v after %v", err, s.requests[n-1].Header)
		}
	}
	_, err = c.GetIdentity(t.Context())
	if _, unanswered := asType[*UnansweredError](err); !errors.Is(err, ended) || unanswered || calls != 3 || len(s.requests) != 2 {
		t.Errorf("%v after %d calls and %d requests", err, calls, len(s.requests))
	}
}

func TestErrorDetails(t *testing.T) {
	t.Parallel()
	_, c := newFakeService(t, problem(422, CodeValidationFailed, "X-Request-Id", "req-1"))
	_, err := c.CreatePost(t.Context(), CreatePostInput{Caption: "c", AccountIDs: []int64{1}}, IdempotencyKey("k"))
	e, ok := asType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	want := &Error{
		Operation: "create_post", Status: 422, Code: CodeValidationFailed, Title: "T.", Detail: "D.",
		Context:   Context{Argument: "caption", Reason: "too_long"},
		RequestID: "req-1", IdempotencyKey: "k", Attempts: 1,
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got %+v, want %+v", e, want)
	}
	if text := err.Error(); text != "create_post: 422 validation_failed caption too_long: D. [request req-1]" {
		t.Error(text)
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
			t.Errorf("%q is accepted", address)
		case want != "" && (err != nil || c.base.String() != want):
			t.Errorf("%q: %v %v", address, c, err)
		}
	}
	for _, key := range []string{"", " ", "prk_\nx", "prk_é"} {
		if _, err := New("https://press.example.com", key); err == nil {
			t.Errorf("the key %q is accepted", key)
		}
	}
	if _, err := New("http://press.example.com", "prk_x", WithPlainHTTP()); err != nil {
		t.Error(err)
	}
}

// Arguments are sent in the path, the query or the body. Omitted arguments are not sent; empty arguments are.
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
			Status: PostStatusDraft, Limit: 3, AccountID: ptr[int64](1<<53 + 1),
		}, "/posts?account_id=9007199254740993&limit=3&status=draft", ""},
		{"list_media", ListMediaInput{FolderID: new(int64)}, "/media?folder_id=0", ""},
		{"list_social_accounts", ListSocialAccountsInput{ActiveOnly: ptr(false)}, "/social-accounts?active_only=false", ""},
		{"get_report", GetReportInput{
			Type: "profile", ID: "a b/c", Sections: []string{"times", "posts"},
		}, "/reports/profile/a%20b%2Fc?sections=times%2Cposts", ""},
		{"get_job", map[string]any{"job_id": "social_post:1"}, "/jobs/social_post:1", ""},
		{"update_post", UpdatePostInput{ID: "p"}, "/posts/p", `{}`},
		{"update_post", UpdatePostInput{ID: "p", MediaIDs: []int64{}, Caption: ptr("")}, "/posts/p", `{"caption":"","media_ids":[]}`},
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
		{"publish_post", PublishPostInput{PostID: "p"}, "/posts/p/publish", ""},
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
			t.Errorf("%s: %s %s, want %s %s", k.name, got, p.body, k.url, k.body)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.GetPost(t.Context(), GetPostInput{ID: id}); err == nil || CodeOf(err) != "" {
			t.Errorf("the id %q was sent: %v", id, err)
		}
	}
	if _, err := c.UpdatePost(t.Context(),
		UpdatePostInput{ID: "p", ScheduledAt: ptr("2027-01-01T10:00Z"), ClearScheduledAt: true}); err == nil || CodeOf(err) != "" {
		t.Errorf("a time that is both set and cleared was sent: %v", err)
	}
	if _, err := c.Call(t.Context(), "delete_everything", nil); err == nil {
		t.Error("an unknown operation was called")
	}
	if _, err := c.Call(t.Context(), "create_post", json.RawMessage(`[1]`)); err == nil {
		t.Error("a list was sent as arguments")
	}
}

// Invalid UTF-8 is rejected, because JSON encoding would change it.
func TestTextIsUTF8(t *testing.T) {
	t.Parallel()
	s, c := newFakeService(t, ok())
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
	if len(s.requests) != 0 {
		t.Errorf("%d of them were sent", len(s.requests))
	}
	if _, err := c.Call(t.Context(), "create_post",
		map[string]any{"caption": "smørrebrød \ufffd", "account_ids": []int64{1}, "at": time.Now()}); err != nil {
		t.Error(err)
	}
}

// Times keep their microseconds.
func TestMicroseconds(t *testing.T) {
	t.Parallel()
	var m Moment
	if err := json.Unmarshal([]byte(`{"team":"2026-03-29T10:15:00.123456+02:00","utc":"2026-03-29T08:15:00.123456Z"}`), &m); err != nil {
		t.Fatal(err)
	}
	if !m.Team.Equal(m.UTC) || FormatTime(m.UTC) != "2026-03-29T08:15:00.123456Z" ||
		FormatTime(m.Team) != "2026-03-29T10:15:00.123456+02:00" {
		t.Errorf("%v, %s, %s", m, FormatTime(m.Team), FormatTime(m.UTC))
	}
	if got := FormatTime(m.UTC.Add(789 * time.Nanosecond)); got != "2026-03-29T08:15:00.123456Z" {
		t.Error(got)
	}
}

// Iteration ends with the last page, an error, or a repeated cursor.
func TestPages(t *testing.T) {
	t.Parallel()
	page := func(id, cursor string) http.HandlerFunc {
		return respond(200, "application/json",
			fmt.Sprintf(`{"data":{"posts":[{"id":%q}]},"meta":{"request_id":"r"},"page":{"has_more":%v,"cursor":%q}}`,
				id, cursor != "", cursor))
	}
	_, c := newFakeService(t, page("a", "1"), page("b", "2"), page("c", ""))
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
	s, c := newFakeService(t, page("a", "1"))
	var failure error
	for _, err := range c.ListPostsPages(t.Context(), ListPostsInput{}) {
		failure = err
	}
	if failure == nil || len(s.requests) != 2 {
		t.Errorf("%v after %d requests", failure, len(s.requests))
	}
	s, c = newFakeService(t, page("a", "1"), problem(403, CodeReadNotAllowed))
	for _, err := range c.ListPostsAll(t.Context(), ListPostsInput{}) {
		failure = err
	}
	if CodeOf(failure) != CodeReadNotAllowed || len(s.requests) != 2 {
		t.Errorf("%v after %d requests", failure, len(s.requests))
	}
}

// CallPages needs no arguments. A second iteration begins with the first page.
func TestCallPages(t *testing.T) {
	t.Parallel()
	page := func(cursor string) http.HandlerFunc {
		return respond(200, "application/json",
			fmt.Sprintf(`{"data":{},"meta":{"request_id":"r"},"page":{"has_more":%v,"cursor":%q}}`, cursor != "", cursor))
	}
	for _, in := range []map[string]any{nil, {"limit": 1}} {
		s, c := newFakeService(t, page("1"), page(""), page("1"), page(""))
		all := c.CallPages(t.Context(), "list_posts", in)
		for range 2 {
			for _, err := range all {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		var cursors []string
		for _, r := range s.requests {
			cursors = append(cursors, r.URL.Query().Get("cursor"))
		}
		if !slices.Equal(cursors, []string{"", "1", "", "1"}) || in["cursor"] != nil {
			t.Errorf("%v: cursors %q", in, cursors)
		}
	}
}

func ptr[T any](v T) *T { return &v }
