package team

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/linkemail"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// mailTimeout is how long a page waits for the mail server to accept an email.
const mailTimeout = 15 * time.Second

// Limits on emailed invitations, to prevent bulk email.
const (
	maxMailsPerDay        = 100 // per team, and per person in all teams
	firstDayMails         = 20  // per team that was created within a day; does not apply to the operator
	maxMailsPerAddressDay = 3   // per team and address
	maxMailsToAddressDay  = 10  // per address, from all teams
)

// LinkEmail is an email with a secret link for the owner of the address.
type LinkEmail struct {
	ID      string // unique ID of the email; not secret
	To      string
	Subject string
	Text    string
}

// LinkMailer sends emails with links. A person who opens such a link has proved that they own the email address.
type LinkMailer struct {
	teams     *Service
	publicURL string // without a trailing slash
	send      func(context.Context, LinkEmail) error
	timeout   time.Duration
}

// NewLinkMailer returns a LinkMailer with links below publicURL. send must be nil if there is no mail server.
func NewLinkMailer(s *Service, publicURL string, send func(context.Context, LinkEmail) error) *LinkMailer {
	return &LinkMailer{s, publicURL, send, mailTimeout}
}

// Enabled reports whether there is a mail server.
func (l *LinkMailer) Enabled() bool { return l != nil && l.send != nil }

var (
	errNoMail  = apierr.BadState("no_mail", "This service has no mail server, so it cannot email a link.")
	errNotSent = apierr.New(apierr.ProviderUnavailable,
		"The email could not be sent. Try again in a few minutes. If it keeps failing, contact the operator of this service.")
)

// sendMail sends an email and waits until the mail server accepts it.
func (l *LinkMailer) sendMail(ctx context.Context, email LinkEmail) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- l.send(ctx, email) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Invite sends an invitation by email. Only the recipient knows the link. If the mail server rejects the email or does
// not respond in time, Invite revokes the invitation. If the process ends before that, the invitation expires within a
// minute.
func (l *LinkMailer) Invite(ctx context.Context, inviter, team int64, email string, role access.Role) (Invitation, error) {
	if !l.Enabled() {
		return Invitation{}, errNoMail
	}
	i, token, err := l.teams.invite(ctx, inviter, team, Invitation{Email: email, Role: role, Mailed: true}, 2*l.timeout)
	if err != nil {
		return i, err
	}
	invitation, err := l.newInvitationEmail(ctx, inviter, token)
	if err != nil {
		return i, err
	}
	if mailErr := l.sendMail(ctx, invitation); mailErr != nil {
		return i, errors.Join(errNotSent, mailErr, l.teams.withdrawInvitation(context.WithoutCancel(ctx), team, i.ID))
	}
	i.ExpiresAt = i.CreatedAt.Add(invitationLifetime)
	return i, l.teams.extendInvitation(context.WithoutCancel(ctx), i)
}

func (l *LinkMailer) newInvitationEmail(ctx context.Context, inviter int64, token string) (LinkEmail, error) {
	offer, err := l.teams.InvitationByToken(ctx, token)
	if err != nil {
		return LinkEmail{}, err
	}
	language, err := linkemail.Language(ctx, l.teams.db, offer.Email, inviter)
	if err != nil {
		return LinkEmail{}, err
	}
	subject, text := linkemail.Invitation(language, offer.TeamName, offer.InvitedBy, string(offer.Role), offer.Email,
		l.publicURL+InvitationPath+token)
	return LinkEmail{fmt.Sprintf("invitation-%d", offer.ID), offer.Email, subject, text}, nil
}

// Recover emails a link to set a new password, on behalf of the operator.
func (l *LinkMailer) Recover(ctx context.Context, email string) (Recovery, error) {
	if !l.Enabled() {
		return Recovery{}, errNoMail
	}
	r, err := l.teams.createRecovery(ctx, email, true)
	if err != nil {
		return r, err
	}
	language, mailErr := linkemail.Language(ctx, l.teams.db, r.Person.Email, 0)
	if mailErr == nil {
		mailErr = l.sendMail(ctx, LinkEmail{
			ID: fmt.Sprintf("recovery-%d-%d", r.Person.ID, db.Micros(r.ExpiresAt)), To: r.Person.Email,
			Subject: language.T("Set a new password"),
			Text:    linkemail.Recovery(language, l.publicURL, r.Person.Email, l.publicURL+RecoveryPath+r.Token),
		})
	}
	r.Token = "" // Only the owner of the address may know the token.
	if mailErr != nil {
		return r, errors.Join(errNotSent, mailErr, l.teams.deleteRecoveries(context.WithoutCancel(ctx), r.Person.ID))
	}
	return r, nil
}

// Confirm emails a link that lets a person confirm the email address.
func (l *LinkMailer) Confirm(ctx context.Context, person int64) error {
	if !l.Enabled() {
		return errNoMail
	}
	p, token, err := l.teams.newProof(ctx, person)
	if err != nil {
		return err
	}
	language, mailErr := linkemail.Language(ctx, l.teams.db, p.Email, 0)
	if mailErr == nil {
		mailErr = l.sendMail(ctx, LinkEmail{
			ID: fmt.Sprintf("confirm-%d-%d", p.ID, db.Micros(l.teams.db.Now())), To: p.Email,
			Subject: language.T("Confirm your email address"),
			Text:    linkemail.Confirmation(language, p.Email, l.publicURL+ConfirmPath+token),
		})
	}
	if mailErr != nil {
		return errors.Join(errNotSent, mailErr, l.teams.expireProof(context.WithoutCancel(ctx), token))
	}
	return nil
}

// mailCounts counts the invitations that were emailed within a day.
type mailCounts struct{ team, teamToAddress, toAddress, person int64 }

// checkMailLimits returns rate_limited if a daily limit on emailed invitations is reached. person is the inviting
// person, or 0 for the operator.
func checkMailLimits(ctx context.Context, tx *db.Tx, person, team int64, email string) error {
	const day = 24 * time.Hour
	since := tx.Now().Add(-day)
	var counts mailCounts
	err := tx.QueryRow(ctx,
		`SELECT COUNT(CASE WHEN team_id = ? THEN 1 END), COUNT(CASE WHEN team_id = ? AND email = ? THEN 1 END),
		COUNT(CASE WHEN email = ? THEN 1 END),
		COUNT(CASE WHEN invited_by = ? THEN 1 END) FROM invitations WHERE mailed_at > ?`, team, team, email, email, person,
		db.Micros(since)).
		Scan(&counts.team, &counts.teamToAddress, &counts.toAddress, &counts.person)
	if err != nil {
		return fmt.Errorf("counting emailed invitations: %w", err)
	}
	var createdAt int64
	if err := tx.QueryRow(ctx, `SELECT created_at FROM teams WHERE id = ?`, team).Scan(&createdAt); err != nil {
		return fmt.Errorf("reading how old a team is: %w", err)
	}
	if rejection := counts.limitError(person, db.Time(createdAt).After(since)); rejection != nil {
		return rejection.With("scope", "mail").WithRetryAfter(day)
	}
	return nil
}

// limitError returns the error for the limit that is reached, or nil. isNew reports whether the team was created within
// a day.
func (c mailCounts) limitError(person int64, isNew bool) *apierr.Error {
	switch {
	case c.teamToAddress >= maxMailsPerAddressDay:
		return apierr.Newf(apierr.RateLimited, "This address was invited %d times within a day. Try again tomorrow.", c.teamToAddress)
	case c.toAddress >= maxMailsToAddressDay:
		return apierr.Newf(apierr.RateLimited, "This address was sent too many invitations within a day. Try again tomorrow.")
	case c.team >= maxMailsPerDay:
		return apierr.Newf(apierr.RateLimited, "Your team has sent %d invitations within a day. Try again tomorrow.", c.team)
	case person != 0 && c.person >= maxMailsPerDay:
		return apierr.Newf(apierr.RateLimited, "You have sent %d invitations within a day. Try again tomorrow.", c.person)
	case person != 0 && isNew && c.team >= firstDayMails:
		return apierr.Newf(apierr.RateLimited, "A new team can send %d invitations on its first day. Try again tomorrow.", firstDayMails)
	}
	return nil
}

// extendInvitation sets the full lifetime of an invitation after its email was accepted.
func (s *Service) extendInvitation(ctx context.Context, i Invitation) error {
	return s.db.InTx(ctx, "team.keep_invitation", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx,
			`UPDATE invitations SET expires_at = ?
		WHERE id = ? AND accepted_at = 0 AND revoked_at = 0 AND waiting_person = 0`, db.Micros(i.ExpiresAt), i.ID)
		if err != nil {
			return fmt.Errorf("extending an emailed invitation: %w", err)
		}
		return nil
	})
}

// withdrawInvitation revokes an invitation whose email was not sent.
func (s *Service) withdrawInvitation(ctx context.Context, team, invitation int64) error {
	return s.db.InTx(ctx, "team.withdraw_invitation", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx,
			`UPDATE invitations SET revoked_at = ? WHERE id = ? AND team_id = ? AND accepted_at = 0`,
			db.Micros(tx.Now()), invitation, team); err != nil {
			return fmt.Errorf("withdrawing an invitation: %w", err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "invitation.not_mailed", formatID(invitation), nil)
	})
}
