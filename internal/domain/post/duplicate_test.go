package post_test

import (
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/post"
	"pressroom/internal/testkit/must"
)

// A duplicate has the content of single accounts too. A form sent twice creates one.
func TestDuplicate(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		from, own := w.Draft(t, "for all", time.Time{}), "for one"
		must.Get(w.Override(t.Context(), w.Person, from, w.Account, post.Override{Caption: &own}))(t)
		made, left, err := w.Duplicate(t.Context(), act, "form", from)
		must.NoError(t, err)
		p := w.getPost(t, made.ID)
		if len(left) != 0 || p.Caption != "for all" || p.Replaces != "" || p.Targets[0].Caption == nil ||
			*p.Targets[0].Caption != own {
			t.Errorf("%+v, without %v", p, left)
		}
		again, _, err := w.Duplicate(t.Context(), act, "form", from)
		if must.NoError(t, err); again.ID != made.ID {
			t.Error("the form created another draft")
		}
		reader := *act
		reader.Capabilities = access.Effective(access.Full, access.Viewer)
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
			t.Errorf("home is %d, %v", home, err)
		}
		if _, err := w.FindTeam(t.Context(), id, []int64{w.Call.TeamID + 7}); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("elsewhere: %v", err)
		}
	})
}
