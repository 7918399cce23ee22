package e2e

import (
	"regexp"
	"strings"
	"time"
)

var connectForm = regexp.MustCompile(`/connect/[A-Za-z0-9_-]{80,200}$`)

// connectScenarios returns the scenarios of create_connect_link.
func connectScenarios() []scenario {
	lost := func(w *env) {
		w.exec("UPDATE social_accounts SET connection_state = 'lost', account_status = 'needs_reauth' WHERE id = ?", w.accounts[0])
	}
	first := func(w *env) map[string]any { return map[string]any{"account_id": w.accounts[0]} }
	linked := func(more map[string]any) func(*env, answer) {
		return func(w *env, got answer) {
			w.t.Helper()
			got.mustHave(w.t, more)
			if path, ours := strings.CutPrefix(got.text("data.url"), w.root); !ours || connectForm.FindString(path) != path {
				w.t.Errorf("no link: %s", got.raw)
			}
			ends, err := time.Parse(time.RFC3339Nano, got.text("data.expires_at.utc"))
			if left := time.Until(ends); err != nil || left < 59*time.Minute || left > time.Hour {
				w.t.Errorf("the link expires in %v (%v)", left, err)
			}
		}
	}
	bluesky := fixedArgs(map[string]any{"platform": "bluesky"})
	return []scenario{
		{
			name: "a link for a new account", tool: "get_connect_link", as: readOnly, plan: smallPlan, args: bluesky,
			check: linked(map[string]any{"data.slots_left": 1}),
		},
		{name: "a link on a plan without a limit", tool: "get_connect_link", args: bluesky, check: func(w *env, got answer) {
			linked(nil)(w, got)
			if !strings.Contains(string(got.raw), `"slots_left":null`) {
				w.t.Errorf("no null: %s", got.raw)
			}
		}},
		{name: "a link on a full plan", tool: "get_connect_link", plan: smallPlan, prepare: func(w *env) {
			w.accounts = append(w.accounts, w.connect(w.team, "third.test"))
		},
			args: bluesky, check: linked(map[string]any{"data.slots_left": 0})},
		{name: "a link for a lost account", tool: "get_connect_link", prepare: lost, args: first, check: func(w *env, got answer) {
			linked(nil)(w, got)
			if strings.Contains(string(got.raw), "slots_left") {
				w.t.Errorf("slots of an account that is there: %s", got.raw)
			}
		}},
		{name: "a link for a connected account", tool: "get_connect_link", args: first, want: wrongState("connected")},
		{name: "a link for an account that expires", tool: "get_connect_link", args: first,
			want: wrongState("expiring"), prepare: func(w *env) {
				w.exec("UPDATE social_accounts SET connection_state = 'expiring' WHERE id = ?", w.accounts[0])
			}},
		{name: "a link for another team's account", tool: "get_connect_link", want: notFound, args: func(w *env) map[string]any {
			return map[string]any{"account_id": w.stranger().accounts[0]}
		}},
		{name: "a link for an account that does not exist", tool: "get_connect_link",
			args: fixedArgs(map[string]any{"account_id": 1 << 40}), want: notFound},
		{name: "a link for account 0", tool: "get_connect_link", args: fixedArgs(map[string]any{
			"account_id": 0,
		}), want: invalid("out_of_range", "account_id")},
		{name: "a link for an account ID that is not a number", tool: "get_connect_link", args: fixedArgs(map[string]any{
			"account_id": "first",
		}), want: invalid("not_an_integer", "account_id")},
		{name: "a link without arguments", tool: "get_connect_link", args: noArgs, want: invalid("exactly_one_of", "platform")},
		{name: "a link for a network and an account", tool: "get_connect_link", want: invalid("exactly_one_of", "platform"),
			args: func(w *env) map[string]any {
				return mergeArgs(first(w), map[string]any{"platform": "bluesky"})
			}},
		{name: "a link for an unknown network", tool: "get_connect_link", args: fixedArgs(map[string]any{
			"platform": "myspace",
		}), want: invalid("not_allowed_value", "platform")},
		{name: "a link for an account of a business", tool: "get_connect_link", args: fixedArgs(map[string]any{
			"platform": "tiktok_business",
		}), check: linked(nil)},
		{name: "a link with an idempotency key", tool: "get_connect_link", args: bluesky, idem: "k", want: invalid(
			"idempotency_key_not_accepted", "")},
	}
}
