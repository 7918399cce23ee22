package youtube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
	"pressroom/internal/testkit"
)

const (
	redirect = "https://pressroom.test/connect/back"
	verifier = "a-verifier-of-PKCE-that-is-long-enough-for-its-standard"
	chunk    = 256 << 10
	session  = "/youtube/upload/youtube/v3/videos"
)

var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// world is a sandbox with its own clock, and what is sent to it.
type world struct {
	t     *testing.T
	clock *testkit.Clock
	url   string
	wire  *wire
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{t: t}}
	w.url = networktest.Sandbox(t, w.clock, 0)
	return w
}

func (w *world) network() *youtube.Network {
	base := w.url + "/youtube"
	return youtube.New(youtube.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		AuthorizeHost: base, TokenHost: base, APIHost: base, WebURL: base + "/web", ChunkBytes: chunk,
	})
}

// wire notes the requests, checks them and their answers, and loses what it is told to.
type wire struct {
	t    *testing.T
	mu   sync.Mutex
	sent []sent
	lose func(number int, s sent) bool // the answer
	drop func(number int, s sent) bool // the request
}

// sent is a request that was made.
type sent struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// part is the Content-Range of what is sent to a session.
func (s sent) part() string { return s.header.Get("Content-Range") }

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	s := sent{method: r.Method, path: r.URL.Path, query: r.URL.Query(), header: r.Header}
	if r.Body != nil {
		s.body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(s.body))
	}
	checkRequest(w.t, s)
	w.mu.Lock()
	number := len(w.sent)
	w.sent = append(w.sent, s)
	lose, drop := w.lose != nil && w.lose(number, s), w.drop != nil && w.drop(number, s)
	w.mu.Unlock()
	if drop {
		return nil, errLost
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || lose {
		return nil, errLost
	}
	checkAnswer(w.t, s, response.StatusCode, body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// count is how many requests of a method went to a path.
func (w *wire) count(method, path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, s := range w.sent {
		if s.path == path && s.method == method {
			found++
		}
	}
	return found
}

// last tells the last part of a file.
func last(_ int, s sent) bool {
	between, total, _ := strings.Cut(strings.TrimPrefix(s.part(), "bytes "), "/")
	_, end, found := strings.Cut(between, "-")
	var at, all int
	_, _ = json.Unmarshal([]byte(end), &at), json.Unmarshal([]byte(total), &all)
	return found && at == all-1
}

// consent answers the consent page as a person who has decided: where the browser is sent then.
func (w *world) consent(a network.Authorization, account, decision string) *url.URL {
	w.t.Helper()
	return networktest.Consent(w.t, w.network().Authorize(a), account, decision)
}

// connect connects a channel of the sandbox.
func (w *world) connect(account string) network.Grant {
	w.t.Helper()
	a := network.Authorization{State: "s", Redirect: redirect, Verifier: verifier}
	found, err := w.network().Exchange(w.t.Context(), a, w.consent(a, account, "allow").Query().Get("code"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%d candidates: %v", len(found), err)
	}
	return found[0].Grant
}

// held is what the sandbox holds of YouTube.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "youtube")
}

func (w *world) wantHeld(count int) {
	w.t.Helper()
	if held := w.held(); len(held) != count {
		w.t.Errorf("held: %+v, want %d", held, count)
	}
}

func (w *world) plan(text string, media ...network.Media) network.Draft {
	w.t.Helper()
	d, err := w.network().Plan(network.Intent{Seed: "post-1:1", First: start, At: start, Content: network.Content{Text: text, Media: media}})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// prepare calls Prepare as often as it asks for, moving the clock.
func (w *world) prepare(g network.Grant, d network.Draft, files network.Files) (network.Draft, error) {
	w.t.Helper()
	return networktest.Prepare(w.t, w.clock, w.network(), g, d, files)
}

// prepared is a video with a text that is ready.
func (w *world) prepared(g network.Grant, text string, l *library) network.Draft {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, l.film(3*chunk/2)), l)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// commit commits what has to succeed.
func (w *world) commit(g network.Grant, d network.Draft, l *library) network.Receipt {
	w.t.Helper()
	receipt, err := w.network().Commit(w.t.Context(), g, d, l)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

// wantStands checks that a publication is found, whole, and published once.
func (w *world) wantStands(g network.Grant, d network.Draft) {
	w.t.Helper()
	verdict, receipt, err := w.network().Resolve(w.t.Context(), g, d, network.Tried{First: start, Last: w.clock.Now()})
	if err != nil || verdict != network.Stands {
		w.t.Fatalf("verdict %v, %v", verdict, err)
	}
	held := w.held()
	if len(held) != 1 || receipt.ID != held[0].ID || receipt.Permalink != w.url+"/youtube/web/watch?v="+receipt.ID || receipt.At.IsZero() {
		w.t.Errorf("held %+v, receipt %+v", held, receipt)
	}
}

// library gives out files.
type library struct {
	mu       sync.Mutex
	files    map[int64][]byte
	seekable bool
	asked    []network.Fit
}

func newLibrary() *library { return &library{files: map[int64][]byte{}} }

// film is no more of one than the sandbox looks at.
func (l *library) film(size int) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom")
	for i := 0; len(file) < size; i++ {
		file = append(file, byte(i), byte(i>>8), byte(i>>16), 'f')
	}
	m := network.Media{ID: int64(len(l.files) + 1), Name: "film.mp4", Kind: network.Video, Type: "video/mp4", Size: int64(size), Duration: time.Minute}
	l.files[m.ID] = file[:size]
	return m
}

func (l *library) Link(context.Context, int64, network.Fit, time.Time) (string, error) {
	return "", errors.New("YouTube fetches nothing")
}

// seekable keeps Seek.
type seekable struct{ io.ReadSeeker }

func (seekable) Close() error { return nil }

func (l *library) Open(_ context.Context, id int64, fit network.Fit) (network.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	file, known := l.files[id]
	if !known {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "MediaGone"}
	}
	opened := network.File{ReadCloser: io.NopCloser(struct{ io.Reader }{bytes.NewReader(file)}), Type: "video/mp4", Size: int64(len(file))}
	if l.seekable {
		opened.ReadCloser = seekable{bytes.NewReader(file)}
	}
	return opened, nil
}
