package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Email is an email with a secret link for a client.
type Email struct {
	ID      string // unique ID of the email; not secret
	To      string
	Subject string
	Text    string
}

// mailTimeout is how long a page waits for the mail server to accept an email.
const mailTimeout = 15 * time.Second

// Limits on emailed links, to prevent bulk email.
const (
	maxEmail           = 254 // characters
	mailsPerDay        = 100 // per team
	mailsOnFirstDay    = 20  // per team in its first 24 hours
	mailsPerAddressDay = 10  // per team and address
	mailsToAddressDay  = 20  // per address, from all teams
)

// CanSendEmail reports whether links can be sent by email.
func (s *Service) CanSendEmail() bool { return s.Send != nil }

// checkEmail trims an address in place and returns an error if no link can be sent to it.
func (s *Service) checkEmail(email *string) error {
	*email = strings.TrimSpace(*email)
	if *email == "" {
		return nil
	}
	if !s.CanSendEmail() {
		return apierr.BadState("no_mail", "This service has no mail server, so it cannot email a link.")
	}
	found, err := netmail.ParseAddress(*email)
	if err != nil || found.Address != *email || len(*email) > maxEmail {
		return apierr.Invalid(apierr.Malformed, "email", "Enter an email address, such as name@example.com.")
	}
	return nil
}

// recordMail counts the email of a request. It returns an error if too many emails were sent within a day.
func recordMail(ctx context.Context, tx *db.Tx, call operation.Call, r Request) error {
	if r.Email == "" {
		return nil
	}
	const day = 24 * time.Hour
	since := db.Micros(tx.Now().Add(-day))
	var team, teamToAddress, toAddress, created int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN team_id = ? THEN mails ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN team_id = ? AND email = ? THEN mails ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN email = ? THEN mails ELSE 0 END), 0) FROM approval_requests WHERE mailed_at > ?`,
		call.TeamID, call.TeamID, r.Email, r.Email, since).Scan(&team, &teamToAddress, &toAddress)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT created_at FROM teams WHERE id = ?`, call.TeamID).Scan(&created)
	}
	if err != nil {
		return fmt.Errorf("counting emailed approval links: %w", err)
	}
	if team >= mailsPerDay || team >= mailsOnFirstDay && created > since || teamToAddress >= mailsPerAddressDay ||
		toAddress >= mailsToAddressDay {
		return apierr.New(apierr.RateLimited,
			"Too many approval links were emailed within a day. Try again tomorrow, or send the link yourself.").
			With("scope", "mail").WithRetryAfter(day)
	}
	_, err = tx.Exec(ctx, `UPDATE approval_requests SET mails = mails + 1, mailed_at = ? WHERE id = ?`,
		db.Micros(tx.Now()), r.ID)
	if err != nil {
		return fmt.Errorf("counting the email of an approval link: %w", err)
	}
	return nil
}

// mail sends the link of a request by email if the request has an address. It waits at most mailTimeout for the mail
// server to accept the email.
func (s *Service) mail(ctx context.Context, team int64, request string) error {
	r, err := s.RequestByID(ctx, team, request)
	if err != nil || r.Email == "" {
		return err
	}
	email, err := s.writeEmail(ctx, team, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Send(ctx, email) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	userErr := apierr.New(apierr.ProviderUnavailable, "The email could not be sent. Send the link yourself, or try again.")
	return errors.Join(userErr, err, s.recordMailFailure(context.WithoutCancel(ctx), request))
}

// recordMailFailure records that the email of a request was not sent.
func (s *Service) recordMailFailure(ctx context.Context, request string) error {
	return s.DB.InTx(ctx, "post.forget_approval_mail", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE approval_requests SET mailed_at = 0 WHERE id = ?`, request)
		if err != nil {
			return fmt.Errorf("recording that an email was not sent: %w", err)
		}
		return nil
	})
}

const maxNameInMail = 60 // maximum characters of a person's or team's name

// writeEmail returns the email for a request, in the language of the person who created the request. It disables URLs
// in names, because names are user input.
func (s *Service) writeEmail(ctx context.Context, team int64, r Request) (Email, error) {
	var name, zone, language string
	err := s.DB.QueryRow(ctx, `SELECT t.name, t.timezone, COALESCE((SELECT p.language FROM approval_requests a
		JOIN people p ON p.id = a.person_id WHERE a.id = ?), '') FROM teams t WHERE t.id = ?`, r.ID, team).
		Scan(&name, &zone, &language)
	if err != nil {
		return Email{}, fmt.Errorf("reading the team of a request for approval: %w", err)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Email{}, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	name = plaintext.BreakLinks(name, maxNameInMail)
	l := cmp.Or(locale.ByTag(language), locale.English)
	describe := func(who string) string {
		if n := len(r.Posts); n > 1 {
			return l.T("%s asks you to review %d posts", who, n)
		}
		return l.T("%s asks you to review a post", who)
	}
	sender := name
	if r.By != "" {
		sender = plaintext.BreakLinks(r.By, maxNameInMail) + " (" + name + ")"
	}
	return Email{
		ID: fmt.Sprintf("approval-%s-%d", r.ID, db.Micros(r.MailedAt)), To: r.Email,
		Subject: describe(name),
		Text: l.T("Hello,") + "\n\n" + describe(sender) + ":\n\n" + s.Link(r.ID) + "\n\n" +
			l.T("On this page, you can approve each post, request changes, and leave comments. You do not need an account.") + " " +
			l.T("The link works until %s. Anyone with the link can see the posts and decide, so forward it only to people who may do "+
				"that.", l.Format(r.ExpiresAt.In(location), locale.MailDate)) + "\n\n" +
			l.T("If you do not expect this email, ignore it.") + "\n",
	}, nil
}
