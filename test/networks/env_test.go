// Package networks publishes to every sandbox network with a complete server and checks the published posts.
package networks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Names of the people whose accounts the team has on every network. Tests that disconnect an account use the second
// person.
const (
	usual      = "harbour.coffee"
	expendable = "mira.keller"
)

// lease is longer than tests' steps of the clock, so that no lease expires.
const lease = 30 * time.Second

// env is a server with its database, the sandbox networks, and a team with two accounts on each.
type env struct {
	t        testing.TB
	clock    fixture.Clock
	cfg      server.Config
	db       *db.DB // the test's connection to the database
	box      *fixture.Sandbox
	proxy    *faultyProxy
	node     *fixture.Server
	team     int64
	owner    int64
	key      string
	networks []string
	accounts map[string]map[string]int64 // by platform and person
	images   []int64
	video    int64
}

func newEnv(tb testing.TB, database string) *env {
	tb.Helper()
	return newEnvAs(tb, database, server.RoleAll, 300*time.Millisecond)
}

// newEnvAs is like newEnv, with a server role, a processing time of the networks, and other settings.
func newEnvAs(
	tb testing.TB, database string, role server.Role, ready time.Duration, changes ...func(*server.Config),
) *env {
	tb.Helper()
	w := &env{t: tb, accounts: map[string]map[string]int64{}, proxy: &faultyProxy{}}
	w.box = fixture.OpenSandbox(tb, sandbox.Options{Now: w.clock.Now, After: w.clock.After, ProcessingTime: ready},
		func(networks http.Handler) http.Handler { w.proxy.networks = networks; return w.proxy }, func() { w.proxy.release() })
	w.cfg = w.box.Config(tb, database)
	w.cfg.Role, w.cfg.Workers, w.cfg.Lease, w.cfg.Now = role, 16, lease, w.clock.Now
	w.cfg.BridgeURL, w.cfg.ImportAllow, w.cfg.Networks = "", nil, withTimeout(w.cfg.Networks)
	for _, change := range changes {
		change(&w.cfg)
	}
	w.node = fixture.Serve(tb, w.cfg)
	w.db = testkit.Open(tb, database, nil)
	tb.Cleanup(func() { must.NoError(tb, w.node.Stop()) })
	w.setUp()
	return w
}

// withTimeout returns the settings with a short timeout, so that calls to a slow network time out.
func withTimeout(s server.NetworkSettings) server.NetworkSettings {
	for platform, raw := range s.ByPlatform {
		s.ByPlatform[platform] = json.RawMessage(strings.Replace(string(raw), "{", `{"timeout": "2s", `, 1))
	}
	return s
}

// kill closes the server's database during work, so that nothing more is stored, and starts another server.
func (w *env) kill() {
	w.t.Helper()
	dead := w.node
	_ = dead.Close()
	w.proxy.release()
	go func() { _ = dead.Stop() }() // fails without the database
	w.node = fixture.Serve(w.t, w.cfg)
}

// setUp creates the team, its accounts and its media.
func (w *env) setUp() {
	w.t.Helper()
	w.team, w.owner = fixture.AddTeam(w.t, w.node.Server, team.Team{Name: "Harbour Coffee"})
	_, w.key = fixture.AddKey(w.t, w.node.Server, team.NewKey{Team: w.team, Level: access.Full})
	w.networks = w.node.Accounts.Platforms()
	for _, platform := range w.networks {
		w.accounts[platform] = map[string]int64{}
		for _, person := range []string{usual, expendable} {
			w.accounts[platform][person] = w.connect(platform, person, url.Values{"platform": {platform}})
		}
	}
	for n := range 3 {
		raw := fixture.JPEG(w.t, uint8(60*n))
		w.images = append(w.images, fixture.Upload(w.t, w.node.Server, w.team, fmt.Sprintf("picture %d.jpg", n), raw))
	}
	clip := must.Get(os.ReadFile("testdata/clip.mp4"))(w.t)
	w.video = fixture.Upload(w.t, w.node.Server, w.team, "clip.mp4", clip)
}

// connect connects a person's account with the API's link and the network's consent page, if it has one.
func (w *env) connect(platform, person string, query url.Values) int64 {
	w.t.Helper()
	if platform == "bluesky" {
		return must.Get(w.box.ConnectBluesky(w.t.Context(), w.node.Server, w.team, strings.ReplaceAll(person, ".", "-")+".test"))(w.t)
	}
	link, _ := w.get("/connect-link?" + query.Encode())["url"].(string)
	id, err := fixture.ConnectByConsent(w.t.Context(), w.node.Server, w.owner, platform, link, person)
	if err != nil {
		w.t.Fatalf("connecting %s on %s: %v (%v)", person, platform, err, errors.Unwrap(err))
	}
	return id
}

// call calls the API.
func (w *env) call(method, path string, body any) fixture.Response {
	w.t.Helper()
	return fixture.Call(w.t, w.node.URL, w.key, method, path, body)
}

func (w *env) get(path string) map[string]any {
	w.t.Helper()
	got := w.call(http.MethodGet, path, nil)
	if got.Status != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, got.Status, got.Code())
	}
	return got.Data()
}

// postsOn returns the number of posts on a network that contain a text, and the number of media of each post.
func (w *env) postsOn(platform, text string) (int, []int) {
	w.t.Helper()
	var shown []int
	posts := fixture.Posts(w.t, w.box.URL, platform, text)
	for _, p := range posts {
		shown = append(shown, len(p.Media))
	}
	slices.Sort(shown)
	return len(posts), shown
}
