package e2e

import (
	"encoding/json"
	"fmt"
)

// jsonNumber returns a stored number.
func jsonNumber(text string) json.Number { return json.Number(text) }

// readScenarios returns the scenarios of get_post and validate_post.
func readScenarios() []scenario {
	return append(getScenarios(), validateScenarios()...)
}

func getScenarios() []scenario {
	return []scenario{
		{name: "all fields of a draft", tool: "get_post", as: readOnly, prepare: aDraftForAllAccounts, args: byID(nil),
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{
					"data.id": w.note("post"), "data.status": "draft", "data.caption": "a draft", "data.media": "[]",
					"data.approval": "not_needed", "data.scheduled_at": nil,
					"data.published_at": nil, "data.recurrence": nil, "data.accounts.0.id": w.accounts[0],
					"data.accounts.1.id":    w.accounts[1],
					"data.accounts.0.state": "pending", "data.accounts.0.retries_left": 3,
					"data.accounts.0.error_code": nil, "data.accounts.0.caption": nil,
				})
			}},
		{name: "all fields of a published post", tool: "get_post", prepare: aPublished, args: byID(nil), check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.status": "published", "data.accounts.0.state": "published"})
			if got.text("data.published_at.utc") == "" || got.text("data.accounts.0.published_at.utc") == "" ||
				got.text("data.accounts.0.permalink") == "" {
				w.t.Errorf("times or link are missing: %s", got.raw)
			}
		}},
		{name: "all fields of a failed post", tool: "get_post", args: byID(nil), prepare: func(w *env) {
			w.setNote("post", w.publishPost("[sandbox:reject]"))
		}, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{
				"data.status": "failed", "data.accounts.0.state": "failed", "data.accounts.0.error_code": "rejected_content",
				"data.accounts.0.network_message.untrusted": "u1", "untrusted_content.0.source.kind": "network_error",
				"untrusted_content.0.source.platform": "bluesky",
			})
			if got.text("data.accounts.0.explanation") == "" || got.text("untrusted_content.0.text") == "" {
				w.t.Errorf("no explanation: %s", got.raw)
			}
		}},
		{name: "a per-account text", tool: "get_post", args: byID(nil), prepare: inOrder(aDraftForAllAccounts, func(w *env) {
			w.exec("UPDATE post_targets SET caption = 'just here' WHERE post_id = ? AND account_id = ?", w.note("post"), w.accounts[1])
		}), check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.accounts.0.caption": nil, "data.accounts.1.caption": "just here"})
		}},
		{name: "a post of a series", tool: "get_post", args: byID(nil), prepare: inOrder(aDraft, inSeries(true)),
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.recurrence.template": true, "data.recurrence.paused": false})
			}},
		{name: "a post that does not exist", tool: "get_post", args: fixedArgs(map[string]any{"id": noSuchID}), want: notFound},
		{name: "a post of another team", tool: "get_post", prepare: aForeignPost, args: byID(nil), want: notFound},
		{name: "a post with an unknown argument", tool: "get_post", prepare: aDraft, args: byID(map[string]any{
			"fields": "all",
		}), want: invalid("unknown_argument", "fields")},
		{name: "reading a post with an idempotency key", tool: "get_post", prepare: aDraft, args: byID(
			nil), idem: "k", want: invalid("idempotency_key_not_accepted", "")},
	}
}

func validateScenarios() []scenario {
	problems := func(w *env, got answer, want ...string) {
		w.t.Helper()
		have := []string{}
		for i := range got.list("data.problems") {
			at := func(name string) string { return got.text(fmt.Sprintf("data.problems.%d.%s", i, name)) }
			if at("message") == "" {
				w.t.Errorf("a problem without a message: %s", got.raw)
			}
			have = append(have, at("code")+" "+at("blocking"))
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			w.t.Errorf("problems %v, want %v", have, want)
		}
	}
	finds := func(name string, prepare func(*env), want ...string) scenario {
		return scenario{name: "validation: " + name, tool: "validate_post", prepare: prepare, args: post(nil),
			check: func(w *env, got answer) {
				problems(w, got, want...)
			}}
	}
	lost := func(w *env) {
		w.exec("UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?", w.accounts[0])
	}
	one := func(i int) func(*env) map[string]any {
		return func(w *env) map[string]any {
			return map[string]any{"post_id": w.note("post"), "account_id": w.accounts[i]}
		}
	}
	return []scenario{
		{name: "validation: no problems", tool: "validate_post", as: readOnly, prepare: aDraft, args: post(nil),
			check: func(w *env, got answer) {
				problems(w, got)
				got.mustHave(w.t, map[string]any{"data.waits_for_approval": false, "data.posts_left_this_month": -1,
					"data.problems": "[]"})
			}},
		finds("a text that is too long", aBlockedDraft, "caption_too_long true"),
		finds("no text", func(w *env) { w.setNote("post", w.draft("")) }, "caption_missing true"),
		finds("a disconnected account", inOrder(aDraft, lost), "account_inactive true"),
		finds("each account's own problems", inOrder(aDraftForAllAccounts, lost, func(w *env) {
			w.exec("UPDATE post_targets SET caption = '' WHERE post_id = ? AND account_id = ?", w.note("post"), w.accounts[1])
		}), "account_inactive true", "caption_missing true"),
		finds("a planned time in the past", inOrder(aDraft, set("scheduled_at = 1000000")), "time_in_the_past false"),
		{name: "validation: of one account", tool: "validate_post", prepare: inOrder(aDraftForAllAccounts, lost), args: one(0),
			check: func(w *env, got answer) {
				problems(w, got, "account_inactive true")
				got.mustHave(w.t, map[string]any{"data.problems.0.account_id": w.accounts[0]})
			}},
		{name: "validation: of the other account", tool: "validate_post", prepare: inOrder(aDraftForAllAccounts, lost), args: one(1),
			check: func(w *env, got answer) {
				problems(w, got)
			}},
		{
			name: "validation: of an account that the post does not have", tool: "validate_post", prepare: aDraft,
			args: one(1), want: missing("account_id"),
		},
		{name: "validation: of account 0, which does not exist", tool: "validate_post", prepare: aDraft, args: post(
			map[string]any{"account_id": 0}), want: missing("account_id")},
		{name: "validation: waiting for approval", tool: "validate_post",
			prepare: inOrder(aDraft, set("approval = 'waiting'")), args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.waits_for_approval": true})
			}},
		{name: "validation: approved", tool: "validate_post", prepare: inOrder(aDraft, set("approval = 'approved'")),
			args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.waits_for_approval": false})
			}},
		{name: "validation: posts left", tool: "validate_post", plan: smallPlan, prepare: inOrder(aDraft, fill(thisMonth, 18)),
			args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.posts_left_this_month": 2})
			}},
		{name: "validation: more posts than the plan allows", tool: "validate_post", plan: smallPlan,
			prepare: inOrder(aDraft, fill(thisMonth, 21)), args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.posts_left_this_month": 0})
			}},
		{name: "validation: a post that does not exist", tool: "validate_post", args: fixedArgs(map[string]any{
			"post_id": noSuchID,
		}), want: notFound},
		{name: "validation: a post of another team", tool: "validate_post", prepare: aForeignPost, args: post(nil), want: notFound},
		{name: "validation: with an unknown argument account_id", tool: "validate_post", prepare: aDraft, args: post(map[string]any{
			"account_id": "first",
		}), want: invalid("not_an_integer", "account_id")},
		{name: "validation: does not accept an idempotency key", tool: "validate_post", prepare: aDraft, args: post(
			nil), idem: "k", want: invalid("idempotency_key_not_accepted", "")},
	}
}
