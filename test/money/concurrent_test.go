package money

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// cluster is one or more servers on one database. They run in the test process and are called over HTTP.
type cluster struct {
	blobs string
	t     *testing.T
	admin *server.Server
	db    *db.DB
	urls  []string
}

// eachCluster runs a test with one node on each kind of database, and with four nodes on PostgreSQL.
func eachCluster(t *testing.T, allowed int64, run func(t *testing.T, c *cluster)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		run(t, newCluster(t, url, 1, allowed))
		if postgres(url) {
			run(t, newCluster(t, testkit.Postgres(t), 4, allowed))
		}
	})
}

func newCluster(t *testing.T, url string, nodes int, allowed int64) *cluster {
	t.Helper()
	sealing := must.Get(tokencrypt.NewKey())(t)
	c := &cluster{t: t, blobs: testkit.Blobs(t)}
	for range nodes {
		c.start(url, sealing, allowed)
	}
	c.db = testkit.Open(t, url, nil)
	return c
}

// start starts a node, which runs until the test ends.
func (c *cluster) start(url, sealing string, allowed int64) {
	c.t.Helper()
	var work *standin.Service
	node := fixture.Serve(c.t, standin.Configure(server.Config{
		Version: "test", PublicURL: baseURL, Database: url, SealingKey: sealing, Role: server.RoleAll, Workers: 8, Blobs: c.blobs,
		Catalog: standin.Catalog(allowed), Log: slog.New(slog.DiscardHandler),
	}, func() bool { return false }, func(s *standin.Service) { work = s }))
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { work.Run(ctx, func(error) {}) })
	c.t.Cleanup(func() {
		stop()
		running.Wait()
		must.NoError(c.t, node.Stop())
	})
	c.admin, c.urls = node.Server, append(c.urls, node.URL)
}

// callConcurrently makes n concurrent calls, distributed over the nodes.
func (c *cluster) callConcurrently(n int, nextCall func(i int) (*modelKey, apiCall)) []answer {
	c.t.Helper()
	out, errs := make([]answer, n), make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			key, o := nextCall(i)
			out[i], errs[i] = call(c.t.Context(), c.urls[i%len(c.urls)], key, o, false)
		})
	}
	close(start)
	wg.Wait()
	must.NoError(c.t, errors.Join(errs...))
	return out
}

// tally counts answers by rejection. The key "" counts the successes.
func tally(answers []answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.rejection()]++
	}
	return out
}

func (c *cluster) queryInt(query string, args ...any) int64 {
	c.t.Helper()
	var n int64
	must.NoError(c.t, c.db.QueryRow(c.t.Context(), query, args...).Scan(&n))
	return n
}

// mustMatch waits until all jobs of a team have finished, then checks its balance and counts.
func (c *cluster) mustMatch(m *modelTeam, balance int64, charges, jobs int) {
	c.t.Helper()
	if !poll(c.t.Context(), func() bool {
		return c.queryInt(`SELECT COUNT(*) FROM jobs WHERE team_id = ? AND finished_at = 0`, m.id) == 0
	}) {
		c.t.Fatalf("jobs do not finish")
	}
	got := fmt.Sprint(c.queryInt(`SELECT available FROM wallets WHERE team_id = ?`, m.id),
		c.queryInt(`SELECT COUNT(*) FROM reservations WHERE team_id = ? AND state = 'settled'`, m.id),
		c.queryInt(`SELECT COUNT(*) FROM reservations WHERE team_id = ?`, m.id),
		c.queryInt(`SELECT COUNT(*) FROM jobs WHERE team_id = ?`, m.id))
	if want := fmt.Sprint(balance, charges, charges, jobs); got != want {
		c.t.Errorf("balance, settled charges, all charges, jobs = %s, want %s", got, want)
	}
	report := must.Get(c.admin.Credits.Audit(c.t.Context()))(c.t)
	if !report.OK() {
		c.t.Errorf("audit violations: %+v", report.Violations)
	}
}

const keyInProgress = "409 idempotency_key_in_progress"

// Of two hundred concurrent calls with one Idempotency-Key, only one is charged and starts a job. Every caller gets
// the same answer, some only after a retry.
func TestConcurrentIdempotentCalls(t *testing.T) {
	t.Parallel()
	eachCluster(t, -1, func(t *testing.T, c *cluster) {
		for _, o := range []apiCall{
			{tool: standin.Search, query: "7 part <&>", key: "a key"},
			{tool: standin.Tracking, report: "r", query: "7 part <&>", key: "a key"},
		} {
			m := newTeam(t, c.admin, "UTC", -1, -1)
			grant(t, c.admin, m, 1000, "start")
			answers := c.callConcurrently(200, func(int) (*modelKey, apiCall) { return m.keys[0], o })
			first := onlyFresh(t, answers)
			again := c.callConcurrently(len(c.urls), func(int) (*modelKey, apiCall) { return m.keys[0], o })
			for _, a := range again {
				must.NoError(t, checkReplay(first, a))
			}
			jobs := 0
			if o.tool == standin.Search {
				jobs = 1
			}
			c.mustMatch(m, 1000-3, 1, jobs)
		}
	})
}

// onlyFresh returns the only answer that is not a replay, and compares all others with it.
func onlyFresh(t *testing.T, answers []answer) answer {
	t.Helper()
	fresh := slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return !a.isSuccess() || a.isReplay })
	if len(fresh) != 1 {
		t.Fatalf("%d answers are not replays, want 1: %v", len(fresh), tally(answers))
	}
	for _, a := range answers {
		switch {
		case a.rejection() == keyInProgress:
			if a.retryAfter != "1" || a.Context.Wait != 1 {
				t.Errorf("Retry-After %q: %s", a.retryAfter, a.raw)
			}
		case !a.isSuccess():
			t.Errorf("%s", a.raw)
		case a.isReplay:
			must.NoError(t, checkReplay(fresh[0], a))
		}
	}
	return fresh[0]
}

// A repeat during the first call gets a Retry-After, is not charged, and does not affect the first call.
func TestRepeatDuringFirstCall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the lock timeout")
	}
	eachCluster(t, -1, func(t *testing.T, c *cluster) {
		if !c.db.Postgres() {
			return // SQLite has a single writer, so the repeat waits for the first call
		}
		m := newTeam(t, c.admin, "UTC", -1, -1)
		grant(t, c.admin, m, 10, "start")
		o := apiCall{tool: standin.Search, query: "7 all", key: "a key"}
		stopped := errors.New("the first call is rolled back")
		err := c.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			must.Get(tx.Exec(ctx,
				`INSERT INTO paid_requests (key_id, key, operation, request_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
				m.keys[0].id, o.key, o.tool, o.hash(), db.Micros(tx.Now()), db.Micros(tx.Now())+1))(t)
			for _, a := range c.callConcurrently(3, func(int) (*modelKey, apiCall) { return m.keys[0], o }) {
				if a.rejection() != keyInProgress || a.retryAfter != "1" || a.Context.Wait != 1 {
					t.Errorf("Retry-After %q: %s", a.retryAfter, a.raw)
				}
			}
			return stopped
		})
		if !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		if got := tally(c.callConcurrently(3, func(int) (*modelKey, apiCall) { return m.keys[0], o })); got[""] != 3 {
			t.Errorf("%v", got)
		}
		c.mustMatch(m, 3, 1, 1)
	})
}

// The balance or a daily limit covers 37 of 100 concurrent calls.
func TestConcurrentCallsStopAtLimit(t *testing.T) {
	t.Parallel()
	eachCluster(t, -1, func(t *testing.T, c *cluster) {
		const price, enough = 3, 37
		for name, s := range map[string]struct {
			grant, teamLimit, keyLimit int64
			rejection                  string
		}{
			"the wallet":          {price*enough + 2, -1, -1, "402 insufficient_credits"},
			"the key's limit":     {1000, -1, price*enough + 2, "429 daily_credit_limit_reached connection"},
			"the team's limit":    {1000, price*enough + 2, -1, "429 daily_credit_limit_reached team"},
			"both limits of keys": {1000, price*enough + 2, price*enough + 2, ""},
		} {
			m := newTeam(t, c.admin, "Asia/Kathmandu", s.teamLimit, s.keyLimit, s.keyLimit)
			grant(t, c.admin, m, s.grant, "start")
			keys := m.keys
			if s.keyLimit >= 0 && s.teamLimit < 0 {
				keys = keys[:1]
			}
			answers := c.callConcurrently(100, func(i int) (*modelKey, apiCall) {
				o := apiCall{tool: standin.Search, query: "3 all", key: fmt.Sprint("key ", i)}
				if i%3 == 0 {
					o.tool, o.report = standin.Tracking, fmt.Sprint(i)
				}
				return keys[i%len(keys)], o
			})
			got := tally(answers)
			if got[""] != enough || s.rejection != "" && got[s.rejection] != 100-enough {
				t.Errorf("%s: %v", name, got)
			}
			jobs := 0
			for _, a := range answers {
				if a.jobID() != "" {
					jobs++
				}
			}
			c.mustMatch(m, s.grant-price*enough, enough, jobs)
		}
	})
}

// The daily allowance covers 37 of 100 concurrent free calls.
func TestConcurrentFreeCallsStopAtAllowance(t *testing.T) {
	t.Parallel()
	const allowed = 37
	eachCluster(t, allowed, func(t *testing.T, c *cluster) {
		m := newTeam(t, c.admin, "UTC", -1, -1)
		answers := c.callConcurrently(100, func(i int) (*modelKey, apiCall) {
			return m.keys[0], apiCall{tool: standin.Tracking, report: "r", query: "free", key: fmt.Sprint("key ", i)}
		})
		got := tally(answers)
		if got[""]+got["429 daily_call_limit_reached"] != 100 || got[""] > allowed || got[""] <= allowed-len(c.urls) {
			t.Errorf("%v", got)
		}
		for _, a := range answers {
			if !a.isSuccess() && (a.status != http.StatusTooManyRequests || a.retryAfter == "") {
				t.Errorf("Retry-After %q: %s", a.retryAfter, a.raw)
			}
		}
		if n := c.queryInt(`SELECT COUNT(*) FROM paid_requests WHERE key_id = ?`, m.keys[0].id); n != int64(got[""]) {
			t.Errorf("%d idempotency records, want %d", n, got[""])
		}
	})
}
