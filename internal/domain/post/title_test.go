package post_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (w *env) checkTitle(t *testing.T, id, want string) {
	t.Helper()
	p := w.getPost(t, id)
	if got := p.Content(p.Targets[0], "en").Title; got != want {
		t.Errorf("published title %q, want %q", got, want)
	}
	if got, _ := w.Do(t, "get_post", map[string]any{"id": id})["title"].(string); got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	for _, entry := range w.Do(t, "list_posts", map[string]any{"limit": 50})["posts"].([]any) {
		if entry := entry.(map[string]any); entry["id"] == id && want != "" && entry["title"] != want {
			t.Errorf("listed title %v, want %q", entry["title"], want)
		}
	}
}

// A title is one line. update_post and Compose keep it if it is omitted. A new title needs approval.
func TestTitle(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id, _ := w.Do(t, "create_post", map[string]any{"caption": "hello", "account_ids": []int64{w.Account},
			"title": " Winter\n menu "})["id"].(string)
		w.checkTitle(t, id, "Winter menu")
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "changed"})
		w.checkTitle(t, id, "Winter menu")
		must.NoError(t, w.Decide(t, w.RequestApproval(t, id), true))
		w.Do(t, "update_post", map[string]any{"id": id, "title": "Winter  menu"})
		if got := w.Status(t, id); got != "draft approved" {
			t.Errorf("after the same title: %s", got)
		}
		w.Do(t, "update_post", map[string]any{"id": id, "title": "Spring menu"})
		if got := w.Status(t, id); got != "draft waiting" {
			t.Errorf("after another title: %s", got)
		}
		c := post.Composition{Caption: "edited", Accounts: []int64{w.Account}}
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		w.checkTitle(t, id, "Spring menu")
		title := " Summer menu "
		c.Title = &title
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		w.checkTitle(t, id, "Summer menu")
		w.Do(t, "update_post", map[string]any{"id": id, "title": ""})
		w.checkTitle(t, id, "")
	})
}

// An override has a title of its own, which may be empty. Compose without titles keeps it.
func TestTitleOverride(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		other := w.connectSecond(t)
		id, _ := w.Do(t, "create_post", map[string]any{"caption": "hello", "account_ids": []int64{w.Account, other},
			"title": "For all", "overrides": []map[string]any{{"account_id": other, "title": " For\tone "}}})["id"].(string)
		check := func(wantFirst, wantSecond string) {
			t.Helper()
			p := w.getPost(t, id)
			first, second := p.Content(p.Targets[0], "en").Title, p.Content(p.Targets[1], "en").Title
			if first != wantFirst || second != wantSecond {
				t.Errorf("titles %q, %q, want %q, %q", first, second, wantFirst, wantSecond)
			}
		}
		check("For all", "For one")
		accounts, _ := w.Do(t, "get_post", map[string]any{"id": id})["accounts"].([]any)
		first, _ := accounts[0].(map[string]any)
		second, _ := accounts[1].(map[string]any)
		if _, given := first["title"]; given || second["title"] != "For one" {
			t.Errorf("accounts %v", accounts)
		}
		text := "for one"
		c := post.Composition{Caption: "edited", Accounts: []int64{w.Account, other},
			Overrides: map[int64]override.Override{other: {Caption: &text}}}
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		check("For all", "For one")
		title, own := "New", " Own "
		c.Title, c.Overrides[w.Account] = &title, override.Override{Title: &own}
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		check("Own", "New")
		must.NoError(t, w.Decide(t, w.RequestApproval(t, id), true))
		w.Do(t, "update_post", map[string]any{"id": id, "overrides": []map[string]any{{"account_id": other, "title": ""}}})
		check("New", "")
		if got := w.Status(t, id); got != "draft waiting" {
			t.Errorf("after another title: %s", got)
		}
		duplicate, _, err := w.Duplicate(t.Context(), act, "", id)
		must.NoError(t, err)
		id = duplicate.ID
		check("New", "")
	})
}

// Copies of a post have its title: duplicates and the occurrences of a series. The other parts of a thread have none.
func TestTitleCopied(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.Draft(t, "hello", posttest.Noon.Add(time.Hour))
		w.Do(t, "update_post", map[string]any{"id": id, "title": "Menu", "thread": []map[string]any{{"caption": "next"}}})
		duplicate, _, err := w.Duplicate(t.Context(), act, "", id)
		must.NoError(t, err)
		w.checkTitle(t, duplicate.ID, "Menu")
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		w.Tick(t)
		w.checkTitle(t, w.LastOccurrence(t), "Menu")
		p := w.getPost(t, id)
		if got := p.PartContent(p.Targets[0], "en", 1).Title; got != "" {
			t.Errorf("title of a further part: %q", got)
		}
	})
}
