// Package lettertext has the texts of mails with secret links, in the language of the person who gets them.
package lettertext

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/locale"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/plaintext"
)

// Language returns the language of mail to an address: that of the person who has it, or else of the person who sends it.
func Language(ctx context.Context, d *db.DB, email string, from int64) (*locale.Language, error) {
	var tag string
	err := d.QueryRow(ctx, `SELECT language FROM people WHERE email = ? OR id = ?
		ORDER BY CASE WHEN email = ? THEN 0 ELSE 1 END LIMIT 1`, email, from, email).Scan(&tag)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the language of a mail: %w", err)
	}
	return cmp.Or(locale.ByTag(tag), locale.English), nil
}

// Invitation returns the subject and the text of an invitation by a person, who may be unknown.
func Invitation(l *locale.Language, team, by, role, email, link string) (subject, text string) {
	team = quoteName(l, team)
	text = l.T("You are invited to join the team %s as %s.", team, locale.Key(role))
	if by != "" {
		text = l.T("%s invites you to join the team %s as %s.", quoteName(l, by), team, locale.Key(role))
	}
	return l.T("Invitation to the team %s", team), text + " " + l.T("Names are chosen by people and are not verified.") +
		"\n\n" + link + "\n\n" + l.T("The link works once, for 7 days, and only for %s. Do not forward it. If you do not expect this "+
		"invitation, ignore this email.", email) + "\n"
}

// Recovery returns the text of a mail with a link to set a new password.
func Recovery(l *locale.Language, service, email, link string) string {
	return l.T("The operator of %s created this link for %s to set a new password:", service, email) + "\n\n" + link + "\n\n" +
		l.T("The link works once, for an hour. If you do not need it, ignore this email.") + "\n"
}

// Confirmation returns the text of a mail with a link to confirm an address.
func Confirmation(l *locale.Language, email, link string) string {
	return l.T("Confirm that %s is your address:", email) + "\n\n" + link + "\n\n" +
		l.T("The link works once, for an hour, while you are signed in. If you have no account, ignore this email.") + "\n"
}

// longestName is the maximum length of a name in a mail to a stranger, in characters.
const longestName = 60

// quoteName returns a name that strangers chose for use in a mail: quoted, and without links.
func quoteName(l *locale.Language, name string) string {
	return l.T("“%s”", plaintext.Unlink(name, longestName))
}
