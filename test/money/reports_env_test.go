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

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/sandbox"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/fixture"
	"pressroom/internal/testkit/must"
)

// reportEnv is the whole program with its background work, called over the network. The test sets its clock and releases
// the answers of its source.
type reportEnv struct {
	clock  *testkit.Clock
	source *gate
	db     *db.DB // a second connection to the database
	nodes  []reportNode
}

// reportNode is one program on the database.
type reportNode struct {
	*server.Server
	root string
}

// Plans of the teams: they differ in how many reports may be tracked.
const (
	largePlan = "agency"
	smallPlan = "creator"
)

var mayBeTracked = map[string]int{largePlan: 3, smallPlan: 1}

const (
	placesForJobs = 2 // of a team's callers
	reportsKept   = 5 * 24 * time.Hour
	refreshApart  = 10 * time.Minute
	callsForFree  = 100_000
)

// reportTerms returns plans without effective rate limits and with low other limits.
func reportTerms() *plan.Terms {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight, t.Limits.RefreshMinutes = placesForJobs, int(refreshApart/time.Minute)
	for i, p := range t.Plans {
		p.FreeCallsPerDay, p.DailyCredits, p.AnalyticsRetentionDays = callsForFree, plan.Unlimited, int64(reportsKept/(24*time.Hour))
		p.TrackedReports = int64(mayBeTracked[p.ID])
		t.Plans[i] = p
	}
	return &t
}

func newPress(t *testing.T, url string, nodes int) *reportEnv {
	t.Helper()
	sealing := must.Get(tokencrypt.NewKey())(t)
	p := &reportEnv{clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), source: newGate()}
	box := newBox(t, p.clock.Now, p.source)
	t.Cleanup(p.source.throwOpen)
	cfg := server.Config{
		Version: "test", PublicURL: root, Database: url, SealingKey: sealing, Role: server.RoleAll, Workers: 64, Blobs: testkit.Blobs(t),
		BridgeURL: box + "/vendor", Terms: reportTerms(), Log: slog.New(slog.DiscardHandler), Now: p.clock.Now,
	}
	for range nodes {
		p.nodes = append(p.nodes, startPress(t, cfg, p.source))
	}
	p.db = testkit.Open(t, url, p.clock)
	return p
}

// startPress starts a node until the test ends.
func startPress(t *testing.T, cfg server.Config, source *gate) reportNode {
	t.Helper()
	node := fixture.Serve(t, cfg)
	t.Cleanup(func() {
		source.throwOpen() // release work that waits for the source
		must.NoError(t, node.Stop())
	})
	return reportNode{node.Server, node.URL}
}

// newBox starts the sandbox networks, whose data vendor is the source, and returns their URL. A gate may precede it.
func newBox(t *testing.T, now func() time.Time, before *gate) string {
	t.Helper()
	if before == nil {
		return fixture.OpenSandbox(t, sandbox.Options{Now: now}, nil).URL
	}
	return fixture.OpenSandbox(t, sandbox.Options{Now: now}, before.around, before.throwOpen).URL
}

// ending is how a source answers.
type ending string

// The endings. Some names, such as missing.you, determine their own.
const (
	served  ending = "served"
	missing ending = "missing"
	private ending = "private"
	failing ending = "failing" // and wants to be left alone for long
	resting ending = "resting" // fails, and may do better a moment later; it does not
)

// ofTest matches the end of subjects requested by tests: a team and a round.
var ofTest = regexp.MustCompile(`_[0-9]+_[0-9]+$`)

// gate is a proxy of the provider: a request for a subject waits until the test decides its result.
type gate struct {
	mu      sync.Mutex
	ends    map[string]ending
	all     bool
	down    bool          // the source's health check fails
	changed chan struct{} // closed at each change
}

func newGate() *gate { return &gate{ends: map[string]ending{}, changed: make(chan struct{})} }

func (g *gate) change(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	close(g.changed)
	g.changed = make(chan struct{})
}

// let answers all requests about a subject until shut.
func (g *gate) let(subject string, end ending) { g.change(func() { g.ends[subject] = end }) }

func (g *gate) shut(subject string) { g.change(func() { delete(g.ends, subject) }) }

func (g *gate) throwOpen() { g.change(func() { g.all = true }) }

func (g *gate) now(subject string) (ending, bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	end, said := g.ends[subject]
	if !said && g.all {
		end, said = served, true
	}
	if !said && !ofTest.MatchString(subject) { // it accompanies a requested subject
		end, said = missing, true
	}
	return end, said, g.changed
}

func (g *gate) around(source http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject, _ := strings.CutPrefix(r.URL.Path, "/vendor/v1/")
		if subject == "" {
			g.answerProbe(w, r, source)
			return
		}
		for {
			end, said, changed := g.now(subject)
			if said {
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

// answerProbe responds to requests that only check for a response.
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

// answer answers as the vendor's contract has it (docs/bridge.md).
func (e ending) answer(w http.ResponseWriter, r *http.Request, source http.Handler) {
	refuse := func(status int, word string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, word)
	}
	switch {
	case e == missing && strings.Contains(r.URL.Path, "/hashtags/"):
		refuse(http.StatusNotFound, "hashtag_not_found")
	case e == missing:
		refuse(http.StatusNotFound, "profile_not_found")
	case e == private:
		refuse(http.StatusForbidden, "profile_private")
	case e == failing:
		w.Header().Set("Retry-After", "3600")
		refuse(http.StatusServiceUnavailable, "internal")
	case e == resting:
		refuse(http.StatusInternalServerError, "internal")
	default:
		source.ServeHTTP(w, r)
	}
}

// newTeam creates a team with some keys and without credits.
func (p *reportEnv) newTeam(t fatal, zone string, keys int) *teamState {
	t.Helper()
	s := p.nodes[0].Server
	id, _ := fixture.AddTeam(t, s, team.Team{Timezone: zone, Plan: largePlan})
	d := &teamState{id: id, zone: location(zone), limit: -1, plan: largePlan, free: map[string]int64{}}
	for range keys {
		key, value := fixture.AddKey(t, s, team.NewKey{Team: id, Level: access.Full})
		d.keys = append(d.keys, &teamKey{id: key, value: value, limit: -1, kept: map[string]*keptAnswer{}, spent: map[string]bool{}})
	}
	return d
}

// asks makes a call to a node.
func (n reportNode) asks(key *teamKey, w reportCall) (answer, error) {
	status, header, raw, err := send(w.request(n.root, key.value))
	if err != nil {
		return answer{}, err
	}
	return read(status, header, raw)
}

// reads gets something of a node.
func (n reportNode) reads(t fatal, key *teamKey, path string) answer {
	t.Helper()
	status, header, raw, err := send(get(n.root, path, key.value))
	must.NoError(t, err)
	a := must.Get(read(status, header, raw))(t)
	return a
}

func (p *reportEnv) exec(t fatal, statement string, args ...any) {
	t.Helper()
	must.NoError(t, p.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func (p *reportEnv) number(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, p.db.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}
