package notification_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// recordAccountEvent records an event without a team, as a request from a browser does.
func (w *env) recordAccountEvent(t *testing.T, by int64, kind, subject string, detail map[string]any) {
	t.Helper()
	ctx := auditlog.WithBrowser(t.Context(), "Firefox on Windows")
	must.NoError(t, w.db.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: by}, kind, subject, detail)
	}))
}

// Every change to a person's sign-in notifies the person in the app and by mail, even if the person muted all kinds.
func TestAccountNotices(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		ada := w.owner.ID
		muted := []notification.Kind{notification.PasswordChanged, notification.NewBrowser}
		for _, k := range notification.Kinds {
			muted = append(muted, k.Kind)
		}
		must.NoError(t, w.SetMuted(t.Context(), ada, notification.MutedKinds{App: muted, Mail: muted}))
		signIns := team.NewSignIns(w.teams)
		adaID := fmt.Sprint(ada)
		record := func(by int64, kind, subject string) func() {
			return func() { w.recordAccountEvent(t, by, kind, subject, nil) }
		}
		setOperator := func(on bool) {
			must.Get(w.teams.SetOperator(auditlog.WithOperator(t.Context(), w.editor.ID), "ada@harbour.example", on))(t)
		}
		var browser string
		signIn := func(browser string) string {
			cookie := must.Get(w.teams.RecordSignIn(auditlog.WithBrowser(t.Context(), "Firefox on Windows"),
				team.SignInEvent{Person: ada, Browser: browser, BrowserName: "Firefox on Windows"}))(t)
			return cookie
		}
		w.clock.Advance(time.Minute)
		browser = signIn("") // The first sign-in is not notified.
		for _, c := range []struct {
			name     string
			do       func()
			wantText string
		}{
			{"password", func() {
				must.Get(signIns.ChangePassword(auditlog.WithBrowser(t.Context(), "Firefox on Windows"),
					team.PasswordChange{Person: ada, Old: "correct horse battery", New: "vivid tundra sextant 9"}))(t)
				must.NoError(t, w.teams.KeepBrowser(t.Context(), ada, browser))
			}, "Your password was set or changed"},
			{"known browser", func() { browser = signIn(browser) }, ""},
			{"new browser", func() { signIn("") }, "from a browser that we do not recognize"},
			{"recovery link created", func() {
				must.Get(w.teams.Recover(t.Context(), "ada@harbour.example"))(t)
			}, "A link to set a new password for your account was created"},
			{"recovery mail failed", func() {
				reject := func(context.Context, team.LinkEmail) error { return errors.New("no such mailbox") }
				if _, err := team.NewLinkMailer(w.teams, "https://press.example", reject).Recover(t.Context(),
					"ada@harbour.example"); err == nil {
					t.Error("the mail was sent")
				}
			}, ""},
			{"recovery used", record(ada, "person.recovered", adaID), "with a recovery link"},
			{"passkey added", record(ada, "passkey.added", "77"), "A passkey was added"},
			{"passkey removed", record(ada, "passkey.removed", "77"), "A passkey was removed"},
			{"passkey copied", record(ada, "passkey.copied", "77"), "used by two devices"},
			{"operator added", func() { setOperator(true) }, "You are now an operator of this service"},
			{"operator added again", func() { setOperator(true) }, ""},
			{"operator removed", func() { setOperator(false) }, "You are no longer an operator of this service"},
			{"authenticator added", record(ada, "totp.added", adaID), "An authenticator app was added"},
			{"authenticator replaced", record(ada, "totp.replaced", adaID), "was replaced"},
			{"authenticator removed", record(0, "totp.removed", adaID), "The authenticator app was removed"},
			{"recovery code used", record(ada, "totp.recovery_code_used", adaID), "A recovery code was used"},
			{"recovery codes created", record(ada, "totp.recovery_codes_made", adaID), "New recovery codes were created"},
			{"directory linked", record(ada, "person.directory_linked",
				adaID), "was linked to your organization’s directory"},
			{"directory unlinked", record(0, "person.directory_unlinked", adaID), "no longer linked"},
			{"directory rejected", record(0, "person.directory_refused", adaID), "The attempt was blocked"},
			{"sign-ins removed", record(0, "person.sign_ins_removed", adaID), "were removed"},
			{"keys revoked", func() {
				w.recordAccountEvent(t, 0, "person.sign_ins_removed", adaID,
					map[string]any{"revoked": []string{"API key evil.example (Harbour)"}, "more": 2})
			}, "were revoked: “API key evil.\u200cexample (Harbour)” and 2 more."},
			{"email confirmed", record(ada, "person.email_confirmed", adaID), "was confirmed"},
			{"renamed", record(ada, "person.renamed", adaID), ""},
		} {
			w.clock.Advance(time.Hour)
			must.NoError(t, w.MarkRead(t.Context(), ada, 1<<40, true))
			w.box.mails, w.box.to = nil, nil
			c.do()
			unread := must.Get(w.Unread(t.Context(), ada))(t)
			w.clock.Advance(2 * time.Minute)
			if c.wantText == "" {
				if w.checkMails(t, 0); unread != 0 {
					t.Errorf("%s: notified", c.name)
				}
				continue
			}
			w.checkMails(t, 1)
			list := must.Get(w.List(t.Context(), ada, 0, 1))(t)
			n := list[0]
			if unread != 1 || n.Team != 0 || n.Path() != "/account" || !strings.Contains(n.Text(locale.English), c.wantText) {
				t.Errorf("%s: %d unread, %q of team %d", c.name, unread, n.Text(locale.English), n.Team)
			}
			checkMail(t, w, c.name, c.wantText, n)
		}
		if list, err := w.List(t.Context(), w.editor.ID, 0, 10); err != nil || len(list) > 0 {
			t.Errorf("another person was notified: %+v (%v)", list, err)
		}
	})
}

// checkMail checks the mail of a notification about how a person signs in.
func checkMail(t *testing.T, w *env, name, wantText string, n notification.Notification) {
	t.Helper()
	mail := must.Get(netmail.ReadMessage(strings.NewReader(w.box.mails[0])))(t)
	text := mailBody(t, mail)
	if w.box.to[0] != "ada@harbour.example" || !strings.HasPrefix(mail.Header.Get("Subject"), "pressroom: ") ||
		!strings.Contains(text, wantText) ||
		!strings.Contains(text, "Time: Sat 21 Nov 2026, ") && !strings.Contains(text,
			"Time: Sun 22 Nov 2026, ") || !strings.Contains(text, "cannot be turned off") {
		t.Errorf("%s: to %s: %s\n%s", name, w.box.to, mail.Header, text)
	}
	if by := n.Browser(locale.English); by != "" && (by != "Firefox on Windows" || !strings.Contains(text,
		"Browser: Firefox on Windows")) {
		t.Errorf("%s: by %q: %s", name, by, text)
	}
}

// Suspended people and people without a team get account mails too, because they cannot open the app.
func TestAccountMailRecipients(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		cleo := must.Get(w.teams.AddPerson(t.Context(), "Cleo", "cleo@harbour.example", ""))(t)
		w.clock.Advance(time.Minute)
		must.NoError(t, w.teams.SetSuspended(t.Context(), w.editor.ID, true))
		for _, email := range []string{"bea@harbour.example", "cleo@harbour.example"} {
			must.Get(w.teams.Recover(t.Context(), email))(t)
		}
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 2)
		if !strings.Contains(strings.Join(w.box.to, " "), "bea@") || !strings.Contains(strings.Join(w.box.to, " "),
			"cleo@") || !strings.Contains(w.box.mails[1], "UTC") {
			t.Errorf("mails to %s: %s", w.box.to, w.box.mails)
		}
		if list, err := w.List(t.Context(), cleo.ID, 0, 10); err != nil || len(list) != 1 {
			t.Errorf("%+v (%v)", list, err)
		}
	})
}

// mailBody returns the text of a mail.
func mailBody(t *testing.T, m *netmail.Message) string {
	t.Helper()
	body := m.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text := must.Get(io.ReadAll(body))(t)
	return string(text)
}
