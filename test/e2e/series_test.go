package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// aSeries creates a series that begins in an hour.
func aSeries(w *env) { seriesFrom(ahead(time.Hour))(w) }

// seriesFrom creates a daily series of a draft with an image, starting at a time.
func seriesFrom(begins string) func(*env) {
	return func(w *env) {
		addMedia(1)(w)
		id := w.full("create_post", toFirst(mergeArgs(w.mediaIDs("0"), map[string]any{"caption": "every day"}))(w)).text("data.id")
		w.full("update_post", map[string]any{"id": id, "scheduled_at": begins})
		w.setNote("template", id)
		w.setNote("post", id)
		w.startSeries()
	}
}

// startSeries starts the series of the prepared template.
func (w *env) startSeries() {
	w.t.Helper()
	must.Get(w.Posts.Repeat(w.t.Context(), w.owner, w.note("template"), "FREQ=DAILY", nil))(w.t)
}

// noteNextOccurrence notes the next occurrence of the prepared series.
func noteNextOccurrence(w *env) {
	w.t.Helper()
	for _, post := range w.full("list_posts", map[string]any{"status": "scheduled"}).list("data.posts") {
		if id, _ := post.(map[string]any)["id"].(string); id != w.note("template") {
			w.setNote("post", id)
			return
		}
	}
	w.t.Fatal("no occurrence is scheduled")
}

func seriesScenarios() []scenario {
	const state = "recurring_template"
	anOccurrence := inOrder(aSeries, noteNextOccurrence)
	stands := func(path string, want map[string]any) func(*env, answer) {
		return func(w *env, got answer) {
			got.mustHave(w.t, want)
			w.post(w.note(path)).mustHave(w.t, want)
		}
	}
	return []scenario{
		{name: "series: the template", tool: "get_post", prepare: aSeries, args: byID(nil), check: stands("post", map[string]any{
			"data.status": "scheduled", "data.recurrence.template": true, "data.recurrence.rule": "FREQ=DAILY",
			"data.recurrence.timezone": "Europe/Berlin",
			"data.recurrence.paused":   false, "data.recurrence.next_at.utc": ahead(time.Hour), "notes": nil})},
		{name: "series: an occurrence", tool: "get_post", prepare: anOccurrence, args: byID(nil), check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.status": "scheduled", "data.caption": "every day",
				"data.scheduled_at.utc": ahead(time.Hour), "data.media.0.name": "shot 0",
				"data.recurrence.template": false, "data.recurrence.template_id": w.note("template")})
		}},
		{name: "series: the template is not changed", tool: "update_post", prepare: aSeries, args: byID(map[string]any{
			"caption": "new",
		}), want: wrongState(state)},
		{name: "series: the template is not published", tool: "publish_post", prepare: aSeries, args: post(nil), want: wrongState(state)},
		{name: "series: the template is not retried", tool: "retry_post", prepare: aSeries, args: post(nil),
			want: wrongState("scheduled")},
		{name: "series: the template takes no place of the month", tool: "schedule_post", plan: smallPlan,
			prepare: inOrder(fill(oneMonth, 18), seriesFrom(stamp(oneMonth())), aDraft),
			args:    post(map[string]any{"scheduled_at": stamp(oneMonth())}), effects: oneChange},
		{name: "series: cancelling the template pauses it", tool: "cancel_post", as: drafts, prepare: aSeries,
			args: post(nil), effects: rows{posts: 2, events: 2},
			check: stands("post", map[string]any{"data.status": "draft", "data.recurrence.paused": true,
				"data.recurrence.next_at": nil})},
		{name: "series: cancelling one occurrence pauses it", tool: "cancel_post", as: drafts, prepare: anOccurrence,
			args: post(nil), check: func(w *env, got answer) {
				stands("post", map[string]any{"data.status": "draft", "data.recurrence.paused": true, "data.scheduled_at": nil})(w, got)
				w.post(w.note("template")).mustHave(w.t, map[string]any{"data.status": "draft", "data.recurrence.paused": true})
				if note := got.text("notes.0"); !strings.HasPrefix(note, "The series is paused") {
					w.t.Errorf("notes: %s", got.raw)
				}
			}, effects: rows{posts: 2, events: 2}},
		{name: "series: what a list says of it", tool: "list_posts", prepare: anOccurrence,
			args: fixedArgs(map[string]any{"status": "scheduled"}), check: func(w *env, got answer) {
				listed := map[string]any{}
				for i, post := range got.list("data.posts") {
					listed[post.(map[string]any)["id"].(string)] = got.at(fmt.Sprintf("data.posts.%d.recurrence.template", i))
					got.mustHave(w.t, map[string]any{fmt.Sprintf("data.posts.%d.recurrence.paused", i): false})
				}
				if len(listed) != 2 || listed[w.note("template")] != true || listed[w.note("post")] != false {
					w.t.Errorf("%s", got.raw)
				}
			}},
		{name: "series: what a list says of a paused one", tool: "list_posts", prepare: inOrder(anOccurrence, func(w *env) {
			w.full("cancel_post", map[string]any{"post_id": w.note("post")})
		}),
			args: fixedArgs(map[string]any{"status": "draft"}), check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{"data.posts.0.recurrence.paused": true, "data.posts.1.recurrence.paused": true, "data.posts.2": nil})
			}},
		{name: "series: changing one occurrence", tool: "update_post", prepare: anOccurrence,
			args: byID(map[string]any{"caption": "today"}), effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.status": "scheduled", "data.caption": "today"})
				w.post(w.note("template")).mustHave(w.t, map[string]any{"data.caption": "every day"})
			}},
	}
}

func approvalScenarios() []scenario {
	asked := func(prepare func(*env)) func(*env) {
		return inOrder(prepare, func(w *env) {
			must.Get(w.Approvals.Request(w.t.Context(), w.owner, w.note("post")))(w.t)
		})
	}
	waits := func(want bool) func(*env, answer) {
		return func(w *env, got answer) { got.mustHave(w.t, map[string]any{"data.waits_for_approval": want}) }
	}
	return []scenario{
		{name: "approval: a post that was sent to the client", tool: "get_post", prepare: asked(aDraft),
			args: byID(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.status": "draft", "data.approval": "waiting"})
			}},
		{name: "approval: it waits", tool: "validate_post", prepare: asked(aDraft), args: post(nil), check: waits(true)},
		{name: "approval: a scheduled one waits", tool: "validate_post", prepare: asked(aScheduledPost), args: post(nil),
			check: waits(true)},
		{name: "approval: it is not scheduled", tool: "schedule_post", prepare: asked(aDraft), args: inTwoDays, want: awaitingApproval},
		{name: "approval: it is not retried", tool: "retry_post", prepare: asked(aDraft), args: post(nil), want: awaitingApproval},
		{name: "approval: a scheduled one is not retried", tool: "retry_post", prepare: asked(aScheduledPost), args: post(
			nil), want: awaitingApproval},
		{name: "approval: it is not published", tool: "publish_post", prepare: asked(aDraft), args: post(nil), want: awaitingApproval},
		{name: "approval: a scheduled one is not published", tool: "publish_post", prepare: asked(
			aScheduledPost), args: post(nil), want: awaitingApproval},
		{name: "approval: it can be changed", tool: "update_post", prepare: asked(aDraft),
			args: byID(map[string]any{"caption": "new"}), effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.approval": "waiting"})
			}},
	}
}

func TestSeriesScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, slices.Concat(seriesScenarios(), approvalScenarios())) })
}

// A series is published on time with its template's content until it is paused.
func TestSeriesPublished(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := &fixture.Clock{}
		w := newInstance(t, url, options{now: clock.Now}).newEnv(t, options{accounts: 1})
		aSeries(w)
		next := func() string {
			noteNextOccurrence(w)
			return w.note("post")
		}
		for range 2 {
			id := next()
			at := must.Get(time.Parse(time.RFC3339, w.post(id).text("data.scheduled_at.utc")))(t)
			clock.Advance(at.Sub(clock.Now()) + time.Second)
			w.until("the occurrence to go out", func() bool { return w.post(id).text("data.status") == "published" })
			w.until("the next one to be made", func() bool { return w.post(w.note("template")).text("data.recurrence.next_at.utc") != "" })
		}
		if held := w.publishedMedia("every day"); !slices.Equal(held, []int{1, 1}) {
			t.Errorf("held %v", held)
		}
		last := next()
		w.full("cancel_post", map[string]any{"post_id": w.note("template")})
		clock.Advance(72 * time.Hour)
		w.post(last).mustHave(t, map[string]any{"data.status": "draft"})
		w.full("update_post", map[string]any{"id": last, "caption": "a draft like any other"})
		w.startSeries()
		if id := next(); id == last {
			t.Errorf("a past occurrence is scheduled again")
		}
		w.rest(full(w), "update_post", map[string]any{"id": w.note("template"), "caption": "x"}, "").
			mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "wrong_state")
		if held := w.accountsWith("every day"); len(held) != 2 {
			t.Errorf("held %v", held)
		}
	})
}
