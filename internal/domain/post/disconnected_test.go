package post_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// disconnect marks an account as disconnected by a person.
func (w *env) disconnect(t *testing.T, account int64) {
	t.Helper()
	w.Exec(t, `UPDATE social_accounts SET connection_state = 'lost', disconnected_at = 1 WHERE id = ?`, account)
}

// Compose keeps a disconnected account and its override. The account cannot be added to another post.
func TestComposeKeepsDisconnected(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		other, text := w.connectSecond(t), "override"
		id, otherPost := w.Draft(t, "hello", time.Time{}), w.Draft(t, "elsewhere", time.Time{})
		c := post.Composition{Caption: "hello", Accounts: []int64{w.Account, other},
			Overrides: map[int64]override.Override{other: {Caption: &text, Media: []int64{1}}}}
		_, err := w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c)
		must.NoError(t, err)
		w.disconnect(t, other)
		c.Caption = "anew"
		checked := must.Get(w.CheckComposition(t.Context(), act, c, w.getPost(t, id).Targets))(t)
		if check := checked.Previews[1]; check.Target.Active || len(check.Problems) != 1 || check.Content.Text != text {
			t.Errorf("%+v", check)
		}
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		p := w.getPost(t, id)
		if p.Caption != "anew" || len(p.Targets) != 2 || p.Targets[1].AccountID != other ||
			*p.Targets[1].Caption != text || len(p.Targets[1].Media) != 1 {
			t.Errorf("%+v", p)
		}
		_, err = w.Compose(t.Context(), act, otherPost, w.getPost(t, otherPost).UpdatedAt,
			post.Composition{Caption: "elsewhere", Accounts: []int64{other}})
		posttest.CheckError(t, err, apierr.NotFound, "")
		copied, omitted, err := w.Duplicate(t.Context(), act, "", p.ID)
		must.NoError(t, err)
		if targets := copied.Targets; len(targets) != 1 || targets[0].AccountID != w.Account || len(omitted) != 1 ||
			omitted[0].AccountID != other {
			t.Errorf("the duplicate has accounts %v and omitted %+v", targets, omitted)
		}
	})
}

// Preflight matches the result of Release.
func TestPreflightMatchesRelease(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := w.connectSecond(t)
		ids := map[string]string{}
		for _, caption := range []string{"fine", "soon forbidden"} {
			id := w.Draft(t, caption[:4], time.Time{})
			w.Do(t, "update_post", map[string]any{"id": id, "account_ids": []int64{w.Account, other}})
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": posttest.Noon.Add(posttest.Day).Format(time.RFC3339)})
			w.Do(t, "update_post", map[string]any{"id": id, "caption": caption})
			ids[caption] = id
		}
		w.disconnect(t, other)
		fine := w.Preflight(w.getPost(t, ids["fine"]), "en")
		if fine.Rejected || len(fine.Connected) != 1 || fine.Connected[0].AccountID != w.Account || len(fine.Disconnected) != 1 ||
			fine.Disconnected[0].AccountID != other {
			t.Errorf("%+v", fine)
		}
		if bad := w.Preflight(w.getPost(t, ids["soon forbidden"]), "en"); !bad.Rejected {
			t.Errorf("%+v", bad)
		}
		w.Clock.Advance(posttest.Day)
		for caption, want := range map[string]string{"fine": "", "soon forbidden": "preflight_blocked"} {
			must.NoError(t, w.Release(t.Context(), ids[caption]))
			if got := w.getPost(t, ids[caption]).Targets[0].ErrorCode; got != want {
				t.Errorf("%s fails with %q, want %q", caption, got, want)
			}
		}
	})
}

// Compose can change the rule of a series together with its template. An empty rule keeps the current rule.
func TestComposeChangesRule(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.StartSeries(t, "FREQ=DAILY")
		if n, err := w.CountUpcoming(t.Context(), w.Call.TeamID, w.Account); err != nil ||
			n != (post.Upcoming{Posts: 1, Series: 1}) {
			t.Errorf("upcoming: %+v (%v)", n, err)
		}
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		before := w.CountEvents(t, "post.changed")
		c := post.Composition{Caption: "hello", Accounts: []int64{w.Account}, Rule: "FREQ=WEEKLY"}
		_, err := w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c)
		must.NoError(t, err)
		if p := w.getPost(t, id); p.Series.Rule != "FREQ=WEEKLY" || !p.Series.Paused ||
			w.CountEvents(t, "post.changed") != before+1 {
			t.Errorf("%+v, %d events", p.Series, w.CountEvents(t, "post.changed")-before)
		}
		for _, rule := range []string{"FREQ=YEARLY", "FREQ=DAILY;UNTIL=20261120"} {
			c.Caption, c.Rule = "not kept", rule
			_, err = w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c)
			posttest.CheckError(t, err, apierr.ValidationFailed, "")
		}
		c.Rule = ""
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		if p := w.getPost(t, id); p.Series.Rule != "FREQ=WEEKLY" || p.Caption != "not kept" {
			t.Errorf("caption %q, rule %q", p.Caption, p.Series.Rule)
		}
	})
}
