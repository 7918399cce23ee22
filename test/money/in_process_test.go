package money

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/idempotency"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/fixture"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// fatal is what tests and properties have in common.
type fatal interface {
	must.T
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// inside is the program in the test's process, called without a network. The test sets its clock and runs its
// background work.
type inside struct {
	blobs        string
	url, sealing string
	clock        *testkit.Clock
	db           *db.DB // a second connection to the database
	nodes        []*node
	allowed      int64 // free calls a day
	places       int   // for jobs of a team; 0: unlimited
}

// node is one program on the database.
type node struct {
	*server.Server
	work *standin.Service
}

const root = "http://press.test"

func newInside(t *testing.T, url string, nodes int, allowed int64) *inside {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	in := &inside{
		url: url, blobs: testkit.Blobs(t), sealing: key,
		clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), allowed: allowed,
	}
	for range nodes {
		in.nodes = append(in.nodes, in.open(t))
	}
	in.db = testkit.Open(t, url, in.clock)
	t.Cleanup(func() {
		for _, n := range in.nodes {
			_ = n.Close()
		}
	})
	return in
}

func (in *inside) open(t fatal) *node {
	n := &node{}
	offered := standin.Terms(in.allowed)
	if in.places > 0 {
		offered.Limits.JobsInFlight = in.places
	}
	n.Server = must.Get(server.Open(context.Background(), standin.Configure(server.Config{
		Version: "test", PublicURL: root, Database: in.url, SealingKey: in.sealing, Role: server.RoleAll, Workers: 1, Blobs: in.blobs,
		Terms: offered, Log: slog.New(slog.DiscardHandler), Now: in.clock.Now,
	}, func() bool { return false }, func(s *standin.Service) { n.work = s })))(t)
	return n
}

// reopen restarts a killed node.
func (in *inside) reopen(t fatal, i int) {
	must.NoError(t, in.nodes[i].Close())
	in.nodes[i] = in.open(t)
}

// ask calls a node over one of its edges.
func (n *node) ask(ctx context.Context, key *modelKey, o order, tool bool) (answer, error) {
	w := httptest.NewRecorder()
	if tool {
		n.Handler().ServeHTTP(w, o.asTool(root, key.value).WithContext(ctx))
		return readTool(o, w.Code, w.Header(), w.Body.Bytes())
	}
	n.Handler().ServeHTTP(w, o.rest(root, key.value).WithContext(ctx))
	return read(w.Code, w.Header(), w.Body.Bytes())
}

// show reads data of a node.
func (n *node) show(t fatal, key *modelKey, path string, data any) {
	t.Helper()
	w := httptest.NewRecorder()
	n.Handler().ServeHTTP(w, get(root, path, key.value))
	a := must.Get(read(w.Code, w.Header(), w.Body.Bytes()))(t)
	if a.status != http.StatusOK {
		t.Fatalf("%s: %s", path, a.raw)
	}
	must.NoError(t, json.Unmarshal(a.Data, data))
}

// left returns the team's remaining free calls according to a node.
func (n *node) left(t fatal, key *modelKey) int64 {
	t.Helper()
	var limits struct {
		Left int64 `json:"free_calls_left_today"`
	}
	n.show(t, key, "/limits", &limits)
	return limits.Left
}

// team makes a team with some keys and without credits.
func (in *inside) team(t fatal, zone string, keys int) *modelTeam {
	t.Helper()
	n := in.nodes[0]
	id, _ := fixture.AddTeam(t, n.Server, team.Team{Timezone: zone})
	m := &modelTeam{id: id, zone: location(zone), limit: -1}
	for range keys {
		key, value := fixture.AddKey(t, n.Server, team.NewKey{Team: id, Level: access.Full})
		m.keys = append(m.keys, newKey(key, value, -1))
	}
	return m
}

func location(zone string) *time.Location {
	z, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return z
}

func (in *inside) grant(t fatal, m *modelTeam, credits int64, reference string) {
	t.Helper()
	must.Get(in.nodes[0].Credits.Grant(context.Background(), m.id, credits, reference, ""))(t)
	m.balance, m.granted = m.balance+credits, m.granted+credits
}

func (in *inside) number(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, in.db.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}

func (in *inside) exec(t fatal, statement string, args ...any) {
	t.Helper()
	must.NoError(t, in.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func (in *inside) sweep(t fatal) {
	t.Helper()
	for swept := int64(1); swept > 0; {
		swept = must.Get(idempotency.New(in.db).Sweep(context.Background()))(t)
	}
}

func (in *inside) sound(t fatal) {
	t.Helper()
	report := must.Get(in.nodes[0].Credits.Audit(context.Background()))(t)
	if !report.OK() {
		t.Fatalf("the audit complains: %+v", report.Complaints)
	}
}
