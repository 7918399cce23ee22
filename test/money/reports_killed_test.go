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

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// Clients create and refresh reports and search hashtags, retrying every call until it is answered. Tracked reports are
// refreshed. Meanwhile programs are killed at any moment or at transaction boundaries. Afterwards all work has ended,
// and every report and keyword was paid once, or not at all if its source had no data.
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
		newRaid(t, url, nodes).rage()
	})
}

const (
	raidCalls   = 60 // at least
	raidMost    = 400
	raidKills   = 6
	raidPerNode = 12 // kills of one program, at most: a slow machine spends its time on starting programs otherwise
	raidClients = 4
	raidPace    = 60 * time.Millisecond
	raidGrant   = 1_000_000
)

// killedReports is one run of the test.
type killedReports struct {
	*outside
	t       *testing.T
	terms   string // the file of the programs' terms
	box     string // the source's address
	team    *modelTeam
	tracked []string         // tracked reports, which are refreshed automatically
	nudged  map[string]int64 // how often their time was made to come
	killed  atomic.Int64
	asked   atomic.Int64

	mu     sync.Mutex
	orders []*insisted
	made   map[string]string // reports that clients know, with their kinds
}

// insisted is a request that was repeated until it was answered.
type insisted struct {
	key    *modelKey
	call   reportCall
	tries  int
	answer answer
}

func newRaid(t *testing.T, url string, nodes int) *killedReports {
	t.Helper()
	r := &killedReports{outside: newOutside(t, url, nodes, callsForFree), t: t, nudged: map[string]int64{}, made: map[string]string{}}
	r.box = newBox(t, time.Now, nil)
	r.terms = filepath.Join(t.TempDir(), "terms.json")
	offered := standin.Terms(callsForFree)
	offered.Limits.RefreshMinutes = 0
	raw := must.Get(json.Marshal(offered))(t)
	must.NoError(t, os.WriteFile(r.terms, raw, 0o600))
	r.team = newTeam(t, r.admin, "Europe/Berlin", -1, -1, -1)
	grant(t, r.admin, r.team, raidGrant, "start")
	return r
}

// start starts a program, which kills itself at a point unless that is empty.
func (r *killedReports) start(p *process, at string) {
	must.NoError(r.t, p.launch(at, "", r.programs.admin, "serve", "--public-url", root, "--database", r.url,
		"--sealing-key", r.sealing, "--metrics-addr=",
		"--blobs", "file:"+filepath.Join(r.controls.Dir, "media"), "--bridge", r.box+"/vendor", "--terms", r.terms, "--addr"))
}

func (r *killedReports) rage() {
	began := time.Now()
	for _, p := range r.nodes {
		r.start(p, "")
	}
	r.track()
	ctx, end := context.WithCancel(r.t.Context())
	var weather, clients sync.WaitGroup
	for _, p := range r.nodes {
		weather.Go(func() { r.kill(ctx, p) })
	}
	weather.Go(func() { r.nudge(ctx) })
	for range raidClients {
		clients.Go(func() { r.buy(ctx) })
	}
	clients.Wait()
	end()
	weather.Wait()
	raged := time.Since(began)
	for _, p := range r.nodes {
		p.kill()
		r.start(p, "")
	}
	r.calm()
	r.check()
	r.t.Logf("%d requests, %d kills in %v, and calm after %v", len(r.orders), r.killed.Load(), raged, time.Since(began))
}

// buy makes one request after the other, until there were enough of them and of kills.
func (r *killedReports) buy(ctx context.Context) {
	tick := time.NewTicker(raidPace)
	defer tick.Stop()
	for n := r.asked.Add(1); n <= raidCalls || n <= raidMost && r.killed.Load() < raidKills; n = r.asked.Add(1) {
		r.insist(ctx, r.anyWish(n))
		<-tick.C
	}
}

// track creates some tracked reports before the kills.
func (r *killedReports) track() {
	for i, w := range []reportCall{
		{kind: "profile", subject: "empty.tracked"}, {kind: "profile", subject: "tracked"}, {kind: "hashtag", subject: "tracked"},
	} {
		w.verb, w.platform, w.text, w.idem = "create", "instagram", w.subject, fmt.Sprint("tracked ", i)
		id := r.insist(r.t.Context(), w).reportID()
		r.calm()
		r.insist(r.t.Context(), reportCall{verb: "track", kind: w.kind, id: id, enabled: true, days: 7, idem: fmt.Sprint("track ", i)})
		r.tracked = append(r.tracked, id)
		delete(r.made, id)
	}
	r.calm()
}

// calm waits until all work has ended.
func (r *killedReports) calm() {
	const open = `SELECT (SELECT COUNT(*) FROM jobs WHERE finished_at = 0) + (SELECT COUNT(*) FROM reports
		WHERE tracked = 1 AND next_refresh_at < 2)`
	left := int64(0)
	if until(r.t.Context(), func() bool {
		left = r.number(open)
		return left == 0
	}) {
		return
	}
	r.t.Fatalf("%d things are under way for ever:\n%s", left, r.nodes[0].logText())
}

// raidDeaths are edges of the transactions on the way of a report.
var raidDeaths = []string{"replay.once", "job.claim", "report.working", "report.measured", "report.failed", "report.automatic", "job.wake"}

// kill kills a program up to raidPerNode times, or has it kill itself, and starts it again.
func (r *killedReports) kill(ctx context.Context, p *process) {
	for n := 1; n <= raidPerNode; n++ {
		select {
		case <-ctx.Done():
			return
		case <-p.exit():
			if p.at == "" {
				r.t.Errorf("a program ended by itself: %s", p.logText())
			}
		case <-r.soon(ctx, p):
			p.kill()
		}
		r.killed.Add(1)
		at := ""
		if n < raidPerNode && rand.IntN(2) > 0 {
			at = fmt.Sprint([]string{"before ", "after "}[rand.IntN(2)], raidDeaths[rand.IntN(len(raidDeaths))], "#", 1+rand.IntN(4))
		}
		r.start(p, at)
	}
}

// soon returns a channel that is closed some time after the program has begun to serve.
func (r *killedReports) soon(ctx context.Context, p *process) chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		if !p.serves(ctx) {
			return
		}
		select {
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
		case <-p.exit():
		case <-ctx.Done():
		}
	}()
	return out
}

// nudge has the time of tracked reports come, each time that its last refresh has ended.
func (r *killedReports) nudge(ctx context.Context) {
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
		r.nudged[id] += n
	}
}

// anyWish makes up a request: a new report, one that there may be, a refresh, or a search.
func (r *killedReports) anyWish(n int64) reportCall {
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
		if ids := slices.Sorted(maps.Keys(r.made)); len(ids) > 0 {
			id := ids[rand.IntN(len(ids))]
			return reportCall{verb: "refresh", kind: r.made[id], id: id, idem: idem}
		}
	}
	w := subjects[rand.IntN(len(subjects))]
	w.verb, w.idem = "create", idem
	w.subject = fmt.Sprintf("%s_%d", w.subject, rand.Int64N(1+n/3))
	w.text = w.subject
	return w
}

// insist repeats a call until it has a final answer.
func (r *killedReports) insist(ctx context.Context, w reportCall) answer {
	o := &insisted{key: r.team.keys[rand.IntN(len(r.team.keys))], call: w}
	answered := until(ctx, func() bool {
		o.tries++
		status, header, raw, err := send(w.request(r.nodes[rand.IntN(len(r.nodes))].root(), o.key.value).WithContext(ctx))
		if err != nil {
			return false
		}
		o.answer, err = read(status, header, raw)
		return err == nil && o.answer.refusal() != inProgress && o.answer.status < 500
	})
	if !answered {
		r.t.Errorf("%+v is not answered: %s", w, o.answer.raw)
		return o.answer // nothing to check
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders = append(r.orders, o)
	if w.verb == "create" && o.answer.ok() {
		r.made[o.answer.reportID()] = w.kind
	}
	return o.answer
}
