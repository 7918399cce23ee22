package e2e

import (
	"fmt"
	"time"
)

// scheduleAt returns the arguments that schedule the prepared post.
func scheduleAt(text any) func(*env) map[string]any {
	return post(map[string]any{"scheduled_at": text})
}

var inTwoDays = scheduleAt(ahead(48 * time.Hour))

func scheduleScenarios() []scenario {
	goes := func(name string, prepare func(*env)) scenario {
		return scenario{name: "schedule: " + name, tool: "schedule_post", prepare: prepare, args: inTwoDays,
			effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.status": "scheduled", "data.scheduled_at.utc": ahead(48 * time.Hour)})
				w.post(w.note("post")).
					mustHave(w.t, map[string]any{"data.status": "scheduled", "data.scheduled_at.utc": ahead(48 * time.Hour)})
			}}
	}
	not := func(name string, prepare func(*env), expected want) scenario {
		return scenario{name: "schedule: " + name, tool: "schedule_post", prepare: prepare, args: inTwoDays, want: expected}
	}
	bad := func(name string, value any, reason string) scenario {
		return scenario{
			name: "schedule: " + name, tool: "schedule_post", prepare: aDraft, args: scheduleAt(value),
			want: invalid(reason, "scheduled_at"),
		}
	}
	lost := func(w *env) {
		w.exec("UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?", w.accounts[0])
	}
	all := []scenario{
		goes("a draft", aDraft),
		goes("an approved draft", inOrder(aDraft, set("approval = 'approved'"))),
		goes("a draft with another wished time", inOrder(aDraft, set("scheduled_at = 99999999999999999"))),
		goes("a cancelled post again", inOrder(aScheduledPost, func(w *env) {
			w.full("cancel_post", map[string]any{"post_id": w.note("post")})
		})),
		not("a waiting draft", inOrder(aDraft, set("approval = 'waiting'")), awaitingApproval),
		not("a rejected draft", inOrder(aDraft, set("approval = 'rejected'")), awaitingApproval),
		not("a template", inOrder(aDraft, inSeries(true)), wrongState("recurring_template")),
		not("a text that is too long", aBlockedDraft, preflightBlocked),
		not("a disconnected account", inOrder(aDraft, lost), preflightBlocked),
		not("another team's post", aForeignPost, notFound),
		{name: "schedule: a post that does not exist", tool: "schedule_post", args: fixedArgs(map[string]any{
			"post_id": noSuchID, "scheduled_at": ahead(time.Hour),
		}), want: notFound},
		{
			name: "schedule: with an API key of level drafts", tool: "schedule_post", as: drafts, prepare: aDraft, args: inTwoDays,
			want: rejection(403, "publish_not_allowed"),
		},
		{
			name: "schedule: with a read-only API key", tool: "schedule_post", as: readOnly, prepare: aDraft, args: inTwoDays,
			want: rejection(403, "publish_not_allowed"),
		},
		{name: "schedule: which problems block", tool: "schedule_post", prepare: inOrder(aBlockedDraft, lost), args: inTwoDays,
			want: preflightBlocked, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"context.problems": "[account_inactive caption_too_long]"})
			}},
		{name: "schedule: without a time", tool: "schedule_post", prepare: aDraft, args: post(nil), want: invalid(
			"missing_argument", "scheduled_at")},
		{name: "schedule: an unknown argument", tool: "schedule_post", prepare: aDraft, args: post(map[string]any{
			"scheduled_at": ahead(time.Hour), "at": "x",
		}), want: invalid("unknown_argument", "at")},
		bad("a date", ahead(48 * time.Hour)[:10], "no_time_part"),
		bad("a time that is over", ahead(-time.Hour), "in_the_past"),
		bad("tomorrow", "tomorrow", "malformed"),
		bad("nothing", "", "malformed"),
		bad("a number of seconds", 1900000000, "malformed"),
		bad("a list of times", []string{ahead(time.Hour)}, "not_a_single_value"),
		bad("an invalid day", "2099-02-30T10:00", "malformed"),
		bad("a minute after the end of the day", "2099-02-03T24:01", "malformed"),
		bad("a week date", "2099-W05-2T10:00", "malformed"),
		bad("more than ten years ahead", stamp(time.Now().UTC().AddDate(10, 0, 2)), "out_of_range"),
		bad("an offset beyond all zones", "2099-02-03T10:00:00+25:00", "malformed"),
		bad("words after a time", "2099-02-03T10:00:00Z and so on", "malformed"),
		bad("a time whose year in UTC has five digits", "9999-12-31T23:00:00-05:00", "out_of_range"),
		{name: "schedule: more than a year ahead", tool: "schedule_post", prepare: aDraft, args: scheduleAt(farAhead),
			effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"data.status": "scheduled",
						"notes.0":     "scheduled_at is more than a year ahead, in " + farAhead[:4] + ". Check the year.",
					})
			}},
		not("a scheduled post that waits", inOrder(aScheduledPost, set("approval = 'waiting'")), awaitingApproval),
	}
	for _, status := range []string{"scheduled", "processing", "published", "partially_published", "failed"} {
		all = append(all,
			not("a post that is "+status, inOrder(aDraft, set("status = ?, scheduled_at = 99999999999999999", status)),
				wrongState(status)))
	}
	return append(all, allowanceScenarios()...)
}

// The free plan has 20 posts a month.

// thisMonth, oneMonth and otherMonth return times in different months, which have separate limits.
func thisMonth() time.Time  { return time.Now().UTC() }
func oneMonth() time.Time   { return monthAfter(2) }
func otherMonth() time.Time { return monthAfter(3) }

// monthAfter returns a time in the middle of the n-th following month.
func monthAfter(n int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()+time.Month(n), 10, 12, 0, 0, 0, time.UTC)
}

// farAhead is a time in summer, at least two years in the future.
var farAhead = fmt.Sprintf("%d-07-01T10:00:00Z", time.Now().Year()+3)

func stamp(at time.Time) string { return at.Format(time.RFC3339) }

// fill adds n scheduled posts to a month.
func fill(month func() time.Time, n int) func(*env) {
	return func(w *env) {
		for i := range n {
			w.exec(`INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, slot_at, created_at,
		updated_at) VALUES (?, ?, ?, 'published', 'x', 'x', ?, 1, 1)`,
				// IDs that sort before all others.
				noSuchID[:24]+stampOf(w.team, i), w.team, w.owner, month().UnixMicro())
		}
	}
}

func allowanceScenarios() []scenario {
	at := func(month func() time.Time) func(*env) map[string]any {
		return func(w *env) map[string]any {
			return map[string]any{"post_id": w.note("post"), "scheduled_at": stamp(month())}
		}
	}
	move := func(month func() time.Time, later time.Duration) func(*env) map[string]any {
		return func(w *env) map[string]any {
			return map[string]any{"id": w.note("post"), "scheduled_at": stamp(month().Add(later))}
		}
	}
	scheduledIn := func(month func() time.Time) func(*env) {
		return func(w *env) {
			aDraft(w)
			w.full("schedule_post", at(month)(w))
		}
	}
	return []scenario{
		{name: "plan limit: scheduling the last post of a month", tool: "schedule_post", plan: smallPlan, prepare: inOrder(aDraft,
			fill(oneMonth, 19)), args: at(oneMonth), effects: oneChange},
		{name: "plan limit: scheduling one post too many", tool: "schedule_post", plan: smallPlan, prepare: inOrder(aDraft,
			fill(oneMonth, 20)), args: at(oneMonth), want: planLimit},
		{name: "plan limit: months are counted separately", tool: "schedule_post", plan: smallPlan, prepare: inOrder(aDraft,
			fill(oneMonth, 20)), args: at(otherMonth), effects: oneChange},
		{name: "plan limit: drafts with a planned time do not count", tool: "schedule_post", plan: smallPlan,
			args: at(oneMonth), effects: oneChange,
			prepare: inOrder(aDraft, fill(oneMonth, 20), func(w *env) {
				w.exec("UPDATE posts SET status = 'draft' WHERE team_id = ? AND slot_at > 0", w.team)
			})},
		{name: "plan limit: a canceled post does not count", tool: "schedule_post", plan: smallPlan,
			args: at(oneMonth), effects: oneChange,
			prepare: inOrder(fill(oneMonth, 19), scheduledIn(oneMonth), func(w *env) {
				w.full("cancel_post", map[string]any{"post_id": w.note("post")})
				aDraft(w)
			})},
		{name: "plan limit: moving a post within a full month", tool: "update_post", plan: smallPlan, prepare: inOrder(fill(oneMonth,
			19), scheduledIn(oneMonth)), args: move(oneMonth, time.Hour), effects: oneChange},
		{name: "plan limit: moving a post into a full month", tool: "update_post", plan: smallPlan, prepare: inOrder(fill(oneMonth,
			20), scheduledIn(otherMonth)), args: move(oneMonth, 0), want: planLimit},
		{name: "plan limit: moving a post into a month that is not full", tool: "update_post", plan: smallPlan, prepare: inOrder(
			fill(oneMonth, 19), scheduledIn(otherMonth)), args: move(oneMonth, 0), effects: oneChange},
		{name: "plan limit: a draft with a planned time in a full month", tool: "update_post", plan: smallPlan, prepare: inOrder(
			fill(oneMonth, 20), aDraft), args: move(oneMonth, 0), effects: oneChange},
		{name: "plan limit: the creator plan has 200 posts", tool: "schedule_post", plan: "creator", prepare: inOrder(aDraft,
			fill(oneMonth, 20)), args: at(oneMonth), effects: oneChange},
		{name: "plan limit: publishing the last post of this month", tool: "publish_post", plan: smallPlan, prepare: inOrder(
			aDraft, fill(thisMonth, 19)), args: post(nil), effects: oneSent},
		{name: "plan limit: publishing one post too many", tool: "publish_post", plan: smallPlan, prepare: inOrder(aDraft,
			fill(thisMonth, 20)), args: post(nil), want: planLimit},
		{name: "plan limit: publishing now a post that is scheduled in a " +
			"later month", tool: "publish_post", plan: smallPlan, prepare: inOrder(scheduledIn(oneMonth), fill(thisMonth, 20)),
			args: post(nil), want: planLimit},
		{name: "plan limit: a repeated publish call does not count", tool: "publish_post", plan: smallPlan,
			prepare: inOrder(aPublished, fill(thisMonth, 20)), args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.already_submitted": true})
			}},
		{name: "plan limit: a retry does not count", tool: "retry_post", plan: smallPlan,
			effects: rows{posts: 1, targets: 1, events: 2, jobs: 1, deliveries: 1},
			prepare: inOrder(aFailedPost, fill(thisMonth, 20)), args: post(nil)},
	}
}

func cancelScenarios() []scenario {
	cancels := func(name string, as func(*env) string, prepare func(*env), effects rows, hold map[string]any) scenario {
		return scenario{name: "cancel: " + name, tool: "cancel_post", as: as, prepare: prepare, args: post(nil),
			effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, hold)
			}}
	}
	not := func(name string, prepare func(*env), expected want) scenario {
		return scenario{name: "cancel: " + name, tool: "cancel_post", prepare: prepare, args: post(nil), want: expected}
	}
	all := []scenario{
		cancels("a scheduled post", full, aScheduledPost, oneChange,
			map[string]any{"data.status": "draft", "data.caption": "a scheduled post", "data.accounts.0.username": "harbour.test"}),
		cancels("a scheduled post with an API key of level drafts", drafts, aScheduledPost, oneChange,
			map[string]any{"data.status": "draft"}),
		cancels("a scheduled post that waits for the client", full, inOrder(aScheduledPost, set("approval = 'waiting'")),
			oneChange, map[string]any{"data.status": "draft", "data.approval": "waiting"}),
		cancels("a draft, which changes nothing", full, aDraft, rows{}, map[string]any{"data.status": "draft"}),
		cancels("a template that is a draft, which changes nothing", full, inOrder(aDraft, inSeries(true)), rows{},
			map[string]any{"data.status": "draft", "data.recurrence.paused": false}),
		cancels("a post of a series leaves the series as it is", full, inOrder(aScheduledPost, inSeries(false)), oneChange,
			map[string]any{"data.status": "draft", "data.recurrence.paused": false, "data.recurrence.template": false}),
		cancels("a post of a series that is paused already", full, inOrder(aScheduledPost, inSeries(false), func(w *env) {
			w.exec("UPDATE post_series SET paused_at = 5 WHERE team_id = ?", w.team)
		}), oneChange, map[string]any{"data.status": "draft", "data.recurrence.paused": true}),
		not("another team's post", aForeignPost, notFound),
		{name: "cancel: a post that does not exist", tool: "cancel_post",
			args: fixedArgs(map[string]any{"post_id": noSuchID}), want: notFound},
		{name: "cancel: with a read-only API key", tool: "cancel_post", as: readOnly, prepare: aScheduledPost, args: post(
			nil), want: rejection(403, "write_not_allowed")},
		{name: "cancel: accepts no arguments", tool: "cancel_post", prepare: aScheduledPost, args: post(map[string]any{
			"why": "rain",
		}), want: invalid("unknown_argument", "why")},
	}
	for _, status := range []string{"processing", "published", "partially_published", "failed"} {
		all = append(all, not("a post that is "+status, inOrder(aDraft, set("status = ?", status)), wrongState(status)))
	}
	return all
}
