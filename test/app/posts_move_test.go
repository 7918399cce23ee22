package app

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// version returns the version of a post, as the calendar's pages send it.
func (c *crew) version(t *testing.T, id string) string {
	t.Helper()
	var at int64
	must.NoError(t, c.db.QueryRow(t.Context(), `SELECT updated_at FROM posts WHERE id = ?`, id).Scan(&at))
	return strconv.FormatInt(at, 10)
}

// move sends the request that dragging a post in the calendar of June 2027 sends.
func (c *crew) move(t *testing.T, b *browser, id string, to url.Values) *page {
	t.Helper()
	form := url.Values{"seen": {c.version(t, id)}, "back": {"view=month&day=2027-06-01"}}
	maps.Copy(form, to)
	return b.send(http.MethodPost, "/posts/"+id+"/move", form)
}

// A post is moved to another day and time, and each move can be undone.
func TestMovePost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Winter market", "2027-06-15T10:00:00Z")
		b := c.as(t, access.Editor)
		c.move(t, b, id, url.Values{"date": {"2027-06-18"}, "time": {"12:00"}}).
			shows(200, "“Winter market” moved to Fri 18 Jun 2027, 12:00.", "June 2027").contains(`data-seen="`+c.version(t, id)+`"`).
			form("Undo").press().shows(200, "“Winter market” moved to Tue 15 Jun 2027, 12:00.")
		b.open("/calendar").lacks("Undo")
		c.callTool(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": "2027-06-15T10:00:00Z"})
		c.move(t, b, id, url.Values{"at": {"2027-06-16T07:30:00Z"}}).shows(200, "moved to Wed 16 Jun 2027, 09:30.")
		b.open("/posts/"+id).shows(200, "Scheduled for Wed 16 Jun 2027, 09:30")
		c.move(t, b, id, url.Values{}).shows(422, "A scheduled post needs a time.").lacks("Undo")
		for want, to := range map[string]url.Values{
			"That time has passed.":                 {"date": {"2020-06-18"}, "time": {"12:00"}},
			"The time is more than ten years ahead": {"date": {"2099-06-18"}, "time": {"12:00"}},
			"This time does not exist":              {"date": {"2027-03-28"}, "time": {"02:30"}},
			"Choose the date as well.":              {"time": {"12:00"}},
			"The date or time is invalid.":          {"date": {"2027-06-18"}, "time": {"noon"}},
			"Enter the date as 2026-03-29.":         {"date": {"someday"}},
			"This page has expired.":                {"seen": {"yesterday"}, "date": {"2027-06-18"}, "time": {"12:00"}},
		} {
			c.move(t, b, id, to).shows(422, want, "June 2027").lacks("Undo")
		}
		b.open("/posts/"+id).shows(200, "Scheduled for Wed 16 Jun 2027, 09:30")
		c.move(t, b, id, url.Values{"at": {"2027-10-31T01:30:00Z"}}).shows(200, "moved to Sun 31 Oct 2027, 02:30 CET.")
	})
}

// A post that was changed in the meantime is not moved, and the calendar shows its current time.
func TestMoveChangedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Winter market", "2027-06-15T10:00:00Z")
		b, before := c.as(t, access.Editor), c.version(t, id)
		c.callTool(t, "update_post", map[string]any{"id": id, "scheduled_at": "2027-06-20T10:00:00Z"})
		p := c.move(t, b, id, url.Values{"seen": {before}, "date": {"2027-06-18"}, "time": {"12:00"}}).
			shows(422, "Someone else changed this post in the meantime, so it was not moved.").lacks("Undo")
		_, here, _ := strings.Cut(p.source, `id="d2027-06-20"`)
		if here, _, _ = strings.Cut(here, "</section>"); !strings.Contains(here, "Winter market") {
			t.Errorf("the post is not shown on its new day: %s", p.text())
		}
	})
}

// Drafts without a date are listed next to the calendar. Their date or time can be set and removed.
func TestPlanDraft(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Latte art", "")
		b := c.as(t, access.Editor)
		b.open("/calendar?day=2027-06-01").shows(200, "Unscheduled drafts", "Latte art")
		planned := c.move(t, b, id, url.Values{"date": {"2027-06-18"}}).
			shows(200, "“Latte art” moved to Fri 18 Jun 2027.").lacks("Unscheduled drafts")
		b.open("/calendar?view=week&day=2027-06-18").shows(200, "Any time", "Latte art")
		b.open("/posts/"+id+"/quick").shows(200, "Draft Fri 18 Jun 2027 Latte art")
		b.open("/calendar?view=week&day=2027-06-11").lacks("Latte art")
		planned.form("Undo").press().shows(200, "“Latte art” is no longer planned for a date.", "Unscheduled drafts")
		c.move(t, b, id, url.Values{"date": {"2027-06-18"}, "time": {"12:00"}}).shows(200, "moved to Fri 18 Jun 2027, 12:00.")
		c.as(t, access.Viewer).open("/calendar").shows(200).lacks("Unscheduled drafts")
		for i := range 21 {
			c.draft(t, fmt.Sprint("Idea ", i), "")
		}
		b.open("/calendar").shows(200, "Idea 20", "Idea 11", "These are the newest.").lacks("Idea 10<")
	})
}

// A post is draggable only if the person may move it.
func TestDraggablePosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		draft := c.draft(t, "A draft", "2027-06-15T10:00:00Z")
		scheduled := c.draft(t, "For the day", "2027-06-15T11:00:00Z")
		c.callTool(t, "schedule_post", map[string]any{"post_id": scheduled, "scheduled_at": "2027-06-15T11:00:00Z"})
		approved := c.draft(t, "As agreed", "2027-06-16T12:00:00Z")
		c.change(t, `UPDATE posts SET approval = 'approved', approval_round = 1 WHERE id = ?`, approved)
		sent := c.draft(t, "Gone out", "2027-06-16T13:00:00Z")
		c.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, sent)
		series := c.draft(t, "Every day", "2027-06-17T10:00:00Z")
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY;COUNT=3", nil))(t)
		const june = "/calendar?day=2027-06-01"
		editor, viewer := c.as(t, access.Editor), c.as(t, access.Viewer)
		shown := editor.open(june)
		for id, want := range map[string]bool{draft: true, scheduled: true, approved: true, sent: false, series: false} {
			before, _, found := strings.Cut(shown.source, `<a href="/posts/`+id+`"`)
			item := before[strings.LastIndex(before, "<li"):]
			if !found || strings.Contains(item, "data-seen=") != want {
				t.Errorf("found %t, draggable %t: %s", found, !want, item)
			}
			if asks := strings.Contains(item, "data-approved"); asks != (id == approved) {
				t.Errorf("asks %t before a move: %s", asks, item)
			}
		}
		viewer.open(june).lacks("data-seen=")
		to := url.Values{"date": {"2027-06-18"}, "time": {"12:00"}}
		c.move(t, viewer, draft, to).shows(403)
		c.move(t, editor, sent, to).shows(422, "A submitted post cannot be changed.")
		c.move(t, editor, series, to).shows(422, "The template of a series cannot be moved.")
		c.move(t, editor, approved, to).shows(200, "moved to Fri 18 Jun 2027, 12:00. The client must approve it again.", "Send again")
		editor.requestApproval(false, draft)
		c.move(t, editor, draft, to).
			shows(200, "moved to Fri 18 Jun 2027, 12:00. The client’s link no longer shows it.", "Send again").
			follow("Send again").shows(200, "Send for approval")
		editor.open(june).shows(200, "changed, not sent again")
	})
}

// A post's summary offers the actions that its status and the role allow.
func TestQuickView(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Winter market "+strings.Repeat("on the quay ", 40), "2027-06-15T10:00:00Z")
		b := c.as(t, access.Editor)
		p := b.open("/posts/"+id+"/quick?view=week&day=2027-06-15").shows(200, "Winter market", "Draft", "Tue 15 Jun 2027, 12:00").
			contains(`href="/posts/`+id+`/edit"`, `href="/posts/`+id+`"`)
		if n := strings.Count(p.text(), "on the quay"); n < 10 || n > 30 {
			t.Errorf("the text appears %d times", n)
		}
		form := p.form("Reschedule")
		if form.values.Get("date") != "2027-06-15" || form.values.Get("time") != "12:00" {
			t.Errorf("the form begins with %v", form.values)
		}
		form.fill("date", "2027-06-16").press().shows(200, "moved to Wed 16 Jun 2027, 12:00.", "14 – 20 June 2027")
		c.as(t, access.Viewer).open("/posts/"+id+"/quick").shows(200, "Winter market").lacks("<form", "/edit")
		c.change(t, `UPDATE posts SET status = 'published', published_at = ? WHERE id = ?`, db.Micros(h.now()), id)
		b.open("/posts/"+id+"/quick").shows(200, "Published", "Duplicate").lacks("Reschedule", "/edit")
		b.open("/posts/nothing/quick").shows(404)
	})
}

// The calendar filters by network and status.
func TestCalendarFilters(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		second := c.addAccount(t)
		c.draft(t, "Plain draft", "2027-06-15T10:00:00Z")
		for i, one := range [][2]string{
			{"Waits", "approval = 'waiting'"}, {"Coming", "status = 'scheduled'"}, {"Is out", "status = 'published'"},
			{"Is half", "status = 'partially_published'"}, {"Is lost", "status = 'failed'"},
		} {
			id := c.draft(t, one[0], fmt.Sprintf("2027-06-%02dT10:00:00Z", 1+i))
			c.change(t, `UPDATE posts SET `+one[1]+` WHERE id = ?`, id)
		}
		elsewhere, _ := c.callTool(t, "create_post", map[string]any{"caption": "On Threads", "account_ids": []int64{second}})["id"].(string)
		c.callTool(t, "update_post", map[string]any{"id": elsewhere, "scheduled_at": "2027-06-17T10:00:00Z"})
		series := c.draft(t, "Daily", "2027-06-18T10:00:00Z")
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY;COUNT=9", nil))(t)
		all := []string{"Plain draft", "Waits", "Coming", "Is out", "Is half", "Is lost", "On Threads", "Daily"}
		b := c.as(t, access.Editor)
		for query, want := range map[string]string{
			"":                             strings.Join(all, ","),
			"&state=draft":                 "Plain draft,Waits,On Threads",
			"&state=waiting":               "Waits",
			"&state=scheduled":             "Coming,Daily",
			"&state=published":             "Is out,Is half",
			"&state=failed":                "Is half,Is lost",
			"&network=threads":             "On Threads",
			"&network=bluesky":             "Plain draft,Waits,Coming,Is out,Is half,Is lost,Daily",
			"&network=bluesky&state=draft": "Plain draft,Waits",
		} {
			p := b.open("/calendar?day=2027-06-01" + query).shows(200)
			shown := []string{}
			for _, text := range all {
				if strings.Contains(p.source, "<bdi>"+text+"</bdi>") {
					shown = append(shown, text)
				}
			}
			if got := strings.Join(shown, ","); got != want {
				t.Errorf("%s shows %s, want %s", query, got, want)
			}
		}
		b.open("/calendar?day=2027-06-01").follow("Threads").shows(200, "On Threads").lacks("Plain draft").
			follow("Clear filters").shows(200, "Plain draft", "On Threads", "June 2027")
		b.open("/calendar?state=lost").shows(422, "Select one of the statuses.")
	})
}

// A week or day shows as many hours as it has in the team's time zone. Hours of the night without posts are folded.
func TestCalendarHours(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		for day, hours := range map[string]int{"2027-06-15": 24, "2027-03-28": 23, "2027-10-31": 25} {
			title := must.Get(time.Parse(time.DateOnly, day))(t).Format("Monday 2 January 2006")
			p := b.open("/calendar?view=day&night=all&day="+day).shows(200, title, "Hide night hours")
			if n := strings.Count(p.source, "data-at="); n != hours {
				t.Errorf("%s has %d hours, want %d", day, n, hours)
			}
		}
		b.open("/calendar?view=week&night=all&day=2027-10-31").shows(200, "02:00 CEST", "02:00 CET").contains(
			`data-at="2027-10-31T02:00:00&#43;02:00"`, `data-at="2027-10-31T02:00:00&#43;01:00"`)
		folded := b.open("/calendar?view=day&day=2027-06-15").shows(200, "Show the hours from 00:00 to 07:00",
			"Show the hours from 22:00 to 00:00")
		if n := strings.Count(folded.source, "data-at="); n != 15 {
			t.Errorf("%d hours are shown with the night folded, want 15", n)
		}
		b.open("/account").form("Save").fill("language", "en-US").press()
		b.open("/calendar?view=day&day=2027-06-15").shows(200, "Tuesday, June 15, 2027", "7 AM", "12–7 AM",
			"Show the hours from 10 PM to 12 AM")
		c.draft(t, "For home.", h.apiTime(24*time.Hour))
		b.open("/").shows(200, "M Bluesky For home.") // AM or PM
		b.open("/calendar?view=week&day=2027-06-15").shows(200, "June 13 – 19, 2027")
	})
}
