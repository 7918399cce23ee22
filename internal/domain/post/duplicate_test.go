package post_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A duplicate includes overrides. A form that is submitted twice creates one draft.
func TestDuplicate(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		from, override := w.Draft(t, "for all", time.Time{}), "for one"
		w.Do(t, "update_post", map[string]any{"id": from, "overrides": []map[string]any{{"account_id": w.Account,
			"caption": override}}})
		duplicate, omitted, err := w.Duplicate(t.Context(), act, "form", from)
		must.NoError(t, err)
		p := w.getPost(t, duplicate.ID)
		if len(omitted) != 0 || p.Caption != "for all" || p.Replaces != "" || p.Targets[0].Caption == nil ||
			*p.Targets[0].Caption != override {
			t.Errorf("%+v, omitted %v", p, omitted)
		}
		again, _, err := w.Duplicate(t.Context(), act, "form", from)
		if must.NoError(t, err); again.ID != duplicate.ID {
			t.Error("the second call created another draft")
		}
		reader := *act
		reader.Capabilities = access.EffectiveCapabilities(access.Full, access.Viewer)
		if _, _, err := w.Duplicate(t.Context(), &reader, "", from); err == nil {
			t.Error("a viewer duplicated a post")
		}
	})
}

func TestFindTeam(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "ask", time.Time{})
		if home, err := w.FindTeam(t.Context(), id, []int64{w.Call.TeamID + 7, w.Call.TeamID}); err != nil ||
			home != w.Call.TeamID {
			t.Errorf("got team %d, %v", home, err)
		}
		if _, err := w.FindTeam(t.Context(), id, []int64{w.Call.TeamID + 7}); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("post of another team: %v", err)
		}
	})
}
