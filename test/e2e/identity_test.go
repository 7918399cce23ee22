package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The identity shows the capabilities that a gate leaves to a key, and all capabilities when the gate is open.
func TestIdentityUnderGates(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, g := range gates() {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				h.newEnv(t, options{accounts: 1}).mustShowCapabilities(g)
			})
		}
	})
	withEnv(t, options{accounts: 1}, func(_ *testing.T, w *env) {
		for _, g := range serviceGates() {
			w.mustShowCapabilities(g)
		}
	})
}

func (w *env) mustShowCapabilities(g gate) {
	w.t.Helper()
	w.mustShowAllCapabilities(noGate)
	must.NoError(w.t, g.closes(w))
	w.mustShowAllCapabilities(g)
	if g.opens == nil {
		w.mustStayInvalid(g)
		return
	}
	must.NoError(w.t, g.opens(w))
	w.mustShowAllCapabilities(noGate)
}

func (w *env) mustShowAllCapabilities(g gate) {
	w.t.Helper()
	for _, level := range access.Levels() {
		for _, got := range []answer{w.rest(w.keys[level], "get_identity", nil, ""), w.tool(w.keys[level], "get_identity", nil, "")} {
			if g.code != "" {
				got.mustReject(w.t, http.StatusForbidden, g.code, "")
				continue
			}
			left := slices.DeleteFunc(slices.Clone(levelCapabilities[level]), func(c access.Capability) bool { return c == g.stops })
			got.mustHave(w.t, map[string]any{"data.capabilities": fmt.Sprint(left), "data.key.level": level, "data.role": "owner"})
		}
	}
}

// mustStayInvalid checks that keys that ended with the ownership stay invalid, even if the person becomes the owner
// again. They can still be revoked.
func (w *env) mustStayInvalid(g gate) {
	w.t.Helper()
	must.NoError(w.t, w.Teams.SetMember(w.t.Context(), w.team, w.owner, access.Editor))
	w.mustShowAllCapabilities(g)
	must.NoError(w.t, w.Teams.SetMember(w.t.Context(), w.team, w.owner, access.Owner))
	w.mustShowAllCapabilities(g)
	_, fresh := w.newKey(w.team, access.Full, time.Time{})
	w.rest(fresh, "get_identity", nil, "").
		mustHave(w.t, map[string]any{"data.person.id": w.owner, "data.capabilities": "[read write publish spend]"})
	for _, level := range access.Levels() {
		must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), w.keyIDs[level]))
		w.rest(w.keys[level], "get_identity", nil, "").mustReject(w.t, http.StatusUnauthorized, "unauthorized", "")
	}
}

// If several gates are closed, the code of the first gate in the contract's table is returned.
func TestGatePrecedence(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		order := []string{
			"rest_disabled", "mcp_disabled_for_team", "plan_lapsed", "connection_suspended", "team_closed",
			"account_not_approved", "ownership_lost",
		}
		all := map[string]gate{}
		for _, g := range append(gates(), serviceGates()...) {
			if g.code != "membership_lost" { // a key can end for only one reason
				all[g.code] = g
			}
		}
		for _, code := range slices.Backward(order) {
			// A former owner can be suspended too.
			if code == "account_not_approved" {
				w.exec("UPDATE people SET held_at = 1 WHERE id = (SELECT person_id FROM memberships WHERE team_id = ? "+
					"AND role = 'owner')", w.team)
				w.exec("UPDATE access_version SET version = version + 1")
			} else {
				must.NoError(t, all[code].closes(w))
			}
			w.until(code, func() bool { return w.rest(full(w), "get_identity", nil, "").code() == code })
		}
	})
}

// A plan expires on time, even if the key is cached. The key works again when the team gets a plan with keys.
func TestPlanExpires(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(testStart)
		w := newInstance(t, url, options{now: clock.Now}).newEnv(t, options{accounts: 1})
		must.NoError(t, w.Teams.SetPlan(t.Context(), w.team, "team", testStart.Add(500*time.Millisecond)))
		w.full("get_limits", nil).mustHave(t, map[string]any{"data.plan.id": "team", "data.api_access": true})
		clock.Advance(500*time.Millisecond - time.Microsecond)
		w.full("get_limits", nil).mustHave(t, map[string]any{"data.plan.id": "team"})
		clock.Advance(time.Microsecond)
		w.rest(full(w), "get_limits", nil, "").mustReject(t, http.StatusForbidden, "plan_lapsed", "")
		w.tool(full(w), "get_identity", nil, "").mustReject(t, http.StatusForbidden, "plan_lapsed", "")
		clock.Advance(1000 * time.Hour)
		w.rest(full(w), "get_limits", nil, "").mustReject(t, http.StatusForbidden, "plan_lapsed", "")
		must.NoError(t, w.Teams.SetPlan(t.Context(), w.team, "creator", time.Time{}))
		w.full("get_limits", nil).mustHave(t, map[string]any{"data.plan.id": "creator"})
		w.full("get_identity", nil).mustHave(t, map[string]any{"data.capabilities": "[read write publish spend]"})
	})
}

// If a plan expires and its successor includes keys, the keys work within the new limits.
func TestPlanExpiresToOneWithKeys(t *testing.T) {
	t.Parallel()
	offered := ampleCatalog()
	offered.Lapsed = smallPlan
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(testStart)
		w := newInstance(t, url, options{now: clock.Now, catalog: offered}).newEnv(t, options{accounts: 1})
		must.NoError(t, w.Teams.SetPlan(t.Context(), w.team, "agency", testStart.Add(time.Second)))
		w.full("get_limits", nil).mustHave(t, map[string]any{"data.plan.id": "agency"})
		clock.Advance(time.Second)
		w.full("get_limits", nil).mustHave(t, map[string]any{"data.plan.id": smallPlan, "data.limits.free_calls_per_day": 1000})
	})
}

// While publishing is paused, a scheduled post can be cancelled, but not changed, rescheduled or published.
func TestScheduledPostWhilePaused(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, scope := range []team.Scope{team.ForKey, team.ForTeam} {
			t.Run(string(scope), func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				id, draft := w.schedulePost("waits", 48*time.Hour), w.draft("a draft")
				must.NoError(t, w.eachPause(scope, access.PausePublishing, func(p team.Pause) error {
					return w.Teams.Pause(t.Context(), p)
				}))
				for level, code := range map[access.Level]string{
					access.Full: "connection_suspended", access.Drafts: "publish_not_allowed",
				} {
					for _, call := range []edgeCall{w.rest, w.tool} {
						got := call(w.keys[level], "update_post", map[string]any{"id": id, "caption": "changed"}, "")
						got.mustReject(t, http.StatusForbidden, code, "")
						call(w.keys[level], "update_post", map[string]any{"id": draft, "caption": "changed"}, "").mustBe(t, http.StatusOK)
					}
				}
				w.post(id).mustHave(t, map[string]any{"data.status": "scheduled", "data.caption": "waits"})
				w.full("cancel_post", map[string]any{"post_id": id}).mustHave(t, map[string]any{"data.status": "draft"})
			})
		}
	})
}

// edgeCall is env.rest or env.tool.
type edgeCall func(credential, tool string, args map[string]any, idem string) answer

// An operation that the person's role does not allow is rejected for every key level.
func TestRoles(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: paidTestOperation}
	may := map[access.Role][]access.Capability{
		access.Owner: {"read", "write", "publish", "spend"}, access.Admin: {"read", "write", "publish", "spend"},
		access.Editor: {"read", "write", "publish"},
		access.Viewer: {"read"}, access.Client: {"read"},
	}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for _, role := range access.Roles() {
			t.Run(string(role), func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, o)
				w.grant(100)
				w.role(role)
				w.eachCell(func(op *operation.Operation, level access.Level) {
					status, code := allowedResult(op)
					if rejection := cmp.Or(notAllowed(op, may[role]), notAllowed(op, levelCapabilities[level])); rejection != "" {
						status, code = http.StatusForbidden, rejection
					}
					w.mustAnswer(noGate, op, level, status, code)
				})
			})
		}
	})
}

// Scheduled posts wait while a gate blocks publishing and are published when it opens.
func TestDuePostsAndGates(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for _, g := range append(pausesOf(team.ForTeam), teamGates()...) {
			if g.code != "team_closed" && g.code != "connection_suspended" && g.stops != access.Publish {
				continue
			}
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, o)
				id := w.schedulePost("waits for the gate "+g.name, 48*time.Hour)
				must.NoError(t, g.closes(w))
				w.makeDue(id)
				must.NoError(t, w.Posts.Release(t.Context(), id))
				if n := w.count("posts WHERE id = ? AND status = 'scheduled'", id); n != 1 {
					t.Errorf("the post was sent to the network")
				}
				must.NoError(t, g.opens(w))
				w.until("the post to go out", func() bool { return w.count("posts WHERE id = ? AND status = 'published'", id) == 1 })
			})
		}
	})
}
