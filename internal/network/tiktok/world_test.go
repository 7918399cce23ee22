package tiktok_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/tiktok"
	"pressroom/internal/testkit"
)

const (
	redirect = "https://pressroom.test/connect/back"
	settled  = 10 * time.Minute
	chunk    = 5_000_000
)

var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// world is a sandbox with its own clock, and what is sent to it.
type world struct {
	t     *testing.T
	clock *testkit.Clock
	url   string
	wire  *wire
}

// newWorld opens a sandbox that works on posts for a while.
func newWorld(t *testing.T, ready time.Duration) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{}}
	w.url = networktest.Sandbox(t, w.clock, ready)
	return w
}

func (w *world) network() *tiktok.Network {
	return tiktok.New(tiktok.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Settled: network.Span(settled), Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		Business:      tiktok.Client{ClientID: "business-app", ClientSecret: "business-secret"},
		AuthorizeHost: w.url + "/tiktok", APIHost: w.url + "/tiktok", WebHost: w.url + "/tiktok/web",
		ChunkBytes: chunk,
	})
}

// wire notes the requests, and loses the answer to one of them.
type wire struct {
	mu   sync.Mutex
	sent []string // method and path, and what a part is of a file
	lose string   // what such a note ends with
}

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	note := strings.TrimSpace(r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Range"))
	w.mu.Lock()
	w.sent = append(w.sent, note)
	lose := w.lose != "" && strings.HasSuffix(note, w.lose)
	if lose {
		w.lose = ""
	}
	w.mu.Unlock()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && lose {
		response.Body.Close()
		return nil, errLost
	}
	return response, err
}

func (w *wire) count(end string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, note := range w.sent {
		if strings.HasSuffix(note, end) {
			found++
		}
	}
	return found
}

// consent answers the consent page as a person who has decided: where the browser is sent then.
func (w *world) consent(a network.Authorization, account, decision string) *url.URL {
	w.t.Helper()
	return networktest.Consent(w.t, w.network().Authorize(a), account, decision)
}

// connect connects an account of the sandbox.
func (w *world) connect(account string) network.Grant {
	w.t.Helper()
	a := network.Authorization{State: "s", Redirect: redirect}
	found, err := w.network().Exchange(w.t.Context(), a, w.consent(a, account, "allow").Query().Get("code"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%d candidates: %v", len(found), err)
	}
	return found[0].Grant
}

// held is what the sandbox holds of TikTok.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "tiktok")
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

// prepare calls Prepare as often as it asks for, moving the clock: each draft that it gave.
func (w *world) prepare(g network.Grant, d network.Draft, files network.Files) ([]network.Draft, error) {
	w.t.Helper()
	kept := []network.Draft{d}
	for range 50 {
		next, wait, err := w.network().Prepare(w.t.Context(), g, kept[len(kept)-1], files)
		if err != nil {
			return kept, err
		}
		kept = append(kept, next)
		if wait == 0 {
			return kept, nil
		}
		w.clock.Advance(wait)
	}
	w.t.Fatal("never ready")
	return nil, nil
}

// prepared is a publication that is ready.
func (w *world) prepared(g network.Grant, files network.Files, text string, media ...network.Media) network.Draft {
	w.t.Helper()
	kept, err := w.prepare(g, w.plan(text, media...), files)
	if err != nil {
		w.t.Fatal(err)
	}
	return kept[len(kept)-1]
}

// resolve asks until the network has decided, moving the clock.
func (w *world) resolve(g network.Grant, d network.Draft) (network.Verdict, network.Receipt, error) {
	w.t.Helper()
	tried := network.Tried{First: w.clock.Now(), Last: w.clock.Now()}
	for range 200 {
		verdict, receipt, err := w.network().Resolve(w.t.Context(), g, d, tried)
		if networktest.Class(err) != network.Processing {
			return verdict, receipt, err
		}
		said, _ := errors.AsType[*network.Error](err)
		if verdict != network.Unknown || !said.After.After(w.clock.Now()) {
			w.t.Fatalf("verdict %v, not before %v", verdict, said.After)
		}
		w.clock.Advance(said.After.Sub(w.clock.Now()))
	}
	w.t.Fatal("never decided")
	return 0, network.Receipt{}, nil
}

// wantStands checks that a publication is found, and held once.
func (w *world) wantStands(g network.Grant, d network.Draft) {
	w.t.Helper()
	verdict, receipt, err := w.resolve(g, d)
	if err != nil || verdict != network.Stands {
		w.t.Fatalf("verdict %v, %v", verdict, err)
	}
	if held := w.held(); len(held) != 1 || receipt.ID != held[0].ID && !strings.HasPrefix(receipt.ID, "publish:") {
		w.t.Errorf("held %+v, receipt %+v", held, receipt)
	}
}

// library gives out files, over HTTP and opened.
type library struct {
	url   string
	mu    sync.Mutex
	files map[string][]byte
	asked []network.Fit
	made  int       // links
	until time.Time // when the last one ends
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{files: map[string][]byte{}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		file, known := l.files[r.URL.Path]
		l.mu.Unlock()
		if !known {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(file)
	}))
	t.Cleanup(front.Close)
	l.url = front.URL
	return l
}

// add puts a file on the shelf.
func (l *library) add(m network.Media, file []byte) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ID, m.Size = int64(len(l.files)+1), int64(len(file))
	l.files[l.path(m.ID)] = file
	return m
}

func (l *library) remove(m network.Media) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, l.path(m.ID))
}

func (l *library) bytes(m network.Media) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[l.path(m.ID)]
}

func (l *library) path(id int64) string { return "/" + strconv.FormatInt(id, 10) }

// Link converts a PNG where the network takes none.
func (l *library) Link(_ context.Context, id int64, fit network.Fit, until time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.until = append(l.asked, fit), until
	l.made++
	if shown, err := png.Decode(bytes.NewReader(l.files[l.path(id)])); err == nil && !slices.Contains(fit.Types, "image/png") {
		var file bytes.Buffer
		_ = jpeg.Encode(&file, shown, nil)
		l.files[l.path(id)] = file.Bytes()
	}
	return l.url + l.path(id) + "?link=" + strconv.Itoa(l.made), nil
}

func (l *library) Open(_ context.Context, id int64, fit network.Fit) (network.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	file, known := l.files[l.path(id)]
	if !known {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "MediaGone"}
	}
	return network.File{ReadCloser: io.NopCloser(bytes.NewReader(file)), Type: "video/mp4", Size: int64(len(file))}, nil
}

func picture(width, height int) *image.RGBA {
	drawn := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		drawn.Set(x, x%height, color.RGBA{uint8(width), uint8(x), 0, 255})
	}
	return drawn
}

func (l *library) png(t *testing.T, width, height int) network.Media {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, picture(width, height)); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/png", Alt: "dots"}, file.Bytes())
}

func (l *library) jpeg(t *testing.T, width, height int) network.Media {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, picture(width, height), nil); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/jpeg"}, file.Bytes())
}

// mp4 is no more of a film than the sandbox looks at.
func (l *library) mp4(size int) network.Media {
	file := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), size/4)...)
	return l.add(network.Media{Kind: network.Video, Type: "video/mp4", Duration: time.Minute}, file[:size])
}

const (
	small = 20_000
	large = 3*chunk + 1_000_000 // of three parts
)
