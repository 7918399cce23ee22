// Package e2e starts the whole program as users do, over loopback, and asks it what they would.
package e2e

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/sandbox"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	_ "pressroom/internal/testkit/whole"
)

const appPassword = "open-sesame-1234"

// house is a running program with its database and sandbox networks. Any number of teams live in it, which is
// cheaper than a program for each and shows on the way that they do not see each other.
type house struct {
	*server.Server
	t       *testing.T
	url     string // of the database
	sealing string
	blobs   string // the store of files
	base    string // of the API
	root    string // of the program
	full    string // of the API of a node that is full, where the test has one
	box     *httptest.Server
	sandbox *sandbox.Server
	public  *httptest.Server // the web, from which files are imported
	db      *db.DB           // a second look into the database
	people  atomic.Int64
	meddle  atomic.Pointer[func(http.ResponseWriter, *http.Request) bool] // answers in the network's place where it says so
	gate    chan time.Time                                                // what posts with gatedMarker wait for
	opened  sync.Once
}

// gatedMarker makes the network wait with a post until the test opens the gate; gatedFor is how it asks.
const (
	gatedMarker = "[sandbox:slow=59]"
	gatedFor    = 59 * time.Second
)

// world is a team in a house, with its keys and accounts.
type world struct {
	*house
	t        *testing.T
	base     string // where the API is asked: the program's own address, or that of a proxy before it
	proxied  bool
	team     int64
	owner    int64
	keys     map[access.Level]string
	keyIDs   map[access.Level]int64
	accounts []int64
	notes    map[string]string // what a scenario's preparation leaves for its call
}

// options change a house or a team before it starts.
type options struct {
	plan     string // agency where empty
	zone     string // Europe/Berlin where empty
	accounts int    // 2 where 0
	now      func() time.Time
	terms    *plan.Terms                              // ample where nil
	unjoined bool                                     // no source of profiles' media
	extend   func(server.Parts) []operation.Operation // see refreshing
	settings func(*server.Config)                     // what else a node is told; nothing where nil
	blobs    string                                   // the store of files; a folder of its own where empty
	atOnce   int                                      // calls at once; by the processors where 0
	reserve  int64                                    // bytes of disk to keep free; 0: none
}

// ample are terms whose limits no test meets that does not look for them.
func ample() *plan.Terms {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight = 1000
	p, _ := t.Plan("free")
	p.ID, p.APIKeys, p.FreeCallsPerDay = small, true, 1000
	t.Plans = append(t.Plans, p)
	return &t
}

// small is the free plan with keys: a plan with few posts.
const small = "small"

// worlds runs a test on a program of its own, with one team, on each database.
func worlds(t *testing.T, o options, run func(t *testing.T, w *world)) {
	t.Helper()
	houses(t, o, func(t *testing.T, h *house) { run(t, h.world(t, o)) })
}

// houses runs a test on a program of its own on each database.
func houses(t *testing.T, o options, run func(t *testing.T, h *house)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, newHouse(t, url, o))
	})
}

// newHouse starts the program on a database until the test ends.
func newHouse(t *testing.T, url string, o options) *house {
	t.Helper()
	h := &house{t: t, url: url, gate: make(chan time.Time), blobs: o.blobs}
	if h.blobs == "" {
		h.blobs = testkit.Blobs(t)
	}
	h.startSandbox()
	h.public = httptest.NewTLSServer(h.publicFiles())
	t.Cleanup(h.public.Close)
	var err error
	h.sealing, err = tokencrypt.NewKey()
	must(t, err)
	h.Server, h.root = h.start(o, server.RoleAll)
	h.base = h.root + "/api/v1"
	h.db = testkit.Open(t, url, nil)
	return h
}

func (h *house) startSandbox() {
	var err error
	// Beside a database of the tests, which is in memory where the machine has room there.
	dir := filepath.Dir(strings.TrimPrefix(testkit.SQLite(h.t), "sqlite:"))
	h.sandbox, err = sandbox.Open(dir, sandbox.Options{After: h.after})
	must(h.t, err)
	networks := plant(h.sandbox.Handler())
	h.box = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if meddle := h.meddle.Load(); meddle == nil || !(*meddle)(w, r) {
			networks.ServeHTTP(w, r)
		}
	}))
	h.t.Cleanup(func() {
		h.open()
		h.box.Close()
		_ = h.sandbox.Close()
	})
}

// after lets the network wait in earnest, or for the test.
func (h *house) after(d time.Duration) <-chan time.Time {
	if d == gatedFor {
		return h.gate
	}
	return time.After(d)
}

// open lets the posts through that the network waits with.
func (h *house) open() { h.opened.Do(func() { close(h.gate) }) }

// start starts one more node of the program on the house's database and gives its address.
func (h *house) start(o options, role server.Role) (*server.Server, string) {
	h.t.Helper()
	if o.terms == nil {
		o.terms = ample()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(h.t, err)
	root := "http://" + listener.Addr().String()
	roots := x509.NewCertPool()
	roots.AddCert(h.public.Certificate())
	said := &said{}
	cfg := server.Config{
		Version: "test", PublicURL: root, Database: h.url, Blobs: h.blobs, SealingKey: h.sealing, Role: role,
		Workers: 8, Now: o.now, Terms: o.terms,
		ImportAllow: []string{"127.0.0.1"}, ImportRoots: roots, BridgeURL: h.box.URL + "/vendor",
		BlueskyServers: []string{h.box.URL + "/bluesky"}, Networks: server.SandboxNetworks(h.box.URL), Extend: o.extend,
		AtOnce: o.atOnce, DiskReserve: o.reserve, Log: slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if o.unjoined {
		cfg.BridgeURL = ""
	}
	if o.settings != nil {
		o.settings(&cfg)
	}
	node, err := server.Open(h.t.Context(), cfg)
	must(h.t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx, listener) }()
	h.t.Cleanup(func() {
		h.open() // nobody waits for the network any more
		stop()
		if err := errors.Join(<-ended, node.Close()); err != nil {
			h.t.Errorf("ending the program: %v", err)
		}
		if h.t.Failed() {
			h.t.Logf("the program said: %s", said)
		}
	})
	return node, root
}

// said is what a program said was wrong, as far as it is kept: for whoever looks why a test failed.
type said struct {
	mu   sync.Mutex
	text []byte
}

const saidKept = 4000

func (s *said) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, line...)
	s.text = s.text[max(0, len(s.text)-saidKept):]
	return len(line), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// world makes a team in the house, for a test or a part of one.
func (h *house) world(t *testing.T, o options) *world {
	t.Helper()
	w := &world{house: h, t: t, base: h.base, keys: map[access.Level]string{}, keyIDs: map[access.Level]int64{}, notes: map[string]string{}}
	w.team, w.owner = w.newTeam(team.Team{
		Name: "Harbour Coffee", Timezone: or(o.zone, "Europe/Berlin"), Language: "en", Plan: or(o.plan, "agency"),
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

func (w *world) newTeam(wanted team.Team) (int64, int64) {
	w.t.Helper()
	owner, err := w.Teams.AddPerson(w.t.Context(), "Ada Okafor", fmt.Sprintf("ada%d@harbour.example", w.people.Add(1)), "")
	must(w.t, err)
	made, err := w.Teams.AddTeam(w.t.Context(), wanted, owner.ID)
	must(w.t, err)
	return made.ID, owner.ID
}

func (w *world) newKey(of int64, level access.Level, expires time.Time) (int64, string) {
	w.t.Helper()
	key, value, err := w.Teams.AddKey(w.t.Context(), team.NewKey{Team: of, Name: "test " + string(level), Level: level, Expires: expires})
	must(w.t, err)
	return key.ID, value
}

// connect connects an account of the sandbox to a team, or connects it again.
func (w *world) connect(team int64, handle string) int64 {
	w.t.Helper()
	must(w.t, w.sandbox.EnsureBlueskyAccount(handle, handle, appPassword))
	a, err := w.Accounts.Connect(w.t.Context(), team, "bluesky",
		network.Credentials{Server: w.box.URL + "/bluesky", Identifier: handle, Password: appPassword})
	must(w.t, err)
	return a.ID
}

// stranger makes another team in the same house, with a full key, an account and a draft.
func (w *world) stranger() *world {
	w.t.Helper()
	other := w.world(w.t, options{plan: "team", zone: "UTC", accounts: 1})
	other.notes["post"] = other.draft("not yours")
	return other
}

// role gives the keys' person another role without taking the ownership away: keys are their owner's, but what
// acts for people of other roles passes the same checks.
func (w *world) role(role access.Role) {
	w.exec("UPDATE memberships SET role = ? WHERE team_id = ? AND person_id = ?", string(role), w.team, w.owner)
	w.exec("UPDATE access_version SET version = version + 1")
	w.keyHolds(w.keys[access.Full], access.Effective(access.Full, role))
}

// exec changes the database behind the program's back, for states that nothing makes yet.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	must(w.t, w.tryExec(query, args...))
}

func (w *world) tryExec(query string, args ...any) error {
	return w.db.InTx(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

// count counts rows: a table, or a table with its condition.
func (w *world) count(from string, args ...any) int {
	w.t.Helper()
	var n int
	must(w.t, w.db.QueryRow(w.t.Context(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n))
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// clock runs as the real one does, and can be moved on: what is waited for still comes.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }
