package team

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/team/lettertext"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// letterWithin is how long the mail server may take to accept a mail while a page waits.
const letterWithin = 15 * time.Second

// Limits of mailed invitations against flooded mailboxes and bulk mail.
const (
	mailsPerDay        = 100 // of one team, and of one person in all teams
	mailsOnFirstDay    = 20  // of one team that is younger than a day, unless the operator invites
	mailsPerAddressDay = 3   // of one team to one address
	mailsToAddressDay  = 10  // of all teams to one address
)

// Letter is a mail with a secret link for the owner of the address.
type Letter struct {
	ID      string // identifies the mail; not secret
	To      string
	Subject string
	Text    string
}

// Letters mails links. Following a link proves that the email address belongs to the person.
type Letters struct {
	teams     *Service
	publicURL string // without a slash at its end
	send      func(context.Context, Letter) error
	within    time.Duration
}

// NewLetters returns a Letters with links below publicURL. Send is nil without a mail server.
func NewLetters(s *Service, publicURL string, send func(context.Context, Letter) error) *Letters {
	return &Letters{s, publicURL, send, letterWithin}
}

// Possible reports whether there is a mail server.
func (l *Letters) Possible() bool { return l != nil && l.send != nil }

var (
	errNoMail  = apierr.BadState("no_mail", "This service has no mail server, so it cannot mail a link.")
	errNotSent = apierr.New(apierr.ProviderUnavailable,
		"The mail could not be sent. Try again in a few minutes. If it keeps failing, contact the operator of "+
			"this service.")
)

// post sends a letter and waits until the mail server has accepted it.
func (l *Letters) post(ctx context.Context, letter Letter) error {
	ctx, cancel := context.WithTimeout(ctx, l.within)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- l.send(ctx, letter) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Invite mails an invitation and shows its link to nobody else. If the mail server refuses or does not answer in time,
// the invitation is withdrawn. If the process dies before that, the invitation expires within a minute.
func (l *Letters) Invite(ctx context.Context, by, team int64, email string, role access.Role) (Invitation, error) {
	if !l.Possible() {
		return Invitation{}, errNoMail
	}
	i, token, err := l.teams.invite(ctx, by, team, Invitation{Email: email, Role: role, Mailed: true}, 2*l.within)
	if err != nil {
		return i, err
	}
	letter, err := l.invitation(ctx, by, token)
	if err != nil {
		return i, err
	}
	if failed := l.post(ctx, letter); failed != nil {
		return i, errors.Join(errNotSent, failed, l.teams.withdraw(context.WithoutCancel(ctx), team, i.ID))
	}
	i.ExpiresAt = i.CreatedAt.Add(invitationLife)
	return i, l.teams.keepOpen(context.WithoutCancel(ctx), i)
}

func (l *Letters) invitation(ctx context.Context, by int64, token string) (Letter, error) {
	o, err := l.teams.InvitationByToken(ctx, token)
	if err != nil {
		return Letter{}, err
	}
	in, err := lettertext.Language(ctx, l.teams.db, o.Email, by)
	if err != nil {
		return Letter{}, err
	}
	subject, text := lettertext.Invitation(in, o.TeamName, o.InvitedBy, string(o.Role), o.Email, l.publicURL+InvitationPath+token)
	return Letter{fmt.Sprintf("invitation-%d", o.ID), o.Email, subject, text}, nil
}

// Recover mails a link with which a person sets a new password, for the operator.
func (l *Letters) Recover(ctx context.Context, email string) (Recovery, error) {
	if !l.Possible() {
		return Recovery{}, errNoMail
	}
	r, err := l.teams.recoverBy(ctx, email, true)
	if err != nil {
		return r, err
	}
	in, failed := lettertext.Language(ctx, l.teams.db, r.Person.Email, 0)
	if failed == nil {
		failed = l.post(ctx, Letter{
			ID: fmt.Sprintf("recovery-%d-%d", r.Person.ID, db.Micros(r.ExpiresAt)), To: r.Person.Email,
			Subject: in.T("Set a new password"),
			Text:    lettertext.Recovery(in, l.publicURL, r.Person.Email, l.publicURL+RecoveryPath+r.Token),
		})
	}
	r.Token = "" // only the owner of the address has it
	if failed != nil {
		return r, errors.Join(errNotSent, failed, l.teams.dropRecoveries(context.WithoutCancel(ctx), r.Person.ID))
	}
	return r, nil
}

// Confirm mails a link with which a person confirms the email address.
func (l *Letters) Confirm(ctx context.Context, person int64) error {
	if !l.Possible() {
		return errNoMail
	}
	p, token, err := l.teams.newProof(ctx, person)
	if err != nil {
		return err
	}
	in, failed := lettertext.Language(ctx, l.teams.db, p.Email, 0)
	if failed == nil {
		failed = l.post(ctx, Letter{
			ID: fmt.Sprintf("confirm-%d-%d", p.ID, db.Micros(l.teams.db.Now())), To: p.Email,
			Subject: in.T("Confirm your email address"),
			Text:    lettertext.Confirmation(in, p.Email, l.publicURL+ConfirmPath+token),
		})
	}
	if failed != nil {
		return errors.Join(errNotSent, failed, l.teams.dropProof(context.WithoutCancel(ctx), token))
	}
	return nil
}

// mailCounts are how many invitations were mailed within a day.
type mailCounts struct{ team, teamToAddress, toAddress, person int64 }

// boundMails limits the mailed invitations per day of a team, of a person and to an address. By is the person who
// invites, 0 for the operator.
func boundMails(ctx context.Context, tx *db.Tx, by, team int64, email string) error {
	const day = 24 * time.Hour
	since := tx.Now().Add(-day)
	var n mailCounts
	err := tx.QueryRow(ctx,
		`SELECT COUNT(CASE WHEN team_id = ? THEN 1 END), COUNT(CASE WHEN team_id = ? AND email = ? THEN 1 END),
		COUNT(CASE WHEN email = ? THEN 1 END),
		COUNT(CASE WHEN invited_by = ? THEN 1 END) FROM invitations WHERE mailed_at > ?`, team, team, email, email, by,
		db.Micros(since)).
		Scan(&n.team, &n.teamToAddress, &n.toAddress, &n.person)
	if err != nil {
		return fmt.Errorf("counting mailed invitations: %w", err)
	}
	var made int64
	if err := tx.QueryRow(ctx, `SELECT created_at FROM teams WHERE id = ?`, team).Scan(&made); err != nil {
		return fmt.Errorf("reading how old a team is: %w", err)
	}
	if refusal := n.refusal(by, db.Time(made).After(since)); refusal != nil {
		return refusal.With("scope", "mail").After(day)
	}
	return nil
}

// refusal returns an error that names the limit that is reached, or nil.
func (n mailCounts) refusal(by int64, young bool) *apierr.Error {
	switch {
	case n.teamToAddress >= mailsPerAddressDay:
		return apierr.Newf(apierr.RateLimited, "This address was invited %d times within a day. Try again tomorrow.", n.teamToAddress)
	case n.toAddress >= mailsToAddressDay:
		return apierr.Newf(apierr.RateLimited, "This address was sent too many invitations within a day. Try again tomorrow.")
	case n.team >= mailsPerDay:
		return apierr.Newf(apierr.RateLimited, "Your team has sent %d invitations within a day. Try again tomorrow.", n.team)
	case by != 0 && n.person >= mailsPerDay:
		return apierr.Newf(apierr.RateLimited, "You have sent %d invitations within a day. Try again tomorrow.", n.person)
	case by != 0 && young && n.team >= mailsOnFirstDay:
		return apierr.Newf(apierr.RateLimited, "A new team can send %d invitations on its first day. Try again tomorrow.", mailsOnFirstDay)
	}
	return nil
}

// keepOpen gives an invitation its full lifetime once its mail was accepted.
func (s *Service) keepOpen(ctx context.Context, i Invitation) error {
	return s.db.InTx(ctx, "team.keep_invitation", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx,
			`UPDATE invitations SET expires_at = ?
		WHERE id = ? AND accepted_at = 0 AND revoked_at = 0 AND waiting_person = 0`, db.Micros(i.ExpiresAt), i.ID)
		if err != nil {
			return fmt.Errorf("extending a mailed invitation: %w", err)
		}
		return nil
	})
}

// withdraw ends an invitation that was not mailed.
func (s *Service) withdraw(ctx context.Context, team, invitation int64) error {
	return s.db.InTx(ctx, "team.withdraw_invitation", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx,
			`UPDATE invitations SET revoked_at = ? WHERE id = ? AND team_id = ? AND accepted_at = 0`,
			db.Micros(tx.Now()), invitation, team); err != nil {
			return fmt.Errorf("withdrawing an invitation: %w", err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "invitation.not_mailed", id(invitation), nil)
	})
}
