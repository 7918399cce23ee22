package app

import (
	"context"
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// An operator creates a team for a person. Submitting the form twice creates one team.
func TestOperatorCreatesTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, editor := c.asOperator(t, access.Viewer), c.people[access.Editor]
		form := b.open("/operator/teams").follow("New team").form("Create team").fill("name", "Quay Bakery").
			fill("owner", editor.Email).fill("timezone", "Europe/Lisbon").fill("language", "pt").fill("plan", "creator")
		form.press().shows(http.StatusUnprocessableEntity, "is not confirmed").contains(`value="Quay Bakery"`, `value="Europe/Lisbon"`)
		must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE people SET email_proved_at = 1 WHERE id = ?`, editor.ID)
			return err
		}))
		form.press().shows(http.StatusOK, "The team was created.", "Quay Bakery", "Europe/Lisbon", "Ada editor")
		form.press().shows(http.StatusUnprocessableEntity, "This person already owns a team with this name.")
		if n := h.count(t, "teams WHERE name = 'Quay Bakery' AND plan = 'creator'"); n != 1 {
			t.Errorf("%d teams were created", n)
		}
		form.fill("name", "Quay Bakery").fill("owner", "nobody@harbour.example").press().
			shows(http.StatusUnprocessableEntity, "No active person")
		form.fill("owner", editor.Email).fill("name", "Two").fill("timezone", "Berlin").press().
			shows(http.StatusUnprocessableEntity, "IANA time zone")
		form.fill("timezone", "UTC").fill("plan", "gold").press().shows(http.StatusUnprocessableEntity, "no plan with this name")
		form.fill("plan", "team").fill("language", "English").press().shows(http.StatusUnprocessableEntity, "BCP 47")
		form.fill("language", "en").fill("owner", c.people[access.Viewer].Email).press(). // the operator's own unconfirmed address
													shows(http.StatusOK, "The team was created.", "Next steps", "Invite members")
		c.as(t, access.Editor).open("/account").shows(http.StatusOK, "Quay Bakery")
		c.as(t, access.Owner).open("/").shows(http.StatusOK).lacks("New team")
	})
}
