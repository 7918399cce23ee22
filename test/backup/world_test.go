// Package backup backs a running installation up, restores it elsewhere, and counts what stands on the networks after.
package backup

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
	"path"
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
	_ "pressroom/internal/testkit/whole"
)

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

const (
	pollEvery = 30 * time.Millisecond
	within    = 2 * time.Minute // of real time, for anything that is waited for
	lease     = 30 * time.Second
)

// world is the networks, a clock and a sealing key: what an installation and the one that is restored from its backup
// have in common.
type world struct {
	t     *testing.T
	clock clock
	box   *sandbox.Server
	front *httptest.Server
	key   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	w.box, err = sandbox.Open(t.TempDir(), sandbox.Options{Now: w.clock.now, After: w.clock.after, Ready: 100 * time.Millisecond})
	must(t, err)
	w.front = httptest.NewServer(w.box.Handler())
	t.Cleanup(func() {
		w.front.Close()
		must(t, w.box.Close())
	})
	w.key, err = tokencrypt.NewKey()
	must(t, err)
	return w
}

// config is what an installation on a database and a store of files is told.
func (w *world) config(database, blobs string) server.Config {
	offered := plan.Default().ScaleRates(1000)
	offered.Limits.JobsInFlight = 10_000
	return server.Config{
		Version: "test", PublicURL: "http://press.example", Database: database, Blobs: blobs, SealingKey: w.key,
		Role: server.RoleAll, Workers: 16, Lease: lease, Now: w.clock.now, Terms: &offered,
		BlueskyServers: []string{w.front.URL + "/bluesky"}, Networks: server.SandboxNetworks(w.front.URL),
		Log: slog.New(slog.DiscardHandler), CollectEvery: 1000 * time.Hour,
	}
}

// house is a running installation.
type house struct {
	*server.Server

	w    *world
	t    *testing.T
	cfg  server.Config
	base string
	stop func()
	db   *db.DB // a second look into the database
}

// start starts an installation until the test ends, or until it is stopped.
func (w *world) start(cfg server.Config) *house {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(w.t, err)
	cfg.PublicURL = "http://" + listener.Addr().String()
	s, err := server.Open(context.Background(), cfg)
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	h := &house{Server: s, w: w, t: w.t, cfg: cfg, base: "http://" + listener.Addr().String()}
	h.db, err = db.Open(context.Background(), cfg.Database, db.Options{Now: cfg.Now})
	must(w.t, err)
	var stopped atomic.Bool
	h.stop = func() {
		if stopped.CompareAndSwap(false, true) {
			cancel()
			if err := errors.Join(<-ended, s.Close(), h.db.Close()); err != nil {
				w.t.Errorf("stopping: %v", err)
			}
		}
	}
	w.t.Cleanup(h.stop)
	return h
}

// home is a team with its key and its accounts by network.
type home struct {
	id, owner int64
	key       string
	accounts  map[string]int64
	media     map[string][]int64 // by network
}

var homes atomic.Int64

// home makes a team with an account on each of some networks.
func (h *house) home(networks ...string) *home {
	h.t.Helper()
	ctx, n := h.t.Context(), homes.Add(1)
	owner, err := h.Teams.AddPerson(ctx, "Ada Okafor", fmt.Sprintf("ada%d@harbour.example", n), "")
	must(h.t, err)
	made, err := h.Teams.AddTeam(ctx,
		team.Team{Name: fmt.Sprint("Harbour ", n), Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, owner.ID)
	must(h.t, err)
	t := &home{id: made.ID, owner: owner.ID, accounts: map[string]int64{}, media: map[string][]int64{}}
	_, t.key, err = h.Teams.AddKey(ctx, team.NewKey{Team: made.ID, Name: "test", Level: access.Full})
	must(h.t, err)
	_, err = h.Credits.Grant(ctx, made.ID, 100, fmt.Sprint("grant ", n), "")
	must(h.t, err)
	picture := h.upload(t, "picture.jpg", jpegOf(h.t, uint8(n)))
	clip, err := os.ReadFile("../networks/testdata/clip.mp4")
	must(h.t, err)
	film := h.upload(t, "clip.mp4", clip)
	for _, platform := range networks {
		t.accounts[platform] = h.connect(t, platform, n)
		t.media[platform] = []int64{picture}
		if platform == "youtube" {
			t.media[platform] = []int64{film}
		}
	}
	return t
}

func jpegOf(t *testing.T, shade uint8) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1080, 1080))
	for x := range 1080 {
		for y := range 1080 {
			img.SetRGBA(x, y, color.RGBA{shade, uint8(x / 8), uint8(y / 8), 255})
		}
	}
	var out bytes.Buffer
	must(t, jpeg.Encode(&out, img, nil))
	return out.Bytes()
}

func (h *house) upload(of *home, name string, raw []byte) int64 {
	h.t.Helper()
	arrived, err := h.Media.Add(context.Background(), media.Owner{TeamID: of.id}, media.Incoming{Name: name, Body: bytes.NewReader(raw)})
	must(h.t, err)
	if path.Ext(name) == ".jpg" {
		fitted, err := h.Media.Files(of.id).
			Open(context.Background(), arrived.MediaID, network.Fit{Types: []string{"image/jpeg"}, MaxSide: 10})
		must(h.t, err)
		must(h.t, fitted.Close())
	}
	return arrived.MediaID
}

func (h *house) connect(of *home, platform string, n int64) int64 {
	h.t.Helper()
	ctx := h.t.Context()
	if platform == "bluesky" {
		handle := fmt.Sprintf("harbour%d.test", n)
		must(h.t, h.w.box.EnsureBlueskyAccount(handle, handle, "open-sesame-1234"))
		a, err := h.Accounts.Connect(ctx, of.id, platform,
			network.Credentials{Server: h.w.front.URL + "/bluesky", Identifier: handle, Password: "open-sesame-1234"})
		must(h.t, err)
		return a.ID
	}
	link, _ := h.get(of, "/connect-link?platform="+platform)["url"].(string)
	token := link[strings.LastIndex(link, "/")+1:]
	offer, err := h.Connector.Offer(ctx, of.owner, token)
	must(h.t, err)
	consent, err := h.Connector.Begin(ctx, of.owner, token, offer.Ways[0].Kind)
	must(h.t, err)
	answer, err := sandbox.Allow(ctx, consent, "harbour.coffee")
	must(h.t, err)
	out, err := h.Connector.Return(ctx, of.owner,
		account.Returned{Platform: platform, State: answer.Get("state"), Code: answer.Get("code"), Error: answer.Get("error")})
	if err == nil && out.Choice != 0 {
		out.Account, err = h.Connector.Choose(ctx, of.owner, out.Choice, map[string]int{"linkedin": 1}[platform])
	}
	must(h.t, err)
	return out.Account.ID
}

// answer is what the API says.
type answer struct {
	status int
	code   string
	body   map[string]any
}

func (a answer) data() map[string]any {
	data, _ := a.body["data"].(map[string]any)
	return data
}

// call calls the API with a team's key.
func (h *house) call(of *home, method, path string, body any) answer {
	h.t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		must(h.t, err)
		in = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, h.base+"/api/v1"+path, in)
	must(h.t, err)
	request.Header.Set("Authorization", "Bearer "+of.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(h.t, err)
	defer response.Body.Close()
	out := answer{status: response.StatusCode}
	must(h.t, json.NewDecoder(response.Body).Decode(&out.body))
	out.code, _ = out.body["code"].(string)
	return out
}

func (h *house) get(of *home, path string) map[string]any {
	h.t.Helper()
	got := h.call(of, http.MethodGet, path, nil)
	if got.status != http.StatusOK {
		h.t.Fatalf("GET %s: %d %s", path, got.status, got.code)
	}
	return got.data()
}

// draft makes a post of one account and tells its id.
func (h *house) draft(of *home, platform, text string) string {
	h.t.Helper()
	body := map[string]any{"caption": text, "account_ids": []int64{of.accounts[platform]}}
	if files := of.media[platform]; len(files) > 0 {
		body["media_ids"] = files
	}
	made := h.call(of, http.MethodPost, "/posts", body)
	if made.status != http.StatusCreated {
		h.t.Fatalf("drafting %q: %d %v", text, made.status, made.body)
	}
	id, _ := made.data()["id"].(string)
	return id
}

// schedule makes a post of one account that goes out in some time.
func (h *house) schedule(of *home, platform, text string, in time.Duration) string {
	h.t.Helper()
	id := h.draft(of, platform, text)
	set := h.call(of, http.MethodPost, "/posts/"+id+"/schedule",
		map[string]any{"scheduled_at": h.w.clock.now().Add(in).UTC().Format(time.RFC3339Nano)})
	if set.status != http.StatusOK {
		h.t.Fatalf("scheduling %q: %d %v", text, set.status, set.body)
	}
	return id
}

// publish sends a post on its way now.
func (h *house) publish(of *home, id string) {
	h.t.Helper()
	if begun := h.call(of, http.MethodPost, "/posts/"+id+"/publish", nil); begun.status != http.StatusAccepted {
		h.t.Fatalf("publishing: %d %v", begun.status, begun.body)
	}
}

func (h *house) status(of *home, id string) string {
	h.t.Helper()
	status, _ := h.get(of, "/posts/"+id)["status"].(string)
	return status
}

// becomes waits until a post has a status. Where deliveries only wait for a later time, that comes at once.
func (h *house) becomes(of *home, id, status string) {
	h.t.Helper()
	eventually(h.t, func() bool {
		is := h.status(of, id)
		if is == status {
			return true
		}
		if is != "scheduled" && is != "processing" {
			h.t.Fatalf("the post is %s, want %s: %v", is, status, h.get(of, "/posts/"+id)["accounts"])
		}
		if is == "processing" && h.idle() {
			h.w.clock.advance(5 * time.Second)
		}
		return false
	})
}

// idle tells whether deliveries are left and nobody works on one.
func (h *house) idle() bool {
	h.t.Helper()
	var held, left int
	err := h.db.QueryRow(context.Background(),
		`SELECT COALESCE(SUM(CASE WHEN owner <> '' THEN 1 ELSE 0 END), 0), COUNT(*) FROM deliveries
		WHERE phase <> 'ended'`).Scan(&held, &left)
	must(h.t, err)
	return held == 0 && left > 0
}

// stands counts what a network holds with a text.
func (w *world) stands(platform, text string) int {
	w.t.Helper()
	response, err := http.Get(w.front.URL + "/held?" + url.Values{"platform": {platform}, "contains": {text}}.Encode())
	must(w.t, err)
	defer response.Body.Close()
	var out struct{ Posts []any }
	must(w.t, json.NewDecoder(response.Body).Decode(&out))
	return len(out.Posts)
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for begun := time.Now(); !done(); <-time.After(pollEvery) {
		if time.Since(begun) > within {
			t.Fatal("it does not come to that")
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// empty is an empty database of the kind of another.
func empty(t *testing.T, like string) string {
	t.Helper()
	if strings.HasPrefix(like, "sqlite:") {
		return "sqlite:" + t.TempDir() + "/restored.db"
	}
	return testkit.EmptyPostgres(t)
}
