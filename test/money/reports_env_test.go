package money

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// reportEnv runs servers with all background jobs and calls them over HTTP. The test sets the clock and determines
// the provider's responses.
type reportEnv struct {
	clock *testkit.Clock
	gate  *gate
	db    *db.DB // a second connection to the database
	nodes []reportNode
}

// reportNode is one server on the database.
type reportNode struct {
	*server.Server
	root string
}

// Plans of the teams. They differ in the number of tracked reports.
const (
	largePlan = "agency"
	smallPlan = "creator"
)

var maxTracked = map[string]int{largePlan: 3, smallPlan: 1}

const (
	maxJobs         = 2 // concurrent jobs per team
	retention       = 5 * 24 * time.Hour
	refreshInterval = 10 * time.Minute
	freeCallsPerDay = 100_000
)

// reportCatalog returns plans with low limits, but rate limits that no test reaches.
func reportCatalog() *plan.Catalog {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight, t.Limits.RefreshMinutes = maxJobs, int(refreshInterval/time.Minute)
	for i, p := range t.Plans {
		p.FreeCallsPerDay, p.DailyCredits, p.AnalyticsRetentionDays = freeCallsPerDay, plan.Unlimited, int64(retention/(24*time.Hour))
		p.TrackedReports = int64(maxTracked[p.ID])
		t.Plans[i] = p
	}
	return &t
}

func newReportEnv(t *testing.T, url string, nodes int) *reportEnv {
	t.Helper()
	sealing := must.Get(tokencrypt.NewKey())(t)
	p := &reportEnv{clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), gate: newGate()}
	box := startSandbox(t, p.clock.Now, p.gate)
	t.Cleanup(p.gate.answerAll)
	cfg := server.Config{
		Version: "test", PublicURL: baseURL, Database: url, SealingKey: sealing, Role: server.RoleAll, Workers: 64, Blobs: testkit.Blobs(t),
		BridgeURL: box + "/vendor", Catalog: reportCatalog(), Log: slog.New(slog.DiscardHandler), Now: p.clock.Now,
	}
	for range nodes {
		p.nodes = append(p.nodes, startReportNode(t, cfg, p.gate))
	}
	p.db = testkit.Open(t, url, p.clock)
	return p
}

// startReportNode starts a node until the test ends.
func startReportNode(t *testing.T, cfg server.Config, g *gate) reportNode {
	t.Helper()
	node := fixture.Serve(t, cfg)
	t.Cleanup(func() {
		g.answerAll() // release jobs that wait for the provider
		must.NoError(t, node.Stop())
	})
	return reportNode{node.Server, node.URL}
}

// startSandbox starts the sandbox, which includes the provider, and returns its URL. Requests pass through the gate, if
// any.
func startSandbox(t *testing.T, now func() time.Time, g *gate) string {
	t.Helper()
	if g == nil {
		return fixture.OpenSandbox(t, sandbox.Options{Now: now}, nil).URL
	}
	return fixture.OpenSandbox(t, sandbox.Options{Now: now}, g.wrap, g.answerAll).URL
}

// ending is a kind of response from the provider.
type ending string

// Kinds of responses. The name of a subject such as missing.e determines its response.
const (
	served  ending = "served"
	missing ending = "missing"
	private ending = "private"
	failing ending = "failing" // fails with a long Retry-After
	resting ending = "resting" // fails with an error that the job retries
)

// requestedSubject matches the suffix of subjects that the test requests: team and round.
var requestedSubject = regexp.MustCompile(`_[0-9]+_[0-9]+$`)

// gate is a proxy of the provider. A request for a subject waits until the test chooses its ending.
type gate struct {
	mu      sync.Mutex
	endings map[string]ending
	open    bool
	down    bool          // the provider's health check fails
	changed chan struct{} // closed and replaced at each change
}

func newGate() *gate { return &gate{endings: map[string]ending{}, changed: make(chan struct{})} }

func (g *gate) update(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	close(g.changed)
	g.changed = make(chan struct{})
}

// answer answers all requests about a subject until shut is called.
func (g *gate) answer(subject string, end ending) { g.update(func() { g.endings[subject] = end }) }

func (g *gate) withhold(subject string) { g.update(func() { delete(g.endings, subject) }) }

func (g *gate) answerAll() { g.update(func() { g.open = true }) }

func (g *gate) ending(subject string) (ending, bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	end, decided := g.endings[subject]
	if !decided && g.open {
		end, decided = served, true
	}
	if !decided && !requestedSubject.MatchString(subject) { // related to a requested subject
		end, decided = missing, true
	}
	return end, decided, g.changed
}

func (g *gate) wrap(source http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject, _ := strings.CutPrefix(r.URL.Path, "/vendor/v1/")
		if subject == "" {
			g.answerProbe(w, r, source)
			return
		}
		for {
			end, decided, changed := g.ending(subject)
			if decided {
				end.answer(w, r, source)
				return
			}
			select {
			case <-changed:
			case <-r.Context().Done():
				return
			}
		}
	})
}

// answerProbe answers health checks.
func (g *gate) answerProbe(w http.ResponseWriter, r *http.Request, source http.Handler) {
	g.mu.Lock()
	down := g.down
	g.mu.Unlock()
	if down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	source.ServeHTTP(w, r)
}

// answer writes the response that docs/bridge.md defines for the ending.
func (e ending) answer(w http.ResponseWriter, r *http.Request, source http.Handler) {
	reject := func(status int, code string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, code)
	}
	switch {
	case e == missing && strings.Contains(r.URL.Path, "/hashtags/"):
		reject(http.StatusNotFound, "hashtag_not_found")
	case e == missing:
		reject(http.StatusNotFound, "profile_not_found")
	case e == private:
		reject(http.StatusForbidden, "profile_private")
	case e == failing:
		w.Header().Set("Retry-After", "3600")
		reject(http.StatusServiceUnavailable, "internal")
	case e == resting:
		reject(http.StatusInternalServerError, "internal")
	default:
		source.ServeHTTP(w, r)
	}
}

// newTeam creates a team with some keys and without credits.
func (p *reportEnv) newTeam(t fatal, zone string, keys int) *teamState {
	t.Helper()
	s := p.nodes[0].Server
	id, _ := fixture.AddTeam(t, s, team.Team{Timezone: zone, Plan: largePlan})
	d := &teamState{id: id, zone: location(zone), limit: -1, plan: largePlan, usedFree: map[string]int64{}}
	for range keys {
		key, value := fixture.AddKey(t, s, team.NewKey{Team: id, Level: access.Full})
		d.keys = append(d.keys, &teamKey{id: key, value: value, limit: -1, answers: map[string]*storedAnswer{}, spent: map[string]bool{}})
	}
	return d
}

// call makes a call and returns the answer.
func (n reportNode) call(key *teamKey, w reportCall) (answer, error) {
	status, header, raw, err := send(w.request(n.root, key.value))
	if err != nil {
		return answer{}, err
	}
	return parseREST(status, header, raw)
}

// get makes a GET request.
func (n reportNode) get(t fatal, key *teamKey, path string) answer {
	t.Helper()
	status, header, raw, err := send(newGetRequest(n.root, path, key.value))
	must.NoError(t, err)
	a := must.Get(parseREST(status, header, raw))(t)
	return a
}

func (p *reportEnv) exec(t fatal, statement string, args ...any) {
	t.Helper()
	must.NoError(t, p.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func (p *reportEnv) queryInt(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, p.db.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}
