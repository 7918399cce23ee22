package linkedin_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
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
	opts  linkedin.Options
}

// newWorld opens a sandbox that works on media for a while.
func newWorld(t *testing.T, ready time.Duration) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{}}
	w.url = networktest.Sandbox(t, w.clock, ready)
	w.opts = linkedin.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		AuthorizeHost: w.url + "/linkedin", APIHost: w.url + "/linkedin", WebURL: w.url + "/linkedin/web",
	}
	return w
}

func (w *world) network() *linkedin.Network { return linkedin.New(w.opts) }

// asMembers is the world of an app that was not approved for organisations.
func (w *world) asMembers() *world {
	w.opts.Organizations = new(false)
	return w
}

// wire notes the requests, and loses the answers to some.
type wire struct {
	mu   sync.Mutex
	sent []string
	lose string // a part of the method, the path and the query of those whose answer is lost
}

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	said := r.Method + " " + r.URL.RequestURI()
	w.mu.Lock()
	w.sent = append(w.sent, said)
	lose := w.lose != "" && strings.Contains(said, w.lose)
	w.mu.Unlock()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && lose {
		response.Body.Close()
		return nil, errLost
	}
	return response, err
}

func (w *wire) losing(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = part
}

// count is how many requests had this part.
func (w *wire) count(part string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, s := range w.sent {
		if strings.Contains(s, part) {
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

// candidates are the accounts that a person's consent opens.
func (w *world) candidates(account string) []network.Candidate {
	w.t.Helper()
	a := network.Authorization{State: "s", Redirect: redirect}
	found, err := w.network().Exchange(w.t.Context(), a, w.consent(a, account, "allow").Query().Get("code"))
	if err != nil || len(found) == 0 {
		w.t.Fatalf("%d candidates: %v", len(found), err)
	}
	return found
}

// connect connects a member of the sandbox.
func (w *world) connect(account string) network.Grant {
	w.t.Helper()
	return w.candidates(account)[0].Grant
}

// connectOrganization connects the organisation that a member administers.
func (w *world) connectOrganization(account string) network.Grant {
	w.t.Helper()
	found := w.candidates(account)
	if len(found) != 2 {
		w.t.Fatalf("candidates: %+v", found)
	}
	return found[1].Grant
}

// held is what the sandbox holds of LinkedIn.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "linkedin")
}

func (w *world) wantHeld(count int) {
	w.t.Helper()
	if held := w.held(); len(held) != count {
		w.t.Errorf("held: %+v, want %d", held, count)
	}
}

func (w *world) plan(text string, media ...network.Media) network.Draft {
	w.t.Helper()
	now := w.clock.Now()
	d, err := w.network().Plan(network.Intent{Seed: "post-1:1", First: now, At: now, Content: network.Content{Text: text, Media: media}})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// prepare calls Prepare as often as it asks for, moving the clock. Every Draft that is kept on the way comes to
// the same when a process begins anew with it.
func (w *world) prepare(g network.Grant, d network.Draft, files network.Files) (network.Draft, error) {
	w.t.Helper()
	return networktest.Prepare(w.t, w.clock, w.network(), g, d, files)
}

// prepared is a publication that is ready.
func (w *world) prepared(g network.Grant, text string) network.Draft {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// commit commits a publication, and notes when.
func (w *world) commit(g network.Grant, d network.Draft) (network.Tried, error) {
	now := w.clock.Now()
	_, err := w.network().Commit(w.t.Context(), g, d, nil)
	return network.Tried{First: now, Last: now}, err
}

// library gives out files.
type library struct {
	mu    sync.Mutex
	files map[int64]network.Media
	bytes map[int64][]byte
	asked []network.Fit
}

func newLibrary() *library {
	return &library{files: map[int64]network.Media{}, bytes: map[int64][]byte{}}
}

// add puts a file on the shelf.
func (l *library) add(m network.Media, file []byte) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ID, m.Size = int64(len(l.files)+1), int64(len(file))
	l.files[m.ID], l.bytes[m.ID] = m, file
	if m.Kind == network.Video {
		m.Size = max(m.Size, 75_000) // as it is described: the network takes no smaller ones
	}
	return m
}

func (l *library) Link(context.Context, int64, network.Fit, time.Time) (string, error) {
	return "", errors.New("LinkedIn fetches nothing")
}

func (l *library) Open(_ context.Context, id int64, fit network.Fit) (network.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	m, known := l.files[id]
	if !known {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "media_gone"}
	}
	return network.File{ReadCloser: io.NopCloser(bytes.NewReader(l.bytes[id])), Type: m.Type, Size: m.Size}, nil
}

func picture(width, height int) *image.Paletted {
	drawn := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	for x := range width {
		drawn.SetColorIndex(x, x%height, 1)
	}
	return drawn
}

// image draws an image of a type, such as "png".
func (l *library) image(t *testing.T, format string, width, height int) network.Media {
	t.Helper()
	var file bytes.Buffer
	write := map[string]func() error{
		"png":  func() error { return png.Encode(&file, picture(width, height)) },
		"jpeg": func() error { return jpeg.Encode(&file, picture(width, height), nil) },
		"gif":  func() error { return gif.Encode(&file, picture(width, height), nil) },
	}[format]
	if err := write(); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/" + format, Width: width, Height: height, Alt: "dots"}, file.Bytes())
}

// mp4 is no more of a film than the sandbox looks at.
func (l *library) mp4(size int) network.Media {
	file := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), size/4)...)
	for i := range size / 1000 {
		file[1000*i+100] = byte(i) // so that no two parts are the same
	}
	return l.add(network.Media{Kind: network.Video, Type: "video/mp4", Duration: time.Minute}, file)
}
