package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// mailsTo returns how many mails an address got.
func (p *postbox) mailsTo(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[address]
}

// last returns the text and header of the last mail to an address.
func (p *postbox) last(address string) (string, func(string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts[address], p.headers[address].Get
}

// nextMail moves the clock to the time at which the report is mailed, and has several nodes send at once.
func (c *crew) nextMail(t *testing.T) {
	t.Helper()
	var next int64
	must.NoError(t, c.db.QueryRow(t.Context(), `SELECT next_at FROM report_subscriptions WHERE team_id = ?`, c.team.ID).Scan(&next))
	c.advance(db.Time(next).Sub(c.now()) + time.Second)
	c.sendDue(t)
}

// sendDue has several nodes send what is due, and waits until nothing is left.
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
			t.Fatal("a mail is not handed over")
		}
	}
}

// schedule makes a report that is mailed every Monday at nine to a member and to an address, and returns its path.
func (c *crew) schedule(t *testing.T, address string) string {
	t.Helper()
	c.grant(t, 100)
	b := c.as(t, access.Owner)
	report := b.createReport(c, "profile", "instagram", "harbour_cafe").path
	b.open(report+"/share").form("Start emails").fill("period", "weekly").fill("weekday", "1").fill("hour", "9").press().
		wants(http.StatusOK, "The schedule was saved.", "Next email: Mon", "09:00", "Nobody gets the report yet.")
	member := c.people[access.Viewer]
	b.open(report+"/share").form("Add member").fill("person", fmt.Sprint(member.ID)).press().
		wants(http.StatusOK, "The recipient was added.", member.Email)
	b.open(report+"/share").form("Add address").fill("email", address).press().wants(http.StatusOK, address, "No email sent yet")
	return report
}

// Each recipient gets one mail a week with figures and a link, however many nodes send, until it unsubscribes.
func TestReportMails(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		client, member := fmt.Sprintf("client%d@quay.example", c.team.ID), c.people[access.Viewer].Email
		report := c.schedule(t, client)
		c.sendDue(t)
		if box.mailsTo(client)+box.mailsTo(member) != 0 {
			t.Fatal("a mail was sent before its time")
		}
		for week := 1; week <= 2; week++ {
			c.nextMail(t)
			c.sendDue(t)
			if a, b := box.mailsTo(client), box.mailsTo(member); a != week || b != week {
				t.Fatalf("after %d weeks, %d and %d mails", week, a, b)
			}
		}
		text, header := box.last(client)
		for _, part := range []string{"Report on @harbour_cafe (Instagram)", "Followers: ", "In short", "<h1", "every week"} {
			if !strings.Contains(text, part) {
				t.Errorf("the mail lacks %q:\n%s", part, text)
			}
		}
		link := box.link(client)
		out := h.browser(t)
		out.open(link).wants(http.StatusOK, "@harbour_cafe", "Shared by "+c.team.Name)
		c.as(t, access.Owner).open(report+"/share").wants(http.StatusOK, "Last email", "Sent in an email on")

		leave := strings.TrimPrefix(strings.Trim(header("List-Unsubscribe"), "<>"), h.root)
		if header("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.HasPrefix(leave, "/unsubscribe/") {
			t.Fatalf("no way to unsubscribe: %q", leave)
		}
		out.open(leave).wants(http.StatusOK, "emails you the report on", "@harbour_cafe")
		out.open(leave[:len(leave)-1] + "A").wants(http.StatusNotFound)
		out.open(leave).form("Stop these emails").press().wants(http.StatusOK, "You are unsubscribed")
		out.send(http.MethodPost, leave, url.Values{"List-Unsubscribe": {"One-Click"}}).wants(http.StatusOK)
		out.open(link).wants(http.StatusNotFound)
		owner := c.as(t, access.Owner)
		owner.open(report+"/share").wants(http.StatusOK, "Unsubscribed")
		owner.open(report+"/share").form("Add address").fill("email", client).press().
			wants(http.StatusUnprocessableEntity, "already in the list")
		c.nextMail(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 2 || b != 3 {
			t.Errorf("%d and %d mails after one has unsubscribed", a, b)
		}

		owner = c.as(t, access.Owner)
		owner.open(report+"/share").form("Remove "+member).press().
			wants(http.StatusOK, "The recipient was removed.").lacks(member + " Last")
		owner.open(report+"/share").form("Stop emails").press().
			wants(http.StatusOK, "The report is no longer emailed.", "No emails are scheduled.")
		owner.open("/settings/audit").wants(http.StatusOK, "scheduled weekly emails of a report",
			"unsubscribed from the emails of a report", "removed a recipient from the emails of a report", "stopped the emails of a report")
	})
}

// A refused mail is tried again, and one that may have been handed over is not repeated.
func TestReportMailFailures(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		client, member := fmt.Sprintf("client%d@quay.example", c.team.ID), c.people[access.Viewer].Email
		report := c.schedule(t, client)
		box.refuse(true)
		c.nextMail(t)
		box.refuse(false)
		c.sendDue(t)
		if box.mailsTo(client) != 0 {
			t.Fatal("a refused mail was repeated at once")
		}
		h.advance(time.Minute + time.Second)
		c.sendDue(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 1 || b != 1 {
			t.Fatalf("%d and %d mails after a refusal", a, b)
		}

		// The process died while it handed over the mail to the client.
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

		// A member who leaves gets nothing more, and is not in the list.
		c.as(t, access.Owner).open("/settings/members")
		must.NoError(t, h.Erasure.Leave(t.Context(), c.people[access.Viewer].ID, c.team.ID))
		h.change(t, `DELETE FROM report_mails WHERE state = 'sending'`)
		c.nextMail(t)
		if a, b := box.mailsTo(client), box.mailsTo(member); a != 2 || b != 2 {
			t.Errorf("%d and %d mails after a member has left", a, b)
		}
		c.as(t, access.Owner).open(report+"/share").wants(http.StatusOK, client).lacks(member + " Last")
		h.change(t, `UPDATE teams SET closed_at = 1 WHERE id = ?`, c.team.ID)
		c.nextMail(t)
		if n := box.mailsTo(client); n != 2 {
			t.Errorf("%d mails after the team was closed", n)
		}
	})
}

// Only owners and admins add addresses; viewers and clients change nothing. Without a mail server the page says so.
func TestReportMailPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		report := c.as(t, access.Owner).createReport(c, "profile", "instagram", "harbour_cafe").path
		c.as(t, access.Owner).open(report+"/share").wants(http.StatusOK, "This service has no mail server").lacks("Start emails")
		c.as(t, access.Owner).send(http.MethodPost, report+"/schedule",
			url.Values{"period": {"weekly"}, "weekday": {"1"}, "hour": {"9"}}).wants(http.StatusUnprocessableEntity, "no mail server")
	})
}

// What a recipient's page offers depends on the role, and wrong input is refused.
func TestReportMailForms(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, _ *postbox) {
		c := h.crew(t)
		report := c.schedule(t, "client@quay.example")
		editor := c.as(t, access.Editor)
		editor.open(report+"/share").wants(http.StatusOK, "Owners and admins can also add other addresses.").lacks("Other address")
		editor.send(http.MethodPost, report+"/addresses", url.Values{"email": {"x@quay.example"}}).wants(http.StatusForbidden)
		for _, role := range []access.Role{access.Viewer, access.Client} {
			c.as(t, role).send(http.MethodPost, report+"/schedule/stop", url.Values{}).wants(http.StatusForbidden)
		}
		owner := c.as(t, access.Owner)
		for _, bad := range []url.Values{
			{"period": {"daily"}, "weekday": {"1"}, "hour": {"9"}}, {"period": {"weekly"}, "weekday": {"8"}, "hour": {"9"}},
			{"period": {"monthly"}, "monthday": {"29"}, "hour": {"9"}}, {"period": {"weekly"}, "weekday": {"1"}, "hour": {"x"}},
		} {
			owner.send(http.MethodPost, report+"/schedule", bad).wants(http.StatusUnprocessableEntity)
		}
		p := owner.send(http.MethodPost, report+"/addresses", url.Values{"email": {"no address"}}).
			wants(http.StatusUnprocessableEntity, "Enter an email address.")
		if got := p.form("Add address").values.Get("email"); got != "no address" {
			t.Errorf("what was typed is lost: %q", got)
		}
		stranger := h.crew(t)
		owner.send(http.MethodPost, report+"/members", url.Values{"person": {fmt.Sprint(stranger.people[access.Owner].ID)}}).
			wants(http.StatusUnprocessableEntity, "Choose a member of the team.")
		stranger.as(t, access.Owner).send(http.MethodPost, report+"/schedule/stop", url.Values{}).wants(http.StatusNotFound)
	})
}
