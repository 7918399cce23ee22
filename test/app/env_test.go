// Package app tests the app as people use it: it runs the complete server on loopback, reads pages and submits forms.
package app

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

const password = "correct horse battery"

// env is a running server with its database and sandbox networks. Tests can create any number of teams.
type env struct {
	*server.Server

	root   string // base URL of the server
	cfg    server.Config
	stop   func() error
	db     *db.DB // a second connection to the database
	box    *fixture.Sandbox
	clock  fixture.Clock
	people atomic.Int64
	known  sync.Map // cookie of each person's known browser, by person ID

	transport http.RoundTripper // trusts the directory's certificate
}

// withEnv runs a test on each kind of database, each with its own server.
func withEnv(t *testing.T, run func(t *testing.T, h *env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, open(t, url))
	})
}

// open starts a server, which runs until the test ends. The change functions adjust its configuration.
func open(tb testing.TB, url string, change ...func(*server.Config)) *env {
	tb.Helper()
	h := &env{box: fixture.OpenSandbox(tb, sandbox.Options{}, nil)}
	cfg := h.box.Config(tb, url)
	cfg.Workers, cfg.Now, cfg.SecurityContact = 4, h.clock.Now, "mailto:security@harbour.example"
	cfg.Catalog.Limits.JobsInFlight = 100
	for _, c := range change {
		c(&cfg)
	}
	if roots := cfg.Directory.Roots; roots != nil {
		h.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	}
	started := fixture.Serve(tb, cfg)
	h.Server, h.root, h.cfg, h.stop = started.Server, started.URL, cfg, started.Stop
	tb.Cleanup(func() { must.NoError(tb, started.Stop()) })
	h.db = testkit.Open(tb, url, nil)
	return h
}

func (h *env) now() time.Time          { return h.clock.Now() }
func (h *env) advance(d time.Duration) { h.clock.Advance(d) }

// crew is a team with a person of each role and one connected account.
type crew struct {
	*env

	team    team.Team
	people  map[access.Role]team.Person
	account int64 // Bluesky account in the sandbox
}

// crew creates a team with the agency plan and the time zone Europe/Berlin.
func (h *env) crew(tb testing.TB) *crew {
	tb.Helper()
	c := &crew{env: h, people: map[access.Role]team.Person{}}
	for _, role := range access.Roles() {
		c.people[role] = h.person(tb, "Ada "+string(role), fmt.Sprintf("%s%d@harbour.example", role, h.people.Add(1)))
	}
	c.team = must.Get(h.Teams.AddTeam(tb.Context(),
		team.Team{
			Name: fmt.Sprint("Harbour ", h.people.Add(1)), Timezone: "Europe/Berlin", Language: "en", Plan: "agency",
		}, c.people[access.Owner].ID))(tb)
	for _, role := range access.Roles()[1:] {
		must.NoError(tb, h.Teams.SetMember(tb.Context(), c.team.ID, c.people[role].ID, role))
	}
	handle := fmt.Sprintf("harbour%d.test", c.team.ID)
	c.account = must.Get(h.box.ConnectBluesky(tb.Context(), h.Server, c.team.ID, handle))(tb)
	return c
}

// hash is the hash of the test password with minimal cost. With the real cost, hashing would take a quarter of the
// tests' time.
var hash = sync.OnceValue(func() string {
	const kib, passes, lanes = 8, 1, 1
	salt := []byte("harbour’s salt")
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, kib, passes, lanes,
		enc.EncodeToString(salt), enc.EncodeToString(argon2.IDKey([]byte(password), salt, passes, kib, lanes, 32)))
})

// person adds a person with the test password.
func (h *env) person(tb testing.TB, name, email string) team.Person {
	tb.Helper()
	p := must.Get(h.Teams.AddPerson(tb.Context(), name, email, ""))(tb)
	must.NoError(tb, h.db.InTx(tb.Context(), "test.password", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE people SET password_hash = ? WHERE id = ?`, hash(), p.ID)
		return err
	}))
	return p
}

// as returns a browser, already known to the server, in which the member with the given role is signed in.
func (c *crew) as(tb testing.TB, role access.Role) *browser {
	tb.Helper()
	b := c.browser(tb)
	if held, found := c.known.Load(c.people[role].ID); found {
		b.setCookie(knownCookie, fmt.Sprint(held))
	}
	defer func() { c.known.Store(c.people[role].ID, b.cookie(knownCookie)) }()
	p := b.open("/sign-in").form("Sign in").fill("email", c.people[role].Email).fill("password", password).press()
	p.shows(http.StatusOK, c.team.Name)
	return b
}

// grant grants credits to the team.
func (c *crew) grant(tb testing.TB, credits int64) {
	tb.Helper()
	must.Get(c.Credits.Grant(tb.Context(), c.team.ID, credits, fmt.Sprint("test ", c.env.people.Add(1)), ""))(tb)
}

// count returns SELECT COUNT(*) FROM the given table and condition.
func (h *env) count(tb testing.TB, from string, args ...any) int {
	tb.Helper()
	var n int
	must.NoError(tb, h.db.QueryRow(tb.Context(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n))
	return n
}
