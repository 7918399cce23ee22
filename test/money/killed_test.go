package money

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/domain/credit"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// story has the purchases of a client in each run, one for each outcome of paid work.
var story = []order{
	{tool: standin.Search, query: "7 later", idem: "a"},
	{tool: standin.Search, query: "5 none", idem: "b"},
	{tool: standin.Search, query: "free", idem: "c"},
	{tool: standin.Tracking, report: "r", query: "4 part", idem: "a"}, // the key of another request
	{tool: standin.Faulty, query: "3 error", idem: "d"},
}

const (
	storyGrant = 100
	storyCosts = 7 + 0 + 0 + 2 + 3
	storyFree  = 1 + 1 // the free one, and the refunded one
)

// If the process is killed at any step of a paid call or its work and restarted, a client that retries gets one result
// for one charge, the work ends as ordered, and the ledger is consistent.
func TestPaidCallKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		k := &killTest{seed: newOutside(t, url, 0, 100)}
		k.team = newTeam(t, k.seed.admin, "Asia/Kathmandu", -1, -1)
		grant(t, k.seed.admin, k.team, storyGrant, "start")
		_, _ = k.seed.db.Close(), k.seed.admin.Close()
		plans := [][]string{}
		for _, point := range k.points(t) {
			plans = append(plans, []string{point})
		}
		// Killed again during recovery from the first kill.
		for _, second := range []string{
			"before stand_in.wake#1", "before replay.once#1", "inside stand_in.settled#1", "after stand_in.end#1",
		} {
			plans = append(plans, []string{"after replay.once#1", second})
		}
		k.storm(t, plans)
	})
}

// killTest has what all runs share: a database that each run copies.
type killTest struct {
	seed *outside
	team *modelTeam
}

// certain returns how often a run is certain to pass a step. Work may be woken more often.
func certain(step string) int {
	switch step {
	case "limit.lease_calls":
		return 2 // the first call and, as a lease is one call here, one after the free one; the refund may take a third
	case "replay.once", "stand_in.start", "stand_in.price", "stand_in.started", "stand_in.at_once":
		return len(story) + 1
	case "stand_in.end", "stand_in.settled":
		return 3 // the jobs
	case "stand_in.try", "stand_in.wake":
		return 1
	}
	return 0
}

// points lists the steps of the story by letting one run through.
func (k *killTest) points(t *testing.T) []string {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	must.NoError(t, k.run(t, nil, trace))
	raw := must.Get(os.ReadFile(trace))(t)
	seen, points := map[string]int{}, []string{}
	for name := range strings.Lines(string(raw)) {
		name = strings.TrimSpace(name)
		_, what, _ := strings.Cut(name, " ")
		if seen[name]++; seen[name] <= certain(what) {
			points = append(points, fmt.Sprintf("%s#%d", name, seen[name]))
		}
	}
	for _, needed := range []string{"after replay.once#5", "inside stand_in.price#6", "inside stand_in.started#3",
		"inside stand_in.at_once#2", "after stand_in.try#1", "inside stand_in.settled#3",
		"before stand_in.end#3", "after limit.lease_calls#1", "before stand_in.wake#1"} {
		if !slices.Contains(points, needed) {
			t.Fatalf("the step %q is not among those seen: %v", needed, points)
		}
	}
	return points
}

// storm runs every plan, some at a time: most of a run is waiting.
func (k *killTest) storm(t *testing.T, plans [][]string) {
	t.Helper()
	began := time.Now()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, plan := range plans {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := k.run(t, plan, ""); err != nil {
				t.Errorf("killed %s: %v", strings.Join(plan, ", then "), err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d runs in %v", len(plans), time.Since(began))
}

// run plays the story while the process is killed at each point of a plan in turn.
func (k *killTest) run(t *testing.T, plan []string, trace string) error {
	copied, err := testkit.Copy(t, k.seed.url)
	if err != nil {
		return err
	}
	o := &outside{programs: k.seed.programs, url: copied, sealing: k.seed.sealing, controls: k.seed.controls, allowed: k.seed.allowed}
	p := &process{outside: o}
	defer p.kill()
	s := &retryingClient{process: p, key: k.team.keys[0], lost: map[int][]string{}}
	for _, at := range append(plan, "") {
		if err := p.start(at, trace); err != nil {
			return err
		}
		ended, err := s.tell(t.Context(), at)
		switch {
		case err != nil:
			return err
		case at == "" && !ended:
			return fmt.Errorf("it did not end: %s\n%s", s.last, p.logText())
		case at != "" && ended && len(plan) == 1:
			return fmt.Errorf("it was not killed")
		}
		if at != "" {
			p.kill()
			if err := k.whole(t, o); err != nil {
				return err
			}
		}
	}
	p.stop()
	return k.check(t, o)
}

// retryingClient is a client that repeats each request until it is answered.
type retryingClient struct {
	*process
	key     *modelKey
	answers []answer
	lost    map[int][]string // by the request that was not answered: where the process was killed
	last    string
}

// tell continues the purchases until the process dies; it reports true when all have ended.
func (s *retryingClient) tell(ctx context.Context, at string) (bool, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		done, err := s.goOn(ctx)
		if done || err != nil {
			return done, err
		}
		select {
		case <-tick.C:
		case <-s.exit():
			s.lost[len(s.answers)] = append(s.lost[len(s.answers)], at)
			return false, nil
		case <-deadline:
			return false, nil
		}
	}
}

func (s *retryingClient) goOn(ctx context.Context) (bool, error) {
	for len(s.answers) < len(story) {
		o := story[len(s.answers)]
		a, err := ask(ctx, s.root(), s.key, o, false)
		if err != nil {
			s.last = err.Error()
			return false, nil //nolint:nilerr // a missing answer is not an error
		}
		s.last = string(a.raw)
		if a.refusal() == "500 internal_error" && o.tool == standin.Faulty {
			continue
		}
		if !a.ok() || !s.rightly(a) {
			return false, fmt.Errorf("%+v after kills %v: replayed: %v, %s", o, s.lost[len(s.answers)], a.replayed, a.raw)
		}
		s.answers = append(s.answers, a)
	}
	return s.jobsEnded(ctx)
}

// rightly reports whether an answer is rightly the first or a repeat: a call is done once its transaction is.
func (s *retryingClient) rightly(a answer) bool {
	for _, at := range s.lost[len(s.answers)] {
		switch name, _, _ := strings.Cut(at, "#"); name {
		case "after replay.once":
			return a.replayed
		case "before replay.once", "inside stand_in.price", "inside stand_in.started", "inside stand_in.at_once",
			"before limit.lease_calls", "after limit.lease_calls":
		default: // work was killed, with the call that was running
			return true
		}
	}
	return !a.replayed
}

// jobsEnded reports whether every job has ended as ordered.
func (s *retryingClient) jobsEnded(ctx context.Context) (bool, error) {
	for i, a := range s.answers {
		if a.job() == "" {
			continue
		}
		var j jobEntry
		answered, err := show(ctx, s.root(), s.key, "/jobs/"+a.job(), &j)
		if err != nil || !answered || !j.Finished {
			s.last = fmt.Sprintf("%+v", j)
			return false, err
		}
		if state, _ := story[i].words().State(); j.State != string(state) || j.Result.Charged != story[i].words().Cost() {
			return false, fmt.Errorf("the job of %+v ended as %+v", story[i], j)
		}
	}
	return true, nil
}

// whole checks the state after a kill: the credits moved with the work or not at all.
func (k *killTest) whole(t *testing.T, o *outside) error {
	d, err := db.Open(t.Context(), o.url, db.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	var torn int
	err = d.QueryRow(t.Context(),
		`SELECT (SELECT COUNT(*) FROM jobs j JOIN reservations r ON r.id = j.reservation_id
		WHERE (r.state = 'settled') <> (j.finished_at > 0))
		+ (SELECT COUNT(*) FROM reservations r WHERE NOT EXISTS (SELECT 1 FROM paid_requests p
		WHERE p.key_id = r.key_id AND p.key = r.idempotency_key AND p.request_hash = r.request_hash AND p.answer IS NOT NULL))
		+ (SELECT COUNT(*) FROM reservations r WHERE r.operation = ? AND NOT EXISTS (SELECT 1 FROM jobs j
		WHERE j.reservation_id = r.id))`, standin.Search).Scan(&torn)
	if err == nil && torn > 0 {
		err = fmt.Errorf("%d charges without their work, or work without its charge", torn)
	}
	return err
}

// check checks the state after the process has ended.
func (k *killTest) check(t *testing.T, o *outside) error {
	d, err := db.Open(t.Context(), o.url, db.Options{Now: o.controls.Now})
	if err != nil {
		return err
	}
	defer d.Close()
	report, err := credit.New(d, credit.Options{}).Audit(t.Context())
	if err != nil || !report.OK() {
		return fmt.Errorf("the audit: %w %+v", err, report.Complaints)
	}
	var balance, reservations, open, jobs, records, free int64
	err = d.QueryRow(t.Context(),
		`SELECT (SELECT available FROM wallets WHERE team_id = ?), (SELECT COUNT(*)
		FROM reservations), (SELECT COUNT(*) FROM reservations WHERE state <> 'settled'),
		(SELECT COUNT(*) FROM jobs), (SELECT COUNT(*) FROM paid_requests), (SELECT used FROM free_calls
		WHERE team_id = ?)`, k.team.id, k.team.id).
		Scan(&balance, &reservations, &open, &jobs, &records, &free)
	switch {
	case err != nil:
		return err
	case balance != storyGrant-storyCosts || reservations != 4 || open != 0 || jobs != 3 || records != 5:
		return fmt.Errorf("balance %d, %d reservations (%d open), %d jobs, %d records", balance, reservations, open, jobs, records)
	case free < storyFree || free > storyFree+4:
		// A killed process loses its leases, of one call here, and perhaps a running call.
		return fmt.Errorf("%d free calls are used", free)
	}
	return nil
}

// operate runs an operator's command, which is killed at a point unless that is empty.
func (o *outside) operate(at string, args ...string) (map[string]any, error) {
	cmd := exec.Command(o.programs.admin,
		append([]string{"admin", "--json"},
			append(args, "--database", o.url, "--sealing-key", o.sealing, "--blobs", "file:"+filepath.Join(o.controls.Dir, "media"))...)...)
	cmd.Env = append(os.Environ(), "PRESSROOM_CRASH_AT="+at)
	raw, err := cmd.Output()
	out := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, fmt.Errorf("%v: %w: %s", args, err, raw)
		}
	}
	return out, err
}

// A top-up that was killed is repeated with its reference, and booked once.
func TestTopUpKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		o := newOutside(t, url, 0, 100)
		m := newTeam(t, o.admin, "UTC", -1, -1)
		for i, c := range []struct {
			at       string
			repeated bool
		}{{"before credit.grant", false}, {"after credit.grant", true}, {"before credit.withdraw", false}, {
			"after credit.withdraw", true,
		}} {
			verb, want := "grant", float64(20*(i+1))
			if i > 1 {
				verb, want = "withdraw", float64(40-10*(i-1))
			}
			args := []string{
				"credits", verb, "--team", fmt.Sprint(m.id), "--credits",
				map[string]string{"grant": "20", "withdraw": "10"}[verb], "--reference", c.at,
			}
			if out, err := o.operate(c.at, args...); err == nil {
				t.Fatalf("it was not killed %s: %v", c.at, out)
			}
			for range 2 {
				out := must.Get(o.operate("", args...))(t)
				if out["repeated"] != c.repeated || out["balance"] != want {
					t.Errorf("%s: %v instead of %v", c.at, out, want)
				}
				c.repeated = true
			}
		}
		out := must.Get(o.operate("", "audit"))(t)
		if out["complaints_total"] != 0.0 {
			t.Errorf("the audit: %v", out)
		}
	})
}
