package list

import (
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A copy has the subcategories, respects the plan's limit, and is idempotent.
func TestCopyHashtags(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		ctx, from, into := t.Context(), w.readyMadeLists[0], w.mustCreate(t, CreateInput{Name: "Own"}).ID
		call := w.call("hashtag_lists")
		call.Capabilities = access.RoleCapabilities(access.Editor)
		for round, want := range []int{len(from.items), 0} {
			c := must.Get(w.CopyHashtags(ctx, call, from.ID, into))(t)
			if len(c.Added) != want || len(c.Added)+len(c.AlreadyPresent)+len(c.Refused) != len(from.items) {
				t.Errorf("round %d added %d of %d", round, len(c.Added), len(from.items))
			}
		}
		labels := map[string]string{}
		for _, i := range from.items {
			labels[i.Hashtag] = i.Subcategory
		}
		for _, h := range w.mustGet(t, into).Hashtags {
			if labels[h.Hashtag] != h.Subcategory {
				t.Errorf("#%s is in the subcategory %q", h.Hashtag, h.Subcategory)
			}
		}
		_, err := w.CopyHashtags(ctx, call, into, from.ID)
		checkRejected(t, err, apierr.ValidationFailed, apierr.WrongState)
		_, err = w.CopyHashtags(ctx, operation.Call{Actor: &access.Actor{TeamID: w.team, Role: access.Viewer,
			Capabilities: access.RoleCapabilities(access.Viewer)}}, from.ID, into)
		checkRejected(t, err, apierr.WriteNotAllowed, "")
		other := w.newTeam(t, "creator")
		theirs := other.call("hashtag_lists")
		theirs.Capabilities = access.RoleCapabilities(access.Editor)
		_, err = w.CopyHashtags(ctx, theirs, into, into)
		checkRejected(t, err, apierr.NotFound, "")
		if home, err := w.FindTeam(ctx, into, []int64{other.team, w.team}); err != nil || home != w.team {
			t.Errorf("the list belongs to team %d (%v)", home, err)
		}
		_, err = w.FindTeam(ctx, into, []int64{other.team})
		checkRejected(t, err, apierr.NotFound, "")
	})
}
