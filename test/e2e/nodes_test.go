package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// accessChange is a change of a key's access and the responses before and after it.
type accessChange struct {
	name   string
	change func(w *env) error
	tool   string
	read   func(answer) string
	before string
	after  string
}

func code(a answer) string { return fmt.Sprintf("%d %s", a.status, a.code()) }

func member(path string) func(answer) string { return func(a answer) string { return a.text(path) } }

func accessChanges() []accessChange {
	key := func(w *env) int64 { return w.keyIDs[access.Full] }
	ctx := func(w *env) context.Context { return w.t.Context() }
	const me = "get_identity"
	level, team2 := member("data.key.level"), int64(9)
	return []accessChange{
		{"a key revoked", func(w *env) error { return w.Teams.RevokeKey(ctx(w), key(w)) }, me, code, "200 ", "401 unauthorized"},
		{"a key lowered", func(w *env) error {
			return w.Teams.SetKeyLevel(ctx(w), key(w), access.ReadOnly)
		}, me, level, "full", "read_only"},
		{"a key's end moved", func(w *env) error {
			return w.Teams.SetKeyEnd(ctx(w), key(w), time.Now().Add(-time.Second))
		}, me, code, "200 ", "401 unauthorized"},
		{"a key's daily credits", func(w *env) error {
			return w.Teams.SetKeyLimit(ctx(w), key(w), 5)
		}, "get_credits", member("data.daily_limits.key"), "-1", "5"},
		{"a key paused", func(w *env) error { return pausesOf(team.ForKey)[0].closes(w) }, me, code, "200 ", "403 connection_suspended"},
		{"publishing paused", func(w *env) error {
			return pausesOf(team.ForTeam)[2].closes(w)
		}, me, member("data.capabilities"), "[read write publish spend]", "[read write spend]"},
		{"a team closed", func(w *env) error { return w.Teams.Close(ctx(w), w.team) }, me, code, "200 ", "403 team_closed"},
		{"a team switched off", func(w *env) error {
			return w.Teams.SetAccess(ctx(w), w.team, false)
		}, me, code, "200 ", "403 mcp_disabled_for_team"},
		{"a team's plan", func(w *env) error {
			return w.Teams.SetPlan(ctx(w), w.team, "creator", time.Time{})
		}, "get_limits", member("data.plan.id"), "agency", "creator"},
		{"a plan without keys", func(w *env) error {
			return w.Teams.SetPlan(ctx(w), w.team, "free", time.Time{})
		}, me, code, "200 ", "403 plan_lapsed"},
		{"a team's daily credits", func(w *env) error {
			return w.Teams.SetDailyCredits(ctx(w), w.team, &team2)
		}, "get_credits", member("data.daily_limits.team"), "1000", "9"},
		{"a team's time zone", func(w *env) error {
			return w.Teams.SetTimezone(ctx(w), w.team, "Asia/Tokyo")
		}, me, member("data.timezone"), "Europe/Berlin", "Asia/Tokyo"},
		{"a suspended owner", func(w *env) error {
			return w.Teams.SetSuspended(ctx(w), w.owner, true)
		}, me, code, "200 ", "403 account_not_approved"},
		{"a team handed on", (*env).transferOwnership, me, code, "200 ", "403 ownership_lost"},
	}
}

// A change of a key's access takes effect on each of four nodes within a second, and so does reverting the change.
func TestChangePropagation(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		bases := []string{h.base}
		for range 3 {
			_, root := h.start(options{}, server.RoleAPI)
			bases = append(bases, root+"/api/v1")
		}
		t.Run("of a team", func(t *testing.T) {
			for _, c := range accessChanges() {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					w := h.newEnv(t, options{accounts: 1})
					w.mustReturnSoon(bases, c.tool, c.read, c.before)
					must.NoError(t, c.change(w))
					w.mustReturnSoon(bases, c.tool, c.read, c.after)
				})
			}
		})
		w := h.newEnv(t, options{accounts: 1})
		for _, g := range serviceGates() {
			want := "403 " + g.code
			if g.code == "" {
				continue
			}
			must.NoError(t, g.closes(w))
			w.mustReturnSoon(bases, "get_identity", code, want)
			must.NoError(t, g.opens(w))
			w.mustReturnSoon(bases, "get_identity", code, "200 ")
		}
	})
}

// mustReturnSoon waits until every node returns the expected response. Requests that start a second from now must
// return that response.
func (w *env) mustReturnSoon(bases []string, tool string, value func(answer) string, want string) {
	w.t.Helper()
	changed := time.Now()
	for i, base := range bases {
		w.until("node "+fmt.Sprint(i), func() bool {
			asked := time.Now()
			got := value(w.restAt(base, full(w), tool, nil, ""))
			if got != want && asked.Sub(changed) > propagationTime {
				w.t.Fatalf("%v after the change, node %d returns %q, want %q", asked.Sub(changed), i, got, want)
			}
			return got == want
		})
	}
	for i, base := range bases {
		if got := value(w.restAt(base, full(w), tool, nil, "")); got != want {
			w.t.Errorf("node %d returns %q again, want %q", i, got, want)
		}
	}
}

var errDone = errors.New("roll back")

// Reads write nothing. With a cached key, they succeed while the database is locked.
func TestReadsWithoutDatabaseWrites(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		id := w.draft("a draft")
		reads := func(n int) {
			for range n {
				w.full("get_identity", nil)
				w.full("list_posts", nil)
				w.tool(full(w), "get_post", map[string]any{"id": id}, "").mustBe(t, http.StatusOK)
			}
		}
		reads(1) // caches the key and leases free calls
		before, counted := w.footprint(), w.texts(freeCalls, w.team)
		// A request that waits for one of these locks fails after a few seconds.
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			if w.db.Postgres() {
				must.Get(tx.Exec(ctx, `LOCK TABLE api_keys, people, memberships, pauses IN ACCESS EXCLUSIVE MODE`))(t)
				must.Get(tx.Exec(ctx,
					`LOCK TABLE teams, posts, post_targets, free_calls, idempotency_records, events, jobs, wallets IN EXCLUSIVE MODE`))(t)
			} else {
				must.Get(tx.Exec(ctx, `UPDATE access_version SET version = version`))(t)
			}
			reads(7)
			return errDone
		})
		if !errors.Is(err, errDone) {
			t.Fatal(err)
		}
		if effects := w.footprint().changesSince(before); effects != (rows{}) {
			t.Errorf("reading changed %+v", effects)
		}
		for row := range w.texts(freeCalls, w.team) {
			if !counted[row] {
				t.Errorf("reads were counted: %s, was %v", row, counted)
			}
		}
	})
}

// A cached key works without the database for a second.
func TestKeyCacheWithoutDatabase(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		clock := testkit.NewClock(time.Now())
		d := testkit.Open(t, w.url, clock)
		keys := team.New(d, nobodyGuesses{}, plan.Default())
		ctx := t.Context()
		must.NoError(t, keys.SetTimezone(ctx, w.team, "Europe/Berlin")) // a separate change, which clears the cache
		must.Get(keys.Authenticate(ctx, full(w)))(t)
		must.NoError(t, d.Close())
		clock.Advance(time.Second)
		if _, err := keys.Authenticate(ctx, full(w)); err != nil {
			t.Errorf("within the second: %v", err)
		}
		clock.Advance(time.Millisecond)
		if _, err := keys.Authenticate(ctx, full(w)); err == nil {
			t.Error("a key is cached for more than a second")
		}
	})
}

// nobodyGuesses disables the throttling of wrong keys.
type nobodyGuesses struct{}

func (nobodyGuesses) RecordFailure(string) time.Duration { return 0 }
