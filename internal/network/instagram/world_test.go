package instagram_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/instagram"
	"pressroom/internal/network/networktest"
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

// newWorld opens a sandbox that works on containers for a while.
func newWorld(t *testing.T, ready time.Duration) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{}}
	w.url = networktest.Sandbox(t, w.clock, ready)
	return w
}

func (w *world) network() *instagram.Network {
	return instagram.New(w.options())
}

func (w *world) options() instagram.Options {
	return instagram.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		AuthorizeHost: w.url + "/instagram/www", TokenHost: w.url + "/instagram/api", GraphHost: w.url + "/instagram/graph",
		Facebook: instagram.Facebook{
			ClientID: "other-app", ClientSecret: "other-secret", DialogHost: w.url + "/instagram/facebook", GraphHost: w.url + "/instagram/facebook",
		},
	}
}

// wire notes the requests, and loses the answers to those of one kind.
type wire struct {
	mu   sync.Mutex
	sent []sent
	lose string // the end of a method with a path
	kept int    // answers to it that arrive before the first that is lost
}

// sent is a request that was made.
type sent struct {
	method, path string
	params       url.Values
}

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	params := r.URL.Query()
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		var buffer bytes.Buffer
		_, _ = buffer.ReadFrom(body)
		params, _ = url.ParseQuery(buffer.String())
	}
	w.mu.Lock()
	w.sent = append(w.sent, sent{r.Method, r.URL.Path, params})
	lose := w.lose != "" && strings.HasSuffix(r.Method+r.URL.Path, w.lose)
	if lose {
		w.kept--
		lose = w.kept < 0
	}
	w.mu.Unlock()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && lose {
		response.Body.Close()
		return nil, errLost
	}
	return response, err
}

// count is how many requests had this end of a method with a path.
func (w *wire) count(end string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, s := range w.sent {
		if strings.HasSuffix(s.method+s.path, end) {
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

// The ways of signing in.
var kinds = []string{"instagram", "facebook"}

// connect connects an account of the sandbox.
func (w *world) connect(kind, account string) network.Grant {
	w.t.Helper()
	a := network.Authorization{Kind: kind, State: "s", Redirect: redirect}
	found, err := w.network().Exchange(w.t.Context(), a, w.consent(a, account, "allow").Query().Get("code"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%d candidates: %v", len(found), err)
	}
	return found[0].Grant
}

// harbour is an account that is connected.
func (w *world) harbour() network.Grant {
	w.t.Helper()
	return w.connect("instagram", "harbour.coffee")
}

// held is what the sandbox holds of Instagram.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "instagram")
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

// prepared is a publication of text under an image that is ready.
func (w *world) prepared(g network.Grant, l *library, text string) network.Draft {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, l.jpeg(w.t, 40, 40)), l)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// library gives out files over HTTP.
type library struct {
	url   string
	mu    sync.Mutex
	files map[string][]byte
	asked []network.Fit
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

func (l *library) path(id int64) string { return "/" + strconv.FormatInt(id, 10) }

func (l *library) Link(_ context.Context, id int64, fit network.Fit, _ time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	return l.url + l.path(id), nil
}

func (l *library) Open(context.Context, int64, network.Fit) (network.File, error) {
	return network.File{}, errors.New("nothing is opened for Instagram")
}

func picture(width, height int) *image.RGBA {
	drawn := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		drawn.Set(x, x%height, color.RGBA{uint8(width), uint8(x), 0, 255})
	}
	return drawn
}

func (l *library) jpeg(t *testing.T, width, height int) network.Media {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, picture(width, height), nil); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/jpeg", Width: width, Height: height, Alt: "dots"}, file.Bytes())
}

// mp4 is no more of a film than the sandbox looks at.
func (l *library) mp4() network.Media {
	file := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), 5000)...)
	return l.add(network.Media{Kind: network.Video, Type: "video/mp4", Duration: time.Minute}, file)
}
