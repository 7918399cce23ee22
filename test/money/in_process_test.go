package money

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// fatal is implemented by *testing.T and *rapid.T.
type fatal interface {
	must.T
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// inProcess runs servers in the test process and calls their handlers directly. The test sets the clock and runs the
// background jobs.
type inProcess struct {
	blobs        string
	url, sealing string
	clock        *testkit.Clock
	db           *db.DB // a second connection to the database
	nodes        []*node
	freeCalls    int64 // free calls per day
	maxJobs      int   // concurrent jobs per team; 0 means the default
}

// node is one server on the database.
type node struct {
	*server.Server
	work *standin.Service
}

const baseURL = "http://press.test"

func newInProcess(t *testing.T, url string, nodes int, allowed int64) *inProcess {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	in := &inProcess{
		url: url, blobs: testkit.Blobs(t), sealing: key,
		clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), freeCalls: allowed,
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

func (in *inProcess) open(t fatal) *node {
	n := &node{}
	offered := standin.Catalog(in.freeCalls)
	if in.maxJobs > 0 {
		offered.Limits.JobsInFlight = in.maxJobs
	}
	n.Server = must.Get(server.Open(context.Background(), standin.Configure(server.Config{
		Version: "test", PublicURL: baseURL, Database: in.url, SealingKey: in.sealing, Role: server.RoleAll, Workers: 1, Blobs: in.blobs,
		Catalog: offered, Log: slog.New(slog.DiscardHandler), Now: in.clock.Now,
	}, func() bool { return false }, func(s *standin.Service) { n.work = s })))(t)
	return n
}

// reopen closes node i and starts it again, as after a crash.
func (in *inProcess) reopen(t fatal, i int) {
	must.NoError(t, in.nodes[i].Close())
	in.nodes[i] = in.open(t)
}

// call calls a node over REST, or over MCP if tool is set.
func (n *node) call(ctx context.Context, key *modelKey, o apiCall, tool bool) (answer, error) {
	w := httptest.NewRecorder()
	if tool {
		n.Handler().ServeHTTP(w, o.toolRequest(baseURL, key.value).WithContext(ctx))
		return parseToolResult(o, w.Code, w.Header(), w.Body.Bytes())
	}
	n.Handler().ServeHTTP(w, o.restRequest(baseURL, key.value).WithContext(ctx))
	return parseREST(w.Code, w.Header(), w.Body.Bytes())
}

// readData decodes the data of a GET response into data.
func (n *node) readData(t fatal, key *modelKey, path string, data any) {
	t.Helper()
	w := httptest.NewRecorder()
	n.Handler().ServeHTTP(w, newGetRequest(baseURL, path, key.value))
	a := must.Get(parseREST(w.Code, w.Header(), w.Body.Bytes()))(t)
	if a.status != http.StatusOK {
		t.Fatalf("%s: %s", path, a.raw)
	}
	must.NoError(t, json.Unmarshal(a.Data, data))
}

// freeCallsLeft returns the team's remaining free calls as the node reports them.
func (n *node) freeCallsLeft(t fatal, key *modelKey) int64 {
	t.Helper()
	var limits struct {
		Left int64 `json:"free_calls_left_today"`
	}
	n.readData(t, key, "/limits", &limits)
	return limits.Left
}

// team creates a team with some keys and no credits.
func (in *inProcess) team(t fatal, zone string, keys int) *modelTeam {
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

func (in *inProcess) grant(t fatal, m *modelTeam, credits int64, reference string) {
	t.Helper()
	must.Get(in.nodes[0].Credits.Grant(context.Background(), m.id, credits, reference, ""))(t)
	m.balance, m.granted = m.balance+credits, m.granted+credits
}

func (in *inProcess) queryInt(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, in.db.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}

func (in *inProcess) exec(t fatal, statement string, args ...any) {
	t.Helper()
	must.NoError(t, in.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func (in *inProcess) sweep(t fatal) {
	t.Helper()
	for swept := int64(1); swept > 0; {
		swept = must.Get(idempotency.New(in.db).Sweep(context.Background()))(t)
	}
}

// mustPassAudit fails the test if the credit audit finds violations.
func (in *inProcess) mustPassAudit(t fatal) {
	t.Helper()
	report := must.Get(in.nodes[0].Credits.Audit(context.Background()))(t)
	if !report.OK() {
		t.Fatalf("audit violations: %+v", report.Violations)
	}
}
