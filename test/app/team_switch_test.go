package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// If another tab has switched teams, a submitted form is shown again with its input. It is saved only when it is
// submitted again.
func TestTeamSwitchKeepsInput(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		must.NoError(t, h.Teams.SetMember(t.Context(), other.team.ID, c.people[access.Owner].ID, access.Viewer))
		b, list := c.as(t, access.Owner), c.createHashtagList(t, "Harbours", "quay")
		voice, picture := fmt.Sprintf("/voices/%d", c.createVoice(t, "Dry")), c.addImage(t, "The quay", 10)
		turn := func(id int64) {
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(id)}}).shows(200)
		}
		for _, one := range []struct{ page, button, field, text string }{
			{"/voices/new", "Create brand voice", "business_description", "A roastery at the <quay>"},
			{voice + "/edit", "Save", "tone", "Warm"},
			{voice + "/material", "Add text", "text", "What we wrote before"},
			{"/reports/new", "Create report", "subject", "nasa"},
			{"/hashtags/new", "Create list", "name", "Quays"},
			{list, "Add", "hashtags", "#boats #ships"},
			{list + "/edit", "Save", "name", "Boats"},
			{"/settings/team", "Save", "name", "Another name"},
			{"/settings/keys/new", "Create key", "name", "For the newsletter"},
			{"/settings/members", "Create invitations", "email", "new@harbour.example"},
			{picture, "Save", "name", "The pier"},
			{picture, "Save", "alt", "A pier in the fog"},
		} {
			turn(c.team.ID)
			asked := b.open(one.page).shows(200).form(one.button).fill(one.field, one.text)
			turn(other.team.ID)
			again := asked.press().shows(200, "so that team is selected again. Nothing was saved yet.", c.team.Name)
			if again.path != one.page {
				t.Errorf("the form of %s ends at %s", one.page, again.path)
			}
			if got := strings.TrimSpace(again.form(one.button).values.Get(one.field)); got != one.text {
				t.Errorf("field %s of %s = %q", one.field, one.page, got)
			}
			if got := strings.TrimSpace(b.open(one.page).form(one.button).values.Get(one.field)); got == one.text {
				t.Errorf("%s keeps %q", one.page, got)
			}
		}
		if n := h.count(t, "events WHERE kind = 'media.described'"); n != 0 {
			t.Errorf("%d descriptions were saved", n)
		}
		b.open(picture).form("Save").fill("alt", "A pier").press().shows(200, "Saved.", "A pier")
	})
}
