package app

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// share creates a share link on a report's page and returns its path.
func (b *browser) share(report, days string) string {
	b.t.Helper()
	p := b.open(report+"/share").form("Create link").fill("days", days).press()
	p.shows(http.StatusOK, "Your new link.")
	if p.path != report+"/share" {
		b.t.Errorf("the new link is shown at %s, which cannot be opened again", p.path)
	}
	link := regexp.MustCompile(`/shared/reports/[a-z0-9]+`).FindString(p.source)
	if link == "" {
		b.t.Fatal("no share link")
	}
	return link
}

// Anyone with a share link can read the report, and nothing else, until the link is revoked or expires.
func TestReportLink(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		owner := c.as(t, access.Owner)
		p := owner.createReport(c, "profile", "instagram", "harbour_cafe")
		report := p.path
		editor := c.as(t, access.Editor)
		link := editor.share(report, "7")
		if again := editor.open(report + "/share"); strings.Contains(again.source, link) {
			t.Error("the link is shown a second time")
		}
		out := h.browser(t).open(link)
		out.shows(http.StatusOK, "@harbour_cafe", "Best posts", "Summary", "Method", "Shared by "+c.team.Name).
			lacks("Refresh", "Tracking", "credits", "CSV", "Ada ", "harbour.example", "Next page", "All reports")
		if got := out.header.Get("X-Robots-Tag"); !strings.Contains(got, "noindex") {
			t.Errorf("X-Robots-Tag = %q", got)
		}
		if strings.Contains(out.source, `href="/reports`) || !strings.Contains(out.source, `content="noindex, nofollow"`) {
			t.Error("the shared page links to the app, or may be indexed")
		}
		editor.open(report+"/share").shows(http.StatusOK, "Expires", "last opened on").contains("by Ada editor")
		if n := h.count(t, "report_links WHERE token_hash = ?", []byte(strings.TrimPrefix(link, "/shared/reports/"))); n != 0 {
			t.Error("the token is stored unhashed")
		}

		second := owner.share(report, "30")
		owner.open(report+"/share").follow("Revoke link 2").shows(http.StatusOK, "Revoke link 2?")
		h.browser(t).open(second).shows(http.StatusOK)
		owner.open(report+"/links/2/revoke").form("Revoke link").press().shows(http.StatusOK, "The link was revoked.")
		owner.open(report + "/links/2/revoke").shows(http.StatusNotFound)
		h.browser(t).open(second).shows(http.StatusNotFound, "This link no longer works").lacks("harbour_cafe")
		h.browser(t).open(link).shows(http.StatusOK)

		// A name distinguishes links. A name that is too long stays in the field.
		long := strings.Repeat("é", 61)
		again := owner.open(report+"/share").form("Create link").fill("name", long).press().shows(http.StatusUnprocessableEntity, "60")
		if got := again.form("Create link").values.Get("name"); got != long {
			t.Errorf("the field has %q", got)
		}
		named := owner.open(report+"/share").form("Create link").fill("name", "Mia & Co").press().shows(http.StatusOK, "Mia & Co")
		named = named.form("Replace link Mia & Co").press().shows(http.StatusOK, "Your new link.", "Mia & Co")
		named.follow("Revoke link Mia & Co").form("Revoke link").press().shows(http.StatusOK, "The link was revoked.").lacks("Mia & Co")

		// A lost link is replaced by one that expires at the same time.
		until := h.count(t, "report_links WHERE expires_at = (SELECT MIN(expires_at) FROM report_links)")
		replaced := editor.open(report+"/share").form("Replace link 1").press().shows(http.StatusOK, "Your new link.")
		h.browser(t).open(link).shows(http.StatusNotFound, "This link no longer works")
		link = regexp.MustCompile(`/shared/reports/[a-z0-9]+`).FindString(replaced.source)
		h.browser(t).open(link).shows(http.StatusOK, "@harbour_cafe")
		n := h.count(t, "report_links WHERE expires_at = (SELECT MIN(expires_at) FROM report_links)")
		if n != until || n != h.count(t, "report_links") {
			t.Errorf("%d links end with the first, want %d", n, until)
		}
		editor.send(http.MethodPost, report+"/links/1/replace", url.Values{}).shows(http.StatusNotFound)
		owner.open("/settings/audit").shows(http.StatusOK, "created a share link to a report, which works for 7 days",
			"revoked a share link to a report")

		for _, role := range []access.Role{access.Viewer, access.Client} {
			b := c.as(t, role)
			b.open(report).shows(http.StatusOK)
			b.open(report + "/share").shows(http.StatusForbidden)
			b.send(http.MethodPost, report+"/links", url.Values{"days": {"7"}}).shows(http.StatusForbidden)
		}
		stranger := h.crew(t).as(t, access.Owner)
		stranger.open(report + "/share").shows(http.StatusNotFound)
		stranger.send(http.MethodPost, report+"/links", url.Values{"days": {"7"}}).shows(http.StatusNotFound)
		owner.send(http.MethodPost, report+"/links", url.Values{"days": {"1000"}}).
			shows(http.StatusUnprocessableEntity, "Choose how long the link works.")
		for range 19 {
			owner.share(report, "7")
		}
		owner.open(report+"/share").form("Create link").press().shows(http.StatusUnprocessableEntity, "The report has 20 links.")

		h.advance(7*24*time.Hour + time.Second)
		h.browser(t).open(link).shows(http.StatusNotFound, "This link no longer works")
		must.Get(h.ReportLinks.Sweep(t.Context()))(t)
		if n := h.count(t, "report_links"); n != 0 {
			t.Errorf("%d expired links remain", n)
		}
	})
}

// A shared report shows the thumbnails of its best posts and no other file. Its link ends when the team is deleted.
func TestReportLinkPictures(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		report := b.createReport(c, "profile", "instagram", "harbour_cafe").path
		shown, private := c.addImage(t, "quay", 10), c.addImage(t, "secret", 20)
		c.addDownload(t, strings.TrimPrefix(shown, "/media/"), "harbour_cafe")
		link := b.share(report, "7")
		out := h.browser(t)
		p := out.open(link)
		picture := link + "/pictures/" + strings.TrimPrefix(shown, "/media/")
		if n := strings.Count(p.source, `<img src="`+picture+`"`); n != 6 {
			t.Errorf("%d posts have a thumbnail", n)
		}
		if got := out.open(picture).shows(http.StatusOK).header.Get("Content-Type"); !strings.HasPrefix(got, "image/") {
			t.Errorf("thumbnail = %q", got)
		}
		out.open(link + "/pictures/" + strings.TrimPrefix(private, "/media/")).shows(http.StatusNotFound)
		out.open(link + "x/pictures/" + strings.TrimPrefix(shown, "/media/")).shows(http.StatusNotFound)
		h.change(t, `UPDATE teams SET closed_at = 1 WHERE id = ?`, c.team.ID)
		out.open(link).shows(http.StatusNotFound)
		out.open(picture).shows(http.StatusNotFound)
	})
}
