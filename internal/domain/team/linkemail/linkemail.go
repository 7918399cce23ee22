// Package linkemail writes the emails with secret links in the recipient's language.
package linkemail

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Language returns the language for an email: the language of the person with the address, or the sender's language if
// there is no such person. sender is the sender's ID.
func Language(ctx context.Context, d *db.DB, email string, sender int64) (*locale.Language, error) {
	var tag string
	err := d.QueryRow(ctx, `SELECT language FROM people WHERE email = ? OR id = ?
		ORDER BY CASE WHEN email = ? THEN 0 ELSE 1 END LIMIT 1`, email, sender, email).Scan(&tag)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the language of an email: %w", err)
	}
	return cmp.Or(locale.ByTag(tag), locale.English), nil
}

// Invitation returns the subject and text of an invitation. inviterName is the name of the inviting person and may be
// empty.
func Invitation(l *locale.Language, team, inviterName, role, email, link string) (string, string) {
	team = quoteName(l, team)
	text := l.T("You are invited to join the team %s as %s.", team, locale.Key(role))
	if inviterName != "" {
		text = l.T("%s invites you to join the team %s as %s.", quoteName(l, inviterName), team, locale.Key(role))
	}
	return l.T("Invitation to the team %s", team), text + " " + l.T("Names are chosen by people and are not verified.") +
		"\n\n" + link + "\n\n" + l.T("The link works once, for 7 days, and only for %s. Do not forward it. If you do not expect this "+
		"invitation, ignore this email.", email) + "\n"
}

// Recovery returns the text of an email with a link to set a new password.
func Recovery(l *locale.Language, publicURL, email, link string) string {
	return l.T("The operator of %s created this link for %s to set a new password:", publicURL, email) + "\n\n" + link + "\n\n" +
		l.T("The link works once, for an hour. If you do not need it, ignore this email.") + "\n"
}

// Confirmation returns the text of an email with a link to confirm an address.
func Confirmation(l *locale.Language, email, link string) string {
	return l.T("Confirm that %s is your address:", email) + "\n\n" + link + "\n\n" +
		l.T("The link works once, for an hour, while you are signed in. If you have no account, ignore this email.") + "\n"
}

// maxNameLength is the maximum length of a name in an email, in characters.
const maxNameLength = 60

// quoteName quotes a name that a person chose freely. It disables URLs in the name.
func quoteName(l *locale.Language, name string) string {
	return l.T("“%s”", plaintext.BreakLinks(name, maxNameLength))
}
