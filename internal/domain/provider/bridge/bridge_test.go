package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
	"pressroom.example/pressroom/internal/testkit/must"
)

// idForm is the form of IDs in provider.Item and provider.Post.
var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

var (
	now      = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	question = provider.Query{Platform: provider.Instagram, Type: provider.Posts, Username: "natgeo", Limit: 3}
)

const token = "a-token-of-the-bridge"

// rejectFetch is a public fetcher that must not be called.
func rejectFetch(context.Context, string, int64, io.Writer) error {
	return errors.New("the public fetcher was called")
}

// newTestClient returns a client for a bridge with the handler.
func newTestClient(t *testing.T, handler http.HandlerFunc, change func(*Options)) (*Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	opts := Options{URL: server.URL, Token: token, FetchPublic: rejectFetch, Now: func() time.Time { return now }}
	if change != nil {
		change(&opts)
	}
	client := must.Get(New(opts))(t)
	return client, server.URL
}

func respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestMediaRequest(t *testing.T) {
	t.Parallel()
	var got []string
	client, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.RequestURI, r.Header.Get("Authorization"))
		respond(http.StatusOK, `{"items":[]}`)(w, r)
	}, func(o *Options) { o.URL += "/base/" })
	q := question
	q.Cursor = "a b&limit=9"
	for _, q := range []provider.Query{question, q} {
		if page, err := client.ProfileMedia(t.Context(), q); err != nil || len(page.Items) != 0 {
			t.Errorf("%v, %v", page, err)
		}
	}
	want := []string{
		"GET /base/v1/instagram/profiles/natgeo/media?limit=3&type=posts", "Bearer " + token,
		"GET /base/v1/instagram/profiles/natgeo/media?cursor=a+b%26limit%3D9&limit=3&type=posts", "Bearer " + token,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMediaResponse(t *testing.T) {
	t.Parallel()
	const at = `"kind":"image","url":"https://cdn.example/x.jpg"`
	long := strings.Repeat("é", wire.MaxText+1)
	client, _ := newTestClient(t, respond(http.StatusOK, `{"next_cursor":"further","cost":1,"items":[null,7,"x",[],{},`+strings.Join(
		[]string{
			`{"id":"a_-9","kind":"video","url":"http://cdn.example/a.mp4","taken_at":"2026-11-01T10:00:00+02:00",` +
				`"caption":"Hi\r\n\u0000\u001b[1m\ud800 🙂","width":1080,"height":1920,"duration_seconds":1.5,"likes":3}`,
			`{"id":"a_-9",` + at + `}`,
			`{"id":"audio","kind":"audio","url":"https://cdn.example/a.mp3"}`,
			`{"id":7,` + at + `}`, `{"id":"",` + at + `}`,
			`{"id":"file","kind":"image","url":"file:///etc/passwd"}`, `{"id":"rel","kind":"image","url":"/x.jpg"}`,
			`{"id":"user","kind":"image","url":"https://a:b@cdn.example/"}`,
			`{"id":"longurl","kind":"image","url":"https://cdn.example/` + strings.Repeat("x", wire.MaxURL) + `"}`,
			`{"id":"absurd",` + at +
				`,"taken_at":"2003-12-31T23:59:59Z","width":-1,"height":1e400,"duration_seconds":5,"caption":7}`,
			`{"id":"é/1",` + at + `,"taken_at":"2026-11-22T09:30:01Z","caption":"` + long +
				`","width":10.5,"height":100001}`,
			`{"id":"fourth",` + at + `}`,
		}, ",")+`]}`), nil)
	page := must.Get(client.ProfileMedia(t.Context(), question))(t)
	want := provider.Page{Next: "further", Items: []provider.Item{
		{
			ID: "a_-9", Kind: provider.Video, URL: "http://cdn.example/a.mp4", TakenAt: time.Date(2026, 11, 1, 8, 0, 0,
				0, time.UTC),
			Caption: "Hi\n[1m\ufffd 🙂", Width: 1080, Height: 1920, Duration: 1500 * time.Millisecond,
		},
		{ID: "absurd", Kind: provider.Image, URL: "https://cdn.example/x.jpg"},
		{ID: wire.ID("é/1"), Kind: provider.Image, URL: "https://cdn.example/x.jpg", Caption: long[:2*wire.MaxText]},
	}}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
	if !idForm.MatchString(wire.ID("é/1")) || wire.ID("é/1") == wire.ID("é/2") {
		t.Error("replacements of invalid IDs are not distinct")
	}
}

func TestUnpagedTypes(t *testing.T) {
	t.Parallel()
	client, _ := newTestClient(t, respond(http.StatusOK, `{"items":[],"next_cursor":"x"}`), nil)
	q := question
	q.Type = provider.Stories
	if page, err := client.ProfileMedia(t.Context(), q); err != nil || page.Next != "" {
		t.Errorf("%v, %v", page, err)
	}
}

// The errors of a bridge with their delays.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error // nil for *provider.UnavailableError
		after  time.Duration
	}{
		"no such profile":  {respond(http.StatusNotFound, `{"error":"profile_not_found"}`), provider.ErrNotFound, 0},
		"private":          {respond(http.StatusForbidden, `{"error":"profile_private"}`), provider.ErrPrivate, 0},
		"wrong address":    {respond(http.StatusNotFound, `404 page not found`), nil, 0},
		"another 404":      {respond(http.StatusNotFound, `{"error":"profile_private"}`), nil, 0},
		"wrong token":      {respond(http.StatusForbidden, `{"error":"forbidden"}`), nil, 0},
		"not found as 200": {respond(http.StatusOK, `{"error":"profile_not_found"}`), nil, 0},
		"unauthorized":     {respond(http.StatusUnauthorized, ``), nil, 0},
		"broken":           {respond(http.StatusInternalServerError, `{"error":"profile_not_found"}`), nil, 0},
		"too often":        {respond(http.StatusTooManyRequests, `{}`, "Retry-After", "90"), nil, 90 * time.Second},
		"Retry-After in the future": {respond(http.StatusServiceUnavailable, ``, "Retry-After", "Sat, 21 Nov 2026 09:31:00 GMT"),
			nil, time.Minute},
		"Retry-After in the past": {respond(http.StatusServiceUnavailable, ``, "Retry-After", "Sat, 21 Nov 2020 09:31:00 GMT"),
			nil, 0},
		"for years": {respond(http.StatusTooManyRequests, ``, "Retry-After", "4000000000"), nil,
			wire.MaxRetryAfter},
		"for nonsense":   {respond(http.StatusTooManyRequests, ``, "Retry-After", "-99999999999999999999"), nil, 0},
		"no content":     {respond(http.StatusNoContent, ``), nil, 0},
		"not JSON":       {respond(http.StatusOK, `<html>natgeo`), nil, 0},
		"no object":      {respond(http.StatusOK, `null`), nil, 0},
		"no items":       {respond(http.StatusOK, `{"items":"natgeo"}`), nil, 0},
		"no usable item": {respond(http.StatusOK, `{"items":[{"id":"natgeo"}]}`), nil, 0},
		"cut off":        {respond(http.StatusOK, `{"items":[`, "Content-Length", "1000"), nil, 0},
		"too long":       {respond(http.StatusOK, `{"items":[]}`+strings.Repeat(" ", maxResponseBytes)), nil, 0},
		"too long a cursor": {respond(http.StatusOK, `{"items":[],"next_cursor":"`+strings.Repeat("x",
			wire.MaxURL+1)+`"}`), nil, 0},
		"a cursor with NUL": {respond(http.StatusOK, `{"items":[],"next_cursor":"\u0000"}`), nil, 0},
		"too long a header": {respond(http.StatusOK, `{"items":[]}`, "X-Long", strings.Repeat("x", 2*wire.MaxHeader)), nil,
			0},
		"sent elsewhere": {respond(http.StatusFound, ``, "Location", "http://elsewhere.example/natgeo"), nil, 0},
		"redirect loop":  {respond(http.StatusFound, ``, "Location", "/natgeo"), nil, 0},
		"silent":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil, 0},
		"hung up":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := newTestClient(t, c.answer, func(o *Options) {
				if name == "silent" {
					o.Timeout = 20 * time.Millisecond
				}
			})
			page, err := client.ProfileMedia(t.Context(), question)
			checkFailure(t, err, c.want, c.after)
			if len(page.Items) != 0 || page.Next != "" {
				t.Errorf("a page is returned with the error: %v", page)
			}
		})
	}
}

// checkFailure checks an error. nil means *provider.UnavailableError.
func checkFailure(t *testing.T, err, want error, after time.Duration) {
	t.Helper()
	u, unavailable := errors.AsType[*provider.UnavailableError](err)
	switch {
	case want != nil && !errors.Is(err, want), want == nil && !unavailable:
		t.Errorf("%v", err)
	case unavailable && u.After != after:
		t.Errorf("retry after %s, want %s", u.After, after)
	case err != nil && (strings.Contains(err.Error(), "natgeo") || strings.Contains(err.Error(), token)):
		t.Errorf("the error contains the response: %v", err)
	}
}

func TestBridgeUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client, err := New(Options{URL: server.URL, FetchPublic: rejectFetch})
	must.NoError(t, err)
	_, err = client.ProfileMedia(t.Context(), question)
	checkFailure(t, err, nil, 0)
	checkFailure(t, client.Fetch(t.Context(), server.URL+"/natgeo", 9, io.Discard), nil, 0)
}

func TestFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/file", respond(http.StatusOK, "0123456789"))
	mux.HandleFunc("/unsized", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 10 {
			_, _ = io.WriteString(w, strconv.Itoa(i))
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/moved", respond(http.StatusFound, "", "Location", "/file"))
	mux.HandleFunc("/elsewhere", respond(http.StatusFound, "", "Location", "http://127.0.0.1:9/natgeo"))
	mux.HandleFunc("/empty", respond(http.StatusOK, ""))
	mux.HandleFunc("/gone", respond(http.StatusGone, "gone", "Retry-After", "5"))
	mux.HandleFunc("/cut", respond(http.StatusOK, "012", "Content-Length", "10"))
	mux.HandleFunc("/stalls", func(w http.ResponseWriter, r *http.Request) {
		respond(http.StatusOK, "012")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	client, url := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}, func(o *Options) { o.FileTimeout = time.Second })
	for _, c := range []struct {
		path string
		most int64
		got  string
		want error // nil for *provider.UnavailableError where got is not the file
	}{
		{"/file", 10, "0123456789", nil}, {"/unsized", 10, "0123456789", nil}, {"/moved", 10, "0123456789", nil},
		{"/file#part", 11, "0123456789", nil},
		{"/file", 9, "", provider.ErrTooLarge}, {"/unsized", 9, "012345678", provider.ErrTooLarge},
		{"/unsized", 0, "", provider.ErrTooLarge},
		{"/elsewhere", 10, "", nil}, {"/empty", 10, "", nil}, {"/missing", 10, "", nil}, {"/cut", 10, "012", nil},
		{"/stalls", 10, "012", nil},
	} {
		var got bytes.Buffer
		err := client.Fetch(t.Context(), url+c.path, c.most, &got)
		if got.String() != c.got {
			t.Errorf("%s: %q", c.path, &got)
		}
		if c.got != "0123456789" {
			checkFailure(t, err, c.want, 0)
		} else if err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	checkFailure(t, client.Fetch(t.Context(), url+"/gone", 10, io.Discard), nil, 5*time.Second)
}

// full is a writer that always fails.
type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFetchWriteError(t *testing.T) {
	t.Parallel()
	client, url := newTestClient(t, respond(http.StatusOK, "bytes"), nil)
	err := client.Fetch(t.Context(), url+"/file", 10, full{})
	if _, unavailable := errors.AsType[*provider.UnavailableError](err); unavailable || !errors.Is(err, errFull) {
		t.Errorf("a write error was attributed to the bridge: %v", err)
	}
}

// Only URLs with the bridge's scheme, host and port are requested with the token.
func TestFetchFromOtherHost(t *testing.T) {
	t.Parallel()
	var handed string
	client := must.Get(New(Options{URL: "https://bridge.example/base", Token: token,
		FetchPublic: func(_ context.Context, address string, most int64, _ io.Writer) error {
			handed = fmt.Sprint(address, " ", most)
			return provider.ErrTooLarge
		}}))(t)
	for _, address := range []string{
		"https://cdn.example/x", "http://bridge.example/x", "https://bridge.example:8443/x",
		"https://bridge.example.evil.example/x", "https://bridge.example@evil.example/",
		"https://me@bridge.example/x", "//bridge.example/x", "https://bridge.example\\@evil.example/",
		"file:///etc/passwd", "::", "", "https://bridge.example:0443/x",
	} {
		err := client.Fetch(t.Context(), address, 7, io.Discard)
		if !errors.Is(err, provider.ErrTooLarge) || handed != address+" 7" {
			t.Errorf("%q: %v, handed on: %q", address, err, handed)
		}
	}
	for _, address := range []string{"https://bridge.example/x", "https://BRIDGE.example:443/"} {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := client.Fetch(cancelled, address, 7, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, address := range []string{"", "bridge.example", "/v1", "ftp://bridge.example", "https://", "https://:443",
		"https://me@bridge.example", "https://bridge.example?x=1", "https://bridge.example#x",
		"https://bridge.example:x"} {
		if _, err := New(Options{URL: address, FetchPublic: rejectFetch}); err == nil || len(address) > 8 &&
			strings.Contains(err.Error(), address) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, bad := range []string{"x y", "x\ny", "ä", `"`} {
		if _, err := New(Options{URL: "https://bridge.example", Token: bad, FetchPublic: rejectFetch}); err == nil ||
			strings.Contains(err.Error(), bad) {
			t.Errorf("token %q: %v", bad, err)
		}
	}
	if _, err := New(Options{URL: "https://bridge.example"}); err == nil {
		t.Error("options without FetchPublic were accepted")
	}
}

// FuzzAnswer checks that the items of any response satisfy the guarantees of provider.Item.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(
		`{"items":[{"id":"a","kind":"video","url":"https://a.example/","taken_at":"2026-01-01T00:00:00Z",` +
			`"caption":"\ud800","width":1e9,"height":-0.0,"duration_seconds":1e308}],"next_cursor":"x"}`))
	f.Add([]byte(`{"items":[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := readPage(body, question, now)
		if err != nil {
			return
		}
		if _, err := json.Marshal(page); err != nil || len(page.Items) > question.Limit ||
			len(page.Next) > wire.MaxURL {
			t.Errorf("%v: %d items, a cursor of %d bytes", err, len(page.Items), len(page.Next))
		}
		for _, i := range page.Items {
			if !idForm.MatchString(i.ID) || !wire.IsURL(i.URL) || i.Width < 0 || i.Height < 0 || i.Duration < 0 ||
				len([]rune(i.Caption)) > wire.MaxText || strings.ContainsRune(i.Caption, 0) {
				t.Errorf("taken: %+v", i)
			}
		}
	})
}
