package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// shippedLimitsByPlan has the limits of the shipped plans (contract, Keys, plans, prices) as GET /limits returns
// them.
var shippedLimitsByPlan = map[string]map[string]any{
	"creator": {"plan": map[string]any{"id": "creator", "name": "Creator"}, "api_access": true,
		"free_calls_left_today": 1000.0, "limits": map[string]any{
			"social_accounts": 10.0, "posts_per_month": 200.0, "seats": 1.0, "storage_bytes": 10737418240.0,
			"analytics_retention_days": 90.0, "profiles_comparable": 3.0,
			"free_calls_per_day": 1000.0, "hashtag_lists": 20.0, "tracked_reports": 5.0}},
	"team": {"plan": map[string]any{"id": "team", "name": "Team"}, "api_access": true, "free_calls_left_today": 10000.0,
		"limits": map[string]any{
			"social_accounts": 30.0, "posts_per_month": 2000.0, "seats": 10.0, "storage_bytes": 107374182400.0,
			"analytics_retention_days": 365.0, "profiles_comparable": 10.0,
			"free_calls_per_day": 10000.0, "hashtag_lists": 100.0, "tracked_reports": 25.0}},
	"agency": {"plan": map[string]any{"id": "agency", "name": "Agency"}, "api_access": true,
		"free_calls_left_today": 100000.0, "limits": map[string]any{
			"social_accounts": -1.0, "posts_per_month": -1.0, "seats": 50.0, "storage_bytes": 1073741824000.0,
			"analytics_retention_days": 730.0, "profiles_comparable": 25.0,
			"free_calls_per_day": 100000.0, "hashtag_lists": 500.0, "tracked_reports": 100.0}},
}

var dailyCredits = map[string]float64{"creator": 50, "team": 250, "agency": 1000}

// GET /limits and GET /credits on each shipped plan.
func TestLimitsAndCreditsOfPlans(t *testing.T) {
	t.Parallel()
	offered := plan.Default()
	withInstance(t, options{catalog: &offered}, func(t *testing.T, h *instance) {
		for plan, limits := range shippedLimitsByPlan {
			t.Run(plan, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{plan: plan, accounts: 1})
				for _, call := range []edgeCall{w.rest, w.tool} {
					call(readOnly(w), "get_limits", map[string]any{}, "").mustHaveAll(t, limits)
					call(readOnly(w), "get_credits", map[string]any{}, "").mustHaveAll(t, credits(0, 0, 0, -1, dailyCredits[plan]))
				}
				w.grant(200)
				limit := int64(7)
				_, key, err := w.Teams.AddKey(t.Context(),
					team.NewKey{Team: w.team, Name: "limited", Level: access.ReadOnly, DailyCredits: &limit})
				must.NoError(t, err)
				w.rest(key, "get_credits", nil, "").mustHaveAll(t, credits(200, 0, 0, 7, dailyCredits[plan]))
			})
		}
		t.Run("free", func(t *testing.T) {
			t.Parallel()
			w := h.newEnv(t, options{plan: "free", accounts: 1})
			w.rest(full(w), "get_limits", nil, "").mustReject(t, http.StatusForbidden, "plan_lapsed", "")
		})
	})
}

// credits returns the expected GET /credits of a team whose credits were used only by keys.
func credits(balance, used, reserved, key, team float64) map[string]any {
	return map[string]any{
		"balance": balance, "used_today": map[string]any{"team": used, "keys_and_tools": used},
		"daily_limits":   map[string]any{"key": key, "team": team},
		"reserved_today": map[string]any{"key": reserved, "team": reserved},
	}
}

// mustHaveAll checks all data of an answer.
func (a answer) mustHaveAll(t *testing.T, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, a.at("data")); diff != "" {
		t.Errorf("%d (-want +got):\n%s", a.status, diff)
	}
}

// Credits used and reserved today, for each key, until the team's midnight; and changes of the limits.
func TestDailyCredits(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		w.grant(100)
		pay := func(key, id, idem string) {
			w.rest(key, "refresh_standin", reportArg(id)(w), idem).mustBe(t, http.StatusOK)
		}
		_, second := w.newKey(w.team, access.Full, time.Time{})
		pay(full(w), aReport, "1")
		pay(second, aReport, "1")
		pay(second, newReport, "2")
		pay(second, unchangedReport, "3")
		want := credits(94, 6, 0, -1, 1000)
		for _, key := range []string{full(w), second, readOnly(w)} {
			w.rest(key, "get_credits", nil, "").mustHaveAll(t, want)
		}
		// Credits of running jobs are reserved for the key that requested the job.
		w.exec(`INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash,
		state, amount, charged, created_at)
			VALUES (?, ?, ?, 'x', 'open', ?, 'open', 5, 5, ?)`, w.team, w.owner, w.keyIDs[access.Full], []byte("x"), time.Now().UnixMicro())
		w.full("get_credits", nil).
			mustHave(t, map[string]any{"data.reserved_today.key": 5, "data.reserved_today.team": 5, "data.used_today.team": 6})
		w.rest(second, "get_credits", nil, "").mustHave(t, map[string]any{"data.reserved_today.key": 0, "data.reserved_today.team": 5})
		// Credits used by automatic refreshes belong to no key.
		w.exec(`INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash,
		state, amount, charged, created_at, ended_at)
			VALUES (?, ?, 0, 'x', '', ?, 'settled', 5, 5, ?, 1)`, w.team, w.owner, []byte("x"), time.Now().UnixMicro())
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.used_today.team": 11, "data.used_today.keys_and_tools": 6})
		none := int64(0)
		must.NoError(t, w.Teams.SetDailyCredits(t.Context(), w.team, &none))
		must.NoError(t, w.Teams.SetKeyLimit(t.Context(), w.keyIDs[access.Full], 12))
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.daily_limits.key": 12, "data.daily_limits.team": 0})
		must.NoError(t, w.Teams.SetDailyCredits(t.Context(), w.team, nil))
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.daily_limits.team": 1000})
	})
}

// Daily limits reset at the team's midnight.
func TestDailyCreditsReset(t *testing.T) {
	t.Parallel()
	withLimits(t, func(*plan.Catalog) {}, func(t *testing.T, w *env, clock *testkit.Clock) {
		clock.Advance(time.Date(2027, 3, 27, 22, 30, 0, 0, time.UTC).Sub(clock.Now())) // half an hour before the team's midnight
		w.grant(100)
		must.NoError(t, w.Teams.SetKeyLimit(t.Context(), w.keyIDs[access.Full], refreshPrice))
		pay := func(idem string) answer { return w.rest(full(w), "refresh_standin", reportArg(aReport)(w), idem) }
		for day, wait := range []int64{30 * 60, 23 * 60 * 60, 24 * 60 * 60} { // clocks go forward on the second day
			pay(fmt.Sprint("first of day ", day)).mustHave(t, map[string]any{"billing.credits_charged": refreshPrice})
			for _, call := range []edgeCall{w.rest, w.tool} {
				got := call(full(w), "refresh_standin", reportArg(aReport)(w), "second")
				got.mustReject(t, http.StatusTooManyRequests, "daily_credit_limit_reached", "")
				got.mustHave(t, map[string]any{"context.scope": "connection", "context.retry_after_seconds": wait})
			}
			w.full("get_credits", nil).
				mustHave(t, map[string]any{"data.used_today.team": refreshPrice, "data.balance": 100 - refreshPrice*(day+1)})
			clock.Advance(time.Duration(wait)*time.Second - time.Microsecond)
			pay("second").mustReject(t, http.StatusTooManyRequests, "daily_credit_limit_reached", "")
			clock.Advance(time.Microsecond)
			w.full("get_credits", nil).mustHave(t, map[string]any{"data.used_today.team": 0, "data.used_today.keys_and_tools": 0})
		}
	})
}

// Only roles with permission see the balance, in credits and in billing.
func TestBalancePermissions(t *testing.T) {
	t.Parallel()
	withInstance(t, options{extend: paidTestOperation}, func(t *testing.T, h *instance) {
		for role, sees := range map[access.Role]bool{
			access.Owner: true, access.Admin: true, access.Editor: false, access.Viewer: false, access.Client: false,
		} {
			t.Run(string(role), func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				w.grant(77)
				w.role(role)
				for _, call := range []edgeCall{w.rest, w.tool} {
					got := call(full(w), "get_credits", map[string]any{}, "")
					got.mustBe(t, http.StatusOK)
					if shown := bytes.Contains(got.raw, []byte(`"balance":77`)); shown != sees ||
						!sees && bytes.Contains(got.raw, []byte("balance")) {
						t.Errorf("%s", got.raw)
					}
					got.mustHave(t, map[string]any{"data.daily_limits.team": 1000, "data.used_today.team": 0})
				}
			})
		}
	})
}
