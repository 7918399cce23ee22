package post_test

import (
	"fmt"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/testkit/must"
)

func TestSimilarDraft(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		from, to := w.Draft(t, "for all", time.Time{}), w.Draft(t, "for all", time.Time{})
		own := "for one"
		must.Get(w.Override(t.Context(), w.Person, from, w.Account, post.Override{Caption: &own}))(t)
		w.Clock.Advance(time.Second)
		caption := func() string {
			p := must.Get(w.Load(t.Context(), w.Call.TeamID, to))(t)
			return fmt.Sprint(p.Targets[0].Caption != nil && *p.Targets[0].Caption == own)
		}
		must.NoError(t, w.CopyFrom(t.Context(), w.Person, to, from))
		if caption() != "true" {
			t.Error("the account's own text is not there")
		}
		must.Get(w.Override(t.Context(), w.Person, to, w.Account, post.Override{}))(t)
		must.NoError(t, w.CopyFrom(t.Context(), w.Person, to, from))
		if caption() != "false" {
			t.Error("a draft that was changed meanwhile was changed once more")
		}
		stranger := must.Get(w.Teams.AddPerson(t.Context(), "Eve", "eve@example.com", ""))(t)
		if err := w.CopyFrom(t.Context(), stranger.ID, to, from); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("a stranger: %v", err)
		}
		w.Do(t, "publish_post", map[string]any{"post_id": to})
		posttest.CheckError(t, w.CopyFrom(t.Context(), w.Person, to, from), apierr.ValidationFailed, "published")
	})
}

func TestFindTeam(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "ask", time.Time{})
		if home, err := w.FindTeam(t.Context(), id, []int64{w.Call.TeamID + 7, w.Call.TeamID}); err != nil ||
			home != w.Call.TeamID {
			t.Errorf("home is %d, %v", home, err)
		}
		if _, err := w.FindTeam(t.Context(), id, []int64{w.Call.TeamID + 7}); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("elsewhere: %v", err)
		}
	})
}
