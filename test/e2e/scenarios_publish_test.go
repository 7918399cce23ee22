package e2e

import (
	"fmt"
	"time"
)

// stampOf returns twelve hexadecimal digits that are unique for a team and number.
func stampOf(team int64, n int) string { return fmt.Sprintf("%08x%04x", team, n) }

// oneSent has the rows of a post that is published on one account.
var oneSent = rows{posts: 1, targets: 1, events: 2, jobs: 1, deliveries: 1}

func publishScenarios() []scenario {
	goes := func(name string, prepare func(*env), effects rows) scenario {
		return scenario{name: "publish: " + name, tool: "publish_post", prepare: prepare, args: post(nil),
			effects: effects, check: func(w *env, got answer) {
				w.mustBeJob(got)
				got.mustHave(w.t, map[string]any{"data.already_submitted": false, "data.state": "pending", "data.finished": false})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.post_id": w.note("post")})
				w.post(w.note("post")).mustHave(w.t, map[string]any{"data.status": "published"})
			}}
	}
	not := func(name string, prepare func(*env), expected want) scenario {
		return scenario{name: "publish: " + name, tool: "publish_post", prepare: prepare, args: post(nil), want: expected}
	}
	lost := func(w *env) {
		w.exec("UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?", w.accounts[0])
	}
	again := func(name, idem string, prepare func(*env), effects rows, state string) scenario {
		return scenario{name: "publish: " + name, tool: "publish_post", prepare: prepare, args: post(nil), idem: idem,
			effects: effects, check: func(w *env, got answer) {
				w.mustBeJob(got)
				got.mustHave(w.t,
					map[string]any{
						"data.already_submitted": true, "data.finished": true, "data.state": state, "data.result.post_id": w.note("post"),
					})
			}}
	}
	return []scenario{
		goes("a draft", aDraft, oneSent),
		goes("a draft to two accounts", aDraftForAllAccounts, rows{posts: 1, targets: 2, events: 3, jobs: 1, deliveries: 2}),
		goes("a scheduled post", aScheduledPost, oneSent),
		goes("an approved draft", inOrder(aDraft, set("approval = 'approved'")), oneSent),
		goes("a draft whose wished time is over", inOrder(aDraft, set("scheduled_at = 1000000")), oneSent),
		again("a second time", "", aPublished, rows{}, "succeeded"),
		again("a second time with a key", "k", aPublished, rows{keys: 1}, "succeeded"),
		again("what failed", "", aFailedPost, rows{}, "failed"),
		again("what failed in part", "", aPartlyPublishedPost, rows{}, "partially_succeeded"),
		again("what was sent and waits for the client now", "", inOrder(aPublished, set("approval = 'waiting'")), rows{}, "succeeded"),
		not("a waiting draft", inOrder(aDraft, set("approval = 'waiting'")), awaitingApproval),
		not("a rejected draft", inOrder(aDraft, set("approval = 'rejected'")), awaitingApproval),
		not("a scheduled post that waits", inOrder(aScheduledPost, set("approval = 'waiting'")), awaitingApproval),
		not("a template", inOrder(aDraft, inSeries(true)), wrongState("recurring_template")),
		not("a text that is too long", aBlockedDraft, preflightBlocked),
		not("a disconnected account", inOrder(aDraft, lost), preflightBlocked),
		not("another team's post", aForeignPost, notFound),
		{name: "publish: a post that does not exist", tool: "publish_post",
			args: fixedArgs(map[string]any{"post_id": noSuchID}), want: notFound},
		{name: "publish: with an API key of level drafts", tool: "publish_post", as: drafts, prepare: aDraft, args: post(
			nil), want: rejection(403, "publish_not_allowed")},
		{
			name: "publish: a published post with an API key of level drafts", tool: "publish_post", as: drafts, prepare: aPublished,
			args: post(nil), want: rejection(403, "publish_not_allowed"),
		},
		{name: "publish: accepts no arguments", tool: "publish_post", prepare: aDraft, args: post(map[string]any{
			"now": true,
		}), want: invalid("unknown_argument", "now")},
	}
}

// mustBeJob checks that the job in an answer exists.
func (w *env) mustBeJob(got answer) {
	w.t.Helper()
	id := got.text("data.job_id")
	if len(id) != len("social_post:")+36 || got.text("data.type") != "social_post" {
		w.t.Errorf("no job: %s", got.raw)
	}
	if location := got.header.Get("Location"); location != "" && location != w.root+"/api/v1/jobs/social_post%3A"+id[len("social_post:"):] {
		w.t.Errorf("Location %q of %s", location, id)
	}
}

// aFailedPost creates a post that its only account rejected for a temporary reason.
func aFailedPost(w *env) {
	w.setNote("post", w.publishPost("[sandbox:reject]"))
	w.exec("UPDATE posts SET caption = 'mended' WHERE id = ?", w.note("post"))
}

// aPartlyPublishedPost creates a post that its first account published and its second account rejected.
func aPartlyPublishedPost(w *env) {
	aDraftForAllAccounts(w)
	w.exec("UPDATE post_targets SET caption = '[sandbox:reject]' WHERE post_id = ? AND account_id = ?", w.note("post"), w.accounts[1])
	w.publish(w.note("post"))
	w.post(w.note("post")).
		mustHave(w.t,
			map[string]any{"data.status": "partially_published", "data.accounts.0.state": "published", "data.accounts.1.state": "failed"})
	w.exec("UPDATE post_targets SET caption = NULL WHERE post_id = ?", w.note("post"))
}

// setLastTarget changes columns of the prepared post's last account.
func setLastTarget(columns string, args ...any) func(*env) {
	return func(w *env) {
		w.exec("UPDATE post_targets SET "+columns+" WHERE post_id = ? AND account_id = ?", append(args, w.note("post"), w.accounts[1])...)
	}
}

func retryScenarios() []scenario {
	again := func(name string, prepare func(*env), args func(*env) map[string]any, skipped string) scenario {
		return scenario{name: "retry: " + name, tool: "retry_post", prepare: prepare, args: args,
			effects: rows{posts: 1, targets: 1, events: 2, jobs: 1, deliveries: 1}, check: func(w *env, got answer) {
				w.mustBeJob(got)
				got.mustHave(w.t, map[string]any{"data.finished": false, "data.progress.total": 1})
				w.mustSkip(got, skipped)
				w.awaitJob(got.text("data.job_id")).mustHave(w.t, map[string]any{"data.state": "succeeded"})
				w.post(w.note("post")).mustHave(w.t, map[string]any{"data.status": "published"})
			}}
	}
	// If there is nothing to send, the answer contains the post's last job.
	skips := func(name string, prepare func(*env), args func(*env) map[string]any, skipped string) scenario {
		return scenario{name: "retry: " + name, tool: "retry_post", prepare: prepare, args: args, check: func(w *env, got answer) {
			w.mustBeJob(got)
			got.mustHave(w.t, map[string]any{"data.finished": true})
			w.mustSkip(got, skipped)
		}}
	}
	not := func(name string, prepare func(*env), more map[string]any, expected want) scenario {
		return scenario{name: "retry: " + name, tool: "retry_post", prepare: prepare, args: post(more), want: expected}
	}
	naming := func(accounts ...int) func(*env) map[string]any {
		return func(w *env) map[string]any {
			ids := []int64{}
			for _, i := range accounts {
				ids = append(ids, w.accounts[i])
			}
			return map[string]any{"post_id": w.note("post"), "account_ids": ids}
		}
	}
	minuteAgo := func(w *env) {
		setLastTarget("retries_used = 1, retried_at = ?", time.Now().Add(-61*time.Second).UnixMicro())(w)
	}
	justNow := func(w *env) { setLastTarget("retries_used = 1, retried_at = ?", time.Now().UnixMicro())(w) }
	return []scenario{
		again("what failed", aFailedPost, post(nil), ""),
		again("what failed in part", aPartlyPublishedPost, post(nil), "0 not_failed"),
		again("the account that failed, by name", aPartlyPublishedPost, naming(1), ""),
		again("both accounts by name", aPartlyPublishedPost, naming(0, 1), "0 not_failed"),
		again("a minute after the last time", inOrder(aPartlyPublishedPost, minuteAgo), naming(1), ""),
		again("an approved post", inOrder(aPartlyPublishedPost, set("approval = 'approved'")), naming(1), ""),
		skips("what stands", aPublished, post(nil), "0 not_failed"),
		skips("the account that stands, by name", aPartlyPublishedPost, naming(0), "0 not_failed"),
		skips("moments after the last time", inOrder(aPartlyPublishedPost, justNow), naming(1), "1 retried_moments_ago"),
		skips("with no retries left", inOrder(aPartlyPublishedPost, setLastTarget("retries_used = 3, retried_at = 5")),
			naming(1), "1 no_retries_left"),
		skips("what the network could not confirm",
			inOrder(aPartlyPublishedPost, setLastTarget("state = 'unconfirmed', error_code = 'not_confirmed'")), post(nil),
			"0 not_failed, 1 unconfirmed"),
		not("a draft", aDraft, nil, wrongState("draft")),
		not("a scheduled post", aScheduledPost, nil, wrongState("scheduled")),
		not("what waits for the client", inOrder(aPartlyPublishedPost, set("approval = 'waiting'")), nil, awaitingApproval),
		not("what the client rejected", inOrder(aPartlyPublishedPost, set("approval = 'rejected'")), nil, awaitingApproval),
		not("another team's post", aForeignPost, nil, notFound),
		not("an account that the post does not have", aFailedPost, map[string]any{"account_ids": []int64{999999999}},
			missing("account_ids")),
		not("no account", aFailedPost, map[string]any{"account_ids": []int64{}}, invalid("too_short", "account_ids")),
		not("accounts that are a text", aFailedPost, map[string]any{"account_ids": "all"}, invalid("not_a_list", "account_ids")),
		not("an unknown argument", aFailedPost, map[string]any{"force": true}, invalid("unknown_argument", "force")),
		{name: "retry: a post that does not exist", tool: "retry_post",
			args: fixedArgs(map[string]any{"post_id": noSuchID}), want: notFound},
		{name: "retry: with an API key of level drafts", tool: "retry_post", as: drafts, prepare: aFailedPost, args: post(
			nil), want: rejection(403, "publish_not_allowed")},
	}
}

// mustSkip checks the skipped accounts of a retry and the reasons, such as "0 not_failed, 1 unconfirmed".
func (w *env) mustSkip(got answer, want string) {
	w.t.Helper()
	have := ""
	for i := range got.list("data.skipped") {
		if i > 0 {
			have += ", "
		}
		for n, account := range w.accounts {
			if got.number(fmt.Sprintf("data.skipped.%d.account_id", i)) == account {
				have += fmt.Sprint(n)
			}
		}
		have += " " + got.text(fmt.Sprintf("data.skipped.%d.reason", i))
	}
	if have != want || got.at("data.skipped") == nil {
		w.t.Errorf("skipped %q, want %q: %s", have, want, got.raw)
	}
}
