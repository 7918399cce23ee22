package notification

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Kinds of notifications about a person's account. The team of these notifications is 0. They are always sent by email,
// even to people who are suspended or do not belong to a team.
const (
	PasswordChanged Kind = "account_password"
	RecoveryUsed    Kind = "account_recovery"
	NewBrowser      Kind = "account_browser"
	PasskeysChanged Kind = "account_passkeys"
	FactorsChanged  Kind = "account_factors"
	AddressChanged  Kind = "account_address"
	OperatorChanged Kind = "account_operator"
)

// accountKinds describes the kinds of notifications about a person's account.
var accountKinds = []KindInfo{
	{Kind: PasswordChanged, Name: "Your password was changed", Plural: "Your password was changed %d times"},
	{Kind: RecoveryUsed, Name: "A recovery link for your account", Plural: "%d notifications about recovery links"},
	{Kind: NewBrowser, Name: "New sign-in to your account", Plural: "%d new sign-ins to your account"},
	{Kind: PasskeysChanged, Name: "The passkeys of your account changed", Plural: "The passkeys of your account changed %d times"},
	{Kind: FactorsChanged, Name: "Two-factor authentication for your account changed",
		Plural: "Two-factor authentication for your account changed %d times"},
	{Kind: AddressChanged, Name: "Your sign-in methods changed", Plural: "Your sign-in methods changed %d times"},
	{Kind: OperatorChanged, Name: "Your operator access changed", Plural: "Your operator access changed %d times"},
}

// accountEvent describes the notification for an event about a person's account.
type accountEvent struct {
	kind   Kind
	text   locale.Key
	advice locale.Key // what to do if the person did not cause the event
}

// What to do if the person did not cause an event.
const (
	adviseToRevoke locale.Key = "If this was not you, change your password, remove passkeys and authenticator apps that are not " +
		"yours, and sign out of all sessions."
	adviseToRecover locale.Key = "If this was not you, ask the operator of this service for a recovery link right away."
	adviseToAsk     locale.Key = "If you do not know why, ask the operator of this service."
)

var accountEvents = map[string]accountEvent{
	"person.password_changed": {
		PasswordChanged, "Your password was set or changed, and you were signed out in all other browsers.", adviseToRecover,
	},
	"person.recovery": {
		RecoveryUsed,
		"A link to set a new password for your account was created. It works once, for an hour.", adviseToAsk,
	},
	"person.recovered": {
		RecoveryUsed,
		"A new password was set with a recovery link, and you were signed out in all other browsers.", adviseToRecover,
	},
	"person.signed_in": {
		NewBrowser, "New sign-in to your account from a browser that we do not recognize.", adviseToRevoke,
	},
	"passkey.added":   {PasskeysChanged, "A passkey was added to your account.", adviseToRevoke},
	"passkey.removed": {PasskeysChanged, "A passkey was removed from your account.", adviseToRevoke},
	"passkey.copied": {
		PasskeysChanged,
		"A passkey of your account was used by two devices, so somebody may have copied it. It no longer works: " +
			"remove it.", "",
	},
	"totp.added":              {FactorsChanged, "An authenticator app was added to your account.", adviseToRevoke},
	"totp.replaced":           {FactorsChanged, "The authenticator app of your account was replaced.", adviseToRevoke},
	"totp.removed":            {FactorsChanged, "The authenticator app was removed from your account.", adviseToRevoke},
	"totp.recovery_code_used": {FactorsChanged, "A recovery code was used to sign in to your account.", adviseToRevoke},
	"totp.recovery_codes_made": {
		FactorsChanged, "New recovery codes were created for your account. The old ones no longer work.", adviseToRevoke,
	},
	"person.directory_linked": {
		AddressChanged, "Your account was linked to your organization’s directory, which now signs you in.", adviseToAsk,
	},
	"person.directory_unlinked": {
		AddressChanged, "Your account is no longer linked to your organization’s directory.", adviseToAsk,
	},
	"person.directory_refused": {
		AddressChanged,
		"Your organization’s directory tried to sign someone else in with your email address. The attempt was blocked.", adviseToAsk,
	},
	"person.sign_ins_removed": {
		AddressChanged,
		"The earlier ways to sign in to your account were removed because your email address was not confirmed.", adviseToAsk,
	},
	"person.email_confirmed": {AddressChanged, "Your email address was confirmed.", ""},
	"person.operator": {
		OperatorChanged, "You are now an operator of this service, with access to all teams.", adviseToAsk,
	},
}

var operatorRemoved = accountEvent{OperatorChanged, "You are no longer an operator of this service.", adviseToAsk}

// accountText returns the text of a notification about an account.
func (d detail) accountText(l *locale.Language) string {
	event := accountEvents[d.Event]
	if d.Event == "person.operator" && !d.On {
		event = operatorRemoved
	}
	text := l.T(event.text)
	if event.advice != "" {
		text = joinSentences(text, l.T(event.advice))
	}
	if revoked := d.revokedText(l); revoked != "" {
		text = joinSentences(text, revoked)
	}
	return text
}

// maxRevokedNameLength is the maximum number of characters of a name in a notification.
const maxRevokedNameLength = 100

// revokedText returns a sentence that lists the keys and invitations that were revoked. Their names are user input, so
// links in them are disabled.
func (d detail) revokedText(l *locale.Language) string {
	if len(d.Revoked) == 0 {
		return ""
	}
	names := make([]string, len(d.Revoked))
	for i, name := range d.Revoked {
		names[i] = l.T("“%s”", plaintext.BreakLinks(name, maxRevokedNameLength))
	}
	list := strings.Join(names, ", ")
	if d.More > 0 {
		return l.T("API keys and invitations of the account were revoked: %s and %d more.", list, d.More)
	}
	return l.T("API keys and invitations of the account were revoked: %s.", list)
}

// accountDetail has the fields of events about accounts.
type accountDetail struct {
	Browser string `json:"browser"`
	New     bool   `json:"new_browser"` // whether the sign-in was from a new browser
	On      bool   `json:"on"`          // true if operator access was granted, false if it was removed

	Revoked []string `json:"revoked"` // names of keys and invitations
	More    int      `json:"more"`    // how many more were revoked
}

// notifyAccount creates the notification for an event about a person's account. The person is notified of their own
// changes too, but not of the events that create the account.
func (s *Service) notifyAccount(ctx context.Context, tx *db.Tx, e db.Event) error {
	if e.Kind == "person.recovery_not_sent" {
		return deleteRecoveryNotice(ctx, tx, e.Subject)
	}
	event, found := accountEvents[e.Kind]
	if !found {
		return nil
	}
	var payload accountDetail
	if err := json.Unmarshal(e.Detail, &payload); err != nil {
		return fmt.Errorf("reading the details of %s: %w", e.Kind, err)
	}
	if event.kind == NewBrowser && !payload.New {
		return nil
	}
	person := e.Person
	if !strings.HasPrefix(e.Kind, "passkey.") {
		var err error
		if person, err = strconv.ParseInt(e.Subject, 10, 64); err != nil {
			return fmt.Errorf("reading the person of %s: %w", e.Kind, err)
		}
	}
	raw, err := json.Marshal(detail{Event: e.Kind, Browser: payload.Browser, On: payload.On, Revoked: payload.Revoked,
		More: payload.More})
	if err != nil {
		return fmt.Errorf("encoding the details of a notice: %w", err)
	}
	_, err = tx.Exec(ctx,
		`INSERT INTO notices (person_id, team_id, kind, event_id, subject, detail, created_at, mail_at)
		SELECT p.id, 0, CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT),
		CAST(? AS BIGINT)
		FROM people p WHERE p.id = ? AND p.deleted_at = 0 AND p.created_at < ? ON CONFLICT DO NOTHING`,
		string(event.kind), e.ID, e.Subject, string(raw), db.Micros(tx.Now()), db.Micros(tx.Now().Add(mailDelay)), person,
		db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("notifying of %s: %w", e.Kind, err)
	}
	return nil
}

// deleteRecoveryNotice deletes the newest notification about a recovery link whose email was not sent.
func deleteRecoveryNotice(ctx context.Context, tx *db.Tx, subject string) error {
	person, err := strconv.ParseInt(subject, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the person of a recovery link that was not sent: %w", err)
	}
	raw, err := json.Marshal(detail{Event: "person.recovery"})
	if err != nil {
		return fmt.Errorf("encoding the details of a notice: %w", err)
	}
	_, err = tx.Exec(ctx,
		`DELETE FROM notices WHERE id = (SELECT MAX(id) FROM notices
		WHERE person_id = ? AND team_id = 0 AND kind = ? AND detail = ?)`,
		person, string(RecoveryUsed), string(raw))
	if err != nil {
		return fmt.Errorf("deleting the notice of a recovery link: %w", err)
	}
	return nil
}

// shouldMailAccount loads the address for an email about a person's account. It reports false if the account was
// deleted.
func (s *Service) shouldMailAccount(ctx context.Context, tx *db.Tx, b *batch) (bool, error) {
	err := tx.QueryRow(ctx, `SELECT email, language FROM people WHERE id = ? AND deleted_at = 0`, b.person).
		Scan(&b.email, &b.language)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the address for an email: %w", err)
	}
	return true, nil
}

// timeAndBrowser returns the time and the browser of an account event as text for an email.
func (n Notification) timeAndBrowser(l *locale.Language) string {
	out := l.T("Time: %s", l.Format(n.At, locale.DateTime)+" "+n.At.Format("MST"))
	if browser := n.Browser(l); browser != "" {
		out += "\n" + l.T("Browser: %s", browser)
	}
	return out
}
