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

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/fixture"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// cluster is several programs on one database, in the test's process but called over the network.
type cluster struct {
	blobs string
	t     *testing.T
	admin *server.Server
	db    *db.DB
	roots []string
}

// clusters runs a test on one node for each kind of database, and on four where the database can have them.
func clusters(t *testing.T, allowed int64, run func(t *testing.T, c *cluster)) {
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

// start starts another node until the test ends.
func (c *cluster) start(url, sealing string, allowed int64) {
	c.t.Helper()
	var work *standin.Service
	node := fixture.Serve(c.t, standin.Configure(server.Config{
		Version: "test", PublicURL: root, Database: url, SealingKey: sealing, Role: server.RoleAll, Workers: 8, Blobs: c.blobs,
		Terms: standin.Terms(allowed), Log: slog.New(slog.DiscardHandler),
	}, func() bool { return false }, func(s *standin.Service) { work = s }))
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { work.Run(ctx, func(error) {}) })
	c.t.Cleanup(func() {
		stop()
		running.Wait()
		must.NoError(c.t, node.Stop())
	})
	c.admin, c.roots = node.Server, append(c.roots, node.URL)
}

// together makes n calls at once, spread over the nodes.
func (c *cluster) together(n int, call func(i int) (*modelKey, order)) []answer {
	c.t.Helper()
	out, errs := make([]answer, n), make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			key, o := call(i)
			out[i], errs[i] = ask(c.t.Context(), c.roots[i%len(c.roots)], key, o, false)
		})
	}
	close(start)
	wg.Wait()
	must.NoError(c.t, errors.Join(errs...))
	return out
}

// tally counts answers by how they were refused, those that were not by the empty text.
func tally(answers []answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.refusal()]++
	}
	return out
}

func (c *cluster) number(query string, args ...any) int64 {
	c.t.Helper()
	var n int64
	must.NoError(c.t, c.db.QueryRow(c.t.Context(), query, args...).Scan(&n))
	return n
}

// mustHave checks a team's money when all its work has ended.
func (c *cluster) mustHave(m *modelTeam, balance int64, charges, jobs int) {
	c.t.Helper()
	if !until(c.t.Context(), func() bool {
		return c.number(`SELECT COUNT(*) FROM jobs WHERE team_id = ? AND finished_at = 0`, m.id) == 0
	}) {
		c.t.Fatalf("work does not end")
	}
	got := fmt.Sprint(c.number(`SELECT available FROM wallets WHERE team_id = ?`, m.id),
		c.number(`SELECT COUNT(*) FROM reservations WHERE team_id = ? AND state = 'settled'`, m.id),
		c.number(`SELECT COUNT(*) FROM reservations WHERE team_id = ?`, m.id),
		c.number(`SELECT COUNT(*) FROM jobs WHERE team_id = ?`, m.id))
	if want := fmt.Sprint(balance, charges, charges, jobs); got != want {
		c.t.Errorf("balance, charges settled, charges, jobs: %s instead of %s", got, want)
	}
	report := must.Get(c.admin.Credits.Audit(c.t.Context()))(c.t)
	if !report.OK() {
		c.t.Errorf("the audit complains: %+v", report.Complaints)
	}
}

const inProgress = "409 idempotency_key_in_progress"

// Of two hundred concurrent calls with one Idempotency-Key, one is charged and starts one job; all get its answer, some
// after being told to retry.
func TestConcurrentIdempotentCalls(t *testing.T) {
	t.Parallel()
	clusters(t, -1, func(t *testing.T, c *cluster) {
		for _, o := range []order{
			{tool: standin.Search, query: "7 part <&>", idem: "a key"},
			{tool: standin.Tracking, report: "r", query: "7 part <&>", idem: "a key"},
		} {
			m := newTeam(t, c.admin, "UTC", -1, -1)
			grant(t, c.admin, m, 1000, "start")
			answers := c.together(200, func(int) (*modelKey, order) { return m.keys[0], o })
			first := theFirst(t, answers)
			again := c.together(len(c.roots), func(int) (*modelKey, order) { return m.keys[0], o })
			for _, a := range again {
				must.NoError(t, repeats(first, a))
			}
			jobs := 0
			if o.tool == standin.Search {
				jobs = 1
			}
			c.mustHave(m, 1000-3, 1, jobs)
		}
	})
}

// theFirst finds the one first answer and holds all others against it.
func theFirst(t *testing.T, answers []answer) answer {
	t.Helper()
	fresh := slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return !a.ok() || a.replayed })
	if len(fresh) != 1 {
		t.Fatalf("%d first answers: %v", len(fresh), tally(answers))
	}
	for _, a := range answers {
		switch {
		case a.refusal() == inProgress:
			if a.after != "1" || a.Context.Wait != 1 {
				t.Errorf("Retry-After %q: %s", a.after, a.raw)
			}
		case !a.ok():
			t.Errorf("%s", a.raw)
		case a.replayed:
			must.NoError(t, repeats(fresh[0], a))
		}
	}
	return fresh[0]
}

// While the first call runs, a repeat is told when to retry, is not charged, and does not affect the call.
func TestRepeatDuringFirstCall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits as long as the program does")
	}
	clusters(t, -1, func(t *testing.T, c *cluster) {
		if !c.db.Postgres() {
			return // SQLite has one writer: a repeat waits for the first call instead
		}
		m := newTeam(t, c.admin, "UTC", -1, -1)
		grant(t, c.admin, m, 10, "start")
		o := order{tool: standin.Search, query: "7 all", idem: "a key"}
		stopped := errors.New("the first call failed after all")
		err := c.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			must.Get(tx.Exec(ctx,
				`INSERT INTO paid_requests (key_id, key, operation, request_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`,
				m.keys[0].id, o.idem, o.tool, o.hash(), db.Micros(tx.Now()), db.Micros(tx.Now())+1))(t)
			for _, a := range c.together(3, func(int) (*modelKey, order) { return m.keys[0], o }) {
				if a.refusal() != inProgress || a.after != "1" || a.Context.Wait != 1 {
					t.Errorf("Retry-After %q: %s", a.after, a.raw)
				}
			}
			return stopped
		})
		if !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		if got := tally(c.together(3, func(int) (*modelKey, order) { return m.keys[0], o })); got[""] != 3 {
			t.Errorf("%v", got)
		}
		c.mustHave(m, 3, 1, 1)
	})
}

// A hundred different concurrent calls, for thirty-seven of which the balance or a daily limit suffices.
func TestConcurrentLastCredit(t *testing.T) {
	t.Parallel()
	clusters(t, -1, func(t *testing.T, c *cluster) {
		const price, enough = 3, 37
		for name, s := range map[string]struct {
			grant, ofTeam, ofKey int64
			refusal              string
		}{
			"the wallet":          {price*enough + 2, -1, -1, "402 insufficient_credits"},
			"the key's limit":     {1000, -1, price*enough + 2, "429 daily_credit_limit_reached connection"},
			"the team's limit":    {1000, price*enough + 2, -1, "429 daily_credit_limit_reached team"},
			"both limits of keys": {1000, price*enough + 2, price*enough + 2, ""},
		} {
			m := newTeam(t, c.admin, "Asia/Kathmandu", s.ofTeam, s.ofKey, s.ofKey)
			grant(t, c.admin, m, s.grant, "start")
			keys := m.keys
			if s.ofKey >= 0 && s.ofTeam < 0 {
				keys = keys[:1]
			}
			answers := c.together(100, func(i int) (*modelKey, order) {
				o := order{tool: standin.Search, query: "3 all", idem: fmt.Sprint("key ", i)}
				if i%3 == 0 {
					o.tool, o.report = standin.Tracking, fmt.Sprint(i)
				}
				return keys[i%len(keys)], o
			})
			got := tally(answers)
			if got[""] != enough || s.refusal != "" && got[s.refusal] != 100-enough {
				t.Errorf("%s: %v", name, got)
			}
			jobs := 0
			for _, a := range answers {
				if a.job() != "" {
					jobs++
				}
			}
			c.mustHave(m, s.grant-price*enough, enough, jobs)
		}
	})
}

// A hundred concurrent free calls, of which the day allows thirty-seven.
func TestConcurrentLastFreeCall(t *testing.T) {
	t.Parallel()
	const allowed = 37
	clusters(t, allowed, func(t *testing.T, c *cluster) {
		m := newTeam(t, c.admin, "UTC", -1, -1)
		answers := c.together(100, func(i int) (*modelKey, order) {
			return m.keys[0], order{tool: standin.Tracking, report: "r", query: "free", idem: fmt.Sprint("key ", i)}
		})
		got := tally(answers)
		if got[""]+got["429 daily_call_limit_reached"] != 100 || got[""] > allowed || got[""] <= allowed-len(c.roots) {
			t.Errorf("%v", got)
		}
		for _, a := range answers {
			if !a.ok() && (a.status != http.StatusTooManyRequests || a.after == "") {
				t.Errorf("Retry-After %q: %s", a.after, a.raw)
			}
		}
		if n := c.number(`SELECT COUNT(*) FROM paid_requests WHERE key_id = ?`, m.keys[0].id); n != int64(got[""]) {
			t.Errorf("%d records of %d calls", n, got[""])
		}
	})
}
