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

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// storyCalls lists the paid calls of each run, one for each outcome.
var storyCalls = []apiCall{
	{tool: standin.Search, query: "7 later", key: "a"},
	{tool: standin.Search, query: "5 none", key: "b"},
	{tool: standin.Search, query: "free", key: "c"},
	{tool: standin.Tracking, report: "r", query: "4 part", key: "a"}, // same Idempotency-Key, different call
	{tool: standin.Faulty, query: "3 error", key: "d"},
}

const (
	storyGrant = 100
	storyCosts = 7 + 0 + 0 + 2 + 3
	storyFree  = 1 + 1 // the free call and the refunded call
)

// The process is killed at every step of a paid call or its job, and restarted. A client that retries is charged
// once and gets one result. The job finishes, and the ledger is consistent.
func TestPaidCallKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		k := &killTest{seed: newOutOfProcess(t, url, 0, 100)}
		k.team = newTeam(t, k.seed.admin, "Asia/Kathmandu", -1, -1)
		grant(t, k.seed.admin, k.team, storyGrant, "start")
		_, _ = k.seed.db.Close(), k.seed.admin.Close()
		plans := [][]string{}
		for _, point := range k.findPoints(t) {
			plans = append(plans, []string{point})
		}
		// Kill the process again during recovery from the first kill.
		for _, second := range []string{
			"before stand_in.wake#1", "before replay.once#1", "inside stand_in.settled#1", "after stand_in.end#1",
		} {
			plans = append(plans, []string{"after replay.once#1", second})
		}
		k.runAll(t, plans)
	})
}

// killTest is the state that all runs share. Each run copies the seed database.
type killTest struct {
	seed *outOfProcess
	team *modelTeam
}

// minPasses returns the minimum number of times that a run reaches a step. Jobs may be woken more often.
func minPasses(step string) int {
	switch step {
	case "limit.lease_calls":
		return 2 // each lease is one call: for the first call and after the free call; maybe for the refund
	case "replay.once", "stand_in.start", "stand_in.price", "stand_in.started", "stand_in.at_once":
		return len(storyCalls) + 1
	case "stand_in.end", "stand_in.settled":
		return 3 // the jobs
	case "stand_in.try", "stand_in.wake":
		return 1
	}
	return 0
}

// findPoints returns the steps of a run, as recorded without interruption.
func (k *killTest) findPoints(t *testing.T) []string {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	must.NoError(t, k.run(t, nil, trace))
	raw := must.Get(os.ReadFile(trace))(t)
	seen, points := map[string]int{}, []string{}
	for name := range strings.Lines(string(raw)) {
		name = strings.TrimSpace(name)
		_, what, _ := strings.Cut(name, " ")
		if seen[name]++; seen[name] <= minPasses(what) {
			points = append(points, fmt.Sprintf("%s#%d", name, seen[name]))
		}
	}
	for _, needed := range []string{"after replay.once#5", "inside stand_in.price#6", "inside stand_in.started#3",
		"inside stand_in.at_once#2", "after stand_in.try#1", "inside stand_in.settled#3",
		"before stand_in.end#3", "after limit.lease_calls#1", "before stand_in.wake#1"} {
		if !slices.Contains(points, needed) {
			t.Fatalf("step %q was not reached, only %v", needed, points)
		}
	}
	return points
}

// runAll runs the plans, four at a time, because a run mostly waits.
func (k *killTest) runAll(t *testing.T, plans [][]string) {
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

// run makes the calls and kills the process at each point of the plan in turn.
func (k *killTest) run(t *testing.T, plan []string, trace string) error {
	copied, err := testkit.Copy(t, k.seed.url)
	if err != nil {
		return err
	}
	o := &outOfProcess{programs: k.seed.programs, url: copied, sealing: k.seed.sealing, controls: k.seed.controls,
		freeCalls: k.seed.freeCalls}
	p := &process{outOfProcess: o}
	defer p.kill()
	s := &retryingClient{process: p, key: k.team.keys[0], killedAt: map[int][]string{}}
	for _, at := range append(plan, "") {
		if err := p.start(at, trace); err != nil {
			return err
		}
		ended, err := s.resume(t.Context(), at)
		switch {
		case err != nil:
			return err
		case at == "" && !ended:
			return fmt.Errorf("the story did not end: %s\n%s", s.lastResponse, p.logText())
		case at != "" && ended && len(plan) == 1:
			return fmt.Errorf("the process was not killed")
		}
		if at != "" {
			p.kill()
			if err := k.checkAtomicity(t, o); err != nil {
				return err
			}
		}
	}
	p.stop()
	return k.checkEnd(t, o)
}

// retryingClient is a client that repeats each call until it gets an answer.
type retryingClient struct {
	*process
	key          *modelKey
	answers      []answer
	killedAt     map[int][]string // points at which the process was killed, by the index of the unanswered call
	lastResponse string           // last response or error, for failure messages
}

// resume continues the calls until the process dies. It reports whether all calls and jobs have ended.
func (s *retryingClient) resume(ctx context.Context, at string) (bool, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(timeout)
	for {
		done, err := s.makeCalls(ctx)
		if done || err != nil {
			return done, err
		}
		select {
		case <-tick.C:
		case <-s.ended():
			s.killedAt[len(s.answers)] = append(s.killedAt[len(s.answers)], at)
			return false, nil
		case <-deadline:
			return false, nil
		}
	}
}

func (s *retryingClient) makeCalls(ctx context.Context) (bool, error) {
	for len(s.answers) < len(storyCalls) {
		o := storyCalls[len(s.answers)]
		a, err := call(ctx, s.baseURL(), s.key, o, false)
		if err != nil {
			s.lastResponse = err.Error()
			return false, nil //nolint:nilerr // the process was killed: retry later
		}
		s.lastResponse = string(a.raw)
		if a.rejection() == "500 internal_error" && o.tool == standin.Faulty {
			continue
		}
		if !a.isSuccess() || !s.replayIsPlausible(a) {
			return false, fmt.Errorf("%+v after kills %v: replayed %v, %s", o, s.killedAt[len(s.answers)], a.isReplay, a.raw)
		}
		s.answers = append(s.answers, a)
	}
	return s.jobsEnded(ctx)
}

// replayIsPlausible reports whether the answer is a replay if and only if a kill followed the call's commit.
func (s *retryingClient) replayIsPlausible(a answer) bool {
	for _, at := range s.killedAt[len(s.answers)] {
		switch name, _, _ := strings.Cut(at, "#"); name {
		case "after replay.once":
			return a.isReplay
		case "before replay.once", "inside stand_in.price", "inside stand_in.started", "inside stand_in.at_once",
			"before limit.lease_calls", "after limit.lease_calls":
		default: // the kill interrupted a job; the concurrent call may have committed
			return true
		}
	}
	return !a.isReplay
}

// jobsEnded reports whether every job has ended, or an error if its result is unexpected.
func (s *retryingClient) jobsEnded(ctx context.Context) (bool, error) {
	for i, a := range s.answers {
		if a.jobID() == "" {
			continue
		}
		var j jobEntry
		answered, err := readData(ctx, s.baseURL(), s.key, "/jobs/"+a.jobID(), &j)
		if err != nil || !answered || !j.Finished {
			s.lastResponse = fmt.Sprintf("%+v", j)
			return false, err
		}
		if state, _ := storyCalls[i].scenario().State(); j.State != string(state) || j.Result.Charged != storyCalls[i].scenario().Cost() {
			return false, fmt.Errorf("unexpected result of the job of %+v: %+v", storyCalls[i], j)
		}
	}
	return true, nil
}

// checkAtomicity checks after a kill that each charge and its job were both stored or both not stored.
func (k *killTest) checkAtomicity(t *testing.T, o *outOfProcess) error {
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
		err = fmt.Errorf("%d charges without a job, or jobs without a charge", torn)
	}
	return err
}

// checkEnd checks the database after the process has ended.
func (k *killTest) checkEnd(t *testing.T, o *outOfProcess) error {
	d, err := db.Open(t.Context(), o.url, db.Options{Now: o.controls.Now})
	if err != nil {
		return err
	}
	defer d.Close()
	report, err := credit.New(d, credit.Options{}).Audit(t.Context())
	if err != nil || !report.OK() {
		return fmt.Errorf("audit: %w %+v", err, report.Violations)
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
		// A killed process loses its lease of one call, and possibly a call in progress.
		return fmt.Errorf("%d free calls used, want %d to %d", free, storyFree, storyFree+4)
	}
	return nil
}

// runAdmin runs an admin command. The command kills itself at the given point, if any.
func (o *outOfProcess) runAdmin(at string, args ...string) (map[string]any, error) {
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

// Repeating an interrupted grant or withdrawal with the same reference books it once.
func TestKilledTopUpIsBookedOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		o := newOutOfProcess(t, url, 0, 100)
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
			if out, err := o.runAdmin(c.at, args...); err == nil {
				t.Fatalf("the command was not killed %s: %v", c.at, out)
			}
			for range 2 {
				out := must.Get(o.runAdmin("", args...))(t)
				if out["repeated"] != c.repeated || out["balance"] != want {
					t.Errorf("%s: %v, want balance %v", c.at, out, want)
				}
				c.repeated = true
			}
		}
		out := must.Get(o.runAdmin("", "audit"))(t)
		if out["complaints_total"] != 0.0 {
			t.Errorf("audit: %v", out)
		}
	})
}
