package voice

import (
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
)

// A draft has what people wrote, without the team's settings.
func TestDraft(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx, id := w.t.Context(), w.make("Plain")
		d, err := w.Draft(ctx, w.call, id)
		w.must(err)
		if d.Name != "Plain" || d.ContentLanguage != "" || w.mustGet(id).ContentLanguage != "de" {
			t.Errorf("the draft is %+v", d)
		}
		_, err = w.Draft(ctx, callAs(w.call, access.Viewer, 0), id)
		w.mustReject(err, apierr.WriteNotAllowed, "", "")
		other := w.newTeam("eve@harbour.example", "en")
		_, err = w.Draft(ctx, other, id)
		w.mustReject(err, apierr.NotFound, "", "")

		m, err := w.AddMaterial(ctx, w.call, id, NewMaterial{Text: "once"})
		w.must(err)
		if got, err := w.Material(ctx, w.call, id, m.ID); err != nil || got != m {
			t.Errorf("%+v (%v)", got, err)
		}
		_, err = w.Material(ctx, other, id, m.ID)
		w.mustReject(err, apierr.NotFound, "", "")
		_, err = w.Material(ctx, callAs(w.call, access.Owner, 5), id, m.ID)
		w.mustReject(err, apierr.NotFound, "", "")

		if home, err := w.FindTeam(ctx, id, []int64{other.TeamID, w.call.TeamID}); err != nil || home != w.call.TeamID {
			t.Errorf("the voice belongs to team %d (%v)", home, err)
		}
		_, err = w.FindTeam(ctx, id, []int64{other.TeamID})
		w.mustReject(err, apierr.NotFound, "", "")
	})
}
