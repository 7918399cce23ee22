package posts

import (
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// tabNames maps tabs to their labels and to the texts for empty tabs.
var tabNames = map[postlist.Tab][2]locale.Key{
	postlist.All:           {"All", "There are no posts yet."},
	postlist.Drafts:        {"Drafts", "There are no drafts."},
	postlist.Scheduled:     {"Scheduled", "Nothing is scheduled."},
	postlist.NeedsApproval: {"Waiting for approval", "Nothing is waiting for approval."},
	postlist.Published:     {"Published", "Nothing has been published yet."},
	postlist.Failed:        {"Failed", "Posts that couldn’t be published show up here."},
	postlist.Archived:      {"Archived", "Nothing is archived."},
}

// groupNames maps the groups in the list of all posts to their headings.
var groupNames = map[postlist.Tab]locale.Key{
	postlist.Scheduled: "Scheduled", postlist.Series: "Series", postlist.Past: "Published and failed", postlist.Drafts: "Drafts",
}

// addTabs adds the tabs with their numbers of posts. It omits the tab of archived posts if it is empty and not
// selected.
func (p *Handlers) addTabs(r *http.Request, view *listView) error {
	counts, err := postlist.Counts(r.Context(), p.DB, shell.VisitorOf(r.Context()).Team.ID)
	if err != nil {
		return err
	}
	current, known := postlist.ParseTab(view.Status)
	for _, c := range counts {
		selected := known && c.Tab == current
		if selected {
			view.Empty, view.Status = tabNames[c.Tab][1], string(c.Tab)
		}
		if c.Tab == postlist.Archived && c.N == 0 && !selected {
			continue
		}
		count := strconv.Itoa(c.N)
		if c.N >= postlist.MaxCounted {
			count = strconv.Itoa(postlist.MaxCounted-1) + "+"
		}
		to := view.filters
		to.Status = string(c.Tab)
		view.Tabs = append(view.Tabs, tabLink{Name: string(c.Tab), Label: tabNames[c.Tab][0], Path: to.path(), Count: count,
			Current: selected, Alert: c.Tab == postlist.Failed && c.N > 0})
	}
	return nil
}

// everything returns the label of the option to select the posts on all pages.
func (v listView) everything(l *locale.Language) string {
	for _, t := range v.Tabs {
		if n, err := strconv.Atoi(t.Count); t.Current && !v.Any && err == nil && n <= maxBulk {
			return l.T("Select all %s", t.Count)
		}
	}
	return l.T("Select all, up to %d", maxBulk)
}

// orderOf describes the order of a list that is not sorted by a metric.
func orderOf(f postlist.Filter) locale.Key {
	switch byTime, earliest := f.ByTime(); {
	case f.IsGrouped():
		return "Scheduled first, soonest at the top."
	case byTime && earliest:
		return "Soonest first."
	case byTime:
		return "Newest first."
	}
	return "Newest first."
}

// listedOf returns a post as a row of the list, with the time to show and its label.
func listedOf(e postlist.Entry, zone *time.Location) listedPost {
	out := listedPost{Entry: e, Others: max(0, len(e.Accounts)-maxNamedAccounts)}
	out.Accounts = e.Accounts[:len(e.Accounts)-out.Others]
	switch {
	case !e.PublishedAt.IsZero():
		out.At = e.PublishedAt
	case e.Template:
		out.When, out.At = "From|start", e.ScheduledAt
	case e.Status == post.Failed && !e.ScheduledAt.IsZero():
		out.When, out.At = "Was scheduled for", e.ScheduledAt
	case e.Status == post.Draft && !e.ScheduledAt.IsZero():
		out.When, out.At = "Planned for", e.ScheduledAt
	case e.Status == post.Failed && e.Unconfirmed:
		out.When, out.At = "Sent|when", e.Submitted
	case e.Status == post.Failed:
		out.When, out.At = "Failed|when", e.Submitted
	case !e.ScheduledAt.IsZero():
		out.At = e.ScheduledAt
	case !e.Submitted.IsZero():
		out.When, out.At = "Started", e.Submitted
	case e.PlannedDay != "":
		out.When = "Planned for"
		out.Day, _ = time.Parse(time.DateOnly, e.PlannedDay) // stored in this format
	}
	if !out.At.IsZero() {
		out.At = out.At.In(zone)
	}
	return out
}
