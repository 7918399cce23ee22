package post_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/testkit/must"
)

// overridesOf returns the accounts of get_post as text: their captions and media, and – for what is not overridden.
func (w *env) overridesOf(t *testing.T, id string) string {
	t.Helper()
	var out []string
	for _, target := range w.getPost(t, id).Targets {
		text := "–"
		if target.Caption != nil {
			text = *target.Caption
		}
		media := "–"
		if target.Media != nil {
			media = strings.Repeat("m", len(target.Media))
		}
		out = append(out, text+"/"+media)
	}
	return strings.Join(out, " ")
}

// create_post and update_post set the overrides of accounts. update_post replaces all overrides or keeps them.
func TestOverrides(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, _ *access.Actor) {
		other := w.connectSecond(t)
		id, _ := w.Do(t, "create_post", map[string]any{"caption": "for all", "account_ids": []int64{w.Account, other},
			"media_ids": []int64{1}, "overrides": []map[string]any{{"account_id": other, "caption": "for one",
				"media_ids": []int64{2, 1}}}})["id"].(string)
		for _, step := range []struct {
			change map[string]any
			want   string
		}{
			{nil, "–/– for one/mm"},
			{map[string]any{"caption": "changed"}, "–/– for one/mm"},
			{map[string]any{"overrides": []map[string]any{{"account_id": w.Account, "media_ids": []int64{}}, {"account_id": other}}},
				"–/ –/–"},
			{map[string]any{"account_ids": []int64{other}, "overrides": []map[string]any{{"account_id": other, "caption": ""}}}, "/–"},
			{map[string]any{"account_ids": []int64{w.Account, other}, "overrides": []map[string]any{
				{"account_id": w.Account, "caption": "anew"}}}, "anew/– –/–"},
			{map[string]any{"overrides": []map[string]any{}}, "–/– –/–"},
		} {
			if step.change != nil {
				step.change["id"] = id
				w.Do(t, "update_post", step.change)
			}
			if got := w.overridesOf(t, id); got != step.want {
				t.Errorf("after %v: %s, want %s", step.change, got, step.want)
			}
		}
	})
}

func TestInvalidOverrides(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, _ *access.Actor) {
		id := w.Draft(t, "for all", time.Time{})
		for _, c := range []struct {
			overrides []map[string]any
			code      apierr.Code
			argument  string
		}{
			{[]map[string]any{{"account_id": 99, "caption": "x"}}, apierr.NotFound, "overrides.account_id"},
			{[]map[string]any{{"account_id": w.Account, "caption": "x"}, {"account_id": w.Account}}, apierr.ValidationFailed,
				"overrides.account_id"},
			{[]map[string]any{{"account_id": w.Account, "media_ids": []int64{9}}}, apierr.NotFound, "overrides.media_ids"},
		} {
			for tool, args := range map[string]map[string]any{"update_post": {"id": id},
				"create_post": {"caption": "x", "account_ids": []int64{w.Account}}} {
				args["overrides"] = c.overrides
				_, err := w.Try(t, tool, args)
				if got := apierr.FromError(err); err == nil || got.Code != c.code || got.Context["argument"] != c.argument {
					t.Errorf("%s with %v: %v", tool, c.overrides, err)
				}
			}
		}
		if got := w.overridesOf(t, id); got != "–/–" {
			t.Errorf("overrides after errors: %s", got)
		}
	})
}

// A changed override of an approved post needs approval again, and keeps the cover of its video. The same overrides
// change nothing.
func TestOverridesKeepApprovalAndCover(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		p, _, err := w.CreateDraft(t.Context(), act, "", post.Composition{Caption: "for all", Accounts: []int64{w.Account},
			Media: []int64{2}, Covers: map[int64]time.Duration{2: 3 * time.Second}})
		must.NoError(t, err)
		same := []map[string]any{{"account_id": w.Account, "caption": "for one", "media_ids": []int64{2}}}
		w.Do(t, "update_post", map[string]any{"id": p.ID, "overrides": same})
		must.NoError(t, w.Decide(t, w.RequestApproval(t, p.ID), true))
		w.Clock.Advance(time.Minute)
		w.Do(t, "update_post", map[string]any{"id": p.ID, "overrides": same})
		if p := w.getPost(t, p.ID); p.Approval != post.Approved || p.Targets[0].Media[0].Cover != 3*time.Second {
			t.Errorf("the same overrides: %s, %+v", p.Approval, p.Targets)
		}
		w.Do(t, "update_post", map[string]any{"id": p.ID, "overrides": []map[string]any{}})
		if got := w.getPost(t, p.ID); got.Approval != post.Waiting || slices.ContainsFunc(got.Targets, func(t post.Target) bool {
			return t.Caption != nil || t.Media != nil
		}) {
			t.Errorf("removed overrides: %s, %+v", got.Approval, got.Targets)
		}
	})
}
