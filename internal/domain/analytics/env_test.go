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

// asked is one call of Collect.
type asked struct {
	account, access string
	since           time.Time
	most            int
}

// script is a network with scripted answers.
type script struct {
	network.Network

	mu     sync.Mutex
	tells  func(asked) (network.Collection, error)
	asked  []asked
	fresh  func() (network.Grant, error) // the result of a refresh
	grants int
}

func (n *script) Platform() string { return "instagram" }

func (n *script) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.grants++
	return network.Grant{Account: c.Identifier, Username: c.Identifier, Access: fmt.Sprint("access-", n.grants),
		Refresh: "refresh"}, nil
}

func (n *script) Refresh(context.Context, network.Grant) (network.Grant, error) { return n.fresh() }

func (n *script) Collect(_ context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, asked{g.Account, g.Access, since, limit})
	if n.tells == nil {
		return network.Collection{}, nil
	}
	return n.tells(n.asked[len(n.asked)-1])
}

func (n *script) calls() []asked {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// silent is a network that returns no posts.
type silent struct{ network.Network }

func (silent) Platform() string { return "threads" }

func (silent) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Account: c.Identifier, Username: c.Identifier}, nil
}

// env is a team with a network that follows a script.
type env struct {
	t        *testing.T
	db       *db.DB
	url      string
	clock    *testkit.Clock
	net      *script
	accounts *account.Service
	service  *analytics.Service
	options  analytics.Options
	team     int64
	zone     *time.Location
	plan     string
}

func each(t *testing.T, run func(w *env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) { run(newEnv(t, url)) })
}

func newEnv(t *testing.T, url string) *env {
	t.Helper()
	w := &env{t: t, url: url, clock: testkit.NewClock(start), net: &script{}, plan: "agency"}
	w.db = testkit.Open(t, url, w.clock)
	var err error
	w.zone, err = time.LoadLocation("Europe/Berlin")
	w.must(err)
	key, err := tokencrypt.NewKey()
	w.must(err)
	sealer, err := tokencrypt.New(key)
	w.must(err)
	w.accounts = account.New(w.db, sealer, analytics.AccountObserver{}, w.net, silent{})
	w.options = analytics.Options{Terms: plan.Default(), Log: slog.New(slog.DiscardHandler)}
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
	made, err := teams.AddTeam(w.t.Context(), team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en",
		Plan: w.plan}, owner.ID)
	w.must(err)
	return made.ID
}

// connect connects or reconnects an account with a network ID.
func (w *env) connect(team int64, platform, id string) int64 {
	w.t.Helper()
	a, err := w.accounts.Connect(w.t.Context(), team, platform, network.Credentials{Identifier: id})
	w.must(err)
	return a.ID
}

// harbour is an account of the team.
func (w *env) harbour() int64 {
	w.t.Helper()
	return w.connect(w.team, "instagram", "harbour")
}

// after advances the clock, runs every due turn, and checks the total number of calls.
func (w *env) after(d time.Duration, calls int) {
	w.t.Helper()
	w.clock.Advance(d)
	w.must(w.service.Once(w.t.Context()))
	if got := len(w.net.calls()); got != calls {
		w.t.Fatalf("the network was asked %d times, want %d", got, calls)
	}
}

// tell sets the followers and posts that the network returns from now on.
func (w *env) tell(followers int64, posts ...network.CollectedPost) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.tells = func(asked) (network.Collection, error) {
		return network.Collection{Followers: &followers, Posts: posts}, nil
	}
}

// refuse has the network fail from now on.
func (w *env) refuse(class network.Class, after time.Time) {
	w.net.mu.Lock()
	defer w.net.mu.Unlock()
	w.net.tells = func(asked) (network.Collection, error) {
		return network.Collection{}, &network.Error{Class: class, After: after, Err: errors.New("as the test says")}
	}
}

func (w *env) state(id int64) account.Account {
	w.t.Helper()
	found, err := w.accounts.Of(w.t.Context(), w.db, w.team, []int64{id})
	w.must(err)
	return found[id]
}

// answer is the result for a client.
type answer struct {
	analytics.AccountAnalytics

	notes []string
	texts []operation.Untrusted
}

func (w *env) ask(account int64, days int) (answer, error) {
	w.t.Helper()
	call := operation.Call{Actor: &access.Actor{TeamID: w.team, Zone: w.zone, Plan: w.plan}, Now: w.clock.Now()}
	args, err := json.Marshal(analytics.Input{AccountID: account, PeriodDays: days})
	w.must(err)
	op := w.service.Operations()[0]
	result, err := op.Run(w.t.Context(), call, args)
	if err != nil {
		return answer{}, err
	}
	data, _ := result.Data.(analytics.AccountAnalytics)
	return answer{data, result.Notes, result.Untrusted}, nil
}

func (w *env) read(account int64, days int) answer {
	w.t.Helper()
	a, err := w.ask(account, days)
	w.must(err)
	return a
}

// post is one that people liked so often.
func post(id string, at time.Time, likes int64) network.CollectedPost {
	return network.CollectedPost{ID: id, URL: "https://www.example.com/p/" + id, Text: "text of " + id, Format: "image",
		PostedAt: at, Likes: &likes}
}
