package e2e

import (
	"fmt"
	"strings"
	"time"
)

var oneChange = rows{posts: 1, events: 1}

// updateScenarios returns the scenarios of PATCH.
func updateScenarios() []scenario {
	changes := func(name string, prepare func(*env), more map[string]any, effects rows, hold map[string]any) scenario {
		return scenario{name: "change: " + name, tool: "update_post", prepare: prepare, args: byID(more),
			effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, hold)
				for path := range hold {
					if path != "data.problems" && w.post(w.note("post")).text(path) != got.text(path) {
						w.t.Errorf("%s is not stored", path)
					}
				}
			}}
	}
	bad := func(name string, more map[string]any, expected want) scenario {
		return scenario{name: "change: " + name, tool: "update_post", prepare: aDraft, args: byID(more), want: expected}
	}
	return []scenario{
		changes("the text of a draft", aDraft, map[string]any{"caption": "new"}, oneChange,
			map[string]any{
				"data.caption": "new", "data.status": "draft", "data.accounts.0.username": "harbour.test", "data.problems": "[]",
			}),
		changes("the text of a scheduled post", aScheduledPost, map[string]any{"caption": "new"}, oneChange,
			map[string]any{"data.caption": "new", "data.status": "scheduled", "data.scheduled_at.utc": ahead(48 * time.Hour)}),
		changes("the wished time of a draft, which stays one", aDraft, map[string]any{"scheduled_at": ahead(72 * time.Hour)}, oneChange,
			map[string]any{"data.status": "draft", "data.scheduled_at.utc": ahead(72 * time.Hour)}),
		changes("the time of a scheduled post", aScheduledPost, map[string]any{"scheduled_at": ahead(72 * time.Hour)}, oneChange,
			map[string]any{"data.status": "scheduled", "data.scheduled_at.utc": ahead(72 * time.Hour)}),
		changes("nothing", aDraft, nil, rows{}, map[string]any{"data.caption": "a draft", "data.status": "draft"}),
		changes("to what is there already", aScheduledPost,
			map[string]any{"caption": "a scheduled post", "scheduled_at": ahead(48 * time.Hour)}, rows{},
			map[string]any{"data.caption": "a scheduled post", "data.status": "scheduled"}),
		changes("no media to no media", aDraft, map[string]any{"media_ids": []int64{}}, rows{}, map[string]any{"data.media": "[]"}),
		changes("to a text that is too long for the network", aDraft, map[string]any{"caption": words(301)}, oneChange,
			map[string]any{"data.status": "draft", "data.caption": words(301)}),
		{name: "change: the accounts", tool: "update_post", prepare: aDraft,
			effects: rows{posts: 1, targets: 1, events: 1}, args: func(w *env) map[string]any {
				return map[string]any{"id": w.note("post"), "account_ids": w.accounts[1:2]}
			}, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.accounts.0.id": w.accounts[1], "data.accounts.1": nil, "data.caption": "a draft"})
			}},
		{name: "change: an additional account", tool: "update_post", prepare: aDraft,
			effects: rows{posts: 1, targets: 1, events: 1}, args: func(w *env) map[string]any {
				return map[string]any{"id": w.note("post"), "account_ids": w.accounts}
			}, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.accounts.0.id": w.accounts[0], "data.accounts.1.id": w.accounts[1]})
			}},
		{name: "change: an account that stays keeps its per-account text", tool: "update_post",
			effects: rows{posts: 1, targets: 2, events: 1}, prepare: inOrder(aDraftForAllAccounts, func(w *env) {
				w.exec("UPDATE post_targets SET caption = 'just here' WHERE post_id = ? AND account_id = ?", w.note("post"),
					w.accounts[1])
			}), args: func(w *env) map[string]any {
				return map[string]any{"id": w.note("post"), "account_ids": w.accounts[1:2]}
			}, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{"data.accounts.0.id": w.accounts[1], "data.accounts.0.caption": "just here", "data.accounts.1": nil})
			}},
		{name: "change: the response has the problems of the changed post", tool: "update_post", prepare: aDraftForAllAccounts,
			args: byID(map[string]any{"caption": words(301)}), effects: oneChange, check: func(w *env, got answer) {
				for i, account := range w.accounts {
					at := fmt.Sprintf("data.problems.%d.", i)
					got.mustHave(w.t, map[string]any{at + "code": "caption_too_long", at + "blocking": true, at + "account_id": account})
				}
			}},
		{name: "change: a draft with an API key of level drafts", tool: "update_post", as: drafts, prepare: aDraft, args: byID(
			map[string]any{"caption": "new"}), effects: oneChange},
		{
			name: "change: a scheduled post with an API key of level drafts", tool: "update_post", as: drafts, prepare: aScheduledPost,
			args: byID(map[string]any{"caption": "new"}), want: rejection(403, "publish_not_allowed"),
		},
		{
			name: "change: a scheduled post without changes with an API key of level drafts", tool: "update_post", as: drafts,
			prepare: aScheduledPost, args: byID(nil), want: rejection(403, "publish_not_allowed"),
		},
		{name: "change: with a read-only API key", tool: "update_post", as: readOnly, prepare: aDraft, args: byID(
			map[string]any{"caption": "new"}), want: rejection(403, "write_not_allowed")},
		{name: "change: another team's post", tool: "update_post", prepare: aForeignPost, args: byID(map[string]any{
			"caption": "new",
		}), want: notFound},
		{
			name: "change: another team's post with an API key of level drafts", tool: "update_post", as: drafts, prepare: aForeignPost,
			args: byID(map[string]any{"caption": "new"}), want: notFound,
		},
		{name: "change: another team's scheduled post with an API key of level drafts", tool: "update_post", as: drafts,
			prepare: inOrder(aForeignPost, set("status = 'scheduled', scheduled_at = 99999999999999999")),
			args:    byID(map[string]any{"caption": "new"}), want: notFound},
		{name: "change: a post that does not exist", tool: "update_post", args: fixedArgs(map[string]any{
			"id": noSuchID, "caption": "new",
		}), want: notFound},
		bad("to an account that does not exist", map[string]any{"account_ids": []int64{999999999}}, missing("account_ids")),
		bad("to media while there is no library", map[string]any{"media_ids": []int64{7}}, missing("media_ids")),
		bad("to no account", map[string]any{"account_ids": []int64{}}, invalid("too_short", "account_ids")),
		bad("to a caption that is null", map[string]any{"caption": nil}, invalid("malformed", "caption")),
		bad("to a caption one too long", map[string]any{"caption": words(10_001)}, invalid("too_long", "caption")),
		bad("to a status", map[string]any{"status": "published"}, invalid("unknown_argument", "status")),
		bad("to a time that is over", map[string]any{"scheduled_at": ahead(-48 * time.Hour)}, invalid("in_the_past", "scheduled_at")),
		bad("to a date", map[string]any{"scheduled_at": ahead(72 * time.Hour)[:10]}, invalid("no_time_part", "scheduled_at")),
		bad("to an empty time", map[string]any{"scheduled_at": ""}, invalid("malformed", "scheduled_at")),
		bad("to a time more than ten years ahead",
			map[string]any{"scheduled_at": stamp(time.Now().UTC().AddDate(10, 0, 2))}, invalid("out_of_range", "scheduled_at")),
		{name: "change: clearing the time of a draft", tool: "update_post", prepare: inOrder(aDraft, func(w *env) {
			w.full("update_post", map[string]any{"id": w.note("post"), "scheduled_at": ahead(48 * time.Hour)})
		}), args: byID(map[string]any{"scheduled_at": nil}), effects: oneChange, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.status": "draft", "data.scheduled_at": nil})
			if listed := w.full("list_posts", map[string]any{"to": "9999-12-31T23:59:59Z"}).list("data.posts"); len(listed) != 0 {
				w.t.Errorf("still listed by its time: %v", listed)
			}
		}},
		{name: "change: clearing the time of a draft without a time", tool: "update_post", prepare: aDraft, args: byID(
			map[string]any{"scheduled_at": nil})},
		{name: "change: clearing the time of a scheduled post", tool: "update_post", prepare: aScheduledPost,
			args: byID(map[string]any{"scheduled_at": nil}),
			want: want{status: 422, code: "validation_failed", reason: "wrong_state", argument: "scheduled_at", state: "scheduled"}},
		{name: "change: to a time more than a year ahead", tool: "update_post", prepare: aDraft,
			args: byID(map[string]any{"scheduled_at": farAhead}), effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{"notes.0": "scheduled_at is more than a year ahead, in " + farAhead[:4] + ". Check the year."})
			}},
		{name: "change: a changed approved post needs approval again", tool: "update_post",
			prepare: inOrder(aScheduledPost, set("approval = 'approved'")),
			args:    byID(map[string]any{"caption": "new"}), effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.approval": "waiting"})
				if note := got.text("notes.0"); !strings.Contains(note, "needs the client's approval again") ||
					!strings.Contains(note, "missed_waiting_approval") {
					w.t.Errorf("notes: %s", got.raw)
				}
			}},
	}
}

// changeRuleScenarios returns the rules of changes (contract, Post transitions, rules 1 and 2).
func changeRuleScenarios() []scenario {
	change := byID(map[string]any{"caption": "new"})
	all := []scenario{}
	for _, status := range []string{"processing", "published", "partially_published", "failed"} {
		all = append(all,
			scenario{
				name: "change: a post that is " + status, tool: "update_post",
				prepare: inOrder(aDraft, set("status = ?", status)), args: change, want: wrongState(status),
			},
			// The current state counts, not the state that the client knows.
			scenario{
				name: "change: an approved post that is " + status, tool: "update_post",
				prepare: inOrder(aDraft, set("status = ?, approval = 'approved'", status)), args: change, want: wrongState(status),
			})
	}
	for _, status := range []string{"draft", "scheduled"} {
		all = append(all,
			scenario{
				name: "change: a template that is " + status, tool: "update_post",
				prepare: inOrder(aDraft, inSeries(true), set("status = ?, scheduled_at = 99999999999999999", status)),
				args:    change, want: wrongState("recurring_template"),
			})
	}
	approval := func(name string, prepare func(*env), before, after string, args map[string]any, effects rows) scenario {
		return scenario{name: "change: " + name, tool: "update_post",
			prepare: inOrder(prepare, set("approval = ?", before)), args: byID(args), effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.approval": after})
				if stored := w.post(w.note("post")).text("data.approval"); stored != after {
					w.t.Errorf("stored post: %s, want %s", stored, after)
				}
			}}
	}
	text := map[string]any{"caption": "new"}
	return append(all,
		scenario{
			name: "change: an occurrence of a series", tool: "update_post",
			prepare: inOrder(aDraft, inSeries(false)), args: change, effects: oneChange,
		},
		approval("an approved draft goes back to the client", aDraft, "approved", "waiting", text, oneChange),
		approval("an approved scheduled post goes back to the client", aScheduledPost, "approved", "waiting", text, oneChange),
		approval("another time goes back to the client", aScheduledPost, "approved", "waiting",
			map[string]any{"scheduled_at": ahead(73 * time.Hour)}, oneChange),
		approval("a rejected draft goes to the client again", aDraft, "rejected", "waiting", text, oneChange),
		approval("a waiting draft waits on", aDraft, "waiting", "waiting", text, oneChange),
		approval("a draft without a client stays so", aDraft, "not_needed", "not_needed", text, oneChange),
		approval("no change leaves it approved", aDraft, "approved", "approved", map[string]any{"caption": "a draft"}, rows{}),
		approval("nothing given leaves it approved", aScheduledPost, "approved", "approved", nil, rows{}),
	)
}
