// Package e2e runs complete servers on loopback and calls them over REST and MCP.
package e2e

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// instance is a running server with its database and sandbox networks. Many teams share an instance, which is
// cheaper than a server per team and also tests their isolation.
type instance struct {
	*server.Server
	t       *testing.T
	url     string // database URL
	sealing string
	blobs   string // blob store URL
	base    string // base URL of the API
	root    string // base URL of the server
	full    string // base URL of the API of an overloaded node, if there is one
	box     *fixture.Sandbox
	public  *httptest.Server // serves files to import
	db      *db.DB           // a second connection to the database
	people  atomic.Int64
	inject  atomic.Pointer[func(http.ResponseWriter, *http.Request) bool] // responds instead of the network if it returns true
	gate    chan time.Time                                                // blocks posts with gatedMarker until it is closed
	opened  sync.Once
}

// gatedMarker makes the network delay a post until the test opens the gate; gatedFor is its interval.
const (
	gatedMarker = "[sandbox:slow=59]"
	gatedFor    = 59 * time.Second
)

// env is a team in an instance, with its keys and accounts.
type env struct {
	*instance
	t        *testing.T
	base     string // base URL of the API, of the server or of a proxy
	proxied  bool
	team     int64
	owner    int64
	keys     map[access.Level]string
	keyIDs   map[access.Level]int64
	accounts []int64
	notes    map[string]string // values that the preparation of a scenario passes to its call
}

// options configure an instance or a team.
type options struct {
	plan     string // default agency
	zone     string // default Europe/Berlin
	accounts int    // default 2
	now      func() time.Time
	catalog  *plan.Catalog                                        // default ample
	unjoined bool                                                 // no provider of media and metrics
	extend   func(server.ExtensionServices) []operation.Operation // adds operations; the default is refreshing
	settings func(*server.Config)                                 // changes the server's configuration
	blobs    string                                               // URL of the blob store; a temporary folder if empty
	maxCalls int                                                  // concurrent calls; 0 means by the number of CPUs
	reserve  int64                                                // bytes of disk space to keep free
}

// ampleCatalog returns a catalog whose limits no test exceeds by accident.
func ampleCatalog() *plan.Catalog {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight = 1000
	p, _ := t.Plan("free")
	p.ID, p.APIKeys, p.FreeCallsPerDay = smallPlan, true, 1000
	t.Plans = append(t.Plans, p)
	return &t
}

// smallPlan is the ID of a plan with few posts: the free plan plus API keys.
const smallPlan = "small"

// withEnv runs a test with a new instance and team on each kind of database.
func withEnv(t *testing.T, o options, run func(t *testing.T, w *env)) {
	t.Helper()
	withInstance(t, o, func(t *testing.T, h *instance) { run(t, h.newEnv(t, o)) })
}

// withInstance runs a test with a new instance on each kind of database.
func withInstance(t *testing.T, o options, run func(t *testing.T, h *instance)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, newInstance(t, url, o))
	})
}

// newInstance starts an instance, which runs until the test ends.
func newInstance(t *testing.T, url string, o options) *instance {
	t.Helper()
	h := &instance{t: t, url: url, gate: make(chan time.Time), blobs: o.blobs}
	if h.blobs == "" {
		h.blobs = testkit.Blobs(t)
	}
	h.box = fixture.OpenSandbox(t, sandbox.Options{After: h.after}, func(networks http.Handler) http.Handler {
		planted := plantMarkers(networks)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if inject := h.inject.Load(); inject == nil || !(*inject)(w, r) {
				planted.ServeHTTP(w, r)
			}
		})
	}, h.open)
	h.public = httptest.NewTLSServer(h.publicFiles())
	t.Cleanup(h.public.Close)
	h.sealing = must.Get(tokencrypt.NewKey())(t)
	h.Server, h.root = h.start(o, server.RoleAll)
	h.base = h.root + "/api/v1"
	h.db = testkit.Open(t, url, nil)
	return h
}

// after is the sandbox's timer: posts with gatedMarker wait for the gate, others for the given time.
func (h *instance) after(d time.Duration) <-chan time.Time {
	if d == gatedFor {
		return h.gate
	}
	return time.After(d)
}

// open opens the gate, so that posts with gatedMarker are published.
func (h *instance) open() { h.opened.Do(func() { close(h.gate) }) }

// start starts another node on the instance's database and returns its base URL.
func (h *instance) start(o options, role server.Role) (*server.Server, string) {
	h.t.Helper()
	if o.catalog == nil {
		o.catalog = ampleCatalog()
	}
	roots := x509.NewCertPool()
	roots.AddCert(h.public.Certificate())
	log := &program.Log{}
	cfg := h.box.Config(h.t, h.url)
	cfg.Blobs, cfg.SealingKey, cfg.Role, cfg.Now, cfg.Catalog, cfg.ImportRoots = h.blobs, h.sealing, role, o.now, o.catalog, roots
	cfg.Extend, cfg.MaxCalls, cfg.DiskReserve = o.extend, o.maxCalls, o.reserve
	cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if o.unjoined {
		cfg.BridgeURL = ""
	}
	if o.settings != nil {
		o.settings(&cfg)
	}
	node := fixture.Serve(h.t, cfg)
	h.t.Cleanup(func() {
		h.open() // nothing waits for the network anymore
		must.NoError(h.t, node.Stop())
		if h.t.Failed() {
			said := log.String()
			h.t.Logf("the server logged: %s", said[max(0, len(said)-4000):])
		}
	})
	return node.Server, node.URL
}

// newEnv creates a team in the instance.
func (h *instance) newEnv(t *testing.T, o options) *env {
	t.Helper()
	w := &env{instance: h, t: t, base: h.base, keys: map[access.Level]string{}, keyIDs: map[access.Level]int64{}}
	w.notes = map[string]string{}
	w.team, w.owner = w.newTeam(team.Team{
		Name: "Harbour Coffee", Timezone: o.zone, Plan: o.plan,
	})
	for _, level := range access.Levels() {
		w.keyIDs[level], w.keys[level] = w.newKey(w.team, level, time.Time{})
	}
	names := []string{"harbour.test", "second.test", "third.test"}
	count := o.accounts
	if count == 0 {
		count = 2
	}
	for _, handle := range names[:count] {
		w.accounts = append(w.accounts, w.connect(w.team, handle))
	}
	return w
}

func (w *env) newTeam(wanted team.Team) (int64, int64) {
	w.t.Helper()
	return fixture.AddTeam(w.t, w.Server, wanted)
}

func (w *env) newKey(of int64, level access.Level, expires time.Time) (int64, string) {
	w.t.Helper()
	return fixture.AddKey(w.t, w.Server, team.NewKey{Team: of, Level: level, Expires: expires})
}

// connect connects or reconnects a sandbox account and returns its ID.
func (w *env) connect(team int64, handle string) int64 {
	w.t.Helper()
	return must.Get(w.box.ConnectBluesky(w.t.Context(), w.Server, team, handle))(w.t)
}

// stranger creates another team in the instance, with keys, an account and a draft.
func (w *env) stranger() *env {
	w.t.Helper()
	other := w.newEnv(w.t, options{plan: "team", zone: "UTC", accounts: 1})
	other.notes["post"] = other.draft("not yours")
	return other
}

// role changes the role of the person who owns the keys, without transferring the ownership.
func (w *env) role(role access.Role) {
	w.exec("UPDATE memberships SET role = ? WHERE team_id = ? AND person_id = ?", string(role), w.team, w.owner)
	w.exec("UPDATE access_version SET version = version + 1")
	w.awaitCapabilities(w.keys[access.Full], access.EffectiveCapabilities(access.Full, role))
}

// exec executes an SQL statement, to create states that no operation can create.
func (w *env) exec(query string, args ...any) {
	w.t.Helper()
	must.NoError(w.t, w.tryExec(query, args...))
}

func (w *env) tryExec(query string, args ...any) error {
	return w.db.InTx(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

// count returns SELECT COUNT(*) FROM the given table and condition.
func (w *env) count(from string, args ...any) int {
	w.t.Helper()
	var n int
	must.NoError(w.t, w.db.QueryRow(w.t.Context(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n))
	return n
}
