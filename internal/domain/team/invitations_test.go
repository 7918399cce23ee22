package team_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

const goodPassword = "four plain words here"

func (w env) invite(t *testing.T, by int64, email string, role access.Role) (team.Invitation, string) {
	t.Helper()
	i, token, err := w.Invite(t.Context(), by, w.team.ID, email, role)
	must.NoError(t, err)
	return i, token
}

// roleOf returns the role of the member with an email address, or "".
func (w env) roleOf(t *testing.T, email string) access.Role {
	t.Helper()
	members := must.Get(w.Members(t.Context(), w.team.ID))(t)
	for _, m := range members {
		if m.Email == email {
			return m.Role
		}
	}
	return ""
}

func TestInvitePermissions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		people := map[access.Role]int64{access.Owner: 1, "": w.addPerson(t, "stranger@example.com", "", "").ID}
		for _, role := range access.Roles()[1:] {
			people[role] = w.addPerson(t, string(role)+"@example.com", "", role).ID
		}
		for role, person := range people {
			_, _, err := w.Invite(t.Context(), person, w.team.ID, "new@example.com", access.Editor)
			if may := role == access.Owner || role == access.Admin; may != (err == nil) || !may && !apierr.Is(err,
				apierr.NotFound) {
				t.Errorf("Invite by %q: %v", role, err)
			}
		}
		for name, c := range map[string]struct {
			email  string
			role   access.Role
			field  string
			reason string
		}{
			"an owner":               {"x@example.com", access.Owner, "role", apierr.NotAllowedValue},
			"no role":                {"x@example.com", "king", "role", apierr.NotAllowedValue},
			"a member":               {"Editor@example.com ", access.Viewer, "email", apierr.NotAllowedValue},
			"no address":             {"x", access.Viewer, "email", apierr.Malformed},
			"an address with a name": {"X <x@example.com>", access.Viewer, "email", apierr.Malformed},
			"invalid UTF-8":          {"x@example.com\ufffd", access.Viewer, "email", apierr.Malformed},
			"nothing":                {"", access.Viewer, "email", apierr.Malformed},
		} {
			_, _, err := w.Invite(t.Context(), 1, w.team.ID, c.email, c.role)
			if f := apierr.FromError(err); f.Code != apierr.ValidationFailed || f.Context["argument"] != c.field ||
				f.Context["reason"] != c.reason {
				t.Errorf("%s: %v %v", name, err, f.Context)
			}
		}
		if _, _, err := w.Invite(t.Context(), 1, w.team.ID+1, "x@example.com", access.Viewer); !apierr.Is(err,
			apierr.NotFound) {
			t.Errorf("unknown team: %v", err)
		}
	})
}

func TestAcceptInvitationOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		made, token := w.invite(t, 1, " New@Example.com", access.Editor)
		open, err := w.Invitations(t.Context(), w.team.ID)
		if err != nil || len(open) != 1 || open[0].ID != made.ID || open[0].Email != "new@example.com" ||
			open[0].InvitedBy != "Ada" || open[0].Role != access.Editor ||
			!open[0].ExpiresAt.Equal(w.clock.Now().Add(7*24*time.Hour)) {
			t.Fatalf("%+v (%v)", open, err)
		}
		var stored int
		if err := w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM invitations WHERE CAST(token_hash AS TEXT) LIKE ?`,
			"%"+token+"%").Scan(&stored); err != nil || stored > 0 {
			t.Errorf("the token is stored (%v)", err)
		}
		o, err := w.InvitationByToken(t.Context(), token)
		if err != nil || o.TeamName != "Harbour" || o.Mailed {
			t.Errorf("%+v (%v)", o, err)
		}
		// People with another address cannot use the link.
		bea := w.addPerson(t, "bea@example.com", "", "")
		if _, err := w.Accept(t.Context(), token, bea.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another person: %v", err)
		}
		var wg sync.WaitGroup
		results := make([]error, 5)
		for i := range results {
			wg.Go(func() {
				_, results[i] = signIns.Join(t.Context(), token, team.NewMember{Name: "New", Password: goodPassword})
			})
		}
		wg.Wait()
		joined := 0
		for _, err := range results {
			if err == nil {
				joined++
			} else if f := apierr.FromError(err); f.Code != apierr.ValidationFailed {
				t.Errorf("%v", err)
			}
		}
		if joined != 1 || w.roleOf(t, "new@example.com") != access.Editor {
			t.Errorf("%d calls succeeded, role %q", joined, w.roleOf(t, "new@example.com"))
		}
		if open, err := w.Invitations(t.Context(), w.team.ID); err != nil || len(open) != 0 {
			t.Errorf("%+v (%v)", open, err)
		}
		if p, err := signIns.SignIn(t.Context(),
			team.Attempt{Email: "new@example.com", Password: goodPassword}); err != nil || p.Name != "New" {
			t.Errorf("%+v (%v)", p, err)
		}
	})
}

// The link of an ended invitation returns the reason and cannot be used.
func TestEndedInvitation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		admin := w.addPerson(t, "admin@example.com", "", access.Admin)
		for name, c := range map[string]struct {
			end    func(team.Invitation) error
			detail string
		}{
			"revoked": {func(i team.Invitation) error {
				return w.Revoke(t.Context(), 1, w.team.ID, i.ID)
			}, "revoked"},
			"replaced": {func(i team.Invitation) error {
				_, _, err := w.Invite(t.Context(), 1, w.team.ID, i.Email, access.Viewer)
				return err
			}, "revoked"},
			"inviter is no longer an admin": {func(team.Invitation) error {
				return w.SetMember(t.Context(), w.team.ID, admin.ID, access.Editor)
			}, "revoked"},
			"team closed": {func(team.Invitation) error { return w.Close(t.Context(), w.team.ID) }, "closed"},
			"expired": {func(team.Invitation) error {
				w.clock.Advance(7 * 24 * time.Hour)
				return nil
			}, "has expired"},
		} {
			must.NoError(t, errors.Join(w.SetMember(t.Context(), w.team.ID, admin.ID, access.Admin),
				w.Reopen(t.Context(), w.team.ID)))
			i, token := w.invite(t, admin.ID, "new@example.com", access.Viewer)
			must.NoError(t, c.end(i))
			_, seen := w.InvitationByToken(t.Context(), token)
			_, joined := team.NewSignIns(w.Service).Join(t.Context(), token,
				team.NewMember{Name: "New", Password: goodPassword})
			for _, err := range []error{seen, joined} {
				if f := apierr.FromError(err); f.Code != apierr.ValidationFailed || !strings.Contains(f.Detail, c.detail) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if n := w.roleOf(t, "new@example.com"); n != "" {
			t.Errorf("got role %q", n)
		}
		if _, err := w.InvitationByToken(t.Context(), "nothing"); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("unknown token: %v", err)
		}
		i, _ := w.invite(t, 1, "last@example.com", access.Viewer)
		if err := w.Revoke(t.Context(), 1, w.team.ID+1, i.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("invitation of another team: %v", err)
		}
	})
}

// Members and open invitations use the plan's ten seats. Ended invitations do not.
func TestSeatLimit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		tokens := map[int]string{}
		for n := range 9 {
			_, tokens[n] = w.invite(t, 1, fmt.Sprintf("p%d@example.com", n), access.Viewer)
		}
		_, _, err := w.Invite(t.Context(), 1, w.team.ID, "late@example.com", access.Viewer)
		if f := apierr.FromError(err); f.Code != apierr.PlanLimitReached || f.Context["limit"] != "seats" {
			t.Fatalf("eleventh seat: %v", err)
		}
		w.invite(t, 1, "p0@example.com", access.Editor) // replaces the invitation of the same address
		open := must.Get(w.Invitations(t.Context(), w.team.ID))(t)
		must.NoError(t, w.Revoke(t.Context(), 1, w.team.ID, open[0].ID))
		_, late := w.invite(t, 1, "late@example.com", access.Viewer)
		must.NoError(t, w.SetPlan(t.Context(), w.team.ID, "creator", time.Time{})) // the plan has one seat
		if _, err := team.NewSignIns(w.Service).Join(t.Context(), late,
			team.NewMember{Name: "Late", Password: goodPassword}); !apierr.Is(err, apierr.PlanLimitReached) {
			t.Errorf("Join without a free seat: %v", err)
		}
		must.NoError(t, w.SetPlan(t.Context(), w.team.ID, "team", time.Time{}))
		w.clock.Advance(8 * 24 * time.Hour)
		for n := range 9 {
			w.invite(t, 1, fmt.Sprintf("again%d@example.com", n), access.Viewer)
		}
	})
}

// People with an account join by signing in, even if they have no team. Members keep their role.
func TestJoinWithExistingAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns, try := team.NewSignIns(w.Service), newAttempts()
		w.addPerson(t, "bea@example.com", "wobbly pass word", "")
		_, token := w.invite(t, 1, "bea@example.com", access.Viewer)
		if _, err := signIns.Join(t.Context(), token,
			team.NewMember{Name: "Bea", Password: goodPassword}); !strings.Contains(apierr.FromError(err).Detail,
			"sign in") {
			t.Errorf("Join with the address of an existing account: %v", err)
		}
		if _, err := signIns.Invitee(t.Context(), token, try("", "wrong")); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("a wrong password: %v", err)
		}
		invitee, err := signIns.Invitee(t.Context(), token, try("", "wobbly pass word"))
		if err == nil {
			_, err = w.Accept(t.Context(), token, invitee.ID)
		}
		if err != nil || w.roleOf(t, "bea@example.com") != access.Viewer {
			t.Errorf("got role %q (%v)", w.roleOf(t, "bea@example.com"), err)
		}
		late := w.addPerson(t, "late@example.com", "wobbly pass word", "")
		_, token = w.invite(t, 1, "late@example.com", access.Viewer)
		must.NoError(t, w.SetMember(t.Context(), w.team.ID, late.ID, access.Admin))
		if _, err := w.Accept(t.Context(), token, late.ID); err != nil || w.roleOf(t,
			"late@example.com") != access.Admin {
			t.Errorf("got role %q (%v)", w.roleOf(t, "late@example.com"), err)
		}
		_, token = w.invite(t, 1, "guessed@example.com", access.Viewer)
		w.addPerson(t, "guessed@example.com", "wobbly pass word", "")
		for range 10 {
			_, _ = signIns.Invitee(t.Context(), token, try("", "wrong"))
		}
		if _, err := signIns.Invitee(t.Context(), token, try("", "wobbly pass word")); !apierr.Is(err,
			apierr.RateLimited) {
			t.Errorf("guesses are not limited: %v", err)
		}
	})
}

// directoryIdentity returns the identity of a person with an email address.
func directoryIdentity(email string) team.DirectoryIdentity {
	return team.DirectoryIdentity{
		Issuer: "https://login.example", Subject: strings.ToLower(email), Email: email, Name: "Dee Rectory",
	}
}

func TestJoinFromDirectory(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		enter := func(email, token string) (team.Person, error) {
			return w.FromDirectory(t.Context(), directoryIdentity(email), token)
		}
		if p, err := enter("ADA@example.com", ""); err != nil || p.ID != 1 || p.Name != "Ada" {
			t.Errorf("%+v (%v)", p, err)
		}
		held := w.addPerson(t, "held@example.com", "", access.Editor)
		must.NoError(t, w.SetSuspended(t.Context(), held.ID, true))
		w.addPerson(t, "teamless@example.com", "", "")
		for _, email := range []string{
			"nobody@example.com", "held@example.com", "teamless@example.com", "", "no address",
		} {
			if _, err := enter(email, ""); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%q: %v", email, err)
			}
		}
	})
}

func TestChooseInvitation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		enter := func(email, token string) (team.Person, error) {
			return w.FromDirectory(t.Context(), directoryIdentity(email), token)
		}
		w.invite(t, 1, "new@example.com", access.Editor)
		for _, token := range []string{"", "no such token"} {
			if _, err := enter("New@example.com", token); !errors.Is(err, team.ErrChooseInvitation) || w.roleOf(t,
				"new@example.com") != "" {
				t.Errorf("without the token: role %q (%v)", w.roleOf(t, "new@example.com"), err)
			}
		}
		open, err := w.OpenInvitationsFor(t.Context(), "New@example.com")
		if err != nil || len(open) != 1 || open[0].TeamName != "Harbour" {
			t.Fatalf("%+v (%v)", open, err)
		}
		choose := func(email string) (team.Person, error) {
			return w.JoinFromDirectory(t.Context(), directoryIdentity(email), open[0].ID)
		}
		if _, err := choose("mallory@example.com"); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("an invitation to another address: %v", err)
		}
		p, err := choose("new@example.com")
		if err != nil || p.Name != "Dee Rectory" || w.roleOf(t, "new@example.com") != access.Editor {
			t.Errorf("%+v (%v)", p, err)
		}
		again, err := enter("new@example.com", "")
		if err != nil || again.ID != p.ID {
			t.Errorf("%+v (%v)", again, err)
		}
	})
}

func TestDirectoryInvitationToOthers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		enter := func(email, token string) (team.Person, error) {
			return w.FromDirectory(t.Context(), directoryIdentity(email), token)
		}
		w.addPerson(t, "teamless@example.com", "", "")
		other := must.Get(w.AddTeam(t.Context(), team.Team{Name: "Roastery", Timezone: "UTC", Language: "en", Plan: "team"},
			1))(t)
		w.invite(t, 1, "two@example.com", access.Viewer)
		_, token, err := w.Invite(t.Context(), 1, other.ID, "two@example.com", access.Admin)
		must.NoError(t, err)
		if _, err := enter("two@example.com", token); err != nil || w.roleOf(t, "two@example.com") != "" {
			t.Errorf("joined another team (%v)", err)
		}
		w.invite(t, 1, "teamless@example.com", access.Client)
		if _, err := enter("teamless@example.com", token); !errors.Is(err, team.ErrChooseInvitation) {
			t.Errorf("with the link of another address: %v", err)
		}
		open, err := w.OpenInvitationsFor(t.Context(), "teamless@example.com")
		if err != nil || len(open) != 1 {
			t.Fatalf("%+v (%v)", open, err)
		}
		if _, err := w.JoinFromDirectory(t.Context(), directoryIdentity("teamless@example.com"), open[0].ID); err != nil || w.roleOf(t,
			"teamless@example.com") != access.Client {
			t.Errorf("got role %q (%v)", w.roleOf(t, "teamless@example.com"), err)
		}
	})
}
