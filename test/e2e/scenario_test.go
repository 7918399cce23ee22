package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
)

// scenario is a call with its expected answer and effects. It runs over REST and over MCP in two equally prepared
// teams, on each kind of database. TestConformsToOpenAPI runs it again through a validating proxy.
type scenario struct {
	name     string
	tool     string
	as       func(w *env) string // credential; the default is the full key
	plan     string
	zone     string
	prepare  func(w *env)
	args     func(w *env) map[string]any
	verbatim string // raw arguments instead of args
	idem     string
	want     want
	effects  rows
	check    func(w *env, got answer)
}

// want is the expected answer. If the status is 0, the call must succeed.
type want struct {
	status                        int
	code, reason, argument, state string
}

// Credentials of scenarios.
var (
	readOnly = func(w *env) string { return w.keys[access.ReadOnly] }
	drafts   = func(w *env) string { return w.keys[access.Drafts] }
	full     = func(w *env) string { return w.keys[access.Full] }
)

// invalid returns the rejection of an invalid argument.
func invalid(reason, argument string) want {
	return want{status: http.StatusUnprocessableEntity, code: "validation_failed", reason: reason, argument: argument}
}

// wrongState returns the rejection of an operation that the item's state does not allow.
func wrongState(state string) want {
	w := invalid("wrong_state", "")
	w.state = state
	return w
}

func rejection(status int, code string) want { return want{status: status, code: code} }

var (
	notFound         = rejection(http.StatusNotFound, "not_found")
	awaitingApproval = rejection(http.StatusForbidden, "awaiting_client_approval")
	preflightBlocked = rejection(http.StatusUnprocessableEntity, "preflight_blocked")
	planLimit        = rejection(http.StatusForbidden, "plan_limit_reached")
)

// missing returns the error for a nonexistent item, or an item of another team, in the given argument.
func missing(argument string) want {
	w := notFound
	w.argument = argument
	return w
}

// noArgs returns no arguments.
func noArgs(*env) map[string]any { return map[string]any{} }

// fixedArgs returns arguments that do not depend on the env.
func fixedArgs(args map[string]any) func(*env) map[string]any {
	return func(*env) map[string]any { return args }
}

// scenarios returns all scenarios.
func scenarios() []scenario {
	return slices.Concat(accountScenarios(), listScenarios(), readScenarios(), createScenarios(), argumentScenarios(),
		updateScenarios(), changeRuleScenarios(),
		scheduleScenarios(), cancelScenarios(), publishScenarios(), retryScenarios(), accessScenarios(),
		replayScenarios(), timeScenarios(), mediaScenarios(), connectScenarios(), voiceScenarios())
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, scenarios()) })
}

// playAll runs scenarios over REST and MCP.
func (h *instance) playAll(t *testing.T, all []scenario) {
	t.Helper()
	names := map[string]bool{}
	for _, s := range all {
		if names[s.name] {
			t.Errorf("duplicate scenario name %q", s.name)
		}
		names[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			byRest := s.play(t, h.newEnv(t, s.options()), overREST)
			byTool := s.play(t, h.newEnv(t, s.options()), overMCP)
			if diff := cmp.Diff(byRest, byTool); diff != "" && !t.Failed() {
				t.Errorf("answers differ (-REST +tool):\n%s", diff)
			}
		})
	}
}

func (s scenario) options() options { return options{plan: s.plan, zone: s.zone} }

// edge makes a scenario's call over REST or MCP.
type edge func(w *env, s scenario, credential string) answer

// play prepares an env, makes the call and checks the answer and effects. It returns the normalized answer.
func (s scenario) play(t *testing.T, w *env, call edge) map[string]any {
	t.Helper()
	if s.prepare != nil {
		s.prepare(w)
	}
	credential := full(w)
	if s.as != nil {
		credential = s.as(w)
	}
	before, left := w.footprint(), w.freeCallsLeft()
	got := call(w, s, credential)
	s.want.check(t, w, s.tool, got)
	if effects := w.footprint().changesSince(before); effects != s.effects {
		t.Errorf("changed %+v, want %+v", effects, s.effects)
	}
	if s.check != nil && !t.Failed() {
		s.check(w, got)
	}
	out := w.normalize(got)
	out["free calls"] = left - w.freeCallsLeft()
	return out
}

// freeCallsLeft returns the remaining free calls of the day, or -1 if the API key is not permitted to read them.
func (w *env) freeCallsLeft() int64 {
	w.t.Helper()
	return w.rest(full(w), "get_limits", nil, "").number("data.free_calls_left_today")
}

func overREST(w *env, s scenario, credential string) answer {
	if s.verbatim == "" {
		return w.rest(credential, s.tool, s.args(w), s.idem)
	}
	op := w.Registry().Tool(s.tool)
	header := bearer(credential)
	header["Content-Type"] = []string{"application/json"}
	return w.raw(op.Method, w.base+op.Path, header, []byte(s.verbatim))
}

func overMCP(w *env, s scenario, credential string) answer {
	if s.verbatim == "" {
		return w.withRESTWording(w.tool(credential, s.tool, s.args(w), s.idem))
	}
	return w.withRESTWording(w.toolVerbatim(credential, s.tool, s.verbatim))
}

// Details of the error for an invalid credential in REST and in MCP, which also accepts OAuth tokens.
const (
	restWants  = "Send a valid API key or access token as a Bearer token in the Authorization header."
	toolsWants = "Connect the assistant. If its access has expired or was revoked, connect it again. Or send a valid " +
		"team API key as a bearer token in the Authorization header."
)

// withRESTWording checks that a tool's error names the argument idempotency_key instead of the header, and returns the
// error with the wording of REST.
func (w *env) withRESTWording(a answer) answer {
	w.t.Helper()
	const argument, header = "idempotency_key", "Idempotency-Key"
	detail, rejected := a.body["detail"].(string)
	switch {
	case !rejected:
		return a
	case detail == toolsWants:
		a.body["detail"] = restWants
		return a
	case strings.Contains(detail, restWants):
		w.t.Errorf("the error of MCP does not mention signing in: %s", a.raw)
	}
	if strings.Contains(detail, header) {
		w.t.Errorf("the error of MCP mentions a header: %s", a.raw)
	}
	a.body["detail"] = strings.ReplaceAll(detail, argument, header)
	if strings.HasPrefix(a.text("context.reason"), argument) {
		context, _ := a.body["context"].(map[string]any)
		if context["argument"] != argument {
			w.t.Errorf("the error of MCP does not name the argument: %s", a.raw)
		}
		delete(context, "argument")
	}
	return a
}

func (c want) check(t *testing.T, w *env, tool string, got answer) {
	t.Helper()
	if c.status == 0 {
		got.mustBe(t, w.Registry().Tool(tool).Success)
		return
	}
	recordReason(c.code, c.reason)
	answered := want{got.status, got.code(), got.text("context.reason"), got.text("context.argument"), got.text("context.state")}
	if answered != c {
		t.Errorf("got %+v, want %+v: %s", answered, c, got.raw)
	}
}

// setNote stores a note for the call and the check.
func (w *env) setNote(name, value string) { w.notes[name] = value }

// note returns a note that the preparation has stored.
func (w *env) note(name string) string {
	w.t.Helper()
	value, ok := w.notes[name]
	if !ok {
		w.t.Fatalf("no note %q", name)
	}
	return value
}

// Common preparations of scenarios.

func aDraft(w *env)               { w.setNote("post", w.draft("a draft")) }
func aDraftForAllAccounts(w *env) { w.setNote("post", w.draft("a draft", w.accounts...)) }
func aScheduledPost(w *env)       { w.setNote("post", w.schedulePost("a scheduled post", 48*time.Hour)) }
func aPublished(w *env)           { w.setNote("post", w.publishPost("a published post")) }
func aForeignPost(w *env)         { w.setNote("post", w.stranger().note("post")) }
func aBlockedDraft(w *env)        { w.setNote("post", w.draft(words(301))) }

// inOrder combines preparations.
func inOrder(steps ...func(*env)) func(*env) {
	return func(w *env) {
		for _, step := range steps {
			step(w)
		}
	}
}

// set changes columns of the prepared post.
func set(columns string, args ...any) func(*env) {
	return func(w *env) { w.exec("UPDATE posts SET "+columns+" WHERE id = ?", append(args, w.note("post"))...) }
}

// inSeries makes the prepared post an occurrence of a series.
func inSeries(template bool) func(*env) {
	return func(w *env) {
		w.exec("INSERT INTO post_series (team_id, rule, created_at) VALUES (?, 'FREQ=WEEKLY', 1)", w.team)
		is := 0
		if template {
			is = 1
		}
		set("series_id = (SELECT MAX(id) FROM post_series WHERE team_id = ?), is_template = ?", w.team, is)(w)
	}
}

// post returns the prepared post as post_id, merged with more.
func post(more map[string]any) func(*env) map[string]any { return callNamed("post_id", more) }

// byID returns the prepared post as id, merged with more.
func byID(more map[string]any) func(*env) map[string]any { return callNamed("id", more) }

func callNamed(as string, more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any {
		return mergeArgs(map[string]any{as: w.note("post")}, more)
	}
}

const noSuchID = "00000000-0000-7000-8000-000000000000"

// words returns a text of n characters.
func words(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = "all work "[i%9]
	}
	out[n-1] = '.'
	return string(out)
}
