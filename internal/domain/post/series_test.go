package post_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A daily series publishes each occurrence as a separate post, and the next occurrence always exists.
func TestSeriesPublishes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY;COUNT=3")
		w.Exec(t, `UPDATE post_targets SET caption = 'override' WHERE post_id = ?`, id)
		template := w.Do(t, "get_post", map[string]any{"id": id})
		recurrence, _ := template["recurrence"].(map[string]any)
		next, _ := recurrence["next_at"].(map[string]any)
		if template["status"] != "scheduled" || recurrence["template"] != true ||
			recurrence["rule"] != "FREQ=DAILY;COUNT=3" || recurrence["timezone"] != "Europe/Berlin" ||
			next["team"] != "2026-11-21T13:00:00+01:00" {
			t.Errorf("the template: %v", template)
		}
		if got := w.SeriesPosts(t); got != "21T13 scheduled" {
			t.Error(got)
		}
		w.Clock.Advance(time.Hour)
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 scheduled" {
			t.Error(got)
		}
		occurrence := w.Do(t, "get_post", map[string]any{"id": w.LastOccurrence(t)})
		recurrence, _ = occurrence["recurrence"].(map[string]any)
		if occurrence["caption"] != "hello" || recurrence["template"] != false || recurrence["template_id"] != id ||
			recurrence["paused"] != false {
			t.Errorf("an occurrence: %v", occurrence)
		}
		for range 3 {
			w.Clock.Advance(posttest.Day)
			w.Tick(t)
			w.Tick(t)
		}
		if got := w.SeriesPosts(t) + ", template " +
			w.Status(t, id); got != "21T13 published, 22T13 published, 23T13 published, template draft" {
			t.Error(got)
		}
		w.WantSent(t, "hello", "override", "override")
		if n := w.CountEvents(t, "post.recurred"); n != 3 || w.CountEvents(t, "series.started") != 1 ||
			w.CountEvents(t, "series.ended") != 1 {
			t.Errorf("%d occurrences were recorded", n)
		}
	})
}

// Repeat rejects unsuitable posts, invalid rules and people without permission to publish.
func TestRepeatablePosts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		const daily = "FREQ=DAILY"
		ctx, soon := t.Context(), posttest.Noon.Add(time.Hour)
		expectError := func(code apierr.Code, state, id, rule string) {
			t.Helper()
			_, err := w.Repeat(ctx, w.Person, id, rule, nil)
			posttest.CheckError(t, err, code, state)
		}
		id := w.Draft(t, "hello", soon)
		for _, role := range []access.Role{access.Viewer, access.Client} {
			bea, err := w.Teams.AddPerson(ctx, "Bea", string(role)+"@example.com", "")
			must.NoError(t, err)
			_, err = w.Repeat(ctx, bea.ID, id, daily, nil)
			posttest.CheckError(t, err, apierr.NotFound, "")
			must.NoError(t, w.Teams.SetMember(ctx, w.Call.TeamID, bea.ID, role))
			_, err = w.Repeat(ctx, bea.ID, id, daily, nil)
			posttest.CheckError(t, err, apierr.NotFound, "")
		}
		expectError(apierr.NotFound, "", "none", daily)
		expectError(apierr.ValidationFailed, "", id, "FREQ=YEARLY")
		expectError(apierr.ValidationFailed, "", id, "FREQ=DAILY;UNTIL=20261120")
		expectError(apierr.ValidationFailed, "", w.Draft(t, "no time", time.Time{}), daily)
		expectError(apierr.PreflightBlocked, "", w.Draft(t, "forbidden", soon), daily)
		waiting := w.Draft(t, "for the client", soon)
		w.Exec(t, `UPDATE posts SET approval = 'waiting' WHERE id = ?`, waiting)
		expectError(apierr.AwaitingApproval, "", waiting, daily)
		scheduled := w.Draft(t, "once", soon)
		w.Do(t, "schedule_post", map[string]any{"post_id": scheduled, "scheduled_at": soon.Format(time.RFC3339)})
		expectError(apierr.ValidationFailed, "scheduled", scheduled, daily)
		if _, err := w.StopRepeating(ctx, w.Person, id); apierr.FromError(err).Context["state"] != "not_recurring" {
			t.Error(err)
		}
		if got := w.SeriesPosts(t); got != "" {
			t.Fatal(got)
		}
		must.Get(w.Repeat(ctx, w.Person, id, daily, nil))(t)
		expectError(apierr.ValidationFailed, "scheduled", id, daily)
		must.Get(w.Skip(ctx, w.Person, w.LastOccurrence(t)))(t)
		expectError(apierr.ValidationFailed, "occurrence", w.LastOccurrence(t), daily)
		late := w.Draft(t, "late", soon)
		w.Clock.Advance(2 * time.Hour)
		expectError(apierr.ValidationFailed, "", late, daily)
	})
}

// The template of a series cannot be changed, scheduled or published.
func TestTemplateCannotBeChanged(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		const state = "recurring_template"
		w.ExpectError(t, apierr.ValidationFailed, state, "update_post", map[string]any{"id": id, "caption": "other"})
		w.ExpectError(t, apierr.ValidationFailed, state, "publish_post", map[string]any{"post_id": id})
		w.ExpectError(t, apierr.ValidationFailed, state, "schedule_post",
			map[string]any{"post_id": id, "scheduled_at": "2026-12-01T10:00"})
		_, err := w.Approvals.Request(t.Context(), w.Person, id)
		posttest.CheckError(t, err, apierr.ValidationFailed, state)
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		_, err = w.Approvals.Request(t.Context(), w.Person, id)
		posttest.CheckError(t, err, apierr.ValidationFailed, state)
		must.Get(w.StopRepeating(t.Context(), w.Person, id))(t)
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "other"})
		if got := w.SeriesPosts(t) + ", " + w.Status(t, id); got != "21T13 draft, draft" {
			t.Error(got)
		}
		w.Clock.Advance(3 * posttest.Day)
		w.Tick(t)
		w.WantSent(t)
	})
}

// Canceling the template pauses the series and turns its scheduled occurrences into drafts. Resuming schedules them
// again.
func TestPauseAndResumeSeries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		w.Clock.Advance(time.Hour)
		w.Tick(t)
		paused := w.Do(t, "cancel_post", map[string]any{"post_id": id})
		recurrence, _ := paused["recurrence"].(map[string]any)
		if paused["status"] != "draft" || recurrence["paused"] != true || recurrence["next_at"] != nil {
			t.Errorf("%v", paused)
		}
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 draft" || w.CountEvents(t, "post.cancelled") != 2 {
			t.Error(got)
		}
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 scheduled" {
			t.Error(got)
		}
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		w.Clock.Advance(3 * posttest.Day)
		w.Tick(t)
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY;INTERVAL=2", nil))(t)
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 draft, 25T13 scheduled" {
			t.Error(got)
		}
		w.WantSent(t, "hello")
		if n := w.CountEvents(t, "series.resumed"); n != 2 {
			t.Errorf("resumed %d times", n)
		}
	})
}

// A draft created by pausing follows the template when the series resumes, unless it was edited.
func TestDraftOccurrenceFollowsTemplate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		changeTemplate := func(caption string) {
			t.Helper()
			w.Do(t, "cancel_post", map[string]any{"post_id": id})
			template := must.Get(w.Load(t.Context(), w.Call.TeamID, id))(t)
			must.Get(w.Compose(t.Context(), w.Call.Actor, id, template.UpdatedAt, post.Composition{Caption: caption,
				Accounts: []int64{template.Targets[0].AccountID}}))(t)
		}
		checkNextEdited := func(want bool) {
			t.Helper()
			template := must.Get(w.Load(t.Context(), w.Call.TeamID, id))(t)
			next := must.Get(w.NextOccurrences(t.Context(), template, 2))(t)
			if len(next) != 2 || next[0].PostID == "" || next[0].ByHand != want || next[1].PostID != "" ||
				!next[1].At.After(next[0].At) {
				t.Errorf("%+v", next)
			}
		}
		resume := func(caption string) {
			t.Helper()
			must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
			next := must.Get(w.Load(t.Context(), w.Call.TeamID, w.LastOccurrence(t)))(t)
			if next.Caption != caption || next.Excerpt != caption || next.Status != post.Scheduled ||
				len(next.Targets) != 1 {
				t.Errorf("got caption %q, want %q: %+v", next.Caption, caption, next)
			}
		}
		changeTemplate("anew")
		checkNextEdited(false)
		resume("anew")
		w.Do(t, "update_post", map[string]any{"id": w.LastOccurrence(t), "scheduled_at": "2026-11-21T15:00"})
		changeTemplate("once more")
		checkNextEdited(false)
		resume("once more")
		w.Do(t, "update_post", map[string]any{"id": w.LastOccurrence(t), "caption": "by hand"})
		changeTemplate("the last")
		checkNextEdited(true)
		resume("by hand")
	})
}

// Canceling an occurrence pauses its series. The occurrence stays a draft when the series resumes.
func TestCanceledOccurrence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		first := w.LastOccurrence(t)
		got := must.Get(w.Try(t, "cancel_post", map[string]any{"post_id": first}))(t)
		full := got.Data.(post.Post)
		if full.Status != post.Draft || full.ScheduledAt != nil || !full.Recurrence.Paused ||
			full.Recurrence.NextAt != nil || full.Recurrence.TemplateID != id {
			t.Errorf("%+v, %+v", full, full.Recurrence)
		}
		if len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "The series is paused") {
			t.Errorf("notes: %q", got.Notes)
		}
		w.Tick(t)
		w.Clock.Advance(3 * posttest.Day)
		w.Tick(t)
		if got := w.SeriesPosts(t) + ", " + w.Status(t, id); got != "21T13 draft, draft" ||
			w.CountEvents(t, "series.paused") != 1 {
			t.Error(got)
		}
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		w.Do(t, "cancel_post", map[string]any{"post_id": first}) // canceling a draft changes neither the draft nor its series
		if got := w.SeriesPosts(t); got != "21T13 draft, 24T13 scheduled" {
			t.Error(got)
		}
		w.WantSent(t)
	})
}

// Resuming a series schedules the occurrences that became drafts when it was paused. Occurrences that were skipped
// individually stay drafts until a person schedules them.
func TestResumeKeepsSkippedOccurrences(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		first := w.LastOccurrence(t)
		w.Exec(t, `UPDATE post_series SET wake_at = 1 WHERE template_id = ?`, id) // creates the second occurrence
		w.Tick(t)
		second := w.LastOccurrence(t)
		_, err := w.Skip(t.Context(), w.Person, second)
		must.NoError(t, err)
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		if got := w.SeriesPosts(t); got != "21T13 draft, 22T13 draft" {
			t.Fatal(got)
		}
		loaded := must.Get(w.Load(t.Context(), w.Call.TeamID, id))(t)
		if next, err := w.NextOccurrences(t.Context(), loaded, 2); err != nil || len(next) != 2 ||
			next[0].PostID != first || next[1].At.Sub(next[0].At) != 2*posttest.Day {
			t.Errorf("%+v, %v", next, err)
		}
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		w.Clock.Advance(90 * time.Minute)
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 draft, 23T13 scheduled" {
			t.Error(got)
		}
		w.Do(t, "schedule_post", map[string]any{"post_id": second, "scheduled_at": "2026-11-25T08:00"})
		loaded, err = w.Load(t.Context(), w.Call.TeamID, second)
		if err != nil || loaded.Skipped {
			t.Errorf("%+v, %v", loaded, err)
		}
	})
}

// An occurrence has the whole content of its template, also after the template changed while the series was paused.
func TestOccurrenceHasContentOfTemplate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		w.Do(t, "update_post", map[string]any{
			"id": id, "scheduled_at": posttest.Noon.Add(time.Hour).Format(time.RFC3339), "first_comment": "#coffee",
			"options": map[string]any{"bluesky": map[string]any{"languages": []any{"en"}}},
		})
		check := func(comment string) {
			t.Helper()
			must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
			template, next := w.getPost(t, id), w.getPost(t, w.LastOccurrence(t))
			if next.FirstComment != comment || next.Caption != template.Caption ||
				!reflect.DeepEqual(next.Options, template.Options) {
				t.Errorf("occurrence %+v of template %+v", next, template)
			}
		}
		check("#coffee")
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		template := w.getPost(t, id)
		must.Get(w.Compose(t.Context(), w.Call.Actor, id, template.UpdatedAt, post.Composition{
			Caption: "anew", FirstComment: "#tea", Accounts: []int64{template.Targets[0].AccountID},
		}))(t)
		check("#tea")
	})
}
