package app

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/testkit/must"
)

// createReport submits the form for a report and waits until the report is ready or has failed.
func (b *browser) createReport(c *crew, kind, platform, subject string) *page {
	b.t.Helper()
	p := b.open("/reports/new").form("Create report").fill("type", kind).fill("platform", platform).fill("subject", subject).press()
	p.shows(http.StatusOK)
	return b.openFinishedReport(c, p.path)
}

// openFinishedReport opens a report's page after its job has finished.
func (b *browser) openFinishedReport(c *crew, path string) *page {
	b.t.Helper()
	id := strings.TrimPrefix(path, "/reports/")
	for end := time.Now().Add(20 * time.Second); ; {
		if c.count(b.t, "jobs WHERE subject = ? AND finished_at = 0", id) == 0 {
			return b.open(path)
		}
		if time.Now().After(end) {
			b.t.Fatalf("the job of report %s did not finish", id)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// A person creates, reads, exports and refreshes a report. Each page shows its price.
func TestReport(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/reports").shows(http.StatusOK, "No reports yet.")
		b.open("/reports/new").form("Create report").fill("subject", "harbour_cafe").press().
			shows(http.StatusPaymentRequired, "on Instagram or TikTok. 5 credits", "hashtags are used with it. 10 credits",
				"The team has 0 credits left.")
		c.grant(t, 100)
		b.open("/reports").follow("Create a report").shows(http.StatusOK, "The team has 100 credits left.")
		wrong := b.open("/reports/new").form("Create report").fill("platform", "tiktok").fill("subject", "not a name!").press()
		wrong.shows(http.StatusUnprocessableEntity, "Enter a username")
		if !strings.HasPrefix(wrong.path, "/reports/new") {
			t.Errorf("the form with an error is at %s", wrong.path)
		}
		if again := wrong.form("Create report"); again.values.Get("subject") != "not a name!" ||
			again.values.Get("platform") != "tiktok" {
			t.Errorf("the input is lost: %v", again.values)
		}

		p := b.createReport(c, "profile", "instagram", "@Harbour_Cafe")
		p.shows(http.StatusOK, "@harbour_cafe", "Followers", "Score", "logarithmic",
			"Finding", "Associated with higher engagement", "Engagement over time", "By time block Estimated",
			"Written by the profile’s owner", "Best posts", "Times are in",
			"Costs 2 credits. The team has 95 credits left.").lacks("style=")
		for _, drawing := range []string{"Engagement over time, chart", "Engagement by weekday and hour, chart"} {
			if !strings.Contains(p.source, drawing) {
				t.Errorf("no chart %s", drawing)
			}
		}
		if len(p.source) > 100_000 {
			t.Errorf("page size = %d bytes", len(p.source))
		}
		first := p.form("Refresh").p.path

		// An existing report is opened without charge.
		b.open("/reports/new").form("Create report").fill("subject", "https://www.instagram.com/harbour_cafe/").press().
			shows(http.StatusOK, "The team already has this report. Nothing was charged.", "95 credits left")

		next := p.follow("Next page")
		next.shows(http.StatusOK, "First page")
		if textOf(next.doc) == textOf(p.doc) {
			t.Error("the second page of posts equals the first")
		}
		next.follow("First page").shows(http.StatusOK)
		b.checkExports(first)

		before := b.open(first)
		p.form("Refresh").press().shows(http.StatusOK, "The report is being refreshed. 2 credits are reserved for it.")
		b.openFinishedReport(c, first).shows(http.StatusOK, "93 credits left", "You can refresh it again in 10 minutes.")
		before.form("Refresh").press().shows(http.StatusTooManyRequests, "You refreshed this report a moment ago")
		h.advance(11 * time.Minute)
		b.open(first).form("Refresh")
	})
}

// checkExports checks the exported files of a report.
func (b *browser) checkExports(report string) {
	b.t.Helper()
	for name, columns := range map[string]string{
		"posts": "id,shown,taken_at,format,likes", "hashtags": "hashtag,posts,share,ratio", "times": "days,from_hour,hours,posts,ratio",
	} {
		file := b.open(report + "/" + name + ".csv").shows(http.StatusOK)
		if kind := file.header.Get("Content-Disposition"); !strings.Contains(kind, "instagram-profile-harbour_cafe-"+name+".csv") {
			b.t.Errorf("%s: %s", name, kind)
		}
		rows, err := csv.NewReader(strings.NewReader(file.source)).ReadAll()
		if err != nil || len(rows) < 6 || !strings.HasPrefix(file.source, columns) {
			b.t.Errorf("%s: %d rows (%v): %.200s", name, len(rows), err, file.source)
		}
		for _, row := range rows[min(1, len(rows)):] {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") {
					b.t.Errorf("%s: a spreadsheet would evaluate %q as a formula", name, cell)
				}
			}
		}
	}
}

// A hashtag report has its own sections.
func TestHashtagReport(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		p := b.createReport(c, "hashtag", "tiktok", "#LatteArt") // hashtag reports are always for Instagram
		p.shows(http.StatusOK, "#latteart", "Hashtag on Instagram", "New posts per day", "Engagement per post", "Top posts",
			"Used together", "hashtags are used together with this one", "Share of top", "The first refresh starts immediately")
		p.form("Turn on tracking").fill("frequency", "7").press().
			shows(http.StatusOK,
				"Tracking is on: the report is refreshed every 7 days. The first refresh starts now: 5 credits are reserved for it.")
		b.openFinishedReport(c, p.path).shows(http.StatusOK, "Each refresh is charged 5 credits", "85 credits left",
			"available while tracking is on")
	})
}

// A failed report shows the reason and the refund, and can be retried.
func TestFailedReport(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 10)
		b := c.as(t, access.Admin)
		p := b.createReport(c, "profile", "instagram", "missing.cafe")
		p.shows(http.StatusOK, "The network has no public profile with this name.", "Refunded: 5 credits.",
			"The team has 10 credits left.")
		p.form("Try again").press().shows(http.StatusOK)
		b.openFinishedReport(c, p.path).shows(http.StatusOK, "Refunded: 5 credits.")
		b.open("/reports?status=error").shows(http.StatusOK, "@missing.cafe").lacks("No reports match")
	})
}

// The page of a pending report explains the delay and reloads itself.
func TestPendingReport(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 10)
		b := c.as(t, access.Owner)
		p := b.open("/reports/new").form("Create report").fill("subject", "slow.cafe").press()
		p.shows(http.StatusOK, "This page updates automatically", "5 credits are reserved for it.", "In progress").
			contains("data-follow").contains(`http-equiv="refresh"`).contains(`class="spinner"`)
		b.open("/reports?status=pending").shows(http.StatusOK, "@slow.cafe")
		b.openFinishedReport(c, p.path).shows(http.StatusOK, "Followers").lacks("data-follow")
	})
}

// Tracking is switched on, changed and switched off. The page says why tracking ended.
func TestTracking(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 6)
		b := c.as(t, access.Owner)
		p := b.createReport(c, "profile", "tiktok", "harbour_cafe")
		p.shows(http.StatusOK, "Each refresh is charged 2 credits").form("Turn on tracking").press().
			shows(http.StatusOK, "Tracking is on: the report is refreshed every 3 days.",
				"The report is refreshed every 3 days. Next refresh:")
		b.open(p.path).form("Save frequency").fill("frequency", "1").press().
			shows(http.StatusOK, "The report is refreshed every day. Next refresh:")
		b.open("/reports?tracked=1").shows(http.StatusOK, "@harbour_cafe", "While tracked")
		b.open(p.path).form("Turn off tracking").press().shows(http.StatusOK, "Tracking is off. Nothing more is charged.")
		b.open("/reports?tracked=1").shows(http.StatusOK, "No reports match these filters.")

		// One credit is left, and a refresh costs two.
		b.open(p.path).form("Turn on tracking").fill("frequency", "1").press().shows(http.StatusOK)
		h.advance(25 * time.Hour)
		for end := time.Now().
			Add(10 * time.Second); c.count(t, "reports WHERE team_id = ? AND tracking_ended <> ''",
			c.team.ID) == 0; <-time.After(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("tracking did not end")
			}
		}
		c.as(t, access.Viewer).open(p.path).
			shows(http.StatusOK, "Tracking has stopped: the team had too few credits for the next automatic refresh.")
	})
}

// The form shows what is known about a subject and its price, without a request to a provider or a charge.
func TestReportPreview(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 12)
		b := c.as(t, access.Owner)
		b.open("/reports/new?subject=https://www.instagram.com/harbour_cafe/").shows(http.StatusOK, "@harbour_cafe Profile on Instagram.",
			"View on Instagram", "5 credits 7 credits left afterward").contains(`href="https://www.instagram.com/harbour_cafe"`)
		b.open("/reports/new?type=hashtag&subject=latteart").
			shows(http.StatusOK, "#latteart Hashtag on Instagram.", "2 credits left afterward")
		b.open("/reports/new").lacks("Your accounts:")
		c.addAccountOf(t, "instagram")
		c.addAccountOf(t, "mastodon")
		own := b.open("/reports/new").shows(http.StatusOK, "Your accounts:")
		if n := strings.Count(own.source, `href="/reports/new?platform=instagram&amp;subject=`); n != 1 {
			t.Errorf("%d accounts are offered, want only the one on a network with reports", n)
		}
		for _, subject := range []string{"", "not+a+name!"} {
			b.open("/reports/new?subject="+subject).shows(http.StatusOK).lacks("left afterward", "View on")
		}
		b.createReport(c, "profile", "instagram", "harbour_cafe")
		b.open("/reports/new?subject=Harbour_Cafe").
			shows(http.StatusOK, "Free of charge Your team already has this report, measured").lacks("left afterward")
		part := b.open("/reports/new/preview?subject=Harbour_Cafe").shows(http.StatusOK, "Free of charge").lacks("Create report")
		if n := len(part.source); n > 2000 {
			t.Errorf("the preview has %d bytes", n)
		}
		b.open("/reports/new?platform=tiktok&subject=harbour_cafe").shows(http.StatusOK, "@harbour_cafe Profile on TikTok.")
		b.open("/reports/new?type=hashtag&subject=latteart").shows(http.StatusOK, "Your team has too few credits.")
		if n := h.count(t, "reports WHERE team_id = ?", c.team.ID); n != 1 {
			t.Errorf("%d reports", n)
		}
	})
}

// row returns the HTML of the first table row with a heading.
func (p *page) row(heading string) (string, bool) {
	_, rest, found := strings.Cut(p.source, `<th scope="row">`+heading+`</th>`)
	row, _, _ := strings.Cut(rest, "</tr>")
	return row, found
}

// Profiles can be compared, up to the plan's limit.
func TestCompareProfiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		var ids []string
		for _, name := range []string{"harbour_cafe", "harbour_bar", "studio.north"} {
			ids = append(ids, strings.TrimPrefix(b.createReport(c, "profile", "instagram", name).path, "/reports/"))
		}
		tag := strings.TrimPrefix(b.createReport(c, "hashtag", "instagram", "latteart").path, "/reports/")
		list := b.open("/reports").shows(http.StatusOK, "@harbour_cafe Instagram · measured", "Followers", "Engagement", "Score",
			"#latteart")
		list.contains(`<details class="filter-fold"><summary>`)
		b.open("/reports?type=hashtag").contains(`<details class="filter-fold" open><summary>`)
		form := list.form("Compare selected profiles")
		form.fill("ids", ids...).press().
			shows(http.StatusOK, "@harbour_cafe", "@harbour_bar", "@studio.north", "Score (out of 100)", "Engagement per follower")
		b.open("/reports/compare?ids="+ids[0]+","+ids[1]).shows(http.StatusOK, "@harbour_cafe", "@harbour_bar")
		compared := b.open("/reports/compare?ids="+ids[0]+","+ids[1]).shows(http.StatusOK, "Engagement per follower over time",
			"@harbour_cafe on Instagram", "Engagement per follower over time, in percent").lacks("Follower growth")
		// Of two profiles, at most one has the highest value of a row.
		if row, ok := compared.row("Followers"); !ok || strings.Count(row, `class="n top"`) != 1 {
			t.Errorf("the highest number of followers is not bold: %s", row)
		}
		// Each line is in the charts for wide and narrow screens and in the legend.
		if n := strings.Count(compared.source, `<path class="line s`); n != 6 {
			t.Errorf("%d lines are drawn", n)
		}
		h.change(t, `INSERT INTO report_samples (report_id, measured_at, sample)
			SELECT report_id, measured_at - 86400000000, '{"followers": 1000}' FROM report_samples WHERE report_id = ?`, ids[0])
		b.open("/reports/compare?ids="+ids[0]+","+ids[1]).shows(http.StatusOK, "Follower growth")
		if trend := b.open("/reports").shows(http.StatusOK, "since "); strings.Count(trend.source, `class="spark"`) != 1 ||
			strings.Count(trend.source, `class="trend up"`) != 1 {
			t.Error("the list does not show the growth of the profile that was measured twice")
		}
		b.open("/reports/compare?ids="+ids[0]).shows(http.StatusBadRequest, "Select at least two")
		b.open("/reports/compare?ids=" + ids[0] + "," + tag).shows(http.StatusNotFound)
		must.NoError(t, h.Teams.SetPlan(t.Context(), c.team.ID, "creator", time.Time{}))
		b.open("/reports/compare?ids="+strings.Join(append(ids, tag), ",")).shows(http.StatusForbidden, "Your plan allows 3 profiles")
		must.NoError(t, h.Teams.SetPlan(t.Context(), c.team.ID, "free", time.Time{}))
		b.open("/reports").shows(http.StatusOK).lacks("Compare selected")
	})
}

// The role decides who may view and change reports.
func TestReportPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		c.grant(t, 50)
		must.NoError(t, h.Reports.CreateFree(t.Context(), c.team.ID,
			report.CreateInput{Type: report.Profile, Platform: "instagram", Subject: "harbour_cafe"}))
		var id string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM reports WHERE team_id = ?`, c.team.ID).Scan(&id))
		path := "/reports/" + id
		c.as(t, access.Owner).openFinishedReport(c, path).shows(http.StatusOK, "@harbour_cafe", "The team has 50 credits left.")

		for _, role := range []access.Role{access.Viewer, access.Client, access.Editor} {
			b := c.as(t, role)
			p := b.open(path).shows(http.StatusOK, "@harbour_cafe", "Members who can spend credits can refresh it.")
			p.lacks("Turn on tracking", "credits left")
			b.open("/reports").shows(http.StatusOK, "@harbour_cafe").lacks("New report")
			b.open("/reports/new").shows(http.StatusForbidden, "Your role in this team does not allow this.")
			for _, address := range []string{"/reports/new", path + "/refresh", path + "/tracking"} {
				b.send(http.MethodPost, address, map[string][]string{"subject": {"x"}}).shows(http.StatusForbidden)
			}
			b.open(path + "/posts.csv").shows(http.StatusOK)
		}

		stranger := other.as(t, access.Owner)
		for _, address := range []string{
			path, path + "/posts.csv", path + "/hashtags.csv", path + "/times.csv", "/reports/compare?ids=" + id + ",x", "/reports/none",
		} {
			stranger.open(address).shows(http.StatusNotFound, "This page doesn’t exist").lacks("harbour_cafe")
			out := h.browser(t).open(address)
			if out.shows(http.StatusOK); !strings.HasPrefix(out.path, "/sign-in") {
				t.Errorf("signed out, %s redirects to %s", address, out.path)
			}
		}
		for _, address := range []string{path + "/refresh", path + "/tracking"} {
			stranger.send(http.MethodPost, address, map[string][]string{"tracking": {"on"}}).shows(http.StatusNotFound)
		}
		if c.count(t, "jobs WHERE team_id = ?", c.team.ID) != 1 {
			t.Error("a person without permission started a job")
		}

		// A member of both teams is redirected to the report's team.
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Owner].ID, access.Viewer))
		stranger.open(path).shows(http.StatusOK, "@harbour_cafe", c.team.Name)
	})
}

// A report begins with growth and the best posts, and states its method next to them.
func TestReportOrder(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		p := b.createReport(c, "profile", "instagram", "harbour_cafe")
		p.shows(http.StatusOK, "Summary", "Method", "Print or save as PDF", "the median post")
		at := -1
		for _, part := range []string{
			`id="brief"`, `id="best"`, `id="time"`, `id="times"`, `id="formats"`, `id="score"`, `<aside`, `id="method"`,
		} {
			next := strings.Index(p.source, part)
			if next <= at {
				t.Errorf("%s is not in order", part)
			}
			at = next
		}
		if strings.Contains(p.source, `id="growth"`) {
			t.Error("growth is shown after a single measurement")
		}
		h.advance(30 * time.Hour)
		b = c.as(t, access.Owner) // the session has ended
		b.open(p.path).form("Refresh").press().shows(http.StatusOK)
		p = b.openFinishedReport(c, p.path).shows(http.StatusOK, " since ")
		if growth := strings.Index(p.source, `id="growth"`); growth < 0 || growth > strings.Index(p.source, `id="best"`) {
			t.Error("growth is not the first section")
		}
	})
}

// addDownload records a library file as the downloaded file of every post in a profile report.
func (c *crew) addDownload(t *testing.T, file, profile string) {
	t.Helper()
	var job string
	must.NoError(t, c.db.QueryRow(t.Context(), `SELECT job_id FROM reports WHERE team_id = ?`, c.team.ID).Scan(&job))
	c.change(t, `INSERT INTO media_downloads (job_id, team_id, person_id, key_id, platform, type, username, to_fetch, save)
		VALUES (?, ?, 0, 0, 'instagram', 'posts', ?, 50, 1)`, job, c.team.ID, profile)
	c.change(t, `INSERT INTO media_download_items (job_id, position, item, kind, address, media_id)
		SELECT r.job_id, ROW_NUMBER() OVER (ORDER BY p.post), p.post, 'image', '', CAST(? AS BIGINT)
		FROM report_posts p JOIN reports r ON r.id = p.report_id WHERE r.team_id = ?`, file, c.team.ID)
}

// Best posts have a thumbnail if their files are in the team's library.
func TestReportThumbnails(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		c.grant(t, 100)
		other.grant(t, 100)
		b := c.as(t, access.Owner)
		path := b.createReport(c, "profile", "instagram", "harbour_cafe").path
		foreign := other.as(t, access.Owner)
		foreignPath := foreign.createReport(other, "profile", "instagram", "harbour_cafe").path
		if p := b.open(path); strings.Contains(p.source, `class="pic"`) {
			t.Error("thumbnails are shown although the library is empty")
		}
		file := c.addImage(t, "quay", 10)
		c.addDownload(t, strings.TrimPrefix(file, "/media/"), "harbour_cafe")
		p := b.open(path)
		if n := strings.Count(p.source, `<img src="`+file+`/thumbnail"`); n != 6 {
			t.Fatalf("%d posts have a thumbnail", n)
		}
		b.open(file + "/thumbnail").shows(http.StatusOK)
		if p := foreign.open(foreignPath); strings.Contains(p.source, `class="pic"`) {
			t.Error("another team's files are shown")
		}
	})
}
