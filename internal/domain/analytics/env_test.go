package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const day = 24 * time.Hour

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// collectCall is the arguments of a call of Collect.
type collectCall struct {
	account, access string
	since           time.Time
	limit           int
}

// scriptedNetwork is a network whose responses a test sets.
type scriptedNetwork struct {
	network.Network

	mu        sync.Mutex
	onCollect func(collectCall) (network.Collection, error)
	requests  []collectCall
	onRefresh func() (network.Grant, error) // called by Refresh
	grants    int
}

func (n *scriptedNetwork) Platform() string { return "instagram" }

func (n *scriptedNetwork) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.grants++
	return network.Grant{Account: c.Identifier, Username: c.Identifier, AccessToken: fmt.Sprint("access-", n.grants),
		RefreshToken: "refresh"}, nil
}

func (n *scriptedNetwork) Refresh(context.Context, network.Grant) (network.Grant, error) {
	return n.onRefresh()
}

func (n *scriptedNetwork) Collect(_ context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, collectCall{g.Account, g.AccessToken, since, limit})
	if n.onCollect == nil {
		return network.Collection{}, nil
	}
	return n.onCollect(n.requests[len(n.requests)-1])
}

func (n *scriptedNetwork) calls() []collectCall {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requests
}

// networkWithoutMetrics is a network that is not a Collector.
type networkWithoutMetrics struct{ network.Network }

func (networkWithoutMetrics) Platform() string { return "threads" }

func (networkWithoutMetrics) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Account: c.Identifier, Username: c.Identifier}, nil
}

// env is a team that can connect accounts of a scripted network.
type env struct {
	t        *testing.T
	db       *db.DB
	url      string
	clock    *testkit.Clock
	net      *scriptedNetwork
	accounts *account.Service
	service  *analytics.Service
	options  analytics.Options
	team     int64
	zone     *time.Location
	plan     string
}

// onEachDatabase runs a test with SQLite and, if available, PostgreSQL.
func onEachDatabase(t *testing.T, run func(w *env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) { run(newEnv(t, url)) })
}

func newEnv(t *testing.T, url string) *env {
	t.Helper()
	w := &env{t: t, url: url, clock: testkit.NewClock(start), net: &scriptedNetwork{}, plan: "agency"}
	w.db = testkit.Open(t, url, w.clock)
	var err error
	w.zone, err = time.LoadLocation("Europe/Berlin")
	w.must(err)
	key, err := tokencrypt.NewKey()
	w.must(err)
	sealer, err := tokencrypt.New(key)
	w.must(err)
	w.accounts = account.New(w.db, sealer, analytics.AccountObserver{}, w.net, networkWithoutMetrics{})
	w.options = analytics.Options{Catalog: plan.Default(), Log: slog.New(slog.DiscardHandler)}
	w.service = analytics.New(w.db, w.accounts, w.options)
	w.team = w.newTeam("ada@example.com")
	return w
}

func (w *env) must(err error) {
	w.t.Helper()
	must.NoError(w.t, err)
}

func (w *env) newTeam(email string) int64 {
	w.t.Helper()
	teams := team.New(w.db, nil, plan.Default())
	owner, err := teams.AddPerson(w.t.Context(), "Ada", email, "")
	w.must(err)
	created, err := teams.AddTeam(w.t.Context(), team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en",
		Plan: w.plan}, owner.ID)
	w.must(err)
	return created.ID
}

// connect connects or reconnects an account with a network ID.
func (w *env) connect(team int64, platform, id string) int64 {
	w.t.Helper()
	a, err := w.accounts.Connect(w.t.Context(), team, platform, network.Credentials{Identifier: id})
	w.must(err)
	return a.ID
}

// connectHarbour connects an account to the team and returns its ID.
func (w *env) connectHarbour() int64 {
	w.t.Helper()
	return w.connect(w.team, "instagram", "harbour")
}

// collectAfter advances the clock, executes every due run, and checks the total number of calls.
func (w *env) collectAfter(d time.Duration, calls int) {
	w.t.Helper()
	w.clock.Advance(d)
	w.must(w.service.CollectDue(w.t.Context()))
	if got := len(w.net.calls()); got != calls {
		w.t.Fatalf("the network got %d calls, want %d", got, calls)
	}
}

// setMetrics makes the network return these followers and posts from now on.
func (w *env) setMetrics(followers int64, posts ...network.CollectedPost) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.onCollect = func(collectCall) (network.Collection, error) {
		return network.Collection{Followers: &followers, Posts: posts}, nil
	}
}

// setError makes the network fail from now on.
func (w *env) setError(class network.ErrorClass, after time.Time) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.onCollect = func(collectCall) (network.Collection, error) {
		return network.Collection{}, &network.Error{Class: class, RetryAt: after, Err: errors.New("scripted error")}
	}
}

func (w *env) account(id int64) account.Account {
	w.t.Helper()
	found, err := w.accounts.ByID(w.t.Context(), w.db, w.team, []int64{id})
	w.must(err)
	return found[id]
}

// response is the result of get_account_analytics.
type response struct {
	analytics.AccountAnalytics

	notes []string
	texts []operation.Untrusted
}

func (w *env) tryAnalytics(account int64, days int) (response, error) {
	w.t.Helper()
	call := operation.Call{Actor: &access.Actor{TeamID: w.team, Zone: w.zone, Plan: w.plan}, Now: w.clock.Now()}
	args, err := json.Marshal(analytics.Input{AccountID: account, PeriodDays: days})
	w.must(err)
	op := w.service.Operations()[0]
	result, err := op.Run(w.t.Context(), call, args)
	if err != nil {
		return response{}, err
	}
	data, _ := result.Data.(analytics.AccountAnalytics)
	return response{data, result.Notes, result.Untrusted}, nil
}

func (w *env) analytics(account int64, days int) response {
	w.t.Helper()
	a, err := w.tryAnalytics(account, days)
	w.must(err)
	return a
}

// post returns a post with this number of likes.
func post(id string, at time.Time, likes int64) network.CollectedPost {
	return network.CollectedPost{ID: id, URL: "https://www.example.com/p/" + id, Text: "text of " + id, Format: "image",
		PostedAt: at, Likes: &likes}
}
