// Package app uses the app as people do, over loopback, in front of the whole program: pages are read, forms filled in
// and sent.
package app

import (
	"context"
	"crypto/tls"
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
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/sandbox"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	_ "pressroom/internal/testkit/whole"
)

const password = "correct horse battery"

// house is a running program with its database and sandbox networks. Any number of teams live in it.
type house struct {
	*server.Server

	root    string // of the program
	db      *db.DB // a second look into the database
	box     *httptest.Server
	sandbox *sandbox.Server
	ahead   atomic.Int64 // how far the program's clock is ahead of the real one
	people  atomic.Int64
	known   sync.Map // by the person's id, what the person's usual browser holds

	transport http.RoundTripper // of its browsers: trusts the directory
}

// houses runs a test on a program of its own on each database.
func houses(t *testing.T, run func(t *testing.T, h *house)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, open(t, url))
	})
}

// open starts the program on a database until the test ends. Its settings can be changed.
func open(tb testing.TB, url string, change ...func(*server.Config)) *house {
	tb.Helper()
	h := &house{}
	h.openSandbox(tb)
	sealing, err := tokencrypt.NewKey()
	must(tb, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	h.root = "http://" + listener.Addr().String()
	generous := plan.Default().ScaleRates(1000)
	generous.Limits.JobsInFlight = 100
	cfg := server.Config{
		Version: "test", PublicURL: h.root, Database: url, Blobs: testkit.Blobs(tb), SealingKey: sealing,
		Role: server.RoleAll, Workers: 4, Terms: &generous, Now: h.now,
		ImportAllow: []string{"127.0.0.1"}, BridgeURL: h.box.URL + "/vendor",
		BlueskyServers: []string{h.box.URL + "/bluesky"}, Networks: server.SandboxNetworks(h.box.URL),
		SecurityContact: "mailto:security@harbour.example",
		Log:             slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	if roots := cfg.Directory.Roots; roots != nil {
		h.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	}
	h.Server, err = server.Open(tb.Context(), cfg)
	must(tb, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, listener) }()
	tb.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, h.Close()); err != nil {
			tb.Errorf("ending the program: %v", err)
		}
	})
	h.db = testkit.Open(tb, url, nil)
	return h
}

func (h *house) openSandbox(tb testing.TB) {
	tb.Helper()
	dir := filepath.Dir(strings.TrimPrefix(testkit.SQLite(tb), "sqlite:"))
	var err error
	h.sandbox, err = sandbox.Open(dir, sandbox.Options{})
	must(tb, err)
	h.box = httptest.NewServer(h.sandbox.Handler())
	tb.Cleanup(func() {
		h.box.Close()
		_ = h.sandbox.Close()
	})
}

// now is the program's clock; advance moves it on.
func (h *house) now() time.Time          { return time.Now().Add(time.Duration(h.ahead.Load())) }
func (h *house) advance(d time.Duration) { h.ahead.Add(int64(d)) }

// crew is a team with a person of each role, and one connected account.
type crew struct {
	*house

	team    team.Team
	people  map[access.Role]team.Person
	account int64 // on the sandbox's Bluesky
}

// crew makes a team of the agency plan in Berlin.
func (h *house) crew(tb testing.TB) *crew {
	tb.Helper()
	c := &crew{house: h, people: map[access.Role]team.Person{}}
	for _, role := range access.Roles() {
		c.people[role] = h.person(tb, "Ada "+string(role), fmt.Sprintf("%s%d@harbour.example", role, h.people.Add(1)))
	}
	var err error
	c.team, err = h.Teams.AddTeam(tb.Context(),
		team.Team{
			Name: fmt.Sprint("Harbour ", h.people.Add(1)), Timezone: "Europe/Berlin", Language: "en", Plan: "agency",
		}, c.people[access.Owner].ID)
	must(tb, err)
	for _, role := range access.Roles()[1:] {
		must(tb, h.Teams.SetMember(tb.Context(), c.team.ID, c.people[role].ID, role))
	}
	handle := fmt.Sprintf("harbour%d.test", c.team.ID)
	must(tb, h.sandbox.EnsureBlueskyAccount(handle, handle, "open-sesame-1234"))
	a, err := h.Accounts.Connect(tb.Context(), c.team.ID, "bluesky",
		network.Credentials{Server: h.box.URL + "/bluesky", Identifier: handle, Password: "open-sesame-1234"})
	must(tb, err)
	c.account = a.ID
	return c
}

// hashed is the password's hash, once somebody has been added with it: to work it out takes long, as it has to.
var hashed atomic.Pointer[string]

// person adds somebody who signs in by the password.
func (h *house) person(tb testing.TB, name, email string) team.Person {
	tb.Helper()
	hash := hashed.Load()
	if hash == nil {
		p, err := h.Teams.AddPerson(tb.Context(), name, email, password)
		must(tb, err)
		var made string
		must(tb, h.db.QueryRow(tb.Context(), `SELECT password_hash FROM people WHERE id = ?`, p.ID).Scan(&made))
		hashed.Store(&made)
		return p
	}
	p, err := h.Teams.AddPerson(tb.Context(), name, email, "")
	must(tb, err)
	must(tb, h.db.InTx(tb.Context(), "test.password", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE people SET password_hash = ? WHERE id = ?`, *hash, p.ID)
		return err
	}))
	return p
}

// as is a browser in which the crew's person of a role is signed in. The person has signed in with it before.
func (c *crew) as(tb testing.TB, role access.Role) *browser {
	tb.Helper()
	b := c.browser(tb)
	if held, found := c.known.Load(c.people[role].ID); found {
		b.hold(knownCookie, fmt.Sprint(held))
	}
	defer func() { c.known.Store(c.people[role].ID, b.held(knownCookie)) }()
	p := b.open("/sign-in").form("Sign in").fill("email", c.people[role].Email).fill("password", password).press()
	p.wants(http.StatusOK, c.team.Name)
	return b
}

// grant gives the team credits.
func (c *crew) grant(tb testing.TB, credits int64) {
	tb.Helper()
	_, err := c.Credits.Grant(tb.Context(), c.team.ID, credits, fmt.Sprint("test ", c.house.people.Add(1)), "")
	must(tb, err)
}

// count counts rows: a table, or a table with its condition.
func (h *house) count(tb testing.TB, from string, args ...any) int {
	tb.Helper()
	var n int
	must(tb, h.db.QueryRow(tb.Context(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n))
	return n
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
