package pinterest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/pinterest"
	"pressroom/internal/testkit"
)

const redirect = "https://pressroom.test/connect/back"

var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// world is a sandbox with its own clock, and what is sent to it.
type world struct {
	t     *testing.T
	clock *testkit.Clock
	url   string
	wire  *wire
}

// newWorld opens a sandbox that works on videos for a while.
func newWorld(t *testing.T, ready time.Duration) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{}}
	w.url = networktest.Sandbox(t, w.clock, ready)
	return w
}

func (w *world) network() *pinterest.Network {
	return pinterest.New(pinterest.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		AuthorizeHost: w.url + "/pinterest", APIHost: w.url + "/pinterest", WebURL: w.url + "/pinterest/web",
	})
}

// wire notes the paths of requests, and loses the answers to those of one path.
type wire struct {
	mu   sync.Mutex
	sent []string
	lose string // the end of a path
	look func(*http.Request, *http.Response)
}

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.sent = append(w.sent, r.URL.Path)
	lose := w.lose != "" && strings.HasSuffix(r.URL.Path, w.lose)
	w.mu.Unlock()
	if w.look != nil {
		body := replay(&r.Body)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.look(r, response)
		}
		return response, err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && lose {
		response.Body.Close()
		return nil, errLost
	}
	return response, err
}

// replay reads a body and leaves it as it was.
func replay(body *io.ReadCloser) []byte {
	if *body == nil {
		return nil
	}
	read, _ := io.ReadAll(*body) // it is in memory
	*body = io.NopCloser(bytes.NewReader(read))
	return read
}

// count is how many requests there were whose path ends so.
func (w *wire) count(end string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, path := range w.sent {
		if strings.HasSuffix(path, end) {
			found++
		}
	}
	return found
}

// authorization is one that a person may answer.
func authorization() network.Authorization {
	return network.Authorization{State: "s", Redirect: redirect}
}

// consent answers the consent page as a person who has decided: where the browser is sent then.
func (w *world) consent(a network.Authorization, account, decision string) *url.URL {
	w.t.Helper()
	return networktest.Consent(w.t, w.network().Authorize(a), account, decision)
}

// connect connects a board of the sandbox.
func (w *world) connect() network.Grant {
	w.t.Helper()
	a := authorization()
	found, err := w.network().Exchange(w.t.Context(), a, w.consent(a, "harbour.coffee", "allow").Query().Get("code"))
	if err != nil || len(found) != 3 {
		w.t.Fatalf("%d candidates: %v", len(found), err)
	}
	return found[0].Grant
}

// held is what the sandbox holds of Pinterest.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "pinterest")
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

// prepared is a publication of an image that is ready.
func (w *world) prepared(g network.Grant, l *library, text string) network.Draft {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, l.png(w.t, 7)), l)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// tried is that a draft was committed just now.
func (w *world) tried() network.Tried {
	return network.Tried{First: w.clock.Now(), Last: w.clock.Now()}
}

// wantStands checks that a publication is found, and is the only one.
func (w *world) wantStands(g network.Grant, d network.Draft) {
	w.t.Helper()
	verdict, receipt, err := w.network().Resolve(w.t.Context(), g, d, w.tried())
	if err != nil || verdict != network.Stands {
		w.t.Fatalf("verdict %v, %v", verdict, err)
	}
	held := w.held()
	if len(held) != 1 || receipt.ID != held[0].ID || !strings.HasSuffix(receipt.Permalink, "/pin/"+receipt.ID+"/") {
		w.t.Errorf("held %+v, receipt %+v", held, receipt)
	}
}

// library opens files, and gives them out over HTTP.
type library struct {
	url   string
	mu    sync.Mutex
	files []shelved
	asked []network.Fit
	until []time.Time // of links
}

type shelved struct {
	media network.Media
	bytes []byte
	gone  bool
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if found, known := l.get(int64(id)); known && !found.gone {
			_, _ = w.Write(found.bytes)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(front.Close)
	l.url = front.URL
	return l
}

func (l *library) get(id int64) (shelved, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id < 1 || id > int64(len(l.files)) {
		return shelved{}, false
	}
	return l.files[id-1], true
}

// add puts a file on the shelf.
func (l *library) add(m network.Media, file []byte) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ID, m.Size = int64(len(l.files)+1), int64(len(file))
	l.files = append(l.files, shelved{media: m, bytes: file})
	return m
}

func (l *library) Link(_ context.Context, id int64, fit network.Fit, until time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.until = append(l.asked, fit), append(l.until, until)
	return fmt.Sprintf("%s/%d", l.url, id), nil
}

func (l *library) Open(_ context.Context, id int64, fit network.Fit) (network.File, error) {
	found, known := l.get(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	if !known {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "gone"}
	}
	return network.File{ReadCloser: io.NopCloser(bytes.NewReader(found.bytes)), Type: found.media.Type, Size: found.media.Size}, nil
}

func (l *library) png(t *testing.T, width int) network.Media {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, 9))); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/png", Alt: "nothing at all"}, file.Bytes())
}

// mp4 is no more of a film than the sandbox looks at.
func (l *library) mp4() network.Media {
	file := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), 60_000)...)
	return l.add(network.Media{Kind: network.Video, Type: "video/mp4", Duration: time.Minute}, file)
}
