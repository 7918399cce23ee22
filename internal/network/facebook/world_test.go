package facebook_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
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

// newWorld opens a sandbox that works on videos for a while.
func newWorld(t *testing.T, work time.Duration) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), wire: &wire{}}
	w.url = networktest.Sandbox(t, w.clock, work)
	return w
}

func (w *world) network() *facebook.Network {
	return facebook.New(facebook.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret"},
		AuthorizeHost: w.url + "/facebook/www", GraphHost: w.url + "/facebook/graph", VideoHost: w.url + "/facebook/video",
	})
}

// wire notes the requests and the answers, and loses some of those.
type wire struct {
	mu   sync.Mutex
	sent []sent
	lose func(sent) bool
}

// sent is a request that was made, and what came back.
type sent struct {
	method, path string
	params       url.Values
	answer       []byte
}

var errLost = errors.New("the answer was lost")

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	params, err := parameters(r)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	w.mu.Lock()
	defer w.mu.Unlock()
	s := sent{r.Method, r.URL.Path, params, answer}
	w.sent = append(w.sent, s)
	if w.lose != nil && w.lose(s) {
		return nil, errLost
	}
	return response, nil
}

// parameters are those of the query, or of a form; of a file its size.
func parameters(r *http.Request) (url.Values, error) {
	if r.Body == nil {
		return r.URL.Query(), nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || options["boundary"] == "" {
		params, err := url.ParseQuery(string(body))
		return params, err
	}
	form, err := multipart.NewReader(bytes.NewReader(body), options["boundary"]).ReadForm(1 << 22)
	if err != nil {
		return nil, err
	}
	params := url.Values(form.Value)
	for name, files := range form.File {
		params.Set(name, strconv.FormatInt(files[0].Size, 10))
	}
	return params, nil
}

// find are the requests to what ends so.
func (w *wire) find(path string) []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []sent
	for _, s := range w.sent {
		if strings.HasSuffix(s.path, path) {
			found = append(found, s)
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

// held is what the sandbox holds of Facebook.
func (w *world) held() []networktest.Post {
	w.t.Helper()
	return networktest.Held(w.t, w.url, "facebook")
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

// prepared is a publication that is ready.
func (w *world) prepared(g network.Grant, files network.Files, text string, media ...network.Media) network.Draft {
	w.t.Helper()
	d, wait, err := w.network().Prepare(w.t.Context(), g, w.plan(text, media...), files)
	if err != nil || wait != 0 {
		w.t.Fatalf("wait %v, %v", wait, err)
	}
	return d
}

// publish commits, and asks as long as the network works: the receipt.
func (w *world) publish(g network.Grant, d network.Draft) network.Receipt {
	w.t.Helper()
	receipt, err := w.network().Commit(w.t.Context(), g, d, nil)
	for networktest.Class(err) == network.Processing {
		w.clock.Advance(5 * time.Second)
		_, receipt, err = w.network().Resolve(w.t.Context(), g, d, network.Tried{First: start, Last: w.clock.Now()})
	}
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
	isVideo := !strings.Contains(receipt.ID, "_") // which does not tell when it was shown
	if len(held) != 1 || receipt.ID != held[0].ID || receipt.Permalink == "" || receipt.At.IsZero() != isVideo {
		w.t.Errorf("held %+v, receipt %+v", held, receipt)
	}
}

// library gives out files, over HTTP and opened.
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
		if file, known := l.file(r.URL.Path); known {
			_, _ = w.Write(file)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(front.Close)
	l.url = front.URL
	return l
}

func path(id int64) string { return "/" + strconv.FormatInt(id, 10) }

func (l *library) file(path string) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, known := l.files[path]
	return file, known
}

// add puts a file on the shelf.
func (l *library) add(m network.Media, file []byte) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ID, m.Size = int64(len(l.files)+1), int64(len(file))
	l.files[path(m.ID)] = file
	return m
}

func (l *library) remove(m network.Media) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, path(m.ID))
}

func (l *library) Link(_ context.Context, id int64, fit network.Fit, _ time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	return l.url + path(id), nil
}

func (l *library) Open(_ context.Context, id int64, fit network.Fit) (network.File, error) {
	file, known := l.file(path(id))
	if !known {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "MediaGone"}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fit)
	return network.File{ReadCloser: io.NopCloser(bytes.NewReader(file)), Type: "video/mp4", Size: int64(len(file))}, nil
}

func picture(width, height int) *image.Paletted {
	drawn := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	for x := range width {
		drawn.SetColorIndex(x, x%height, 1)
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

func (l *library) gif(t *testing.T) network.Media {
	t.Helper()
	var file bytes.Buffer
	if err := gif.Encode(&file, picture(8, 9), nil); err != nil {
		t.Fatal(err)
	}
	return l.add(network.Media{Kind: network.Image, Type: "image/gif"}, file.Bytes())
}

// mp4 is no more of a film than the sandbox looks at, and of more than one chunk.
func (l *library) mp4() network.Media {
	film := strings.Repeat("another frame of the film ", 100_000)
	return l.add(network.Media{Kind: network.Video, Type: "video/mp4", Duration: time.Minute}, []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"+film))
}
