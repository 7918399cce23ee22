package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// mailsTo returns the number of mails to an address.
func (p *postbox) mailsTo(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[address]
}

// lastMail returns the text of the last mail to an address, and a function that returns its header fields.
func (p *postbox) lastMail(address string) (string, func(string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts[address], p.headers[address].Get
}

// nextMail advances the clock to the next mailing of the report and sends it on several nodes concurrently.
func (c *crew) nextMail(t *testing.T) {
	t.Helper()
	var next int64
	must.NoError(t, c.db.QueryRow(t.Context(), `SELECT next_at FROM report_subscriptions WHERE team_id = ?`, c.team.ID).Scan(&next))
	c.advance(db.Time(next).Sub(c.now()) + time.Second)
	c.sendDue(t)
}

// sendDue sends due mails on several nodes concurrently and waits until no due mail remains.
func (c *crew) sendDue(t *testing.T) {
	t.Helper()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { must.NoError(t, c.ReportMails.SendDue(t.Context())) })
	}
	work.Wait()
	end := time.Now().Add(20 * time.Second)
	for c.count(t, "report_mails WHERE state = 'sending'") > 0 {
		<-time.After(20 * time.Millisecond)
		if time.Now().After(end) {
			t.Fatal("a due mail was not sent")
		}
	}
}

// scheduleReport creates a report that is mailed to a member and an address every Monday at 9:00, and returns its path.
func (c *crew) scheduleReport(t *testing.T, address string) string {
	t.Helper()
	c.grant(t, 100)
	b := c.as(t, access.Owner)
	report := b.createReport(c, "profile", "instagram", "harbour_cafe").path
	b.open(report+"/share").form("Start emails").fill("period", "weekly").fill("weekday", "1").fill("hour", "9").press().
		shows(http.StatusOK, "The schedule was saved.", "Next email: Mon", "09:00", "Nobody gets the report yet.")
	member := c.people[access.Viewer]
	b.open(report+"/share").form("Add member").fill("person", fmt.Sprint(member.ID)).press().
		shows(http.StatusOK, "The recipient was added.", member.Email)
	b.open(report+"/share").form("Add address").fill("email", address).press().shows(http.StatusOK, address, "No email sent yet")
	return report
}

// Each recipient gets one mail per week, with metrics and a link, until the recipient unsubscribes. Several nodes do
// not send it twice.
func TestReportMails(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		client, member := fmt.Sprintf("client%d@quay.example", c.team.ID), c.people[access.Viewer].Email
		report := c.scheduleReport(t, client)
		c.sendDue(t)
		if box.mailsTo(client)+box.mailsTo(member) != 0 {
			t.Fatal("a mail was sent too early")
		}
		for week := 1; week <= 2; week++ {
			c.nextMail(t)
			c.sendDue(t)
			if a, b := box.mailsTo(client), box.mailsTo(member); a != week || b != week {
				t.Fatalf("after %d weeks, %d and %d mails", week, a, b)
			}
		}
		text, header := box.lastMail(client)
		for _, part := range []string{"Report on @harbour_cafe (Instagram)", "Followers: ", "Summary", "<h1", "every week"} {
			if !strings.Contains(text, part) {
				t.Errorf("the mail lacks %q:\n%s", part, text)
			}
		}
		link := box.link(client)
		out := h.browser(t)
		out.open(link).shows(http.StatusOK, "@harbour_cafe", "Shared by "+c.team.Name)
		c.as(t, access.Owner).open(report+"/share").shows(http.StatusOK, "Last email", "Sent in an email on")

		leave := strings.TrimPrefix(strings.Trim(header("List-Unsubscribe"), "<>"), h.root)
		if header("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.HasPrefix(leave, "/unsubscribe/") {
			t.Fatalf("no List-Unsubscribe header: %q", leave)
		}
		out.open(leave).shows(http.StatusOK, "emails you the report on", "@harbour_cafe")
		out.open(leave[:len(leave)-1] + "A").shows(http.StatusNotFound)
		out.open(leave).form("Stop these emails").press().shows(http.StatusOK, "You are unsubscribed")
		out.send(http.MethodPost, leave, url.Values{"List-Unsubscribe": {"One-Click"}}).shows(http.StatusOK)
		out.open(link).shows(http.StatusNotFound)
		owner := c.as(t, access.Owner)
		owner.open(report+"/share").shows(http.StatusOK, "Unsubscribed")
		owner.open(report+"/share").form("Add address").fill("email", client).press().
			shows(http.StatusUnprocessableEntity, "already in the list")
		c.nextMail(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 2 || b != 3 {
			t.Errorf("%d and %d mails after the client unsubscribed", a, b)
		}

		owner = c.as(t, access.Owner)
		owner.open(report+"/share").form("Remove "+member).press().
			shows(http.StatusOK, "The recipient was removed.").lacks(member + " Last")
		owner.open(report+"/share").form("Stop emails").press().
			shows(http.StatusOK, "The report is no longer emailed.", "No emails are scheduled.")
		owner.open("/settings/audit").shows(http.StatusOK, "scheduled weekly emails of a report",
			"unsubscribed from the emails of a report", "removed a recipient from the emails of a report", "stopped the emails of a report")
	})
}

// A rejected mail is sent again. A mail that may have been accepted is not sent again.
func TestReportMailFailures(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		client, member := fmt.Sprintf("client%d@quay.example", c.team.ID), c.people[access.Viewer].Email
		report := c.scheduleReport(t, client)
		box.reject(true)
		c.nextMail(t)
		box.reject(false)
		c.sendDue(t)
		if box.mailsTo(client) != 0 {
			t.Fatal("a rejected mail was repeated immediately")
		}
		h.advance(time.Minute + time.Second)
		c.sendDue(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 1 || b != 1 {
			t.Fatalf("%d and %d mails after a rejection", a, b)
		}

		// The process died while it was sending the client's mail.
		h.change(t, `INSERT INTO report_mails (recipient_id, period_at, state, changed_at)
			SELECT r.id, s.next_at, 'sending', 1 FROM report_recipients r JOIN report_subscriptions s ON s.report_id = r.report_id
			WHERE r.email = ?`, client)
		var next int64
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT next_at FROM report_subscriptions WHERE team_id = ?`, c.team.ID).Scan(&next))
		h.advance(db.Time(next).Sub(h.now()) + time.Second)
		must.NoError(t, h.ReportMails.SendDue(t.Context()))
		h.advance(24 * time.Hour)
		must.NoError(t, h.ReportMails.SendDue(t.Context()))
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 1 || b != 2 {
			t.Errorf("%d and %d mails after a crash", a, b)
		}

		// A former member gets no more mails and is not in the list of recipients.
		c.as(t, access.Owner).open("/settings/members")
		must.NoError(t, h.Erasure.Leave(t.Context(), c.people[access.Viewer].ID, c.team.ID))
		h.change(t, `DELETE FROM report_mails WHERE state = 'sending'`)
		c.nextMail(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 2 || b != 2 {
			t.Errorf("%d and %d mails after a member has left", a, b)
		}
		c.as(t, access.Owner).open(report+"/share").shows(http.StatusOK, client).lacks(member + " Last")
		h.change(t, `UPDATE teams SET closed_at = 1 WHERE id = ?`, c.team.ID)
		c.nextMail(t)
		if n := box.mailsTo(client); n != 2 {
			t.Errorf("%d mails after the team was closed", n)
		}
	})
}

// Only owners and admins can add addresses. Viewers and clients can change nothing. The page says if mail is not
// configured.
func TestReportMailPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		report := c.as(t, access.Owner).createReport(c, "profile", "instagram", "harbour_cafe").path
		c.as(t, access.Owner).open(report+"/share").shows(http.StatusOK, "Share links").lacks("Start emails", "Email on a schedule")
		c.as(t, access.Owner).send(http.MethodPost, report+"/schedule",
			url.Values{"period": {"weekly"}, "weekday": {"1"}, "hour": {"9"}}).shows(http.StatusUnprocessableEntity, "no mail server")
	})
}

// The form for recipients depends on the role and rejects invalid input.
func TestReportMailForms(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, _ *postbox) {
		c := h.crew(t)
		report := c.scheduleReport(t, "client@quay.example")
		editor := c.as(t, access.Editor)
		editor.open(report+"/share").shows(http.StatusOK, "Owners and admins can also add other addresses.").lacks("Other address")
		editor.send(http.MethodPost, report+"/addresses", url.Values{"email": {"x@quay.example"}}).shows(http.StatusForbidden)
		for _, role := range []access.Role{access.Viewer, access.Client} {
			c.as(t, role).send(http.MethodPost, report+"/schedule/stop", url.Values{}).shows(http.StatusForbidden)
		}
		owner := c.as(t, access.Owner)
		for _, bad := range []url.Values{
			{"period": {"daily"}, "weekday": {"1"}, "hour": {"9"}}, {"period": {"weekly"}, "weekday": {"8"}, "hour": {"9"}},
			{"period": {"monthly"}, "monthday": {"29"}, "hour": {"9"}}, {"period": {"weekly"}, "weekday": {"1"}, "hour": {"x"}},
		} {
			owner.send(http.MethodPost, report+"/schedule", bad).shows(http.StatusUnprocessableEntity)
		}
		p := owner.send(http.MethodPost, report+"/addresses", url.Values{"email": {"no address"}}).
			shows(http.StatusUnprocessableEntity, "Enter an email address.")
		if got := p.form("Add address").values.Get("email"); got != "no address" {
			t.Errorf("the input is lost: %q", got)
		}
		stranger := h.crew(t)
		owner.send(http.MethodPost, report+"/members", url.Values{"person": {fmt.Sprint(stranger.people[access.Owner].ID)}}).
			shows(http.StatusUnprocessableEntity, "Choose a member of the team.")
		stranger.as(t, access.Owner).send(http.MethodPost, report+"/schedule/stop", url.Values{}).shows(http.StatusNotFound)
	})
}
