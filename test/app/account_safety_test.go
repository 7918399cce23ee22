package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"pressroom/internal/access"
	"pressroom/internal/social"
	"pressroom/internal/testkit"
)

// A right code signs the person in although the invitation that it came with was replaced meanwhile. Codes are spent, so
// they must not be lost.
func TestCodeOutlivesItsInvitation(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, other := h.crew(t), h.crew(t)
		a := h.addApp(t, c.as(t, access.Editor))
		email := c.people[access.Editor].Email
		h.change(t, `UPDATE people SET email_proved_at = 1 WHERE id = ?`, c.people[access.Editor].ID)
		for _, enter := range []func(p *page) *form{
			func(p *page) *form { return p.form("Sign in").fill("code", a.code(t)) },
			func(p *page) *form { return p.form("Sign in with a recovery code").fill("recovery", a.codes[0]) },
		} {
			b, path := h.browser(t), other.invite(t, email, access.Viewer)
			asked := b.send(http.MethodPost, path+"/sign-in", url.Values{"password": {password}}).wants(200, "Enter your code")
			newer := other.invite(t, email, access.Viewer)
			enter(asked).press().wants(200, "You are signed in, but you did not join a team.", "was taken back", c.team.Name)
			if !b.in() || h.count(t, "memberships WHERE team_id = ? AND person_id = ?", other.team.ID, c.people[access.Editor].ID) != 0 {
				t.Error("the person is not signed in, or is in the team of an invitation that was taken back")
			}
			b.open(newer).wants(200, "Join "+other.team.Name)
		}
	})
}

// A link on another site to a notice does not change which team a session works in: the page asks first.
func TestNoticeOfAnotherTeamAsksFirst(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, other := h.crew(t), h.crew(t)
		owner := c.people[access.Owner].ID
		must(t, h.Teams.SetMember(t.Context(), other.team.ID, owner, access.Admin))
		must(t, h.Accounts.Lose(t.Context(), other.account, social.AnyGrant))
		var id int64
		must(t, h.db.QueryRow(t.Context(), `SELECT id FROM notices WHERE person_id = ? AND team_id = ?`, owner, other.team.ID).Scan(&id))
		b := c.as(t, access.Owner)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}})
		at := fmt.Sprint("/notices/", id)
		asked := b.from("cross-site", at).wants(200, "You are working in another one.", other.team.Name)
		b.open("/settings/team").wants(200).holds(c.team.Name)
		if n := h.count(t, "notices WHERE id = ? AND read_at > 0", id); n != 0 {
			t.Error("the notice is read before the person has chosen")
		}
		asked.form("Switch and go on").press().wants(200, other.team.Name)
		if n := h.count(t, "notices WHERE id = ? AND read_at > 0", id); n != 1 {
			t.Error("the notice that was followed is not read")
		}
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}})
		if p := b.from("same-origin", at); p.status != http.StatusOK || strings.HasPrefix(p.path, "/notices") {
			t.Errorf("followed in the app, the notice leads to %s (%d)", p.path, p.status)
		}
	})
}

// Whoever signs in by the directory alone is not said to have no second factor: the directory decides on that.
func TestMembersOfTheDirectory(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		testkit.EachDatabase(t, func(t *testing.T, at string) {
			t.Parallel()
			provider, cfg := registered(t, only)
			h := open(t, at, cfg)
			c := h.crew(t)
			comes := func(email string) *browser {
				provider.QueueUser(&mockoidc.MockUser{Subject: email, Email: email, EmailVerified: true})
				b := h.browser(t)
				b.open("/sign-in").follow(byDirectory).wants(200)
				return b
			}
			owner := comes(c.people[access.Owner].Email)
			comes(c.people[access.Editor].Email)
			p := owner.open("/settings/members").wants(200, c.people[access.Editor].Email+" · Editor · signs in with the directory")
			if only {
				p.lacks("no second factor")
			} else {
				p.wants(200, c.people[access.Viewer].Email+" · Viewer · no second factor")
			}
		})
	}
}
