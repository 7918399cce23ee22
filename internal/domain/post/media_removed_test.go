package post_test

import (
	"slices"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/testkit/must"
)

// lostMedia reports whether a post's page says that a deleted file was removed.
func (w *env) lostMedia(t *testing.T, id string) bool {
	t.Helper()
	lost := must.Get(w.LastChangeRemovedMedia(t.Context(), w.getPost(t, id)))(t)
	return lost
}

// A deleted file is removed from all unpublished posts: scheduled ones become drafts, approval is required again, a
// series is paused. Published posts keep it.
func TestMediaRemoved(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		soon := posttest.Noon.Add(posttest.Day).Format(time.RFC3339)
		with := func(caption string, media ...int64) string {
			id := w.Draft(t, caption, time.Time{})
			for n, m := range media {
				w.Exec(t, `INSERT INTO post_media (post_id, position, media_id) VALUES (?, ?, ?)`, id, n, m)
			}
			w.Exec(t, `UPDATE posts SET has_media = 1 WHERE id = ?`, id)
			return id
		}
		draft, scheduled, other, sent, approved := with("draft", 1), with("scheduled", 1, 2), with("other", 2),
			with("sent", 1), with("approved", 1)
		own := w.Draft(t, "own", time.Time{})
		must.Get(w.Override(t.Context(), w.Person, own, w.Account, post.Override{Media: []int64{1}}))(t)
		for _, id := range []string{scheduled, other, own} {
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": soon})
		}
		w.Do(t, "publish_post", map[string]any{"post_id": sent})
		must.NoError(t, w.Decide(t, w.RequestApproval(t, approved), true))
		w.Clock.Advance(time.Minute)

		call := w.Call
		call.Actor, call.Now = act, w.Clock.Now()
		if taken, err := w.RemoveMedia(t.Context(), call, 1); err != nil || taken.Posts != 4 ||
			!slices.Equal(taken.Waiting, []string{approved}) {
			t.Fatalf("taken out of %+v, want 4 of which %s waits (%v)", taken, approved, err)
		}
		for id, want := range map[string]struct {
			status string
			media  []int64
			lost   bool
		}{
			draft: {"draft", nil, true}, scheduled: {"draft", []int64{2}, true}, own: {"draft", nil, true},
			other: {"scheduled", []int64{2}, false}, sent: {"published", []int64{1}, false},
			approved: {"draft", nil, true},
		} {
			p := w.getPost(t, id)
			var has []int64
			for _, m := range p.Media {
				has = append(has, m.ID)
			}
			if string(p.Status) != want.status || !slices.Equal(has, want.media) || w.lostMedia(t, id) != want.lost {
				t.Errorf("%s is %s with %v, told %v; want %+v", p.Caption, p.Status, has, w.lostMedia(t, id), want)
			}
		}
		if p := w.getPost(t, own); p.Targets[0].Media == nil || len(p.Targets[0].Media) != 0 {
			t.Errorf("the account shows %v of its own", p.Targets[0].Media)
		}
		if p := w.getPost(t, approved); p.Approval != post.Waiting {
			t.Errorf("what the client approved is %s", p.Approval)
		}
		w.Clock.Advance(time.Minute)
		w.Do(t, "update_post", map[string]any{"id": draft, "caption": "changed"})
		if w.lostMedia(t, draft) {
			t.Error("a post that was changed since says still that it lost a file")
		}
		if taken, err := w.RemoveMedia(t.Context(), call, 1); err != nil || taken.Posts != 0 {
			t.Errorf("once more: %+v (%v)", taken, err)
		}
	})
}

// A series whose template has a deleted file is paused, and its scheduled occurrences become drafts.
func TestSeriesWithDeletedFile(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		template := w.StartSeries(t, "FREQ=DAILY")
		w.Exec(t, `INSERT INTO post_media (post_id, position, media_id) VALUES (?, 0, 1)`, template)
		w.Exec(t, `UPDATE posts SET has_media = 1 WHERE id = ?`, template)
		w.Tick(t)
		call := w.Call
		call.Actor, call.Now = act, w.Clock.Now()
		must.Get(w.RemoveMedia(t.Context(), call, 1))(t)
		if p := w.getPost(t, template); p.Status != post.Draft || !p.Series.Paused || len(p.Media) != 0 || !p.IsTemplate {
			t.Errorf("the template is %s, paused %v, with %v", p.Status, p.Series.Paused, p.Media)
		}
		call.Actor = &access.Actor{TeamID: act.TeamID, PersonID: act.PersonID,
			Capabilities: access.RoleCapabilities(access.Viewer)}
		if _, err := w.RemoveMedia(t.Context(), call, 1); !apierr.Is(err, apierr.PublishNotAllowed) {
			t.Errorf("a viewer takes it out: %v", err)
		}
	})
}
