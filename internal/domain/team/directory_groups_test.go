package team_test

import (
	"errors"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A person's groups decide the role at each sign-in, without an invitation. Other teams are not affected.
func TestDirectoryGroups(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		other, _ := w.addSecondTeam(t)
		signIn := func(roles map[int64]access.Role) (team.Person, error) {
			who := identity("dee", "dee@example.com")
			who.Roles = roles
			return w.FromDirectory(t.Context(), who, "")
		}
		roleIn := func(team, person int64) access.Role {
			m, err := w.Member(t.Context(), team, person)
			if err != nil {
				return ""
			}
			return m.Role
		}
		if _, err := signIn(map[int64]access.Role{w.team.ID: ""}); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("without a group: %v", err)
		}
		p, err := signIn(map[int64]access.Role{w.team.ID: access.Editor, 99: access.Editor})
		if err != nil || roleIn(w.team.ID, p.ID) != access.Editor {
			t.Fatalf("a new person: %q (%v)", roleIn(w.team.ID, p.ID), err)
		}
		must.NoError(t, w.SetMember(t.Context(), other.ID, p.ID, access.Viewer))
		must.NoError(t, w.SetMember(t.Context(), w.team.ID, p.ID, access.Admin))
		for range 2 { // the second time, nothing changes
			must.Get(signIn(map[int64]access.Role{w.team.ID: access.Client}))(t)
		}
		if got := roleIn(w.team.ID, p.ID); got != access.Client {
			t.Errorf("another group: %q", got)
		}
		must.NoError(t, w.SetMember(t.Context(), w.team.ID, p.ID, access.Editor))
		_, assistant := w.connectWithToken(t, p.ID, access.Read)
		if _, err := signIn(map[int64]access.Role{w.team.ID: ""}); err != nil || roleIn(w.team.ID, p.ID) != "" ||
			roleIn(other.ID, p.ID) != access.Viewer {
			t.Errorf("removed: %q and %q (%v)", roleIn(w.team.ID, p.ID), roleIn(other.ID, p.ID), err)
		}
		if n := w.count(t, "api_keys WHERE id = ? AND lost = 'membership_lost'", assistant); n != 1 {
			t.Error("the assistant still works")
		}
		if _, err := signIn(map[int64]access.Role{other.ID: ""}); !apierr.Is(err, apierr.Unauthorized) || roleIn(other.ID, p.ID) != "" {
			t.Errorf("removed from the last team: %q (%v)", roleIn(other.ID, p.ID), err)
		}
		if n := w.count(t, "events WHERE kind IN ('member.set', 'member.removed') AND detail LIKE '%directory%'"); n != 4 {
			t.Errorf("%d events", n)
		}
		if _, err := auditlog.List(t.Context(), w.db, w.team.ID, auditlog.Page{Limit: 5}); err != nil {
			t.Error(err)
		}
	})
}

// Groups change neither the owner of a team nor the last operator who can sign in.
func TestDirectoryGroupsOfOwner(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		who := identity("ada", "ada@example.com")
		must.Get(w.FromDirectory(t.Context(), who, ""))(t)
		who.Roles = map[int64]access.Role{w.team.ID: access.Viewer}
		for _, role := range []access.Role{access.Viewer, ""} {
			who.Roles[w.team.ID] = role
			if _, err := w.FromDirectory(t.Context(), who, ""); err != nil {
				t.Error(err)
			}
			if n := w.count(t, "memberships WHERE person_id = ? AND role = 'owner'", w.owner.ID); n != 1 {
				t.Errorf("%q changed the owner", role)
			}
		}
		operator := w.addMember(t, "opal@example.com", access.Editor)
		w.exec(t, "UPDATE people SET operator = 1, email_proved_at = ? WHERE id = ?", time.Now().UnixMicro(), operator)
		who = identity("opal", "opal@example.com")
		who.Roles = map[int64]access.Role{w.team.ID: ""}
		if _, err := w.FromDirectory(t.Context(), who, ""); err != nil ||
			w.count(t, "memberships WHERE person_id = ?", operator) != 1 {
			t.Errorf("the last operator was removed (%v)", err)
		}
	})
}

// An invitation to a team whose members the directory manages does not count. A group replaces the invitation.
func TestDirectoryGroupsAndInvitations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		existing := must.Get(w.AddPerson(ctx, "Eve", "eve@example.com", goodPassword))(t)
		for _, email := range []string{"new@example.com", existing.Email} {
			invitation, token := w.invite(t, w.owner.ID, email, access.Editor)
			who := identity(email, email)
			who.Roles = map[int64]access.Role{w.team.ID: ""}
			_, byToken := w.FromDirectory(ctx, who, token)
			_, chosen := w.JoinFromDirectory(ctx, who, invitation.ID)
			if !apierr.Is(byToken, apierr.Unauthorized) || !apierr.Is(chosen, apierr.Unauthorized) ||
				errors.Is(chosen, team.ErrChooseInvitation) {
				t.Errorf("%s without a group: %v, %v", email, byToken, chosen)
			}
			if offers := must.Get(w.InvitationsForDirectory(ctx, who))(t); len(offers) != 0 || w.roleOf(t, email) != "" ||
				w.count(t, "invitations WHERE accepted_at = 0") != 1 {
				t.Errorf("%s: %v, role %q", email, offers, w.roleOf(t, email))
			}
			who.Roles[w.team.ID] = access.Viewer
			if _, err := w.FromDirectory(ctx, who, token); err != nil || w.roleOf(t, email) != access.Viewer ||
				w.count(t, "invitations WHERE accepted_at = 0") != 0 {
				t.Errorf("%s in a group: %q (%v)", email, w.roleOf(t, email), err)
			}
		}
		other, olga := w.addSecondTeam(t)
		_, token, err := w.Invite(ctx, olga, other.ID, "joe@example.com", access.Editor)
		must.NoError(t, err)
		joe := identity("joe", "joe@example.com")
		joe.Roles = map[int64]access.Role{w.team.ID: ""}
		if _, err := w.FromDirectory(ctx, joe, ""); !errors.Is(err, team.ErrChooseInvitation) {
			t.Errorf("an invitation to another team: %v", err)
		}
		must.Get(w.FromDirectory(ctx, joe, token))(t)
	})
}

// A group adds members only while the team's plan has seats. A closed team does not change.
func TestDirectoryGroupsLimits(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		other, _ := w.addSecondTeam(t)
		must.NoError(t, w.SetPlan(ctx, w.team.ID, "creator", time.Time{}))
		existing := must.Get(w.AddPerson(ctx, "Eve", "eve@example.com", goodPassword))(t)
		for _, email := range []string{"new@example.com", existing.Email} {
			who := identity(email, email)
			who.Roles = map[int64]access.Role{w.team.ID: access.Editor, other.ID: access.Editor}
			if _, err := w.FromDirectory(ctx, who, ""); !apierr.Is(err, apierr.PlanLimitReached) || w.roleOf(t, email) != "" {
				t.Errorf("%s: %q (%v)", email, w.roleOf(t, email), err)
			}
			w.exec(t, "UPDATE teams SET closed_at = 1 WHERE id = ?", w.team.ID)
			p := must.Get(w.FromDirectory(ctx, who, ""))(t)
			if n := w.count(t, "memberships WHERE person_id = ?", p.ID); n != 1 {
				t.Errorf("%s is in %d teams", email, n)
			}
			w.exec(t, "UPDATE teams SET closed_at = 0 WHERE id = ?", w.team.ID)
		}
		if n := w.count(t, "people WHERE email = 'new@example.com'"); n != 1 {
			t.Errorf("%d people", n)
		}
	})
}
