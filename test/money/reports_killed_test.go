package money

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// Clients create reports, refresh them and search hashtags, and retry every call until it is answered. Meanwhile,
// servers are killed at random times or at transaction boundaries. In the end, all jobs have finished, and every
// report and search was charged once, or not at all without data from the provider.
func TestReportsKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes twenty seconds")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		nodes := 1
		if postgres(url) {
			nodes = 2
		}
		newKilledReports(t, url, nodes).run()
	})
}

const (
	raidMinCalls        = 60  // minimum number of calls
	raidMaxCalls        = 400 // maximum number of calls
	raidMinKills        = 6   // minimum number of kills
	raidMaxKillsPerNode = 12  // maximum number of kills of one server, because a slow machine restarts slowly
	raidClients         = 4
	raidPace            = 60 * time.Millisecond // between two calls of a client
	raidGrant           = 1_000_000
)

// killedReports is one run of the test.
type killedReports struct {
	*outOfProcess
	t        *testing.T
	catalog  string // path of the plans file
	sandbox  string // URL of the sandbox
	team     *modelTeam
	tracked  []string         // tracked reports, which are refreshed automatically
	dueCount map[string]int64 // how often the test made a tracked report due
	killed   atomic.Int64
	calls    atomic.Int64

	mu          sync.Mutex
	answered    []*answeredCall
	reportKinds map[string]string // kinds of the created reports, by ID
}

// answeredCall is a call that was repeated until it was answered.
type answeredCall struct {
	key    *modelKey
	call   reportCall
	tries  int
	answer answer
}

func newKilledReports(t *testing.T, url string, nodes int) *killedReports {
	t.Helper()
	r := &killedReports{
		outOfProcess: newOutOfProcess(t, url, nodes, freeCallsPerDay), t: t,
		dueCount: map[string]int64{}, reportKinds: map[string]string{},
	}
	r.sandbox = startSandbox(t, time.Now, nil)
	r.catalog = filepath.Join(t.TempDir(), "plans.json")
	offered := standin.Catalog(freeCallsPerDay)
	offered.Limits.RefreshMinutes = 0
	raw := must.Get(json.Marshal(offered))(t)
	must.NoError(t, os.WriteFile(r.catalog, raw, 0o600))
	r.team = newTeam(t, r.admin, "Europe/Berlin", -1, -1, -1)
	grant(t, r.admin, r.team, raidGrant, "start")
	return r
}

// start starts a server, which kills itself at the given point, if any.
func (r *killedReports) start(p *process, at string) {
	must.NoError(r.t, p.launch(at, "", r.programs.admin, "serve", "--public-url", baseURL, "--database", r.url,
		"--sealing-key", r.sealing, "--metrics-addr=",
		"--blobs", "file:"+filepath.Join(r.controls.Dir, "media"), "--bridge", r.sandbox+"/vendor", "--plans", r.catalog, "--addr"))
}

func (r *killedReports) run() {
	began := time.Now()
	for _, p := range r.nodes {
		r.start(p, "")
	}
	r.track()
	ctx, end := context.WithCancel(r.t.Context())
	var events, clients sync.WaitGroup
	for _, p := range r.nodes {
		events.Go(func() { r.killRepeatedly(ctx, p) })
	}
	events.Go(func() { r.makeDue(ctx) })
	for range raidClients {
		clients.Go(func() { r.buy(ctx) })
	}
	clients.Wait()
	end()
	events.Wait()
	duration := time.Since(began)
	for _, p := range r.nodes {
		p.kill()
		r.start(p, "")
	}
	r.awaitJobs()
	r.check()
	r.t.Logf("%d requests and %d kills in %v, all jobs finished after %v", len(r.answered), r.killed.Load(), duration, time.Since(began))
}

// buy makes calls one after another until there were enough calls and kills.
func (r *killedReports) buy(ctx context.Context) {
	tick := time.NewTicker(raidPace)
	defer tick.Stop()
	for n := r.calls.Add(1); n <= raidMinCalls || n <= raidMaxCalls && r.killed.Load() < raidMinKills; n = r.calls.Add(1) {
		r.callUntilAnswered(ctx, r.anyCall(n))
		<-tick.C
	}
}

// track creates tracked reports before the kills begin.
func (r *killedReports) track() {
	for i, w := range []reportCall{
		{kind: "profile", subject: "empty.tracked"}, {kind: "profile", subject: "tracked"}, {kind: "hashtag", subject: "tracked"},
	} {
		w.verb, w.platform, w.text, w.idem = "create", "instagram", w.subject, fmt.Sprint("tracked ", i)
		id := r.callUntilAnswered(r.t.Context(), w).reportID()
		r.awaitJobs()
		r.callUntilAnswered(r.t.Context(), reportCall{verb: "track", kind: w.kind, id: id, enabled: true, days: 7,
			idem: fmt.Sprint("track ", i)})
		r.tracked = append(r.tracked, id)
		delete(r.reportKinds, id)
	}
	r.awaitJobs()
}

// awaitJobs waits until all jobs have finished.
func (r *killedReports) awaitJobs() {
	const open = `SELECT (SELECT COUNT(*) FROM jobs WHERE finished_at = 0) + (SELECT COUNT(*) FROM reports
		WHERE tracked = 1 AND next_refresh_at < 2)`
	left := int64(0)
	if poll(r.t.Context(), func() bool {
		left = r.queryInt(open)
		return left == 0
	}) {
		return
	}
	r.t.Fatalf("%d jobs or due reports remain:\n%s", left, r.nodes[0].logText())
}

// raidKillPoints are the transactions before or after which a server kills itself.
var raidKillPoints = []string{
	"replay.once", "job.claim", "report.working", "report.measured", "report.failed", "report.automatic", "job.wake",
}

// killRepeatedly kills a server, or waits until it kills itself, and restarts it, up to raidMaxKillsPerNode times.
func (r *killedReports) killRepeatedly(ctx context.Context, p *process) {
	for n := 1; n <= raidMaxKillsPerNode; n++ {
		select {
		case <-ctx.Done():
			return
		case <-p.ended():
			if p.killPoint == "" {
				r.t.Errorf("a server ended unexpectedly: %s", p.logText())
			}
		case <-r.randomTimer(ctx, p):
			p.kill()
		}
		r.killed.Add(1)
		at := ""
		if n < raidMaxKillsPerNode && rand.IntN(2) > 0 {
			at = fmt.Sprint([]string{"before ", "after "}[rand.IntN(2)],
				raidKillPoints[rand.IntN(len(raidKillPoints))], "#", 1+rand.IntN(4))
		}
		r.start(p, at)
	}
}

// randomTimer returns a channel that is closed a random time after the server has started to serve.
func (r *killedReports) randomTimer(ctx context.Context, p *process) chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		if !p.awaitReady(ctx) {
			return
		}
		select {
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
		case <-p.ended():
		case <-ctx.Done():
		}
	}()
	return out
}

// makeDue makes random tracked reports due if their last refresh has ended.
func (r *killedReports) makeDue(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		id := r.tracked[rand.IntN(len(r.tracked))]
		var n int64
		must.NoError(r.t, r.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
			var err error
			n, err = tx.Exec(ctx,
				`UPDATE reports SET next_refresh_at = 1 WHERE id = ? AND next_refresh_at > 1 AND NOT EXISTS (SELECT 1
		FROM jobs WHERE jobs.id = reports.job_id AND jobs.finished_at = 0)`, id)
			return err
		}))
		r.dueCount[id] += n
	}
}

// anyCall returns a random call: create or refresh a report, or search.
func (r *killedReports) anyCall(n int64) reportCall {
	idem := fmt.Sprint("wish ", n)
	if rand.IntN(4) == 0 {
		w := keywords[rand.IntN(len(keywords))]
		w.verb, w.kind, w.idem = "search", keyword, idem
		w.subject = fmt.Sprintf("%s_%d", w.subject, rand.Int64N(1+n/4))
		w.text = w.subject
		return w
	}
	if rand.IntN(3) == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		if ids := slices.Sorted(maps.Keys(r.reportKinds)); len(ids) > 0 {
			id := ids[rand.IntN(len(ids))]
			return reportCall{verb: "refresh", kind: r.reportKinds[id], id: id, idem: idem}
		}
	}
	w := subjects[rand.IntN(len(subjects))]
	w.verb, w.idem = "create", idem
	w.subject = fmt.Sprintf("%s_%d", w.subject, rand.Int64N(1+n/3))
	w.text = w.subject
	return w
}

// callUntilAnswered repeats a call until it gets a final answer.
func (r *killedReports) callUntilAnswered(ctx context.Context, w reportCall) answer {
	o := &answeredCall{key: r.team.keys[rand.IntN(len(r.team.keys))], call: w}
	answered := poll(ctx, func() bool {
		o.tries++
		status, header, raw, err := send(w.request(r.nodes[rand.IntN(len(r.nodes))].baseURL(), o.key.value).WithContext(ctx))
		if err != nil {
			return false
		}
		o.answer, err = parseREST(status, header, raw)
		return err == nil && o.answer.rejection() != keyInProgress && o.answer.status < 500
	})
	if !answered {
		r.t.Errorf("no final answer to %+v: %s", w, o.answer.raw)
		return o.answer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, o)
	if w.verb == "create" && o.answer.isSuccess() {
		r.reportKinds[o.answer.reportID()] = w.kind
	}
	return o.answer
}
