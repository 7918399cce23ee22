package app

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// postbox is an SMTP server that stores mails or rejects them.
type postbox struct {
	mu      sync.Mutex
	texts   map[string]string      // the last mail to each address
	headers map[string]mail.Header // the header of the last mail to each address
	counts  map[string]int         // the number of mails to each address
	rejects bool
}

func (p *postbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &delivery{box: p}, nil }

type delivery struct {
	box *postbox
	to  string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error      { return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error { d.to = to; return nil }
func (d *delivery) Reset()                                    {}
func (d *delivery) Logout() error                             { return nil }
func (d *delivery) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		return err
	}
	d.box.mu.Lock()
	defer d.box.mu.Unlock()
	if d.box.rejects {
		return &smtp.SMTPError{Code: 554, Message: "no"}
	}
	d.box.texts[d.to], d.box.headers[d.to] = string(text), m.Header
	d.box.counts[d.to]++
	return nil
}

// reject sets whether mails are rejected.
func (p *postbox) reject(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rejects = on
}

// link returns the path of the link in the last mail to an address, or "".
func (p *postbox) link(to string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := regexp.MustCompile(`https?://[^/\s]+(/\S+)`).FindStringSubmatch(p.texts[to])
	if found == nil {
		return ""
	}
	return found[1]
}

// withMail runs a test with a mail server on each kind of database.
func withMail(t *testing.T, run func(t *testing.T, h *env, box *postbox)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		t.Parallel()
		box := &postbox{texts: map[string]string{}, headers: map[string]mail.Header{}, counts: map[string]int{}}
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		serving := smtp.NewServer(box)
		ended := make(chan error, 1)
		go func() { ended <- serving.Serve(l) }()
		t.Cleanup(func() {
			_ = serving.Close()
			_ = l.Close()
			<-ended
		})
		run(t, open(t, at, func(cfg *server.Config) {
			cfg.Mail.URL, cfg.Mail.From = "smtp://"+l.Addr().String()+"?tls=none", "press@harbour.example"
		}), box)
	})
}

// The link of a mailed invitation is not shown in the app, so only the owner of the address can use it.
func TestMailedInvitationIsNotShown(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		send := func(email string) *page {
			return owner.open("/settings/members").form("Send invitations").fill("email", email).fill("role", "editor").press()
		}
		send("new@harbour.example").shows(200, "We sent an invitation to new@harbour.example.", "sent by email").lacks(team.InvitationPath)
		link := box.link("new@harbour.example")
		b := h.browser(t)
		b.open(link).form("Create account and join").fill("name", "Nora").fill("password", newPassword).press().
			shows(200, "You joined the team.")
		b.open("/account").shows(200, "Confirmed").lacks("Not confirmed")

		box.reject(true)
		p := send("gone@harbour.example").shows(502, "The email could not be sent").lacks("Open invitations")
		if got := p.form("Send invitations").values.Get("email"); got != "gone@harbour.example" {
			t.Errorf("the input is lost: %q", got)
		}
		if n := h.count(t, "invitations WHERE email = 'gone@harbour.example' AND revoked_at = 0"); n != 0 {
			t.Errorf("%d open invitations were not mailed", n)
		}
	})
}

// The settings show each group of notifications with its choice of email, or only a note if there is no mail server.
func TestNotificationSettings(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, _ *postbox) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		f := owner.open("/notices/settings").
			shows(200, "In the app", "By email", "API keys and assistants", "Someone changes your sign-in methods").form("Save")
		f.fill("mail", "post_failed").fill("app", "account_lost").press().shows(200, "Your settings were saved.")
		if got := owner.open("/notices/settings").form("Save").values["app"]; len(got) != 1 || got[0] != "account_lost" {
			t.Errorf("%q are shown in the app, want lost accounts only", got)
		}
		if got := owner.open("/notices/settings").form("Save").values["mail"]; len(got) != 1 || got[0] != "post_failed" {
			t.Errorf("emails are wanted for %q, want a failed post only", got)
		}
		for all, want := range map[string]int{"on": len(notification.Kinds), "off": 0} {
			owner.send(http.MethodPost, "/notices/settings", url.Values{"all": {all}, "mail": {"post_failed"}}).shows(200)
			if got := owner.open("/notices/settings").form("Save").values["mail"]; len(got) != want {
				t.Errorf("all %s: emails are wanted for %q", all, got)
			}
		}
	})
}

// A person confirms an email address by opening a mailed link and pressing a button. Opening the link alone changes
// nothing, and other people cannot use it.
func TestConfirmEmailAddress(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		b, email := c.as(t, access.Editor), c.people[access.Editor].Email
		b.open("/account").shows(200, "Not confirmed").form("Send a confirmation link").press().shows(200, "We sent a link to "+email)
		link := box.link(email)
		c.as(t, access.Viewer).open(link).shows(404)
		h.browser(t).open(link).shows(200, "Sign in")
		b.open(link).shows(200, "Confirm your email address", email)
		b.open("/account").shows(200, "Not confirmed")
		b.open(link).form("Confirm address").press().shows(200, "Your email address is confirmed.").lacks("Not confirmed")
		b.open(link).shows(422, "already been used")
		b.send(http.MethodPost, "/account/email/confirm", url.Values{}).shows(422, "already confirmed")
	})
}

// A mailed recovery link is not shown to operators.
func TestMailedRecovery(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		operator := c.asOperator(t, access.Owner)
		p := c.people[access.Viewer]
		operator.open(fmt.Sprint("/operator/people/", p.ID)).form("Send recovery link").press().
			shows(200, "We sent a recovery link to "+p.Email).lacks(team.RecoveryPath)
		b := h.browser(t)
		b.open(box.link(p.Email)).form("Set password").fill("password", newPassword).press().
			shows(200, "Your new password is set.").lacks("Not confirmed")
	})
}

// A person with an unconfirmed address has no access to a second team until its owner confirms the membership.
func TestJoinSecondTeamRequiresConfirmation(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		person := other.people[access.Viewer]
		b := other.as(t, access.Viewer)
		path := c.invite(t, person.Email, access.Editor)
		b.open(path).form("Join team").press().
			shows(200, "Waiting for confirmation", "An owner or admin of "+c.team.Name+" must confirm")
		b.open("/account").shows(200, other.team.Name).lacks(c.team.Name)
		b.open(path).shows(422, "must confirm that it is you")
		if n := h.count(t, "memberships WHERE team_id = ? AND person_id = ?", c.team.ID, person.ID); n != 0 {
			t.Fatal("the person is a member before the confirmation")
		}
		owner := c.as(t, access.Owner)
		p := owner.open("/settings/members").shows(200, "Waiting for your confirmation", person.Email, "Email not confirmed")
		confirm := p.form("Confirm " + person.Name + ", " + person.Email)
		for _, role := range []access.Role{access.Editor, access.Viewer, access.Client} {
			c.as(t, role).send(http.MethodPost, attribute(confirm.node, "action"), url.Values{}).shows(403)
		}
		confirm.press().shows(200, "The person is now a member.").lacks("Waiting for your confirmation")
		b.open("/account").shows(200, c.team.Name)

		// The person accepts with a password, and the owner declines.
		path = c.invite(t, other.people[access.Editor].Email, access.Admin)
		h.browser(t).open(path).form("Sign in and join").fill("password", password).press().shows(200, "Waiting for confirmation")
		owner.open("/settings/members").
			form("Decline "+other.people[access.Editor].Name+", "+other.people[access.Editor].Email).press().
			shows(200, "The person was declined.")
		h.browser(t).open(path).shows(422, "was revoked")
	})
}

// Neither an invitation's page nor the answer to a wrong password reveals whether the address has an account.
func TestInvitationDoesNotRevealAccounts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		known, unknown := other.people[access.Viewer].Email, "nobody-here@harbour.example"
		plain := func(p *page, email, path string) string {
			return strings.NewReplacer(email, "EMAIL", path, "PATH").Replace(shownOnce.ReplaceAllString(p.source, ""))
		}
		b := h.browser(t)
		a, z := c.invite(t, known, access.Editor), c.invite(t, unknown, access.Editor)
		if is, isNone := plain(b.open(a), known, a), plain(b.open(z), unknown, z); is != isNone {
			t.Errorf("the pages differ:\n%s\n%s", is, isNone)
		}
		wrong := func(path string) *page {
			return b.send(http.MethodPost, path+"/sign-in",
				url.Values{"password": {"not this one at all"}, "name": {"Typed Name"}}).shows(401)
		}
		if is, isNone := plain(wrong(a), known, a), plain(wrong(z), unknown, z); is != isNone || !strings.Contains(is, "Typed Name") {
			t.Errorf("the answers to a wrong password differ or lose the name:\n%s\n%s", is, isNone)
		}
		p := b.send(http.MethodPost, a+"/join", url.Values{"name": {"Typed Name"}, "password": {newPassword}}).
			shows(422, "That did not work.")
		if got := p.form("Create account and join").values.Get("name"); got != "Typed Name" {
			t.Errorf("the name is lost: %q", got)
		}
	})
}
