package team_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

func (w env) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// passkey gives a person a passkey that nobody holds.
func (w env) passkey(t *testing.T, person int64, name string) {
	t.Helper()
	w.exec(t, `INSERT INTO passkeys (person_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, '{}', 1)`,
		person, []byte(name), name)
}

// letAssistant connects an assistant in a person's name.
func (w env) letAssistant(t *testing.T, person int64, name string) int64 {
	t.Helper()
	var made int64
	must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		made, err = w.Connect(ctx, tx,
			team.NewConnection{
				TeamID: w.team.ID, PersonID: person, Client: name, ClientID: name,
				Capabilities: []access.Capability{access.Read},
			})
		return err
	}))
	return made
}

// roastery returns a second team, with an owner of its own.
func (w env) roastery(t *testing.T) (team.Team, int64) {
	t.Helper()
	owner := must.Get(w.AddPerson(t.Context(), "Olga", "olga@example.com", ""))(t)
	made := must.Get(w.AddTeam(t.Context(), team.Team{Name: "Roastery", Timezone: "UTC", Language: "en", Plan: "team"},
		owner.ID))(t)
	return made, owner.ID
}

func identity(subject, email string) team.DirectoryIdentity {
	return team.DirectoryIdentity{Issuer: "https://login.example", Subject: subject, Email: email, Name: "Dee Rectory"}
}

// The first sign-in by the directory leaves nothing by which somebody else gets into the account, and a later one does
// not touch what the person added meanwhile.
func TestDirectoryTakesOverUnconfirmedAccount(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		door := team.NewSignIns(w.Service)
		w.passkey(t, 1, "planted")
		assistant := w.letAssistant(t, 1, "planted")
		r := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		p, err := w.FromDirectory(t.Context(), identity("ada", "Ada@Example.com"), "")
		if err != nil || p.ID != 1 || p.Epoch != 1 {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := door.SignIn(t.Context(),
			team.Attempt{Email: "ada@example.com", Password: "correct horse quartz"}); !apierr.Is(err,
			apierr.Unauthorized) {
			t.Errorf("the former password: %v", err)
		}
		if _, err := w.PersonByRecovery(t.Context(), r.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("a link that was made before: %v", err)
		}
		if line, err := w.ConnectionLine(t.Context(), w.team.ID, assistant); err != nil || line.RevokedAt.IsZero() ||
			w.count(t, "passkeys") != 0 {
			t.Errorf("%+v (%v), %d passkeys", line, err, w.count(t, "passkeys"))
		}
		for _, kind := range []string{
			"person.sign_ins_removed", "passkey.removed", "assistant.revoked", "person.directory_linked",
			"person.email_confirmed",
		} {
			if n := w.count(t, "events WHERE kind = ?", kind); n != 1 {
				t.Errorf("%d events %s, want 1", n, kind)
			}
		}
		w.passkey(t, 1, "own")
		if p, err := w.FromDirectory(t.Context(), identity("ada", "ada@example.com"), ""); err != nil || p.Epoch != 1 ||
			w.count(t, "passkeys") != 1 {
			t.Errorf("%+v (%v), %d passkeys", p, err, w.count(t, "passkeys"))
		}
	})
}

// A take-over also revokes the API keys and invitations that the account issued, names them, and leaves those of
// others.
func TestTakeOverRevokesWhatWasIssued(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ctx := t.Context()
		_, _, err := w.AddKey(ctx, team.NewKey{Team: w.team.ID, Name: "Nightly", Level: access.Full})
		must.NoError(t, err)
		_, planted, err := w.Invite(ctx, 1, w.team.ID, "mallory@example.com", access.Admin)
		must.NoError(t, err)
		bea := w.person(t, "bea@example.com", "", access.Admin)
		_, others, err := w.Invite(ctx, bea.ID, w.team.ID, "new@example.com", access.Editor)
		must.NoError(t, err)
		must.Get(w.FromDirectory(ctx, identity("ada", "ada@example.com"), ""))(t)
		if n := w.count(t, "api_keys WHERE revoked_at = 0"); n != 0 {
			t.Errorf("%d keys work on", n)
		}
		if _, err := w.InvitationByToken(ctx, planted); !strings.Contains(apierr.Of(err).Detail, "revoked") {
			t.Errorf("an invitation by the former holder: %v", err)
		}
		if _, err := w.InvitationByToken(ctx, others); err != nil {
			t.Errorf("somebody else's invitation: %v", err)
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

// A take-over leaves no membership that somebody else may have accepted: it becomes an invitation that the person may
// accept. Ownership, what the operator gave, and what was accepted after the proof stay.
func TestTakeOverReoffersMemberships(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ctx, door := t.Context(), team.NewSignIns(w.Service)
		other, olga := w.roastery(t)
		_, token, err := w.Invite(ctx, olga, other.ID, "vic@example.com", access.Admin)
		must.NoError(t, err)
		vic := must.Get(door.Join(ctx, token, team.Newcomer{Name: "Vic Tim", Password: goodPassword, From: "mallory"}))(t)
		must.NoError(t, w.SetMember(ctx, w.team.ID, vic.ID, access.Viewer))
		p, err := w.FromDirectory(ctx, identity("vic", "vic@example.com"), "")
		if err != nil || p.ID != vic.ID {
			t.Fatalf("%+v (%v)", p, err)
		}
		if n := w.count(t, "memberships WHERE person_id = ? AND team_id = ?", vic.ID, other.ID); n != 0 {
			t.Error("the planted membership stays")
		}
		if w.roleOf(t, "vic@example.com") != access.Viewer {
			t.Error("the operator's membership is gone")
		}
		if _, err := w.InvitationByToken(ctx, token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("the former link: %v", err)
		}
		open, err := w.OpenOffers(ctx, "vic@example.com")
		if err != nil || len(open) != 1 || open[0].TeamID != other.ID || open[0].Role != access.Admin {
			t.Fatalf("%+v (%v)", open, err)
		}
		if _, err := w.AcceptOpen(ctx, olga, open[0].ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("somebody else accepts it: %v", err)
		}
		must.Get(w.AcceptOpen(ctx, vic.ID, open[0].ID))(t)
		must.Get(w.Unlink(ctx, "vic@example.com"))(t)
		must.Get(w.FromDirectory(ctx, identity("vic-2", "vic@example.com"), ""))(t)
		if n := w.count(t, "memberships WHERE person_id = ?", vic.ID); n != 2 {
			t.Errorf("%d memberships after unlinking, want 2", n)
		}
	})
}

// A proved address keeps its credentials when the directory is first used.
func TestDirectoryLinksAProvedAccount(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.exec(t, `UPDATE people SET email_proved_at = 1 WHERE id = 1`)
		w.passkey(t, 1, "own")
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
			t.Errorf("%d events of refusals, want 2", n)
		}
		if p, err := w.FromDirectory(t.Context(), identity("ada", "married@example.com"), ""); err != nil || p.ID != 1 {
			t.Errorf("a changed address: %+v (%v)", p, err)
		}
	})
}

// After unlinking, anybody who signs in with the address next may be another person. Nothing lets the former one in,
// not even a link that was mailed before.
func TestUnlinkedAccountLosesEarlierSignInMethods(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ctx, door := t.Context(), team.NewSignIns(w.Service)
		must.Get(w.FromDirectory(ctx, identity("ada", "ada@example.com"), ""))(t)
		r := must.Get(w.Recover(ctx, "ada@example.com"))(t)
		must.Get(door.Recover(ctx, r.Token, goodPassword, team.Choice{}))(t)
		w.passkey(t, 1, "own")
		mailed := must.Get(w.Recover(ctx, "ada@example.com"))(t)
		other, olga := w.roastery(t)
		_, invited, err := w.Invite(ctx, olga, other.ID, "ada@example.com", access.Editor)
		must.NoError(t, err)
		w.exec(t, `UPDATE invitations SET mailed_at = created_at`)
		if p, err := w.Unlink(ctx, "ada@example.com"); err != nil || p.EmailConfirmed {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := w.PersonByRecovery(ctx, mailed.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("a recovery link from before: %v", err)
		}
		if o, err := w.Accept(ctx, invited, 1); err != nil || !o.Waiting {
			t.Errorf("an invitation that was mailed before proves the address: %+v (%v)", o, err)
		}
		if p, err := w.FromDirectory(ctx, identity("eve", "ada@example.com"), ""); err != nil || p.ID != 1 {
			t.Errorf("after unlinking: %+v (%v)", p, err)
		}
		_, err = door.SignIn(ctx, team.Attempt{Email: "ada@example.com", Password: goodPassword})
		if n := w.count(t, "passkeys"); !apierr.Is(err, apierr.Unauthorized) || n != 0 {
			t.Errorf("the former person's password: %v; %d passkeys", err, n)
		}
	})
}

// Several first sign-ins at once make one person, linked once.
func TestConcurrentFirstSignIns(t *testing.T) {
	each(t, func(t *testing.T, w env) {
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

// A person whose address nobody proved is no member of a second team before its owner or admin confirms it.
func TestSecondTeamWaits(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ctx := t.Context()
		other, olga := w.roastery(t)
		asks := func() (team.Offer, string) {
			t.Helper()
			_, token, err := w.Invite(ctx, olga, other.ID, "ada@example.com", access.Admin)
			must.NoError(t, err)
			o := must.Get(w.Accept(ctx, token, 1))(t)
			return o, token
		}
		isMember := func() bool { return w.count(t, "memberships WHERE team_id = ? AND person_id = 1", other.ID) > 0 }
		o, token := asks()
		if !o.Waiting || isMember() {
			t.Fatalf("waits: %t, member: %t", o.Waiting, isMember())
		}
		if _, err := w.Accept(ctx, token, 1); !strings.Contains(apierr.Of(err).Detail, "has to confirm") {
			t.Errorf("again: %v", err)
		}
		waiting, err := w.Waiting(ctx, other.ID)
		if err != nil || len(waiting) != 1 || waiting[0].Email != "ada@example.com" ||
			waiting[0].Role != access.Admin || waiting[0].AccountMade.IsZero() {
			t.Fatalf("%+v (%v)", waiting, err)
		}
		if open, err := w.Invitations(ctx, other.ID); err != nil || len(open) != 0 {
			t.Errorf("%+v (%v)", open, err)
		}
		if seats, err := w.Seats(ctx, other.ID); err != nil || seats != (team.Seats{People: 1, Waiting: 1}) ||
			seats.Total() != 2 {
			t.Errorf("%+v (%v)", seats, err)
		}
		for name, hand := range map[string]team.Admin{
			"another team's owner": w.Admin(1, w.team.ID), "the person itself": w.Admin(1, other.ID),
		} {
			if err := errors.Join(hand.ConfirmMember(ctx, waiting[0].Invitation)); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%s confirms: %v", name, err)
			}
		}
		must.NoError(t, w.Admin(olga, other.ID).DeclineMember(ctx, waiting[0].Invitation))
		if err := w.Admin(olga, other.ID).ConfirmMember(ctx, waiting[0].Invitation); !apierr.Is(err, apierr.NotFound) ||
			isMember() {
			t.Errorf("after declining: %v", err)
		}
		asks()
		waiting = must.Get(w.Waiting(ctx, other.ID))(t)
		must.NoError(t, w.Admin(olga, other.ID).ConfirmMember(ctx, waiting[0].Invitation))
		if !isMember() {
			t.Error("the confirmed person is no member")
		}
	})
}

// To prove the address completes what waits; a team that the person has left alone stays so.
func TestProofCompletesWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		other, olga := w.roastery(t)
		_, token, err := w.Invite(t.Context(), olga, other.ID, "ada@example.com", access.Viewer)
		must.NoError(t, err)
		if o, err := w.Accept(t.Context(), token, 1); err != nil || !o.Waiting {
			t.Fatalf("%+v (%v)", o, err)
		}
		var link string
		letters := team.NewLetters(w.Service, "https://press.example", func(_ context.Context, l team.Letter) error {
			_, link, _ = strings.Cut(l.Text, team.ConfirmPath)
			link, _, _ = strings.Cut(link, "\n")
			return nil
		})
		must.NoError(t, letters.Confirm(t.Context(), 1))
		if err := w.ConfirmEmail(t.Context(), link, olga); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("somebody else uses the link: %v", err)
		}
		must.NoError(t, w.ConfirmEmail(t.Context(), link, 1))
		if w.count(t, "memberships WHERE team_id = ? AND person_id = 1 AND role = 'viewer'", other.ID) != 1 {
			t.Error("the person still waits")
		}
		if err := w.ConfirmEmail(t.Context(), link, 1); !strings.Contains(apierr.Of(err).Detail, "used already") {
			t.Errorf("a second time: %v", err)
		}
		if err := letters.Confirm(t.Context(), 1); !strings.Contains(apierr.Of(err).Detail, "confirmed already") {
			t.Errorf("once confirmed: %v", err)
		}
	})
}

// Links that confirm an address are bounded, end, and only their hashes are kept.
func TestConfirmationLinks(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var links []string
		letters := team.NewLetters(w.Service, "https://press.example", func(_ context.Context, l team.Letter) error {
			_, link, _ := strings.Cut(l.Text, team.ConfirmPath)
			link, _, _ = strings.Cut(link, "\n")
			links = append(links, link)
			return nil
		})
		for range 5 {
			must.NoError(t, letters.Confirm(t.Context(), 1))
		}
		if err := letters.Confirm(t.Context(), 1); !apierr.Is(err, apierr.RateLimited) || len(links) != 5 {
			t.Errorf("%v, %d mails", err, len(links))
		}
		for i, link := range links {
			if err := w.CheckProof(t.Context(), link, 1); (i == 4) != (err == nil) {
				t.Errorf("link %d: %v", i, err)
			}
			hash := apikey.Hash(link)
			if n := w.count(t, "email_proofs WHERE token_hash = ?", hash[:]); n != 1 {
				t.Errorf("%d rows of the hash", n)
			}
		}
		w.clock.Advance(time.Hour)
		if err := w.ConfirmEmail(t.Context(), links[4], 1); !strings.Contains(apierr.Of(err).Detail, "expired") {
			t.Errorf("an hour later: %v", err)
		}
		must.NoError(t, letters.Confirm(t.Context(), 1))
	})
}

// A mailed invitation proves the address; one whose mail is not accepted is withdrawn at once.
func TestMailedInvitations(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ctx := t.Context()
		var sent []team.Letter
		answer := error(nil)
		letters := team.NewLetters(w.Service, "https://press.example", func(_ context.Context, l team.Letter) error {
			sent = append(sent, l)
			return answer
		})
		tokenOf := func(l team.Letter) string {
			_, token, _ := strings.Cut(l.Text, "https://press.example"+team.InvitationPath)
			token, _, _ = strings.Cut(token, "\n")
			return token
		}
		i, err := letters.Invite(ctx, 1, w.team.ID, "New@example.com", access.Editor)
		if err != nil || len(sent) != 1 || sent[0].To != "new@example.com" ||
			!i.ExpiresAt.Equal(w.clock.Now().Add(7*24*time.Hour)) {
			t.Fatalf("%+v, %+v (%v)", i, sent, err)
		}
		w.clock.Advance(6 * 24 * time.Hour)
		p := must.Get(team.NewSignIns(w.Service).Join(ctx, tokenOf(sent[0]),
			team.Newcomer{Name: "New", Password: goodPassword}))(t)
		if m, err := w.Member(ctx, w.team.ID, p.ID); err != nil || !m.EmailConfirmed {
			t.Errorf("%+v (%v)", m, err)
		}

		answer = errors.New("550 no such mailbox")
		_, err = letters.Invite(ctx, 1, w.team.ID, "gone@example.com", access.Editor)
		if !apierr.Is(err, apierr.ProviderUnavailable) {
			t.Errorf("%v", err)
		}
		if open, err := w.Invitations(ctx, w.team.ID); err != nil || len(open) != 0 {
			t.Errorf("open although the mail was refused: %+v (%v)", open, err)
		}
		if _, err := w.InvitationByToken(ctx, tokenOf(sent[1])); !strings.Contains(apierr.Of(err).Detail, "revoked") {
			t.Errorf("the link that was not mailed: %v", err)
		}
	})
}

// An invitation ends by itself if the process dies before the mail server has answered.
func TestInvitationWhoseMailIsNotAccepted(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var ends time.Time
		letters := team.NewLetters(w.Service, "https://press.example", func(ctx context.Context, _ team.Letter) error {
			open, err := w.Invitations(ctx, w.team.ID)
			if err == nil && len(open) == 1 {
				ends = open[0].ExpiresAt
			}
			return err
		})
		must.Get(letters.Invite(t.Context(), 1, w.team.ID, "new@example.com", access.Editor))(t)
		if life := ends.Sub(w.clock.Now()); life <= 0 || life > time.Minute {
			t.Errorf("before the mail is accepted the invitation is open for %v", life)
		}
	})
}

// A team floods nobody's mailbox.
func TestMailedInvitationsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		letters := team.NewLetters(w.Service, "https://press.example", func(context.Context, team.Letter) error {
			return nil
		})
		for range 3 {
			must.Get(letters.Invite(t.Context(), 1, w.team.ID, "new@example.com", access.Editor))(t)
		}
		if _, err := letters.Invite(t.Context(), 1, w.team.ID, "new@example.com", access.Editor); !apierr.Is(err,
			apierr.RateLimited) {
			t.Errorf("%v", err)
		}
		if open, err := w.Invitations(t.Context(), w.team.ID); err != nil || len(open) != 1 {
			t.Errorf("a refusal changed something: %+v (%v)", open, err)
		}
	})
}

// A new password removes every credential that is not kept, in every team; a first password removes none.
func TestNewPasswordRemovesCredentials(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		door := team.NewSignIns(w.Service)
		plant := func() []team.Credential {
			t.Helper()
			w.passkey(t, 1, "own")
			w.passkey(t, 1, "planted")
			w.letAssistant(t, 1, "Claude")
			all, err := w.Credentials(t.Context(), 1)
			if err != nil || len(all) != 3 {
				t.Fatalf("%+v (%v)", all, err)
			}
			return all
		}
		left := func(after string, want ...string) {
			t.Helper()
			all, err := w.Credentials(t.Context(), 1)
			var names []string
			for _, c := range all {
				names = append(names, c.Kind+" "+c.Name)
			}
			if err != nil || strings.Join(names, ", ") != strings.Join(want, ", ") {
				t.Errorf("after %s: %q (%v), want %q", after, names, err, want)
			}
		}
		all := plant()
		_, err := door.ChangePassword(t.Context(), team.Change{Person: 1, Old: "wrong", New: goodPassword})
		if err == nil {
			t.Fatal("a wrong password")
		}
		left("a refused change", "Passkey own", "Passkey planted", "Assistant Claude (Harbour)")
		must.Get(door.ChangePassword(t.Context(),
			team.Change{
				Person: 1, Old: "correct horse quartz", New: goodPassword,
				Choice: team.Choice{Keep: []string{all[0].ID, all[2].ID, "passkey-999"}},
			}))(t)
		left("a change", "Passkey own", "Assistant Claude (Harbour)")
		r := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		must.Get(door.Recover(t.Context(), r.Token, goodPassword+" 2", team.Choice{Keep: []string{all[2].ID}}))(t)
		left("a recovery", "Assistant Claude (Harbour)")
		if w.count(t, "people WHERE email_proved_at > 0") != 0 {
			t.Error("a link that was shown to the operator proves the address")
		}

		bea := w.person(t, "bea@example.com", "", access.Editor)
		w.passkey(t, bea.ID, "bea's")
		_, err = door.ChangePassword(t.Context(), team.Change{Person: bea.ID, New: goodPassword})
		if err != nil || w.count(t, "passkeys WHERE person_id = ?", bea.ID) != 1 {
			t.Errorf("a first password removes a passkey (%v)", err)
		}
	})
}

func TestMailedRecoveryProvesTheAddress(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var text string
		letters := team.NewLetters(w.Service, "https://press.example", func(_ context.Context, l team.Letter) error {
			text = l.Text
			return nil
		})
		r, err := letters.Recover(t.Context(), "ada@example.com")
		if err != nil || r.Token != "" {
			t.Fatalf("%+v (%v)", r, err)
		}
		if !strings.HasPrefix(text, "The operator of https://press.example created this link for ada@example.com") {
			t.Error(text)
		}
		_, token, _ := strings.Cut(text, team.RecoveryPath)
		token, _, _ = strings.Cut(token, "\n")
		must.Get(team.NewSignIns(w.Service).Recover(t.Context(), token, goodPassword, team.Choice{}))(t)
		if a, err := w.Account(t.Context(), 1); err != nil || !a.EmailConfirmed {
			t.Errorf("%+v (%v)", a, err)
		}
		none := team.NewLetters(w.Service, "", nil)
		if _, err := none.Recover(t.Context(), "ada@example.com"); none.Possible() ||
			apierr.Of(err).Code != apierr.ValidationFailed {
			t.Errorf("without a mail server: %v", err)
		}
	})
}

func TestUnconfirmedOperator(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		if _, err := w.MakeOperator(t.Context(), "ada@example.com"); err == nil || !strings.Contains(err.Error(),
			"--unconfirmed") {
			t.Errorf("%v", err)
		}
		w.exec(t, `UPDATE people SET email_proved_at = 1 WHERE id = 1`)
		if p, err := w.MakeOperator(t.Context(), "ada@example.com"); err != nil || !p.Operator || !p.EmailConfirmed {
			t.Errorf("%+v (%v)", p, err)
		}
	})
}

// A new password revokes only the keys and invitations that the person made and chose.
func TestNewPasswordRevokesOnlyOwnItems(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		bea := w.person(t, "bea@example.com", "correct horse quartz", access.Admin)
		key, _, err := w.AddKey(t.Context(), team.NewKey{Team: w.team.ID, Name: "Ada's", Level: access.Full})
		must.NoError(t, err)
		hers, _, err := w.Invite(t.Context(), bea.ID, w.team.ID, "new@example.com", access.Editor)
		must.NoError(t, err)
		adas, _, err := w.Invite(t.Context(), 1, w.team.ID, "other@example.com", access.Editor)
		must.NoError(t, err)
		issued, err := w.ListIssued(t.Context(), bea.ID)
		if err != nil || len(issued) != 1 || issued[0].Name != "new@example.com as editor (Harbour)" {
			t.Fatalf("%+v (%v)", issued, err)
		}
		all := []string{
			fmt.Sprint("key-", key.ID), fmt.Sprint("invitation-", hers.ID), fmt.Sprint("invitation-", adas.ID),
		}
		must.Get(team.NewSignIns(w.Service).ChangePassword(t.Context(),
			team.Change{
				Person: bea.ID, Old: "correct horse quartz", New: goodPassword, Choice: team.Choice{Revoke: all},
			}))(t)
		if n := w.count(t, "invitations WHERE revoked_at > 0"); n != 1 || w.count(t,
			"api_keys WHERE revoked_at > 0") != 0 {
			t.Errorf("%d invitations are revoked, or somebody else's key is", n)
		}
		if issued, err := w.ListIssued(t.Context(), 1); err != nil || len(issued) != 2 {
			t.Errorf("%+v (%v)", issued, err)
		}
	})
}

// An authenticator app goes with its recovery codes, once, unless it may not be missing.
func TestRemoveApp(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		ada := w.owner.ID
		w.exec(t, `INSERT INTO totp_secrets (person_id, sealed, last_step, created_at) VALUES (?, ?, 0, 1)`, ada,
			[]byte("sealed"))
		w.exec(t, `INSERT INTO totp_recovery_codes (code_hash, person_id) VALUES (?, ?)`, []byte("hash"), ada)
		if err := w.RemoveApp(t.Context(), ada, team.KeepFactor); !apierr.Is(err, apierr.ValidationFailed) || w.count(t,
			"totp_secrets") != 1 {
			t.Errorf("the only second factor of a person who needs one: %v", err)
		}
		must.NoError(t, w.RemoveApp(t.Context(), ada, nil))
		if w.count(t, "totp_secrets") != 0 || w.count(t, "totp_recovery_codes") != 0 {
			t.Error("something of the app is left")
		}
		if err := w.RemoveApp(t.Context(), ada, nil); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("a second time: %v", err)
		}
	})
}
