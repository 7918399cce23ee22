// Package backup backs up a running installation, restores the backup elsewhere and checks the posts on the
// networks.
package backup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	waitLimit = 2 * time.Minute // real time
	lease     = 30 * time.Second
)

// env has the sandbox, clock and sealing key that an installation and its restored copy share.
type env struct {
	*fixture.Sandbox
	t     *testing.T
	clock fixture.Clock
	key   string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, key: must.Get(tokencrypt.NewKey())(t)}
	w.Sandbox = fixture.OpenSandbox(t, sandbox.Options{Now: w.clock.Now, After: w.clock.After,
		ProcessingTime: 100 * time.Millisecond}, nil)
	return w
}

// config returns the settings of an installation with a database and a file store.
func (w *env) config(database, blobs string) server.Config {
	cfg := w.Config(w.t, database)
	cfg.Blobs, cfg.SealingKey, cfg.Workers, cfg.Lease, cfg.Now = blobs, w.key, 16, lease, w.clock.Now
	cfg.PublicURL, cfg.BridgeURL, cfg.ImportAllow, cfg.CollectInterval = "http://press.example", "", nil, 1000*time.Hour
	return cfg
}

// installation is a running server.
type installation struct {
	*fixture.Server

	w   *env
	t   *testing.T
	cfg server.Config
	db  *db.DB

	stop func() // stops the server; further calls have no effect
}

// start starts an installation, which runs until it is stopped or the test ends.
func (w *env) start(cfg server.Config) *installation {
	w.t.Helper()
	cfg.PublicURL = "" // use the listen address
	h := &installation{Server: fixture.Serve(w.t, cfg), w: w, t: w.t, cfg: cfg}
	h.db = must.Get(db.Open(context.Background(), cfg.Database, db.Options{Now: cfg.Now}))(w.t)
	h.stop = sync.OnceFunc(func() {
		if err := errors.Join(h.Stop(), h.db.Close()); err != nil {
			w.t.Errorf("stopping: %v", err)
		}
	})
	w.t.Cleanup(h.stop)
	return h
}

// home is a team with its key, accounts and media.
type home struct {
	id, owner int64
	key       string
	accounts  map[string]int64
	media     map[string][]int64
}

// home creates a team with an account on each of the networks.
func (h *installation) home(networks ...string) *home {
	h.t.Helper()
	t := &home{accounts: map[string]int64{}, media: map[string][]int64{}}
	t.id, t.owner = fixture.AddTeam(h.t, h.Server.Server, team.Team{})
	_, t.key = fixture.AddKey(h.t, h.Server.Server, team.NewKey{Team: t.id, Level: access.Full})
	must.Get(h.Credits.Grant(h.t.Context(), t.id, 100, fmt.Sprint("grant ", t.id), ""))(h.t)
	picture := h.upload(t, "picture.jpg", fixture.JPEG(h.t, uint8(t.id)))
	film := h.upload(t, "clip.mp4", must.Get(os.ReadFile("../networks/testdata/clip.mp4"))(h.t))
	for _, platform := range networks {
		t.accounts[platform] = h.connect(t, platform)
		t.media[platform] = []int64{picture}
		if platform == "youtube" {
			t.media[platform] = []int64{film}
		}
	}
	return t
}

func (h *installation) upload(of *home, name string, raw []byte) int64 {
	h.t.Helper()
	id := fixture.Upload(h.t, h.Server.Server, of.id, name, raw)
	if path.Ext(name) == ".jpg" {
		fit := network.FileLimits{Types: []string{"image/jpeg"}, MaxSide: 10}
		must.NoError(h.t, must.Get(h.Media.Files(of.id).Open(context.Background(), id, fit))(h.t).Close())
	}
	return id
}

func (h *installation) connect(of *home, platform string) int64 {
	h.t.Helper()
	if platform == "bluesky" {
		return must.Get(h.w.ConnectBluesky(h.t.Context(), h.Server.Server, of.id, fmt.Sprintf("harbour%d.test", of.id)))(h.t)
	}
	link, _ := h.get(of, "/connect-link?platform="+platform)["url"].(string)
	return must.Get(fixture.ConnectByConsent(h.t.Context(), h.Server.Server, of.owner, platform, link, "harbour.coffee"))(h.t)
}

// call calls the API with the team's key.
func (h *installation) call(of *home, method, path string, body any) fixture.Response {
	h.t.Helper()
	return fixture.Call(h.t, h.URL, of.key, method, path, body)
}

func (h *installation) get(of *home, path string) map[string]any {
	h.t.Helper()
	got := h.call(of, http.MethodGet, path, nil)
	if got.Status != http.StatusOK {
		h.t.Fatalf("GET %s: %d %s", path, got.Status, got.Code())
	}
	return got.Data()
}

// draft creates a post with one account and returns its ID.
func (h *installation) draft(of *home, platform, text string) string {
	h.t.Helper()
	body := map[string]any{"caption": text, "account_ids": []int64{of.accounts[platform]}}
	if files := of.media[platform]; len(files) > 0 {
		body["media_ids"] = files
	}
	made := h.call(of, http.MethodPost, "/posts", body)
	if made.Status != http.StatusCreated {
		h.t.Fatalf("drafting %q: %d %v", text, made.Status, made.Body)
	}
	id, _ := made.Data()["id"].(string)
	return id
}

// schedule schedules a post with one account.
func (h *installation) schedule(of *home, platform, text string, in time.Duration) string {
	h.t.Helper()
	id := h.draft(of, platform, text)
	set := h.call(of, http.MethodPost, "/posts/"+id+"/schedule",
		map[string]any{"scheduled_at": h.w.clock.Now().Add(in).UTC().Format(time.RFC3339Nano)})
	if set.Status != http.StatusOK {
		h.t.Fatalf("scheduling %q: %d %v", text, set.Status, set.Body)
	}
	return id
}

// publish publishes a post.
func (h *installation) publish(of *home, id string) {
	h.t.Helper()
	if begun := h.call(of, http.MethodPost, "/posts/"+id+"/publish", nil); begun.Status != http.StatusAccepted {
		h.t.Fatalf("publishing: %d %v", begun.Status, begun.Body)
	}
}

func (h *installation) status(of *home, id string) string {
	h.t.Helper()
	status, _ := h.get(of, "/posts/"+id)["status"].(string)
	return status
}

// awaitStatus waits until a post has the status. If all deliveries wait for a later time, it advances the clock.
func (h *installation) awaitStatus(of *home, id, status string) {
	h.t.Helper()
	must.Eventually(h.t, waitLimit, "the expected state", func() bool {
		is := h.status(of, id)
		if is == status {
			return true
		}
		if is != "scheduled" && is != "processing" {
			h.t.Fatalf("status %s, want %s: %v", is, status, h.get(of, "/posts/"+id)["accounts"])
		}
		if is == "processing" && h.idle() {
			h.w.clock.Advance(5 * time.Second)
		}
		return false
	})
}

// idle reports whether unfinished deliveries exist but none is running.
func (h *installation) idle() bool {
	h.t.Helper()
	var held, left int
	must.NoError(h.t, h.db.QueryRow(context.Background(),
		`SELECT COALESCE(SUM(CASE WHEN owner <> '' THEN 1 ELSE 0 END), 0), COUNT(*) FROM deliveries
		WHERE phase <> 'ended'`).Scan(&held, &left))
	return held == 0 && left > 0
}

// countPosts returns the number of posts on a network that contain the text.
func (w *env) countPosts(platform, text string) int {
	w.t.Helper()
	return len(fixture.Posts(w.t, w.URL, platform, text))
}

// empty returns the URL of an empty database of the same kind as like.
func empty(t *testing.T, like string) string {
	t.Helper()
	if strings.HasPrefix(like, "sqlite:") {
		return "sqlite:" + t.TempDir() + "/restored.db"
	}
	return testkit.EmptyPostgres(t)
}
