package app

import (
	"context"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Once the deletion of a team has begun, no post of the team is published. Another node completes an interrupted
// deletion.
func TestDeletedTeamDoesNotPublish(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		id := b.draft(c, "Too late.")
		soon := db.Micros(h.now().Add(time.Hour))
		must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx,
				`UPDATE posts SET status = 'scheduled', scheduled_at = ?, slot_at = ? WHERE id = ?`, soon, soon, id); err != nil {
				return err
			}
			// A delivery of a call that passed every check before the deletion.
			_, err := tx.Exec(ctx,
				`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, wake_at,
		created_at) VALUES ('late', ?, ?, ?, '', 'planned', ?, ?, ?)`,
				c.team.ID, id, c.account, soon, soon, soon)
			return err
		}))
		b.open("/settings/delete").shows(http.StatusOK, "including 1 scheduled").
			form("Delete team").fill("name", c.team.Name).press().shows(http.StatusOK)
		h.advance(2 * time.Hour)
		c.awaitDeletion(t)
		c.checkNothingLeft(t)
		if n := h.count(t, "events WHERE team_id = ? AND kind IN ('post.published', 'post.submitted')", c.team.ID); n != 0 {
			t.Errorf("%d posts were sent to the network", n)
		}
		if n := h.count(t, "team_deletions WHERE team_id = ? AND removed > 0", c.team.ID); n != 1 {
			t.Error("the number of removed rows is not reported")
		}
		// The former owner, now without a team, can be invited.
		if n := h.count(t, "people WHERE id = ? AND deleted_at = 0 AND name <> ''", c.people[access.Owner].ID); n != 1 {
			t.Error("the owner’s account was deleted too")
		}
	})
}

// Invitations and recovery links are deleted 30 days after they expire.
func TestSweepOldLinks(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		_, _, err := h.Teams.Invite(t.Context(), 0, c.team.ID, "new@harbour.example", access.Editor)
		must.NoError(t, err)
		must.Get(h.Teams.Recover(t.Context(), c.people[access.Editor].Email))(t)
		left := func(days int, invitations, recoveries int) {
			t.Helper()
			h.advance(time.Duration(days) * 24 * time.Hour)
			must.Get(h.Erasure.Sweep(t.Context()))(t)
			if i, r := h.count(t, "invitations"), h.count(t, "recoveries"); i != invitations || r != recoveries {
				t.Errorf("after %d more days, %d invitations and %d recoveries remain, want %d and %d", days, i, r,
					invitations, recoveries)
			}
		}
		left(29, 1, 1)
		left(2, 1, 0)
		left(7, 0, 0)
	})
}
