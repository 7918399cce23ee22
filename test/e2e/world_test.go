// Package e2e starts the whole program as users do, over loopback, and asks it what they would.
package e2e

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/db"
	"pressroom/internal/network"
	"pressroom/internal/sandbox"
	"pressroom/internal/seal"
	"pressroom/internal/server"
	"pressroom/internal/team"
	"pressroom/internal/testkit"
)

const appPassword = "open-sesame-1234"

// world is a running program with a team, its keys and accounts, and a sandbox network.
type world struct {
	*server.Server
	t        *testing.T
	base     string // of the API
	root     string // of the program
	box      *httptest.Server
	sandbox  *sandbox.Server
	db       *db.DB // a second look into the database
	team     int64
	owner    int64
	keys     map[access.Level]string
	accounts []int64
}

// options change a world before it starts.
type options struct {
	plan     string // agency where empty
	zone     string // Europe/Berlin where empty
	accounts int    // 2 where 0
	now      func() time.Time
}

// newWorld starts the program on a database until the test ends.
func newWorld(t *testing.T, url string, o options) *world {
	t.Helper()
	w := &world{t: t, keys: map[access.Level]string{}}
	w.startSandbox()
	w.start(url, o)
	w.settle(o)
	return w
}

func (w *world) startSandbox() {
	var err error
	w.sandbox, err = sandbox.Open(w.t.TempDir(), sandbox.Options{})
	w.must(err)
	w.box = httptest.NewServer(w.sandbox.Handler())
	w.t.Cleanup(func() {
		w.box.Close()
		_ = w.sandbox.Close()
	})
}

func (w *world) start(url string, o options) {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	key, err := seal.NewKey()
	w.must(err)
	w.root = "http://" + listener.Addr().String()
	w.base = w.root + "/api/v1"
	w.Server, err = server.Open(w.t.Context(), server.Config{
		Version: "test", PublicURL: w.root, Database: url, SealingKey: key, Role: server.RoleAll, Workers: 8, Now: o.now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	w.must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, listener) }()
	w.t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, w.Close()); err != nil {
			w.t.Errorf("ending the program: %v", err)
		}
	})
	w.db = testkit.Open(w.t, url, nil)
}

// settle makes the team.
func (w *world) settle(o options) {
	w.t.Helper()
	ctx := w.t.Context()
	owner, err := w.Teams.AddPerson(ctx, "Ada Okafor", "ada@harbour.example", "")
	w.must(err)
	w.owner = owner.ID
	made, err := w.Teams.AddTeam(ctx, team.Team{Name: "Harbour Coffee", Timezone: or(o.zone, "Europe/Berlin"), Language: "en", Plan: or(o.plan, "agency")}, owner.ID)
	w.must(err)
	w.team = made.ID
	for _, level := range access.Levels() {
		_, value, err := w.Teams.AddKey(ctx, made.ID, "test "+string(level), level, time.Time{})
		w.must(err)
		w.keys[level] = value
	}
	names := []string{"harbour.test", "second.test", "third.test"}
	count := o.accounts
	if count == 0 {
		count = 2
	}
	for _, handle := range names[:count] {
		w.accounts = append(w.accounts, w.connect(made.ID, handle))
	}
}

func (w *world) connect(team int64, handle string) int64 {
	w.t.Helper()
	w.must(w.sandbox.EnsureBlueskyAccount(handle, handle, appPassword))
	a, err := w.Accounts.Connect(w.t.Context(), team, "bluesky", network.Credentials{Server: w.box.URL + "/bluesky", Identifier: handle, Password: appPassword})
	w.must(err)
	return a.ID
}

// otherTeam makes a second team with a full key and an account.
func (w *world) otherTeam() (string, int64) {
	w.t.Helper()
	owner, err := w.Teams.AddPerson(w.t.Context(), "Ben", "ben@other.example", "")
	w.must(err)
	made, err := w.Teams.AddTeam(w.t.Context(), team.Team{Name: "Other", Timezone: "UTC", Language: "de", Plan: "team"}, owner.ID)
	w.must(err)
	_, key, err := w.Teams.AddKey(w.t.Context(), made.ID, "other", access.Full, time.Time{})
	w.must(err)
	return key, w.connect(made.ID, "other.test")
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// exec changes the database behind the program's back, for states that nothing makes yet.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	w.must(w.db.Write(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	}))
}

// count counts the rows of a table.
func (w *world) count(table string) int {
	w.t.Helper()
	var n int
	w.must(w.db.QueryRow(w.t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
	return n
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// worlds runs a test on a running program on each database.
func worlds(t *testing.T, o options, run func(t *testing.T, w *world)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, newWorld(t, url, o))
	})
}

func contains(text, part string) bool { return strings.Contains(text, part) }
