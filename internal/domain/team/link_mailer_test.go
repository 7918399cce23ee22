package team_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Confirmation links are limited and expire. Only their hashes are stored.
func TestConfirmationLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		var links []string
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
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
		if err := w.ConfirmEmail(t.Context(), links[4], 1); !strings.Contains(apierr.FromError(err).Detail, "expired") {
			t.Errorf("an hour later: %v", err)
		}
		must.NoError(t, letters.Confirm(t.Context(), 1))
	})
}

// An emailed invitation confirms the address. If the email is rejected, the invitation is revoked immediately.
func TestMailedInvitations(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		var sent []team.LinkEmail
		sendErr := error(nil)
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
			sent = append(sent, l)
			return sendErr
		})
		tokenOf := func(l team.LinkEmail) string {
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
			team.NewMember{Name: "New", Password: goodPassword}))(t)
		if m, err := w.Member(ctx, w.team.ID, p.ID); err != nil || !m.EmailConfirmed {
			t.Errorf("%+v (%v)", m, err)
		}

		sendErr = errors.New("550 no such mailbox")
		_, err = letters.Invite(ctx, 1, w.team.ID, "gone@example.com", access.Editor)
		if !apierr.Is(err, apierr.ProviderUnavailable) {
			t.Errorf("%v", err)
		}
		if open, err := w.Invitations(ctx, w.team.ID); err != nil || len(open) != 0 {
			t.Errorf("still open after the email was rejected: %+v (%v)", open, err)
		}
		if _, err := w.InvitationByToken(ctx, tokenOf(sent[1])); !strings.Contains(apierr.FromError(err).Detail, "revoked") {
			t.Errorf("link of the rejected email: %v", err)
		}
	})
}

// An email is in the language of the person with the address, or in the sender's language if there is no such person.
func TestLetterLanguage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		var got team.LinkEmail
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
			got = l
			return nil
		})
		invite := func(email string) {
			t.Helper()
			must.Get(letters.Invite(t.Context(), 1, w.team.ID, email, access.Editor))(t)
		}
		must.Get(w.AddPerson(t.Context(), "Known", "known@example.com", goodPassword))(t)
		must.NoError(t, w.SetProfile(t.Context(), 1, "Ada", "", "de"))
		invite("new@example.com")
		if !strings.HasPrefix(got.Subject, "Einladung in das Team „") || !strings.Contains(got.Text, "Rolle: Redaktion.") {
			t.Errorf("invitation: %+v", got)
		}
		invite("known@example.com")
		if !strings.HasPrefix(got.Subject, "Invitation to the team “") {
			t.Errorf("invitation to a person with another language: %+v", got)
		}
		must.NoError(t, letters.Confirm(t.Context(), 1))
		if got.Subject != "E-Mail-Adresse bestätigen" {
			t.Errorf("confirmation: %+v", got)
		}
		must.Get(letters.Recover(t.Context(), "ada@example.com"))(t)
		if got.Subject != "Neues Passwort festlegen" {
			t.Errorf("recovery: %+v", got)
		}
	})
}

// An invitation expires within a minute if the process ends before the mail server responds.
func TestInvitationExpiresUnlessMailed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		var ends time.Time
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(ctx context.Context, _ team.LinkEmail) error {
			open, err := w.Invitations(ctx, w.team.ID)
			if err == nil && len(open) == 1 {
				ends = open[0].ExpiresAt
			}
			return err
		})
		must.Get(letters.Invite(t.Context(), 1, w.team.ID, "new@example.com", access.Editor))(t)
		if life := ends.Sub(w.clock.Now()); life <= 0 || life > time.Minute {
			t.Errorf("before the email is accepted, the invitation is open for %v", life)
		}
	})
}

// Emailed invitations from a team to one address are limited.
func TestMailedInvitationLimit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(context.Context, team.LinkEmail) error {
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
			t.Errorf("the rejected call changed invitations: %+v (%v)", open, err)
		}
	})
}

func TestMailedRecoveryConfirmsAddress(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		var text string
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
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
		must.Get(team.NewSignIns(w.Service).Recover(t.Context(), token, goodPassword, team.CredentialChoice{}))(t)
		if a, err := w.Account(t.Context(), 1); err != nil || !a.EmailConfirmed {
			t.Errorf("%+v (%v)", a, err)
		}
		none := team.NewLinkMailer(w.Service, "", nil)
		if _, err := none.Recover(t.Context(), "ada@example.com"); none.Enabled() ||
			apierr.FromError(err).Code != apierr.ValidationFailed {
			t.Errorf("without a mail server: %v", err)
		}
	})
}
