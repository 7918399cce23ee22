package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// gate is a condition that blocks a key, set by the operator or the team's owner.
type gate struct {
	name   string
	closes func(w *env) error
	opens  func(w *env) error // nil if the gate is permanent
	code   string             // error code of every call; "" if the gate blocks only one capability
	stops  access.Capability  // the blocked capability if code is ""
}

// gates returns all gates of the contract's table that apply to keys.
func gates() []gate {
	all := append(lastingGates(), teamGates()...)
	return append(append(all, pausesOf(team.ForKey)...), pausesOf(team.ForTeam)...)
}

// serviceGates returns the gates that apply to every team of an instance.
func serviceGates() []gate {
	return append(pausesOf(team.ForService), gate{
		name: "the API off", code: "rest_disabled",
		closes: func(w *env) error {
			return w.Teams.Pause(w.t.Context(), team.Pause{Scope: team.ForService, Action: access.PauseAPI})
		},
		opens: func(w *env) error {
			return w.Teams.Resume(w.t.Context(), team.Pause{Scope: team.ForService, Action: access.PauseAPI})
		},
	})
}

func teamGates() []gate {
	return []gate{
		{
			name: "the team's switch off", code: "mcp_disabled_for_team",
			closes: func(w *env) error { return w.Teams.SetAccess(w.t.Context(), w.team, false) },
			opens:  func(w *env) error { return w.Teams.SetAccess(w.t.Context(), w.team, true) },
		}, {
			name: "a plan without keys", code: "plan_lapsed",
			closes: func(w *env) error { return w.Teams.SetPlan(w.t.Context(), w.team, "free", time.Time{}) },
			opens:  func(w *env) error { return w.Teams.SetPlan(w.t.Context(), w.team, "creator", time.Time{}) },
		}, {
			name: "a plan that has lapsed", code: "plan_lapsed",
			closes: func(w *env) error {
				return w.Teams.SetPlan(w.t.Context(), w.team, "agency", time.Now().Add(-time.Second))
			},
			opens: func(w *env) error {
				return w.Teams.SetPlan(w.t.Context(), w.team, "agency", time.Now().Add(time.Hour))
			},
		}, {
			name: "the team closed", code: "team_closed",
			closes: func(w *env) error { return w.Teams.Close(w.t.Context(), w.team) },
			opens:  func(w *env) error { return w.Teams.Reopen(w.t.Context(), w.team) },
		}, {
			name: "the suspended owner", code: "account_not_approved",
			closes: func(w *env) error { return w.Teams.SetSuspended(w.t.Context(), w.owner, true) },
			opens:  func(w *env) error { return w.Teams.SetSuspended(w.t.Context(), w.owner, false) },
		},
	}
}

// lastingGates returns the gates that cannot be opened, because the keys have ended.
func lastingGates() []gate {
	return []gate{
		{name: "the ownership lost", code: "ownership_lost", closes: (*env).transferOwnership},
		{name: "the membership lost", code: "membership_lost", closes: func(w *env) error {
			if err := w.transferOwnership(); err != nil {
				return err
			}
			return w.Teams.RemoveMember(w.t.Context(), w.team, w.owner)
		}},
	}
}

// transferOwnership transfers the team's ownership to a new member.
func (w *env) transferOwnership() error {
	heir, err := w.Teams.AddPerson(w.t.Context(), "Bela Nagy", fmt.Sprintf("bela%d@harbour.example", w.people.Add(1)), "")
	if err != nil {
		return err
	}
	return w.Teams.SetMember(w.t.Context(), w.team, heir.ID, access.Owner)
}

// pausesOf returns a gate for each pause of a scope.
func pausesOf(scope team.Scope) []gate {
	all := []gate{}
	for _, action := range []access.PauseAction{access.PauseEverything, access.PauseSpending, access.PausePublishing} {
		g := gate{code: "connection_suspended"}
		if action != access.PauseEverything {
			g = gate{stops: access.Capability(action)}
		}
		g.name = fmt.Sprintf("%s paused for the %s", action, scope)
		g.closes = func(w *env) error {
			return w.eachPause(scope, action, func(p team.Pause) error { return w.Teams.Pause(w.t.Context(), p) })
		}
		g.opens = func(w *env) error {
			return w.eachPause(scope, action, func(p team.Pause) error { return w.Teams.Resume(w.t.Context(), p) })
		}
		all = append(all, g)
	}
	return all
}

// eachPause calls do with the pause of the service or the team, or with the pause of each key.
func (w *env) eachPause(scope team.Scope, action access.PauseAction, do func(team.Pause) error) error {
	targets := map[team.Scope][]int64{team.ForService: {0}, team.ForTeam: {w.team}, team.ForKey: slices.Collect(maps.Values(w.keyIDs))}
	for _, id := range targets[scope] {
		if err := do(team.Pause{Scope: scope, Target: id, Action: action, Reason: "a test"}); err != nil {
			return err
		}
	}
	return nil
}

// levelCapabilities lists the capabilities of each level (spec, Authentication 5).
var levelCapabilities = map[access.Level][]access.Capability{
	access.ReadOnly: {"read"}, access.Drafts: {"read", "write"}, access.Full: {"read", "write", "publish", "spend"},
}

// rejectionFor returns the expected error code of a call under a gate, or "" for an allowed call. The gate's code
// takes precedence, then the code of an insufficient level, then the code of a paused capability.
func (g gate) rejectionFor(op *operation.Operation, level access.Level) string {
	beyond := notAllowed(op, levelCapabilities[level])
	switch {
	case g.code != "":
		return g.code
	case beyond == "" && g.stops == op.Needs:
		return "connection_suspended"
	}
	return beyond
}

// notAllowed returns the error code for an operation that the capabilities do not include, or "".
func notAllowed(op *operation.Operation, among []access.Capability) string {
	if slices.Contains(among, op.Needs) {
		return ""
	}
	return string(op.Needs) + "_not_allowed"
}

// noGate blocks nothing.
var noGate = gate{name: "nothing in the way", closes: func(*env) error { return nil }}

// For every operation, key level and gate, a blocked call returns the gate's code over REST and MCP and has no effect.
func TestGates(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: paidTestOperation}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for _, g := range append(gates(), noGate) {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				h.newEnv(t, o).mustBlock(g)
			})
		}
	})
}

// The gates of the service are tested sequentially on their own instance, because they affect all teams.
func TestServiceGates(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		for _, g := range serviceGates() {
			w.mustBlock(g)
			must.NoError(t, g.opens(w))
			w.full("list_posts", nil)
		}
	})
}

// mustBlock makes every call under a gate. Blocked calls come first and must have no effects.
func (w *env) mustBlock(g gate) {
	w.t.Helper()
	w.grant(100)
	w.full("list_posts", nil) // creates the row that counts free calls
	must.NoError(w.t, g.closes(w))
	before, counted := w.footprint(), w.texts(freeCalls, w.team)
	w.eachCell(func(op *operation.Operation, level access.Level) {
		if want := g.rejectionFor(op, level); want != "" {
			recordReason(want, "")
			w.mustAnswer(g, op, level, http.StatusForbidden, want)
		}
	})
	w.mustBlockOtherMethods(g)
	if now := w.texts(freeCalls, w.team); !maps.Equal(now, counted) {
		w.t.Errorf("%s: free calls were counted: %v, before %v", g.name, now, counted)
	}
	w.eachCell(func(op *operation.Operation, level access.Level) {
		if g.rejectionFor(op, level) == "" {
			status, code := allowedResult(op)
			w.mustAnswer(g, op, level, status, code)
		}
	})
	if effects := w.footprint().changesSince(before); effects != (rows{}) {
		w.t.Errorf("%s: changed %+v", g.name, effects)
	}
}

func (w *env) eachCell(do func(*operation.Operation, access.Level)) {
	for _, op := range w.Registry().All() {
		for _, level := range access.Levels() {
			do(op, level)
		}
	}
}

// allowedResult returns the expected status and code of an allowed call on a nonexistent item.
func allowedResult(op *operation.Operation) (int, string) {
	switch op.Tool {
	case "get_identity", "get_credits", "get_limits", "list_social_accounts", "list_posts", "list_media",
		"list_reports", "list_brand_voices", "list_hashtag_lists":
		return http.StatusOK, ""
	case "schedule_post":
		return http.StatusUnprocessableEntity, "validation_failed" // the time has passed
	case "create_report":
		return http.StatusUnprocessableEntity, "validation_failed" // the platform has no media of this type
	case "download_profile_media":
		return http.StatusUnprocessableEntity, "validation_failed" // the platform has no reports
	case "create_hashtag_list":
		return http.StatusUnprocessableEntity, "validation_failed" // the name has two lines
	case "search_hashtags":
		return http.StatusUnprocessableEntity, "validation_failed" // the query contains no word
	case "get_connect_link":
		return http.StatusUnprocessableEntity, "validation_failed" // a platform or an account is required
	case "import_media", "create_uploads":
		return http.StatusNotFound, "folder_not_found"
	}
	return http.StatusNotFound, "not_found"
}

// mustAnswer checks a call over REST and MCP.
func (w *env) mustAnswer(g gate, op *operation.Operation, level access.Level, status int, code string) {
	w.t.Helper()
	idem := ""
	if !op.Reads() {
		idem = "a key"
	}
	for edge, got := range map[string]answer{
		"REST": w.rest(w.keys[level], op.Tool, w.sample(op), idem), "tools": w.tool(w.keys[level], op.Tool, w.sample(op), idem),
	} {
		if got.status != status || got.code() != code {
			w.t.Errorf("%s: %s by a %s key over %s: got %d %s, want %d %s", g.name, op.Tool, level, edge, got.status,
				got.code(), status, code)
		}
	}
}

// mustBlockOtherMethods checks that a gate that blocks every operation also blocks other MCP methods.
func (w *env) mustBlockOtherMethods(g gate) {
	w.t.Helper()
	if g.code == "" {
		return
	}
	for _, method := range []string{"tools/list", "initialize", "ping"} {
		w.message(full(w), method, "{}").mustReject(w.t, http.StatusForbidden, g.code, "")
	}
	w.message(full(w), "ping", fmt.Sprintf("{%q:1}", words(1<<20))).mustReject(w.t, http.StatusForbidden, g.code, "")
	got := w.toolVerbatim(full(w), "no_such_tool", "{}")
	if got.code() != g.code {
		w.t.Errorf("%s: an unknown tool: %s", g.name, got.raw)
	}
}

// message sends an MCP message.
func (w *env) message(credential, method, params string) answer {
	w.t.Helper()
	header := bearer(credential)
	header["Content-Type"] = []string{"application/json"}
	header["Accept"] = []string{"application/json, text/event-stream"}
	header["Mcp-Protocol-Version"] = []string{"2025-06-18"}
	return w.raw(http.MethodPost, w.root+"/mcp", header,
		fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
}
