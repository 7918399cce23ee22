package team_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (w env) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// addPasskey adds a passkey for a person.
func (w env) addPasskey(t *testing.T, person int64, name string) {
	t.Helper()
	w.exec(t, `INSERT INTO passkeys (person_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, '{}', 1)`,
		person, []byte(name), name)
}

// connectAssistant connects an assistant for a person and returns the connection's ID.
func (w env) connectAssistant(t *testing.T, person int64, name string) int64 {
	t.Helper()
	var connection int64
	must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		connection, err = w.Connect(ctx, tx,
			team.NewConnection{
				TeamID: w.team.ID, PersonID: person, Client: name, ClientID: name,
				Capabilities: []access.Capability{access.Read},
			})
		return err
	}))
	return connection
}

// Confirming the email address completes pending memberships. Only the person can use the link, and only once.
func TestConfirmedEmailCompletesJoin(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		other, olga := w.addSecondTeam(t)
		_, token, err := w.Invite(t.Context(), olga, other.ID, "ada@example.com", access.Viewer)
		must.NoError(t, err)
		if o, err := w.Accept(t.Context(), token, 1); err != nil || !o.Waiting {
			t.Fatalf("%+v (%v)", o, err)
		}
		var link string
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
			_, link, _ = strings.Cut(l.Text, team.ConfirmPath)
			link, _, _ = strings.Cut(link, "\n")
			return nil
		})
		must.NoError(t, letters.Confirm(t.Context(), 1))
		if err := w.ConfirmEmail(t.Context(), link, olga); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another person uses the link: %v", err)
		}
		must.NoError(t, w.ConfirmEmail(t.Context(), link, 1))
		if w.count(t, "memberships WHERE team_id = ? AND person_id = 1 AND role = 'viewer'", other.ID) != 1 {
			t.Error("the person is not a member")
		}
		if err := w.ConfirmEmail(t.Context(), link, 1); !strings.Contains(apierr.FromError(err).Detail, "already been used") {
			t.Errorf("second call: %v", err)
		}
		if err := letters.Confirm(t.Context(), 1); !strings.Contains(apierr.FromError(err).Detail, "already confirmed") {
			t.Errorf("Confirm after confirmation: %v", err)
		}
	})
}

// A password change removes all credentials that are not kept. A first password removes none.
func TestNewPasswordRemovesCredentials(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		addCredentials := func() []team.Credential {
			t.Helper()
			w.addPasskey(t, 1, "own")
			w.addPasskey(t, 1, "planted")
			w.connectAssistant(t, 1, "Claude")
			all, err := w.Credentials(t.Context(), 1)
			if err != nil || len(all) != 3 {
				t.Fatalf("%+v (%v)", all, err)
			}
			return all
		}
		checkRemaining := func(after string, want ...string) {
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
		all := addCredentials()
		_, err := signIns.ChangePassword(t.Context(), team.PasswordChange{Person: 1, Old: "wrong", New: goodPassword})
		if err == nil {
			t.Fatal("ChangePassword accepted a wrong password")
		}
		checkRemaining("a rejected change", "Passkey own", "Passkey planted", "Assistant Claude (Harbour)")
		must.Get(signIns.ChangePassword(t.Context(),
			team.PasswordChange{
				Person: 1, Old: "correct horse quartz", New: goodPassword,
				CredentialChoice: team.CredentialChoice{Keep: []string{all[0].ID, all[2].ID, "passkey-999"}},
			}))(t)
		checkRemaining("a change", "Passkey own", "Assistant Claude (Harbour)")
		r := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		must.Get(signIns.Recover(t.Context(), r.Token, goodPassword+" 2",
			team.CredentialChoice{Keep: []string{all[2].ID}}))(t)
		checkRemaining("a recovery", "Assistant Claude (Harbour)")
		if w.count(t, "people WHERE email_proved_at > 0") != 0 {
			t.Error("a link that was shown to the operator confirmed the address")
		}

		bea := w.addPerson(t, "bea@example.com", "", access.Editor)
		w.addPasskey(t, bea.ID, "bea's")
		_, err = signIns.ChangePassword(t.Context(), team.PasswordChange{Person: bea.ID, New: goodPassword})
		if err != nil || w.count(t, "passkeys WHERE person_id = ?", bea.ID) != 1 {
			t.Errorf("the first password removed a passkey (%v)", err)
		}
	})
}

func TestUnconfirmedOperator(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
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

// A password change revokes only selected keys and invitations, and only if the person created them.
func TestNewPasswordRevokesOnlyOwnItems(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		bea := w.addPerson(t, "bea@example.com", "correct horse quartz", access.Admin)
		key, _, err := w.AddKey(t.Context(), team.NewKey{Team: w.team.ID, Name: "Ada's", Level: access.Full})
		must.NoError(t, err)
		beasInvitation, _, err := w.Invite(t.Context(), bea.ID, w.team.ID, "new@example.com", access.Editor)
		must.NoError(t, err)
		adasInvitation, _, err := w.Invite(t.Context(), 1, w.team.ID, "other@example.com", access.Editor)
		must.NoError(t, err)
		issued, err := w.ListIssued(t.Context(), bea.ID)
		if err != nil || len(issued) != 1 || issued[0].Name != "new@example.com as editor (Harbour)" {
			t.Fatalf("%+v (%v)", issued, err)
		}
		all := []string{
			fmt.Sprint("key-", key.ID), fmt.Sprint("invitation-", beasInvitation.ID), fmt.Sprint("invitation-", adasInvitation.ID),
		}
		must.Get(team.NewSignIns(w.Service).ChangePassword(t.Context(),
			team.PasswordChange{
				Person: bea.ID, Old: "correct horse quartz", New: goodPassword,
				CredentialChoice: team.CredentialChoice{Revoke: all},
			}))(t)
		if n := w.count(t, "invitations WHERE revoked_at > 0"); n != 1 || w.count(t,
			"api_keys WHERE revoked_at > 0") != 0 {
			t.Errorf("%d invitations are revoked, or a key of another person is revoked", n)
		}
		if issued, err := w.ListIssued(t.Context(), 1); err != nil || len(issued) != 2 {
			t.Errorf("%+v (%v)", issued, err)
		}
	})
}

// RemoveApp removes an authenticator app with its recovery codes. EnsureFactorRemains prevents the removal of the last
// factor.
func TestRemoveApp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ada := w.owner.ID
		w.exec(t, `INSERT INTO totp_secrets (person_id, sealed, last_step, created_at) VALUES (?, ?, 0, 1)`, ada,
			[]byte("sealed"))
		w.exec(t, `INSERT INTO totp_recovery_codes (code_hash, person_id) VALUES (?, ?)`, []byte("hash"), ada)
		if err := w.RemoveApp(t.Context(), ada, team.EnsureFactorRemains); !apierr.Is(err, apierr.ValidationFailed) ||
			w.count(t, "totp_secrets") != 1 {
			t.Errorf("RemoveApp with KeepFactor: %v", err)
		}
		must.NoError(t, w.RemoveApp(t.Context(), ada, nil))
		if w.count(t, "totp_secrets") != 0 || w.count(t, "totp_recovery_codes") != 0 {
			t.Error("the app or its recovery codes still exist")
		}
		if err := w.RemoveApp(t.Context(), ada, nil); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("second call: %v", err)
		}
	})
}
