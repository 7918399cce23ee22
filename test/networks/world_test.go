// Package networks publishes to every network through the whole program, over loopback, and counts what they hold.
package networks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/sandbox"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// The people whose accounts the team has on every network. What costs an account its connection is tried with the
// second one.
const (
	usual      = "harbour.coffee"
	expendable = "mira.keller"
)

// lease is longer than the steps in which the clock is moved on, so that nobody loses a delivery by them.
const lease = 30 * time.Second

// clock runs as the real one does, and can be moved on.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// after fires once so much time has passed by this clock.
func (c *clock) after(d time.Duration) <-chan time.Time {
	at, fired := c.now().Add(d), make(chan time.Time, 1)
	go func() {
		for c.now().Before(at) {
			<-time.After(pollEvery)
		}
		fired <- at
	}()
	return fired
}

// world is a program with its database, the sandbox networks, and a team with two accounts on each.
type world struct {
	t        testing.TB
	clock    clock
	cfg      server.Config
	looks    *db.DB // a second look into the database
	box      *sandbox.Server
	front    *httptest.Server // before it
	wire     *wire
	node     *node
	team     int64
	owner    int64
	key      string
	networks []string
	accounts map[string]map[string]int64 // by platform and person
	images   []int64
	video    int64
}

func newWorld(tb testing.TB, database string) *world {
	tb.Helper()
	return newWorldAs(tb, database, server.RoleAll, 300*time.Millisecond)
}

// newWorldAs is newWorld with a program of one role, and networks that work for so long on what they are given.
func newWorldAs(tb testing.TB, database string, role server.Role, ready time.Duration) *world {
	tb.Helper()
	w := &world{t: tb, accounts: map[string]map[string]int64{}}
	dir := filepath.Dir(strings.TrimPrefix(testkit.SQLite(tb), "sqlite:"))
	box, err := sandbox.Open(dir, sandbox.Options{Now: w.clock.now, After: w.clock.after, Ready: ready})
	must(tb, err)
	w.box, w.wire = box, &wire{networks: box.Handler()}
	w.front = httptest.NewServer(w.wire)
	tb.Cleanup(func() {
		w.wire.release()
		w.front.Close()
		must(tb, box.Close())
	})
	sealing, err := tokencrypt.NewKey()
	must(tb, err)
	offered := plan.Default().ScaleRates(1000)
	offered.Limits.JobsInFlight = 10_000
	w.cfg = server.Config{
		Version: "test", Database: database, Blobs: testkit.Blobs(tb), SealingKey: sealing, Role: role, Workers: 16, Lease: lease,
		Now: w.clock.now, Terms: &offered, Log: slog.New(slog.DiscardHandler),
		BlueskyServers: []string{w.front.URL + "/bluesky"}, Networks: hurried(server.SandboxNetworks(w.front.URL)),
	}
	w.node = w.start()
	w.looks = testkit.Open(tb, database, nil)
	tb.Cleanup(func() { must(tb, w.node.stop()) })
	w.furnish()
	return w
}

// hurried lets calls be cut off early, so that a network that takes long is met with.
func hurried(s server.NetworkSettings) server.NetworkSettings {
	for platform, raw := range s.Of {
		s.Of[platform] = json.RawMessage(strings.Replace(string(raw), "{", `{"timeout": "2s", `, 1))
	}
	return s
}

// node is one running program.
type node struct {
	*server.Server

	base  string
	stop  func() error
	abort context.CancelFunc
}

// start starts a program on the world's database.
func (w *world) start() *node {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(w.t, err)
	cfg := w.cfg
	cfg.PublicURL = "http://" + listener.Addr().String()
	s, err := server.Open(context.Background(), cfg)
	must(w.t, err)
	ctx, abort := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	return &node{s, cfg.PublicURL + "/api/v1", func() error { abort(); return errors.Join(<-ended, s.Close()) }, abort}
}

// kill takes the program's database away in the middle of what it does, so that nothing it still learns is kept, and
// starts another one.
func (w *world) kill() {
	w.t.Helper()
	dead := w.node
	_ = dead.Close()
	w.wire.release()
	go func() { _ = dead.stop() }() // whatever it says: it is dead
	w.node = w.start()
}

// furnish makes the team, its accounts and its media.
func (w *world) furnish() {
	w.t.Helper()
	ctx := w.t.Context()
	owner, err := w.node.Teams.AddPerson(ctx, "Ada Okafor", "ada@harbour.example", "")
	must(w.t, err)
	made, err := w.node.Teams.AddTeam(ctx,
		team.Team{Name: "Harbour Coffee", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, owner.ID)
	must(w.t, err)
	w.team, w.owner = made.ID, owner.ID
	_, w.key, err = w.node.Teams.AddKey(ctx, team.NewKey{Team: made.ID, Name: "test", Level: access.Full})
	must(w.t, err)
	w.networks = w.node.Accounts.Platforms()
	for _, platform := range w.networks {
		w.accounts[platform] = map[string]int64{}
		for _, person := range []string{usual, expendable} {
			w.accounts[platform][person] = w.connect(platform, person, url.Values{"platform": {platform}})
		}
	}
	for n := range 3 {
		w.images = append(w.images, w.upload(fmt.Sprintf("picture %d.jpg", n), picture(w.t, uint8(60*n))))
	}
	clip, err := os.ReadFile("testdata/clip.mp4")
	must(w.t, err)
	w.video = w.upload("clip.mp4", clip)
}

func picture(tb testing.TB, shade uint8) []byte {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1080, 1080))
	for x := range 1080 {
		for y := range 1080 {
			img.SetRGBA(x, y, color.RGBA{shade, uint8(x / 8), uint8(y / 8), 255})
		}
	}
	var out bytes.Buffer
	must(tb, jpeg.Encode(&out, img, nil))
	return out.Bytes()
}

func (w *world) upload(name string, raw []byte) int64 {
	w.t.Helper()
	arrived, err := w.node.Media.Add(w.t.Context(), media.Owner{TeamID: w.team}, media.Incoming{Name: name, Body: bytes.NewReader(raw)})
	must(w.t, err)
	return arrived.MediaID
}

// which of several accounts is connected, where it is not the first: at LinkedIn a company, whose posts can be read.
var which = map[string]int{"linkedin": 1}

// connect connects a person's account as a person does: by the link of the API, the network's consent page and back.
func (w *world) connect(platform, person string, asked url.Values) int64 {
	w.t.Helper()
	ctx := w.t.Context()
	if platform == "bluesky" {
		return w.connectBluesky(strings.ReplaceAll(person, ".", "-") + ".test")
	}
	link, _ := w.get("/connect-link?" + asked.Encode())["url"].(string)
	token := link[strings.LastIndex(link, "/")+1:]
	offer, err := w.node.Connector.Offer(ctx, w.owner, token)
	must(w.t, err)
	consent, err := w.node.Connector.Begin(ctx, w.owner, token, offer.Ways[0].Kind)
	must(w.t, err)
	answer, err := sandbox.Allow(ctx, consent, person)
	must(w.t, err)
	out, err := w.node.Connector.Return(ctx, w.owner,
		account.Returned{Platform: platform, State: answer.Get("state"), Code: answer.Get("code"), Error: answer.Get("error")})
	if err == nil && out.Choice != 0 {
		out.Account, err = w.node.Connector.Choose(ctx, w.owner, out.Choice, which[platform])
	}
	if err != nil {
		w.t.Fatalf("connecting %s on %s: %v (%v)", person, platform, err, errors.Unwrap(err))
	}
	return out.Account.ID
}

func (w *world) connectBluesky(handle string) int64 {
	w.t.Helper()
	must(w.t, w.box.EnsureBlueskyAccount(handle, handle, "open-sesame-1234"))
	a, err := w.node.Accounts.Connect(w.t.Context(), w.team, "bluesky",
		network.Credentials{Server: w.front.URL + "/bluesky", Identifier: handle, Password: "open-sesame-1234"})
	must(w.t, err)
	return a.ID
}

// answer is what the API says: the members of data, or a problem's.
type answer struct {
	status int
	data   map[string]any
	code   string
}

// call calls the API.
func (w *world) call(method, path string, body any) answer {
	w.t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		must(w.t, err)
		in = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.node.base+path, in)
	must(w.t, err)
	request.Header.Set("Authorization", "Bearer "+w.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(w.t, err)
	defer response.Body.Close()
	var out struct {
		Data map[string]any
		Code string
	}
	must(w.t, json.NewDecoder(response.Body).Decode(&out))
	return answer{response.StatusCode, out.Data, out.Code}
}

func (w *world) get(path string) map[string]any {
	w.t.Helper()
	got := w.call(http.MethodGet, path, nil)
	if got.status != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, got.status, got.code)
	}
	return got.data
}

// held is what a network holds with a text: how many posts, and how many images and videos each shows.
func (w *world) held(platform, text string) (int, []int) {
	w.t.Helper()
	response, err := http.Get(w.front.URL + "/held?" + url.Values{"platform": {platform}, "contains": {text}}.Encode())
	must(w.t, err)
	defer response.Body.Close()
	var out struct {
		Posts []struct {
			Media []any
		}
	}
	must(w.t, json.NewDecoder(response.Body).Decode(&out))
	var shown []int
	for _, p := range out.Posts {
		shown = append(shown, len(p.Media))
	}
	slices.Sort(shown)
	return len(out.Posts), shown
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
