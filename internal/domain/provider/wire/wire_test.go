package wire

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

var now = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

func TestCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "7": 7, "1e3": 1000, "7.0": 7,
		"999999999999999": 999_999_999_999_999} {
		var c Count
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Value() == nil || *c.Value() != want {
			t.Errorf("%s: %v, %v", text, c.Value(), err)
		}
	}
	for _, text := range []string{"null", "-1", "1.5", "1e15", "1e400", `"7"`, "true", "[7]", "{}"} {
		var c Count
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Value() != nil {
			t.Errorf("%s was told: %v", text, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-20T10:00:00Z", "2026-11-20T12:00:00+02:00", "2026-11-20T10:00:00+0000"} {
		if got := ParseTime(text, now); !got.Equal(at) || got.Location() != time.UTC {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"", "yesterday", "2003-12-31T23:59:59Z", "2026-11-21T09:30:01Z", "1700000000"} {
		if got := ParseTime(text, now); !got.IsZero() {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestVideoDuration(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, 0: 0, -1: 0, 86_401: 0,
		math.Inf(1): 0} {
		if got := VideoDuration(seconds); got != want {
			t.Errorf("%g: %s", seconds, got)
		}
	}
	if VideoDuration(math.NaN()) != 0 {
		t.Error("no number is a length")
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	if got := SingleLine(" A\nname\x00 \xff"); got != "A name \uFFFD" {
		t.Errorf("%q", got)
	}
	if got := URL("https://a.example/\xff"); got != "" {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff([]string{"bread", "größe"}, Hashtags([]string{"#Bread", "bread", "Größe", "a b", "",
		"12"})); diff != "" {
		t.Error(diff)
	}
	if got := Hashtags(strings.Split("a"+strings.Repeat(",a", 200), ",")); len(got) != 1 {
		t.Errorf("%v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, most := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")), rapid.IntRange(0, 20).Draw(t, "most")
		got := Text(text, most)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > most || Text(got, most) != got {
			t.Errorf("%q", got)
		}
		if id := ID(text); text != "" && !idPattern.MatchString(id) {
			t.Errorf("%q", id)
		}
	})
}

func post(id string, day int) provider.Post {
	p := provider.Post{ID: id}
	if day > 0 {
		p.TakenAt = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
	}
	return p
}

func ids(posts []provider.Post) string {
	var all []string
	for _, p := range posts {
		all = append(all, p.ID)
	}
	return strings.Join(all, " ")
}

func TestPosts(t *testing.T) {
	t.Parallel()
	posts := Posts{Since: time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC), Limit: 4}
	// An old pinned post is not included and does not end the list.
	if !posts.Add([]provider.Post{post("pinned", 1), post("a", 20), post("unknown", 0), post("b", 25)}) {
		t.Error("there is no further page")
	}
	if posts.Add([]provider.Post{post("a", 20), post("b", 25)}) {
		t.Error("a page that repeats the one before leads on")
	}
	if posts.Add([]provider.Post{post("c", 10), post("d", 9)}) || posts.IsTruncated() {
		t.Error("it goes on after the time that is wanted")
	}
	if got := ids(posts.NewestFirst()); got != "b a c unknown" {
		t.Error(got)
	}
	if !posts.IsFull() || posts.Add([]provider.Post{post("e", 19)}) || !posts.IsTruncated() || len(posts.All()) != 4 {
		t.Error("there are more than are wanted")
	}
	if posts.Add(nil) {
		t.Error("nothing leads on")
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/answer", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.UserAgent()) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/answer", http.StatusFound)
	})
	mux.HandleFunc("/cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewServer(mux)
	defer server.Close()
	client := NewClient(nil, nil)
	ask := func(path string, most int64) (Response, error) {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path+"?access_token=secret",
			http.NoBody))(t)
		return Send(client, request, most)
	}
	if answer, err := ask("/answer", 9); err != nil || string(answer.Body) != "pressroom" {
		t.Errorf("%s, %v", answer.Body, err)
	}
	if answer, err := ask("/moved", 100); err != nil || answer.Status != http.StatusFound {
		t.Errorf("a redirect was followed: %d, %v", answer.Status, err)
	}
	for path, most := range map[string]int64{"/answer": 8, "/cut": 9} {
		_, err := ask(path, most)
		if _, ok := errors.AsType[*provider.UnavailableError](err); !ok || strings.Contains(err.Error(), "secret") ||
			strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// FuzzRead checks that invalid JSON is rejected, and that a member of a wrong type does not affect others.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"count":1,"text":"a"}`))
	f.Add([]byte(`{"text":7,"count":1e3}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var said struct {
			Count Count  `json:"count"`
			Text  string `json:"text"`
		}
		if Decode(text, &said) != json.Valid(text) {
			t.Errorf("%q", text)
		}
		if c := said.Count.Value(); c != nil && (*c < 0 || *c >= maxCount) {
			t.Error(*c)
		}
	})
}
