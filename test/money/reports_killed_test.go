package money

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/test/money/standin"
)

// Clients have reports made and refreshed and hashtags searched for, and insist on an answer to every call, reports
// refresh themselves, and all the while the programs are killed, at any moment or at the edge of a transaction.
// Afterwards everything has ended, and every report and keyword was paid for once, or not at all where its source had
// nothing.
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
	raidClients = 4
	raidPace    = 60 * time.Millisecond
	raidGrant   = 1_000_000
)

// raid is one such story.
type raid struct {
	*outside
	t       *testing.T
	terms   string // the file of the programs' terms
	box     string // the source's address
	team    *modelTeam
	tracked []string         // reports that refresh themselves, which nobody asks for
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
	wish   wish
	tries  int
	answer answer
}

func newRaid(t *testing.T, url string, nodes int) *raid {
	t.Helper()
	r := &raid{outside: newOutside(t, url, nodes, callsForFree), t: t, nudged: map[string]int64{}, made: map[string]string{}}
	r.box = newBox(t, time.Now, nil)
	r.terms = filepath.Join(t.TempDir(), "terms.json")
	offered := standin.Terms(callsForFree)
	offered.Limits.RefreshMinutes = 0
	raw, err := json.Marshal(offered)
	must(t, err)
	must(t, os.WriteFile(r.terms, raw, 0o600))
	r.team = newTeam(t, r.admin, "Europe/Berlin", -1, -1, -1)
	grant(t, r.admin, r.team, raidGrant, "start")
	return r
}

// start starts a program, which kills itself at a point; nowhere where that is empty.
func (r *raid) start(p *process, at string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addr == "" {
		var err error
		p.addr, err = testkit.FreeAddr()
		must(r.t, err)
	}
	p.at, p.log, p.ended = at, &bytes.Buffer{}, make(chan struct{})
	p.cmd = exec.Command(r.programs.admin, "serve", "--addr", p.addr, "--public-url", root, "--database", r.url,
		"--sealing-key", r.sealing, "--metrics-addr=",
		"--blobs", "file:"+filepath.Join(r.controls.Dir, "media"), "--bridge", r.box+"/vendor", "--terms", r.terms)
	p.cmd.Env = append(os.Environ(), "PRESSROOM_CRASH_AT="+at)
	p.cmd.Stderr = p.log
	must(r.t, p.cmd.Start())
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // killed is how it is to end
		close(ended)
	}(p.cmd, p.ended)
}

func (r *raid) rage() {
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
func (r *raid) buy(ctx context.Context) {
	tick := time.NewTicker(raidPace)
	defer tick.Stop()
	for n := r.asked.Add(1); n <= raidCalls || n <= raidMost && r.killed.Load() < raidKills; n = r.asked.Add(1) {
		r.insist(ctx, r.anyWish(n))
		<-tick.C
	}
}

// track has some reports made and tracked, before anything is killed.
func (r *raid) track() {
	for i, w := range []wish{
		{kind: "profile", subject: "empty.tracked"}, {kind: "profile", subject: "tracked"}, {kind: "hashtag", subject: "tracked"},
	} {
		w.verb, w.platform, w.text, w.idem = "create", "instagram", w.subject, fmt.Sprint("tracked ", i)
		id := r.insist(r.t.Context(), w).reportID()
		r.calm()
		r.insist(r.t.Context(), wish{verb: "track", kind: w.kind, id: id, enabled: true, days: 7, idem: fmt.Sprint("track ", i)})
		r.tracked = append(r.tracked, id)
		delete(r.made, id)
	}
	r.calm()
}

// calm waits until everything that was begun has ended.
func (r *raid) calm() {
	const open = `SELECT (SELECT COUNT(*) FROM jobs WHERE finished_at = 0) + (SELECT COUNT(*) FROM reports
		WHERE tracked = 1 AND next_refresh_at < 2)`
	left := int64(0)
	if until(r.t.Context(), func() bool {
		left = r.number(open)
		return left == 0
	}) {
		return
	}
	r.t.Fatalf("%d things are under way for ever:\n%s", left, r.nodes[0].said())
}

// raidDeaths are edges of the transactions on the way of a report.
var raidDeaths = []string{"replay.once", "job.claim", "report.working", "report.measured", "report.failed", "report.automatic", "job.wake"}

// kill kills a program again and again, or has it kill itself, and starts it again.
func (r *raid) kill(ctx context.Context, p *process) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.gone():
			if p.at == "" {
				r.t.Errorf("a program ended by itself: %s", p.said())
			}
		case <-r.soon(ctx, p):
			p.kill()
		}
		r.killed.Add(1)
		at := ""
		if rand.IntN(2) > 0 {
			at = fmt.Sprint([]string{"before ", "after "}[rand.IntN(2)], raidDeaths[rand.IntN(len(raidDeaths))], "#", 1+rand.IntN(4))
		}
		r.start(p, at)
	}
}

// soon is closed some time after the program has begun to serve.
func (r *raid) soon(ctx context.Context, p *process) chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		if !p.serves(ctx) {
			return
		}
		select {
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
		case <-p.gone():
		case <-ctx.Done():
		}
	}()
	return out
}

// nudge has the time of tracked reports come, each time that its last refresh has ended.
func (r *raid) nudge(ctx context.Context) {
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
		must(r.t, r.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
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
func (r *raid) anyWish(n int64) wish {
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
			return wish{verb: "refresh", kind: r.made[id], id: id, idem: idem}
		}
	}
	w := subjects[rand.IntN(len(subjects))]
	w.verb, w.idem = "create", idem
	w.subject = fmt.Sprintf("%s_%d", w.subject, rand.Int64N(1+n/3))
	w.text = w.subject
	return w
}

// insist asks until there is an answer that a client need not ask again after.
func (r *raid) insist(ctx context.Context, w wish) answer {
	o := &insisted{key: r.team.keys[rand.IntN(len(r.team.keys))], wish: w}
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
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders = append(r.orders, o)
	if w.verb == "create" && o.answer.ok() {
		r.made[o.answer.reportID()] = w.kind
	}
	return o.answer
}

// check holds the answers, the jobs and the ledger against each other.
func (r *raid) check() {
	report, err := r.admin.Credits.Audit(r.t.Context())
	must(r.t, err)
	if !report.Sound() {
		r.t.Errorf("the audit complains: %+v", report.Complaints)
	}
	paid := int64(0)
	for _, o := range r.orders {
		if err := r.judge(o); err != nil {
			r.t.Errorf("%+v, asked %d times: %v: %s", o.wish, o.tries, err, o.answer.raw)
		}
		if o.answer.ok() && o.answer.Billing.Charged > 0 {
			paid++
		}
	}
	spent := r.number(`SELECT COALESCE(SUM(charged), 0) FROM reservations`)
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE key_id > 0`); n != paid {
		r.t.Errorf("%d reservations of calls instead of %d", n, paid)
	}
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE state <> 'settled'`); n > 0 {
		r.t.Errorf("%d reservations are open", n)
	}
	if n := r.number(`SELECT available FROM wallets WHERE team_id = ?`, r.team.id); n != raidGrant-spent {
		r.t.Errorf("%d credits are left, and %d were spent", n, spent)
	}
	r.checkOnce()
	r.checkSearches()
	r.checkAutomatic()
}

// judge holds the answer to a request against what was paid for it.
func (r *raid) judge(o *insisted) error {
	var n, amount, charged int64
	must(r.t,
		r.db.QueryRow(r.t.Context(),
			`SELECT COUNT(*), COALESCE(SUM(amount), 0), COALESCE(SUM(charged), 0) FROM reservations
		WHERE key_id = ? AND idempotency_key = ?`, o.key.id, o.wish.idem).Scan(&n, &amount, &charged))
	price := int64(0)
	switch {
	case o.answer.refusal() == "422 validation_failed wrong_state" && o.wish.verb == "refresh": // its making had failed
	case !o.answer.ok():
		return fmt.Errorf("it was refused")
	default:
		price = o.answer.Billing.Charged
	}
	switch {
	case amount != price || n > 1 || price > 0 && n != 1:
		return fmt.Errorf("%d reservations of %d instead of one of %d", n, amount, price)
	case o.answer.job() == "":
		return nil
	}
	return r.judgeJob(o, price, charged)
}

// judgeJob holds the job that a request was told of against what it was charged.
func (r *raid) judgeJob(o *insisted, price, charged int64) error {
	var job jobOfReport
	if !until(r.t.Context(), func() bool {
		answered, err := show(r.t.Context(), r.nodes[0].root(), o.key, "/jobs/"+o.answer.job(), &job)
		must(r.t, err)
		return answered
	}) {
		return fmt.Errorf("nobody tells of the job")
	}
	switch {
	case !job.Finished:
		return fmt.Errorf("the job goes on: %+v", job)
	case o.wish.verb != "refresh" && (job.State == "succeeded") != ((&paper{subject: o.wish.subject}).natural(served) == served):
		return fmt.Errorf("the job ended otherwise: %+v", job)
	case price > 0 && job.Result.Charged != charged, price > 0 && (charged == price) != (job.State == "succeeded"),
		price > 0 && charged != 0 && charged != price:
		return fmt.Errorf("it was charged %d of %d: %+v", charged, price, job)
	}
	return nil
}

// checkOnce sees that the making of each report was charged once, or not at all where it failed.
func (r *raid) checkOnce() {
	lines, err := db.All(r.t.Context(), r.db, func(rows *sql.Rows, line *string) error {
		var kind, subject, status string
		var charged int64
		err := rows.Scan(&kind, &subject, &status, &charged)
		p, want := paper{kind: kind, subject: subject}, "ready"
		wantCharged := p.makingCosts()
		if p.natural(served) != served {
			want, wantCharged = "error", 0
		}
		if status != want || charged != wantCharged {
			*line = fmt.Sprintf("%s %s is %s instead of %s, charged %d instead of %d", kind, subject, status, want, charged, wantCharged)
		}
		return err
	}, `SELECT p.kind, p.subject, p.status, CAST(COALESCE((SELECT SUM(r.charged) FROM report_jobs b
		JOIN jobs j ON j.id = b.job_id JOIN reservations r ON r.id = j.reservation_id
		WHERE b.report_id = p.id AND b.purpose = 'make'), 0) AS BIGINT) FROM reports p`)
	must(r.t, err)
	for _, line := range lines {
		if line != "" {
			r.t.Error(line)
		}
	}
}

// checkSearches sees that each keyword was charged once, or not at all where nothing was found.
func (r *raid) checkSearches() {
	found := 0
	lines, err := db.All(r.t.Context(), r.db, func(rows *sql.Rows, line *string) error {
		var platform, text, job string
		var charged, begun int64
		err := rows.Scan(&platform, &text, &job, &charged, &begun)
		want := prices.HashtagSearch
		if p := (&paper{kind: keyword, subject: text}); p.natural(served) != served {
			want = 0
		}
		if found++; charged != want || job != "" {
			*line = fmt.Sprintf("%s on %s: %d searches were charged %d instead of %d, and %q goes on", text, platform,
				begun, charged, want, job)
		}
		return err
	}, `SELECT s.platform, s.keyword, s.job_id, CAST(COALESCE(SUM(r.charged), 0) AS BIGINT), COUNT(r.id) FROM hashtag_searches s
		LEFT JOIN hashtag_search_jobs l ON l.search_id = s.id LEFT JOIN jobs j ON j.id = l.job_id LEFT
		JOIN reservations r ON r.id = j.reservation_id GROUP BY s.id, s.platform, s.keyword, s.job_id`)
	must(r.t, err)
	for _, line := range lines {
		if line != "" {
			r.t.Error(line)
		}
	}
	if found == 0 {
		r.t.Error("nobody searched")
	}
}

// checkAutomatic sees that each time that came of a tracked report brought one refresh, which was charged once.
func (r *raid) checkAutomatic() {
	all := int64(0)
	for _, id := range r.tracked {
		all += r.nudged[id]
		began, good := r.number(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0`, id),
			r.number(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0
				AND j.state = 'succeeded' AND r.charged = r.amount AND r.amount > 0`, id)
		if began != r.nudged[id] || good != began {
			r.t.Errorf("report %s was due %d times, %d refreshes began and %d succeeded and were charged", id, r.nudged[id], began, good)
		}
	}
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE key_id = 0`); n != all || all == 0 {
		r.t.Errorf("%d automatic charges instead of %d", n, all)
	}
	if strings.Contains(r.nodes[0].said(), "panic") {
		r.t.Errorf("the program complains: %s", r.nodes[0].said())
	}
}
