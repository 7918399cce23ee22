package post_test

import (
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// lastChangeRemovedMedia calls Service.LastChangeRemovedMedia for a stored post.
func (w *env) lastChangeRemovedMedia(t *testing.T, id string) bool {
	t.Helper()
	return must.Get(w.LastChangeRemovedMedia(t.Context(), w.getPost(t, id)))(t)
}

// A deleted file is removed from all unsent posts. Scheduled posts become drafts, and approved posts need approval
// again. Published posts keep the file.
func TestMediaRemoved(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		soon := posttest.Noon.Add(posttest.Day).Format(time.RFC3339)
		draftWithMedia := func(caption string, media ...int64) string {
			id := w.Draft(t, caption, time.Time{})
			for n, m := range media {
				w.Exec(t, `INSERT INTO post_media (post_id, position, media_id) VALUES (?, ?, ?)`, id, n, m)
			}
			w.Exec(t, `UPDATE posts SET has_media = 1 WHERE id = ?`, id)
			return id
		}
		draft, scheduled, unrelated, published, approved := draftWithMedia("draft", 1), draftWithMedia("scheduled", 1, 2),
			draftWithMedia("other", 2),
			draftWithMedia("sent", 1), draftWithMedia("approved", 1)
		override := w.Draft(t, "own", time.Time{})
		w.Do(t, "update_post", map[string]any{"id": override, "overrides": []map[string]any{{"account_id": w.Account,
			"media_ids": []int64{1}}}})
		for _, id := range []string{scheduled, unrelated, override} {
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": soon})
		}
		w.Do(t, "publish_post", map[string]any{"post_id": published})
		must.NoError(t, w.Decide(t, w.RequestApproval(t, approved), true))
		w.Clock.Advance(time.Minute)

		call := w.Call
		call.Actor, call.Now = act, w.Clock.Now()
		if removed, err := w.RemoveMedia(t.Context(), call, 1); err != nil || removed.Posts != 4 ||
			!slices.Equal(removed.Waiting, []string{approved}) {
			t.Fatalf("removed from %+v, want 4 posts, with %s awaiting approval (%v)", removed, approved, err)
		}
		for id, want := range map[string]struct {
			status  string
			media   []int64
			removed bool
		}{
			draft: {"draft", nil, true}, scheduled: {"draft", []int64{2}, true}, override: {"draft", nil, true},
			unrelated: {"scheduled", []int64{2}, false}, published: {"published", []int64{1}, false},
			approved: {"draft", nil, true},
		} {
			p := w.getPost(t, id)
			var media []int64
			for _, m := range p.Media {
				media = append(media, m.ID)
			}
			if string(p.Status) != want.status || !slices.Equal(media, want.media) || w.lastChangeRemovedMedia(t, id) != want.removed {
				t.Errorf("%s is %s with media %v, last change removed media: %v; want %+v", p.Caption, p.Status, media,
					w.lastChangeRemovedMedia(t, id), want)
			}
		}
		if p := w.getPost(t, override); p.Targets[0].Media == nil || len(p.Targets[0].Media) != 0 {
			t.Errorf("the override has media %v", p.Targets[0].Media)
		}
		if p := w.getPost(t, approved); p.Approval != post.Waiting {
			t.Errorf("approval of the approved post is %s", p.Approval)
		}
		w.Clock.Advance(time.Minute)
		w.Do(t, "update_post", map[string]any{"id": draft, "caption": "changed"})
		if w.lastChangeRemovedMedia(t, draft) {
			t.Error("the last change was the caption, not the removed file")
		}
		if removed, err := w.RemoveMedia(t.Context(), call, 1); err != nil || removed.Posts != 0 {
			t.Errorf("second call: %+v (%v)", removed, err)
		}
	})
}

// A deleted file is removed from all parts of a thread, so that the thread can be edited and published again.
func TestMediaRemovedFromThread(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		for _, first := range [][]int64{nil, {1}} {
			c := post.Composition{Caption: "first", Accounts: []int64{w.Account}, Media: first, Thread: []post.ThreadPart{
				{Caption: "second", MediaIDs: []int64{2, 1}}, {Caption: "third", MediaIDs: []int64{1}}}}
			p, _, err := w.CreateDraft(t.Context(), act, "", c)
			must.NoError(t, err)
			must.NoError(t, w.Decide(t, w.RequestApproval(t, p.ID), true))
			call := w.Call
			call.Actor, call.Now = act, w.Clock.Now()
			if removed := must.Get(w.RemoveMedia(t.Context(), call, 1))(t); removed.Posts != 1 ||
				!slices.Equal(removed.Waiting, []string{p.ID}) {
				t.Fatalf("removed from %+v, want the thread, which awaits approval", removed)
			}
			p = w.getPost(t, p.ID)
			if len(p.Media) != 0 || len(p.Thread) != 2 || len(p.Thread[0].Media) != 1 || p.Thread[0].Media[0].ID != 2 ||
				len(p.Thread[1].Media) != 0 || p.Thread[1].Caption != "third" || p.Approval != post.Waiting {
				t.Errorf("with %v in part 0: %s, media %v, thread %+v", first, p.Approval, p.Media, p.Thread)
			}
			if removed := must.Get(w.RemoveMedia(t.Context(), call, 1))(t); removed.Posts != 0 {
				t.Errorf("second call: %+v", removed)
			}
		}
	})
}

// When a file of a template is deleted, the series is paused and its scheduled occurrences become drafts.
func TestSeriesWithDeletedFile(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
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
			t.Errorf("RemoveMedia by a viewer: %v", err)
		}
	})
}
