package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// dailyPlans changes the plans: one with few free calls per day, one with none, and one without a limit.
func dailyPlans(t *plan.Catalog) {
	few, _ := t.Plan("agency")
	few.ID, few.FreeCallsPerDay = "few", 3
	none, endless := few, few
	none.ID, none.FreeCallsPerDay = dryPlan, 0
	endless.ID, endless.FreeCallsPerDay = "endless", plan.Unlimited
	t.Plans = append(t.Plans, few, none, endless)
}

// setPlan changes the team's plan.
func (w *env) setPlan(plan string) {
	w.t.Helper()
	must.NoError(w.t, w.Teams.SetPlan(w.t.Context(), w.team, plan, time.Time{}))
}

// left returns the number of free calls left, from GET /limits.
func (w *env) left() int64 {
	w.t.Helper()
	return w.full("get_limits", nil).number("data.free_calls_left_today")
}

// mustLeave checks the number of remaining free calls.
func (w *env) mustLeave(n int64, what string) {
	w.t.Helper()
	if left := w.left(); left != n {
		w.t.Errorf("%s: %d free calls left, want %d", what, left, n)
	}
}

// mustExceedDailyCalls checks the rejection of a call above the daily limit and its Retry-After.
func (a answer) mustExceedDailyCalls(t *testing.T, wait time.Duration) {
	t.Helper()
	a.mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
	a.mustHave(t, map[string]any{"context.retry_after_seconds": int64(wait / time.Second)})
	if after := a.header.Get("Retry-After"); after != fmt.Sprint(int64(wait/time.Second)) && !a.isTool() {
		t.Errorf("Retry-After: %q, want %v", after, wait)
	}
}

// If the plan has three free calls per day, the fourth call is rejected until the team's midnight, for every key, over
// REST and MCP.
func TestDailyCalls(t *testing.T) {
	t.Parallel()
	withLimits(t, dailyPlans, func(t *testing.T, w *env, clock *testkit.Clock) {
		clock.Advance(time.Date(2027, 3, 27, 22, 30, 0, 0, time.UTC).Sub(clock.Now())) // half an hour before the team's midnight
		w.setPlan("few")
		w.mustLeave(3, "a new day")
		w.rest(full(w), "list_posts", nil, "").mustBe(t, http.StatusOK)
		w.mustLeave(2, "a read")
		w.tool(readOnly(w), "list_social_accounts", map[string]any{}, "").mustBe(t, http.StatusOK)
		w.mustLeave(1, "a tool call")
		w.rest(drafts(w), "create_post", toFirst(nil)(w), "a key").mustBe(t, http.StatusCreated)
		w.mustLeave(0, "a write")
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "list_posts", map[string]any{}, "").mustExceedDailyCalls(t, 30*time.Minute)
			call(drafts(w), "create_post", toFirst(nil)(w), "").mustExceedDailyCalls(t, 30*time.Minute)
			call(full(w), "publish_post", map[string]any{"post_id": noSuchID}, "").mustExceedDailyCalls(t, 30*time.Minute)
			call(drafts(w), "create_post", toFirst(nil)(w), "a key").mustBe(t, http.StatusCreated) // a repeat
		}
		w.mustLeave(0, "rejections")
		clock.Advance(30*time.Minute - time.Microsecond)
		w.rest(full(w), "list_posts", nil, "").mustExceedDailyCalls(t, time.Second)
		clock.Advance(time.Microsecond)
		w.mustLeave(3, "midnight")
		for range 3 {
			w.full("list_posts", nil)
		}
		// This day has 23 hours because clocks go forward.
		w.rest(full(w), "list_posts", nil, "").mustExceedDailyCalls(t, 23*time.Hour)
		clock.Advance(23 * time.Hour)
		w.mustLeave(3, "the day after")
	})
}

// Calls about the key and its limits, rejected calls, repeats and paid calls do not use free calls.
func TestCountedCalls(t *testing.T) {
	t.Parallel()
	withLimits(t, dailyPlans, func(t *testing.T, w *env, clock *testkit.Clock) {
		clock.Advance(time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC).Sub(clock.Now()))
		draft := w.draft("a draft")
		w.rest(full(w), "create_post", toFirst(nil)(w), "a key")
		clock.Advance(12 * time.Hour) // until the team's next day
		w.setPlan("few")
		w.grant(100)
		nowhere := map[string]any{"post_id": noSuchID}
		for _, call := range []edgeCall{w.rest, w.tool} {
			for _, c := range []struct {
				tool   string
				args   map[string]any
				idem   string
				status int
			}{
				{"get_identity", map[string]any{}, "", 200},
				{"get_credits", map[string]any{}, "", 200},
				{"get_limits", map[string]any{}, "", 200},
				{"get_job", map[string]any{"job_id": "social_post:" + noSuchID}, "", 404},
				{"get_post", map[string]any{"id": noSuchID}, "", 404},
				{"list_posts", map[string]any{"limit": 0}, "", 422},
				{"list_posts", map[string]any{"cursor": "rubbish"}, "", 422},
				{"cancel_post", nowhere, "", 404},
				{"publish_post", nowhere, "", 404},
				{"create_post", toFirst(nil)(w), "a key", 201},
				{"refresh_standin", reportArg(aReport)(w), "a paid key", 200},
				{"refresh_standin", reportArg("nowhere")(w), "another", 404},
				{"refresh_standin", reportArg(brokenReport)(w), "another", 500},
				{"refresh_standin", reportArg(aReport)(w), "", 422},
			} {
				call(full(w), c.tool, c.args, c.idem).mustBe(t, c.status)
				w.mustLeave(3, c.tool)
			}
		}
		w.rest(readOnly(w), "cancel_post", map[string]any{"post_id": draft}, "").mustBe(t, http.StatusForbidden)
		w.mustLeave(3, "a call beyond the key's level")
		w.rest(full(w), "cancel_post", map[string]any{"post_id": draft}, "").mustBe(t, http.StatusOK)
		w.mustLeave(2, "a change that changes nothing")
		w.rest(full(w), "refresh_standin", reportArg(unchangedReport)(w), "k").mustBe(t, http.StatusOK)
		w.mustLeave(1, "a paid call that was refunded")
		w.rest(full(w), "refresh_standin", reportArg(newReport)(w), "k").mustBe(t, http.StatusOK)
		w.mustLeave(0, "a paid call that costs nothing")
		w.rest(full(w), "refresh_standin", reportArg(newReport)(w), "k").mustBe(t, http.StatusOK)
		w.mustLeave(0, "its repeat")
		w.rest(full(w), "refresh_standin", reportArg(newReport)(w), "k2").mustReject(t, http.StatusTooManyRequests,
			"daily_call_limit_reached", "")
		w.rest(full(w), "refresh_standin", reportArg(aReport)(w), "k2").mustBe(t, http.StatusOK)
		w.rest(full(w), "refresh_standin", reportArg(unchangedReport)(w), "k2").mustBe(t, http.StatusOK)
		w.mustLeave(0, "paid calls")
	})
}

// Polling a job uses no free calls.
func TestJobPollingIsFree(t *testing.T) {
	t.Parallel()
	offered := ampleCatalog()
	dailyPlans(offered)
	withEnv(t, options{accounts: 1, catalog: offered}, func(t *testing.T, w *env) {
		id := w.draft("asked about")
		w.setPlan("few")
		job := w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id")
		w.setPlan(dryPlan)
		w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		w.tool(full(w), "get_job", map[string]any{"job_id": job}, "").mustHave(t, map[string]any{"data.finished": true})
		w.setPlan("few")
		w.mustLeave(1, "polling a job") // the draft and its publication were counted
	})
}

// A plan can have no free calls or an unlimited number.
func TestDailyCallsOfPlans(t *testing.T) {
	t.Parallel()
	withLimits(t, dailyPlans, func(t *testing.T, w *env, _ *testkit.Clock) {
		w.setPlan("endless")
		w.mustLeave(-1, "a plan without a limit")
		for range 5 {
			w.full("list_posts", nil)
		}
		w.mustLeave(-1, "calls without a limit")
		w.setPlan(dryPlan)
		w.mustLeave(0, "a plan without free calls")
		w.rest(full(w), "list_posts", nil, "").mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		w.tool(full(w), "create_post", toFirst(nil)(w), "").mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		w.full("get_identity", nil)
		w.full("get_credits", nil)
		w.setPlan("few")
		w.full("list_posts", nil)
		w.mustLeave(2, "a plan with three")
		w.setPlan("agency")
		w.mustLeave(99_999, "a wider plan")
	})
}

// Each team and each day has its own count of free calls.
func TestDailyCallsPerTeam(t *testing.T) {
	t.Parallel()
	offered := ampleCatalog()
	dailyPlans(offered)
	withInstance(t, options{catalog: offered}, func(t *testing.T, h *instance) {
		o := options{plan: "few", accounts: 1}
		one, other := h.newEnv(t, o), h.newEnv(t, options{plan: "few", accounts: 1, zone: "Pacific/Auckland"})
		for range 3 {
			one.full("list_posts", nil)
		}
		one.rest(full(one), "list_posts", nil, "").mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		other.mustLeave(3, "another team's calls")
		other.full("list_posts", nil)
		other.mustLeave(2, "its own call")
	})
}

// Concurrent calls on two nodes do not exceed the limit.
func TestConcurrentDailyCalls(t *testing.T) {
	t.Parallel()
	offered := ampleCatalog()
	few, _ := offered.Plan("agency")
	few.ID, few.FreeCallsPerDay = "ten", 10
	offered.Plans = append(offered.Plans, few)
	o := options{catalog: offered, plan: "ten", accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		_, root := h.start(o, server.RoleAPI)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, o)
		passed := 0
		for _, got := range w.callConcurrently(40, func(i int) (answer, error) {
			return w.tryRest(bases[i%2], w.keys[access.Levels()[i%3]], "list_posts", nil, "")
		}) {
			if got.status == http.StatusOK {
				passed++
				continue
			}
			got.mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		}
		if passed != 10 {
			t.Errorf("%d calls succeeded, want 10", passed)
		}
		for _, base := range bases {
			if left := w.restAt(base, full(w), "get_limits", nil, "").number("data.free_calls_left_today"); left != 0 {
				t.Errorf("%d free calls left", left)
			}
		}
	})
}

// An error never suggests a purchase (spec, Errors).
func TestErrorsSuggestNoPurchase(t *testing.T) {
	t.Parallel()
	offered := ampleCatalog()
	dailyPlans(offered)
	withEnv(t, options{accounts: 1, catalog: offered, plan: dryPlan}, func(t *testing.T, w *env) {
		got := w.rest(full(w), "list_posts", nil, "")
		for _, word := range []string{"buy", "upgrade", "purchase"} {
			if strings.Contains(strings.ToLower(string(got.raw)), word) {
				t.Errorf("the error contains %q: %s", word, got.raw)
			}
		}
	})
}
