package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/core/access"
)

// scenario is one call with what it has to answer and to change. Each is made over REST and as a tool call, in
// two teams that were made the same way, on each database; and once more over REST behind a proxy that knows
// the description alone.
type scenario struct {
	name     string
	tool     string
	as       func(w *world) string // the credential; the full key where nil
	plan     string
	zone     string
	prepare  func(w *world)
	args     func(w *world) map[string]any
	verbatim string // the arguments as they are sent, in place of args; of a write without arguments in its path
	idem     string
	want     want
	effects  rows
	check    func(w *world, got answer)
}

// want is what a call has to answer: the operation's success where the status is 0.
type want struct {
	status                        int
	code, reason, argument, state string
}

// The credentials.
var (
	readOnly = func(w *world) string { return w.keys[access.ReadOnly] }
	drafts   = func(w *world) string { return w.keys[access.Drafts] }
	full     = func(w *world) string { return w.keys[access.Full] }
)

// invalid is a request that is not as the description says.
func invalid(reason, argument string) want {
	return want{status: http.StatusUnprocessableEntity, code: "validation_failed", reason: reason, argument: argument}
}

// wrongState is what the item's state does not allow.
func wrongState(state string) want {
	w := invalid("wrong_state", "")
	w.state = state
	return w
}

func refused(status int, code string) want { return want{status: status, code: code} }

var (
	notFound         = refused(http.StatusNotFound, "not_found")
	awaitingApproval = refused(http.StatusForbidden, "awaiting_client_approval")
	preflightBlocked = refused(http.StatusUnprocessableEntity, "preflight_blocked")
	planLimit        = refused(http.StatusForbidden, "plan_limit_reached")
)

// missing is an item that is not there, or is another team's, named by an argument other than the path's.
func missing(argument string) want {
	w := notFound
	w.argument = argument
	return w
}

// noArgs are the arguments of a call without any.
func noArgs(*world) map[string]any { return map[string]any{} }

// these are arguments that need nothing of the world.
func these(args map[string]any) func(*world) map[string]any {
	return func(*world) map[string]any { return args }
}

// scenarios gathers those of every subject.
func scenarios() []scenario {
	return slices.Concat(accountScenarios(), listScenarios(), readScenarios(), createScenarios(), argumentScenarios(),
		updateScenarios(), changeRuleScenarios(),
		scheduleScenarios(), cancelScenarios(), publishScenarios(), retryScenarios(), accessScenarios(),
		replayScenarios(), timeScenarios(), mediaScenarios(), connectScenarios(), voiceScenarios())
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	houses(t, options{}, func(t *testing.T, h *house) { h.playAll(t, scenarios()) })
}

// playAll plays scenarios on both edges.
func (h *house) playAll(t *testing.T, all []scenario) {
	t.Helper()
	names := map[string]bool{}
	for _, s := range all {
		if names[s.name] {
			t.Errorf("two scenarios are called %q", s.name)
		}
		names[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			byRest := s.play(t, h.world(t, s.options()), overREST)
			byTool := s.play(t, h.world(t, s.options()), asTool)
			if diff := cmp.Diff(byRest, byTool); diff != "" && !t.Failed() {
				t.Errorf("the tool answers otherwise than REST (-REST +tool):\n%s", diff)
			}
		})
	}
}

func (s scenario) options() options { return options{plan: s.plan, zone: s.zone} }

// edge makes a scenario's call one way.
type edge func(w *world, s scenario, credential string) answer

// play prepares a world, makes the call and checks everything about it. It gives what both edges have to agree on.
func (s scenario) play(t *testing.T, w *world, call edge) map[string]any {
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
	if effects := w.footprint().since(before); effects != s.effects {
		t.Errorf("changed %+v, want %+v", effects, s.effects)
	}
	if s.check != nil && !t.Failed() {
		s.check(w, got)
	}
	out := w.normal(got)
	out["free calls"] = left - w.freeCallsLeft()
	return out
}

// freeCallsLeft is what is left of the day's free calls; -1 where the key may not ask.
func (w *world) freeCallsLeft() int64 {
	w.t.Helper()
	return w.rest(full(w), "get_limits", nil, "").number("data.free_calls_left_today")
}

func overREST(w *world, s scenario, credential string) answer {
	if s.verbatim == "" {
		return w.rest(credential, s.tool, s.args(w), s.idem)
	}
	op := w.Registry().Tool(s.tool)
	header := bearer(credential)
	header["Content-Type"] = []string{"application/json"}
	return w.raw(op.Method, w.base+op.Path, header, []byte(s.verbatim))
}

func asTool(w *world, s scenario, credential string) answer {
	if s.verbatim == "" {
		return w.inRESTWords(w.tool(credential, s.tool, s.args(w), s.idem))
	}
	return w.inRESTWords(w.toolVerbatim(credential, s.tool, s.verbatim))
}

// What is told at each edge of a credential that is nobody's: at the tools it may have been got by signing in.
const (
	restWants  = "Send a valid API key as a Bearer token in the Authorization header."
	toolsWants = "Connect the assistant again: its access has expired or was revoked. Or send a valid team API key " +
		"as a bearer token in the Authorization header."
)

// inRESTWords holds that a tool's refusal speaks of the argument idempotency_key and names it, and gives it as REST
// words it, which has a header in its place.
func (w *world) inRESTWords(a answer) answer {
	w.t.Helper()
	const argument, header = "idempotency_key", "Idempotency-Key"
	detail, refused := a.body["detail"].(string)
	switch {
	case !refused:
		return a
	case detail == toolsWants:
		a.body["detail"] = restWants
		return a
	case strings.Contains(detail, restWants):
		w.t.Errorf("the tools do not speak of signing in: %s", a.raw)
	}
	if strings.Contains(detail, header) {
		w.t.Errorf("a tool speaks of a header: %s", a.raw)
	}
	a.body["detail"] = strings.ReplaceAll(detail, argument, header)
	if strings.HasPrefix(a.text("context.reason"), argument) {
		context, _ := a.body["context"].(map[string]any)
		if context["argument"] != argument {
			w.t.Errorf("a tool's refusal of a key does not name the argument: %s", a.raw)
		}
		delete(context, "argument")
	}
	return a
}

func (c want) check(t *testing.T, w *world, tool string, got answer) {
	t.Helper()
	if c.status == 0 {
		got.mustBe(t, w.Registry().Tool(tool).Success)
		return
	}
	met(c.code, c.reason)
	answered := want{got.status, got.code(), got.text("context.reason"), got.text("context.argument"), got.text("context.state")}
	if answered != c {
		t.Errorf("got %+v, want %+v: %s", answered, c, got.raw)
	}
}

// keep remembers something for the call and the check.
func (w *world) keep(name, value string) { w.notes[name] = value }

// its is what the preparation kept.
func (w *world) its(name string) string {
	w.t.Helper()
	value, ok := w.notes[name]
	if !ok {
		w.t.Fatalf("nothing is kept as %s", name)
	}
	return value
}

// What scenarios are commonly prepared with.

func aDraft(w *world)        { w.keep("post", w.draft("a draft")) }
func aWideDraft(w *world)    { w.keep("post", w.draft("a draft", w.accounts...)) }
func aScheduled(w *world)    { w.keep("post", w.scheduled("a scheduled post", 48*time.Hour)) }
func aPublished(w *world)    { w.keep("post", w.published("a published post")) }
func aStrangersOne(w *world) { w.keep("post", w.stranger().its("post")) }
func aBlocked(w *world)      { w.keep("post", w.draft(words(301))) }

// with does several preparations in turn.
func with(steps ...func(*world)) func(*world) {
	return func(w *world) {
		for _, step := range steps {
			step(w)
		}
	}
}

// set changes columns of the post that was prepared.
func set(columns string, args ...any) func(*world) {
	return func(w *world) { w.exec("UPDATE posts SET "+columns+" WHERE id = ?", append(args, w.its("post"))...) }
}

// inSeries makes the prepared post one of a recurring series.
func inSeries(template bool) func(*world) {
	return func(w *world) {
		w.exec("INSERT INTO post_series (team_id, rule, created_at) VALUES (?, 'FREQ=WEEKLY', 1)", w.team)
		is := 0
		if template {
			is = 1
		}
		set("series_id = (SELECT MAX(id) FROM post_series WHERE team_id = ?), is_template = ?", w.team, is)(w)
	}
}

// post gives the arguments that name the prepared post, with more.
func post(more map[string]any) func(*world) map[string]any { return named("post_id", more) }

// byID is post for the operations that call it id.
func byID(more map[string]any) func(*world) map[string]any { return named("id", more) }

func named(as string, more map[string]any) func(*world) map[string]any {
	return func(w *world) map[string]any {
		return merged(map[string]any{as: w.its("post")}, more)
	}
}

const noSuchID = "00000000-0000-7000-8000-000000000000"

// words is a text of so many characters.
func words(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = "all work "[i%9]
	}
	out[n-1] = '.'
	return string(out)
}
