package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/locale"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/plaintext"
)

// Letter is a mail with a secret link for a client.
type Letter struct {
	ID      string // identifies the mail; it is not secret
	To      string
	Subject string
	Text    string
}

// letterWithin is how long the mail server may take to accept a mail while a page waits.
const letterWithin = 15 * time.Second

// Bounds of mailed links, so that nobody floods a mailbox or sends mail in bulk.
const (
	maxEmail           = 254 // characters
	mailsPerDay        = 100 // of one team
	mailsOnFirstDay    = 20  // of one team that is younger than a day
	mailsPerAddressDay = 10  // of one team to one address
	mailsToAddressDay  = 20  // of all teams to one address
)

// Mails reports whether links can be mailed.
func (s *Service) Mails() bool { return s.Send != nil }

// checkEmail returns why a link cannot be mailed to an address. It removes spaces around the address.
func (s *Service) checkEmail(email *string) error {
	*email = strings.TrimSpace(*email)
	if *email == "" {
		return nil
	}
	if !s.Mails() {
		return apierr.BadState("no_mail", "This service has no mail server, so it cannot mail a link.")
	}
	found, err := netmail.ParseAddress(*email)
	if err != nil || found.Address != *email || len(*email) > maxEmail {
		return apierr.Invalid(apierr.Malformed, "email", "Enter an email address, such as name@example.com.")
	}
	return nil
}

// countMail counts the mail of a request, or refuses it if there were too many within a day.
func countMail(ctx context.Context, tx *db.Tx, call operation.Call, r Request) error {
	if r.Email == "" {
		return nil
	}
	const day = 24 * time.Hour
	since := db.Micros(tx.Now().Add(-day))
	var team, teamToAddress, toAddress, made int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN team_id = ? THEN mails ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN team_id = ? AND email = ? THEN mails ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN email = ? THEN mails ELSE 0 END), 0) FROM approval_requests WHERE mailed_at > ?`,
		call.TeamID, call.TeamID, r.Email, r.Email, since).Scan(&team, &teamToAddress, &toAddress)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT created_at FROM teams WHERE id = ?`, call.TeamID).Scan(&made)
	}
	if err != nil {
		return fmt.Errorf("counting mailed approval links: %w", err)
	}
	if team >= mailsPerDay || team >= mailsOnFirstDay && made > since || teamToAddress >= mailsPerAddressDay ||
		toAddress >= mailsToAddressDay {
		return apierr.New(apierr.RateLimited,
			"Too many approval links were mailed within a day. Try again tomorrow, or send the link yourself.").
			With("scope", "mail").After(day)
	}
	_, err = tx.Exec(ctx, `UPDATE approval_requests SET mails = mails + 1, mailed_at = ? WHERE id = ?`,
		db.Micros(tx.Now()), r.ID)
	if err != nil {
		return fmt.Errorf("counting the mail of an approval link: %w", err)
	}
	return nil
}

// mail mails the link of a request, if it has an address, and waits until the mail server has accepted it.
func (s *Service) mail(ctx context.Context, team int64, request string) error {
	r, err := s.RequestByID(ctx, team, request)
	if err != nil || r.Email == "" {
		return err
	}
	letter, err := s.letter(ctx, team, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, letterWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Send(ctx, letter) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	failed := apierr.New(apierr.ProviderUnavailable, "The mail could not be sent. Send the link yourself, or try again.")
	return errors.Join(failed, err, s.forgetMail(context.WithoutCancel(ctx), request))
}

// forgetMail records that the mail of a request was not sent.
func (s *Service) forgetMail(ctx context.Context, request string) error {
	return s.DB.InTx(ctx, "post.forget_approval_mail", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE approval_requests SET mailed_at = 0 WHERE id = ?`, request)
		if err != nil {
			return fmt.Errorf("recording that a mail was not sent: %w", err)
		}
		return nil
	})
}

const maxNameInMail = 60 // characters of a name in a mail to a stranger

// letter returns the mail of a request, in the language of the person who made the link. It shows names without links,
// because their owners chose them.
func (s *Service) letter(ctx context.Context, team int64, r Request) (Letter, error) {
	var name, zone, language string
	err := s.DB.QueryRow(ctx, `SELECT t.name, t.timezone, COALESCE((SELECT p.language FROM approval_requests a
		JOIN people p ON p.id = a.person_id WHERE a.id = ?), '') FROM teams t WHERE t.id = ?`, r.ID, team).
		Scan(&name, &zone, &language)
	if err != nil {
		return Letter{}, fmt.Errorf("reading the team of a request for approval: %w", err)
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return Letter{}, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	name = plaintext.Unlink(name, maxNameInMail)
	l := cmp.Or(locale.ByTag(language), locale.English)
	asks := func(who string) string {
		if n := len(r.Posts); n > 1 {
			return l.T("%s asks you to review %d posts", who, n)
		}
		return l.T("%s asks you to review a post", who)
	}
	by := name
	if r.By != "" {
		by = plaintext.Unlink(r.By, maxNameInMail) + " (" + name + ")"
	}
	return Letter{
		ID: fmt.Sprintf("approval-%s-%d", r.ID, db.Micros(r.MailedAt)), To: r.Email,
		Subject: asks(name),
		Text: l.T("Hello,") + "\n\n" + asks(by) + ":\n\n" + s.Link(r.ID) + "\n\n" +
			l.T("On this page, you can approve each post, request changes, and leave comments. You do not need an account.") + " " +
			l.T("The link works until %s. Anyone with the link can see the posts and decide, so forward it only to people who may do "+
				"that.", l.Format(r.ExpiresAt.In(where), locale.MailDate)) + "\n\n" +
			l.T("If you do not expect this email, ignore it.") + "\n",
	}, nil
}
