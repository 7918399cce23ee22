package team_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// addSecondTeam creates a second team with another owner and returns both.
func (w env) addSecondTeam(t *testing.T) (team.Team, int64) {
	t.Helper()
	owner := must.Get(w.AddPerson(t.Context(), "Olga", "olga@example.com", ""))(t)
	made := must.Get(w.AddTeam(t.Context(), team.Team{Name: "Roastery", Timezone: "UTC", Language: "en", Plan: "team"},
		owner.ID))(t)
	return made, owner.ID
}

func identity(subject, email string) team.DirectoryIdentity {
	return team.DirectoryIdentity{Issuer: "https://login.example", Subject: subject, Email: email, Name: "Dee Rectory"}
}

// The first sign-in with the directory removes all other access to an unconfirmed account. Later sign-ins keep the
// credentials that the person adds.
func TestDirectoryTakesOverUnconfirmedAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		w.addPasskey(t, 1, "planted")
		assistant := w.connectAssistant(t, 1, "planted")
		r := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		p, err := w.FromDirectory(t.Context(), identity("ada", "Ada@Example.com"), "")
		if err != nil || p.ID != 1 || p.Epoch != 1 {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := signIns.SignIn(t.Context(),
			team.Attempt{Email: "ada@example.com", Password: "correct horse quartz"}); !apierr.Is(err,
			apierr.Unauthorized) {
			t.Errorf("old password: %v", err)
		}
		if _, err := w.PersonByRecovery(t.Context(), r.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("earlier recovery link: %v", err)
		}
		if line, err := w.Connection(t.Context(), w.team.ID, assistant); err != nil || line.RevokedAt.IsZero() ||
			w.count(t, "passkeys") != 0 {
			t.Errorf("%+v (%v), %d passkeys", line, err, w.count(t, "passkeys"))
		}
		for _, kind := range []string{
			"person.sign_ins_removed", "passkey.removed", "assistant.revoked", "person.directory_linked",
			"person.email_confirmed",
		} {
			if n := w.count(t, "events WHERE kind = ?", kind); n != 1 {
				t.Errorf("%d events of kind %s, want 1", n, kind)
			}
		}
		w.addPasskey(t, 1, "own")
		if p, err := w.FromDirectory(t.Context(), identity("ada", "ada@example.com"), ""); err != nil || p.Epoch != 1 ||
			w.count(t, "passkeys") != 1 {
			t.Errorf("%+v (%v), %d passkeys", p, err, w.count(t, "passkeys"))
		}
	})
}

// A takeover also revokes the API keys and invitations that the account issued, and records their names.
func TestTakeoverRevokesIssuedItems(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		_, _, err := w.AddKey(ctx, team.NewKey{Team: w.team.ID, Name: "Nightly", Level: access.Full})
		must.NoError(t, err)
		_, planted, err := w.Invite(ctx, 1, w.team.ID, "mallory@example.com", access.Admin)
		must.NoError(t, err)
		bea := w.addPerson(t, "bea@example.com", "", access.Admin)
		_, others, err := w.Invite(ctx, bea.ID, w.team.ID, "new@example.com", access.Editor)
		must.NoError(t, err)
		must.Get(w.FromDirectory(ctx, identity("ada", "ada@example.com"), ""))(t)
		if n := w.count(t, "api_keys WHERE revoked_at = 0"); n != 0 {
			t.Errorf("%d keys are not revoked", n)
		}
		if _, err := w.InvitationByToken(ctx, planted); !strings.Contains(apierr.FromError(err).Detail, "revoked") {
			t.Errorf("invitation of the account: %v", err)
		}
		if _, err := w.InvitationByToken(ctx, others); err != nil {
			t.Errorf("invitation of another person: %v", err)
		}
		var detail string
		must.NoError(t, w.db.QueryRow(ctx, `SELECT detail FROM events WHERE kind = 'person.sign_ins_removed'`).Scan(&detail))
		for _, name := range []string{
			"API key Nightly (Harbour)", "Invitation mallory@example.com as admin (Harbour)",
		} {
			if !strings.Contains(detail, name) {
				t.Errorf("%s does not name %s", detail, name)
			}
		}
	})
}

// A takeover turns memberships that someone else may have accepted into open invitations. Memberships that the operator
// created, or that were accepted after the confirmation, stay.
func TestTakeoverReoffersMemberships(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, signIns := t.Context(), team.NewSignIns(w.Service)
		other, olga := w.addSecondTeam(t)
		_, token, err := w.Invite(ctx, olga, other.ID, "vic@example.com", access.Admin)
		must.NoError(t, err)
		vic := must.Get(signIns.Join(ctx, token, team.NewMember{Name: "Vic Tim", Password: goodPassword, From: "mallory"}))(t)
		must.NoError(t, w.SetMember(ctx, w.team.ID, vic.ID, access.Viewer))
		p, err := w.FromDirectory(ctx, identity("vic", "vic@example.com"), "")
		if err != nil || p.ID != vic.ID {
			t.Fatalf("%+v (%v)", p, err)
		}
		if n := w.count(t, "memberships WHERE person_id = ? AND team_id = ?", vic.ID, other.ID); n != 0 {
			t.Error("the accepted membership still exists")
		}
		if w.roleOf(t, "vic@example.com") != access.Viewer {
			t.Error("the membership that the operator created was removed")
		}
		if _, err := w.InvitationByToken(ctx, token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("old link: %v", err)
		}
		open, err := w.OpenInvitationsFor(ctx, "vic@example.com")
		if err != nil || len(open) != 1 || open[0].TeamID != other.ID || open[0].Role != access.Admin {
			t.Fatalf("%+v (%v)", open, err)
		}
		if _, err := w.AcceptInvitation(ctx, olga, open[0].ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another person accepts the invitation: %v", err)
		}
		must.Get(w.AcceptInvitation(ctx, vic.ID, open[0].ID))(t)
		must.Get(w.Unlink(ctx, "vic@example.com"))(t)
		must.Get(w.FromDirectory(ctx, identity("vic-2", "vic@example.com"), ""))(t)
		if n := w.count(t, "memberships WHERE person_id = ?", vic.ID); n != 2 {
			t.Errorf("%d memberships after unlinking, want 2", n)
		}
	})
}

// The first sign-in with the directory keeps the credentials of a confirmed account.
func TestDirectoryLinksConfirmedAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.exec(t, `UPDATE people SET email_proved_at = 1 WHERE id = 1`)
		w.addPasskey(t, 1, "own")
		p, err := w.FromDirectory(t.Context(), identity("ada", "ada@example.com"), "")
		if err != nil || p.Epoch != 0 || w.count(t, "passkeys") != 1 {
			t.Errorf("%+v (%v)", p, err)
		}
		for name, who := range map[string]team.DirectoryIdentity{
			"another subject": identity("eve", "ada@example.com"),
			"another issuer":  {Issuer: "https://other.example", Subject: "ada", Email: "ada@example.com"},
			"no subject":      identity("", "ada@example.com"),
			"no issuer":       {Subject: "ada", Email: "ada@example.com"},
		} {
			if _, err := w.FromDirectory(t.Context(), who, ""); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := w.count(t, "events WHERE kind = 'person.directory_refused'"); n != 2 {
			t.Errorf("%d rejection events, want 2", n)
		}
		if p, err := w.FromDirectory(t.Context(), identity("ada", "married@example.com"), ""); err != nil || p.ID != 1 {
			t.Errorf("a changed address: %+v (%v)", p, err)
		}
	})
}

// After Unlink, another person may sign in with the address. The former person can no longer sign in, not even with an
// earlier emailed link.
func TestUnlinkRemovesSignInMethods(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, signIns := t.Context(), team.NewSignIns(w.Service)
		must.Get(w.FromDirectory(ctx, identity("ada", "ada@example.com"), ""))(t)
		r := must.Get(w.Recover(ctx, "ada@example.com"))(t)
		must.Get(signIns.Recover(ctx, r.Token, goodPassword, team.CredentialChoice{}))(t)
		w.addPasskey(t, 1, "own")
		mailed := must.Get(w.Recover(ctx, "ada@example.com"))(t)
		other, olga := w.addSecondTeam(t)
		_, invited, err := w.Invite(ctx, olga, other.ID, "ada@example.com", access.Editor)
		must.NoError(t, err)
		w.exec(t, `UPDATE invitations SET mailed_at = created_at`)
		if p, err := w.Unlink(ctx, "ada@example.com"); err != nil || p.EmailConfirmed {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := w.PersonByRecovery(ctx, mailed.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("earlier recovery link: %v", err)
		}
		if o, err := w.Accept(ctx, invited, 1); err != nil || !o.Waiting {
			t.Errorf("an earlier emailed invitation confirmed the address: %+v (%v)", o, err)
		}
		if p, err := w.FromDirectory(ctx, identity("eve", "ada@example.com"), ""); err != nil || p.ID != 1 {
			t.Errorf("after unlinking: %+v (%v)", p, err)
		}
		_, err = signIns.SignIn(ctx, team.Attempt{Email: "ada@example.com", Password: goodPassword})
		if n := w.count(t, "passkeys"); !apierr.Is(err, apierr.Unauthorized) || n != 0 {
			t.Errorf("old password: %v; %d passkeys", err, n)
		}
	})
}

// Concurrent first sign-ins create one person, linked once.
func TestConcurrentFirstSignIns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		_, token := w.invite(t, 1, "new@example.com", access.Editor)
		for _, email := range []string{"new@example.com", "ada@example.com"} {
			var wg sync.WaitGroup
			people, errs := make([]team.Person, 4), make([]error, 4)
			for i := range people {
				wg.Go(func() { people[i], errs[i] = w.FromDirectory(t.Context(), identity(email, email), token) })
			}
			wg.Wait()
			for i, p := range people {
				if errs[i] != nil || p.ID == 0 || p.ID != people[0].ID || p.Epoch != people[0].Epoch {
					t.Errorf("%s: %+v (%v)", email, p, errs[i])
				}
			}
		}
		if n := w.count(t, "directory_identities"); n != 2 {
			t.Errorf("%d links, want 2", n)
		}
	})
}

// A person with an unconfirmed address becomes a member of a second team only after the owner or an admin confirms.
func TestSecondTeamRequiresConfirmation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		other, olga := w.addSecondTeam(t)
		accept := func() (team.Offer, string) {
			t.Helper()
			_, token, err := w.Invite(ctx, olga, other.ID, "ada@example.com", access.Admin)
			must.NoError(t, err)
			o := must.Get(w.Accept(ctx, token, 1))(t)
			return o, token
		}
		isMember := func() bool { return w.count(t, "memberships WHERE team_id = ? AND person_id = 1", other.ID) > 0 }
		o, token := accept()
		if !o.Waiting || isMember() {
			t.Fatalf("waits: %t, member: %t", o.Waiting, isMember())
		}
		if _, err := w.Accept(ctx, token, 1); !strings.Contains(apierr.FromError(err).Detail, "must confirm") {
			t.Errorf("second Accept: %v", err)
		}
		waiting, err := w.PendingMembers(ctx, other.ID)
		if err != nil || len(waiting) != 1 || waiting[0].Email != "ada@example.com" ||
			waiting[0].Role != access.Admin || waiting[0].AccountCreatedAt.IsZero() {
			t.Fatalf("%+v (%v)", waiting, err)
		}
		if open, err := w.Invitations(ctx, other.ID); err != nil || len(open) != 0 {
			t.Errorf("%+v (%v)", open, err)
		}
		if seats, err := w.Seats(ctx, other.ID); err != nil || seats != (team.Seats{People: 1, Waiting: 1}) ||
			seats.Total() != 2 {
			t.Errorf("%+v (%v)", seats, err)
		}
		for name, admin := range map[string]team.Admin{
			"another team's owner": w.Admin(1, w.team.ID), "the person itself": w.Admin(1, other.ID),
		} {
			if err := errors.Join(admin.ConfirmMember(ctx, waiting[0].Invitation)); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%s confirms: %v", name, err)
			}
		}
		must.NoError(t, w.Admin(olga, other.ID).DeclineMember(ctx, waiting[0].Invitation))
		if err := w.Admin(olga, other.ID).ConfirmMember(ctx, waiting[0].Invitation); !apierr.Is(err, apierr.NotFound) ||
			isMember() {
			t.Errorf("after declining: %v", err)
		}
		accept()
		waiting = must.Get(w.PendingMembers(ctx, other.ID))(t)
		must.NoError(t, w.Admin(olga, other.ID).ConfirmMember(ctx, waiting[0].Invitation))
		if !isMember() {
			t.Error("the confirmed person is not a member")
		}
	})
}
