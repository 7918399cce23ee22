package settings

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/web/shell"
)

const eventsPerPage = 50

// eventPaths maps the first part of an event's kind to the path prefix of the event's subject.
var eventPaths = map[string]string{
	"key": "/settings/keys/", "assistant": "/settings/assistants/", "post": "/posts/", "series": "/posts/",
	"report": "/reports/", "member": "/settings/members/", "hashtag_list": "/hashtags/",
	"social_account": "/accounts/", "media": "/media/", "brand_voice": "/voices/",
}

// kindsWithoutPage lists kinds of events whose subject no longer exists or has no page.
var kindsWithoutPage = []string{
	"key.forgotten", "assistant.forgotten", "member.left", "member.removed", "member.declined", "post.deleted",
	"social_account.disconnected", "social_account.erased", "hashtag_list.deleted", "brand_voice.deleted",
	"media.deleted", "media.import", "media.download",
}

// linkOf returns the path of an event's subject, or "" if the subject has no page.
func linkOf(e auditlog.Event) string {
	subject, _, _ := strings.Cut(e.Kind, ".")
	prefix, ok := eventPaths[subject]
	if !ok || e.Subject == "" || slices.Contains(kindsWithoutPage, e.Kind) {
		return ""
	}
	return prefix + url.PathEscape(e.Subject)
}

// auditLine is an event with the names and texts that the page shows.
type auditLine struct {
	auditlog.Event

	Who, Text, Link string
	Client          string // name entered by a client: untrusted text
	Post            string // beginning of the post's text; empty if there is no post
	Name            string // name of any other subject; empty if it has none or no longer exists
	Account         string // network and username of the account
	Reason          string // why publishing to an account failed
}

// OnAccount reports whether the event is about a post on Account, not about Account itself.
func (l auditLine) OnAccount() bool { return l.Account != "" && l.isAboutPost() }

// Icon returns the icon of the event's kind.
func (l auditLine) Icon() string { return EventIcon(l.Kind) }

// Tone returns "bad" for failures, "good" for successes, and "" otherwise.
func (l auditLine) Tone() string {
	switch l.Kind {
	case "post.account_failed", "social_account.lost", "post.account_unconfirmed", "post.first_comment_failed",
		"post.first_comment_unconfirmed":
		return "bad"
	case "post.account_published", "post.first_comment_published", "post.approved":
		return "good"
	}
	return ""
}

// operatorGroups lists the groups whose events were caused by the operator if they do not name a person.
var operatorGroups = []locale.Key{"API keys", "Apps and assistants", "The team", "Members", "Credits"}

// clientKinds lists the kinds of events that are caused by clients. A client may not have an account in pressroom.
var clientKinds = []string{"post.approved", "post.rejected", "post.commented"}

// actorOf returns the name of an event's actor.
func actorOf(l *locale.Language, e auditlog.Event) string {
	switch {
	case e.Person != "":
		return e.Person
	case slices.Contains(clientKinds, e.Kind):
		return l.T("The client")
	case e.Kind == "assistant.disconnected":
		return "pressroom"
	case slices.Contains(operatorGroups, kindOf(e.Kind).Group):
		return l.T("The operator")
	}
	return "pressroom"
}

// linesOf converts events, newest first, to lines. The creation of a post and its scheduling by the same actor within
// a minute become one line.
func linesOf(l *locale.Language, events []auditlog.Event, zone *time.Location) []auditLine {
	var out []auditLine
	for _, e := range events {
		e.At = inZone(e.At, zone)
		if n := len(out) - 1; e.Kind == "post.created" && n >= 0 && out[n].Kind == "post.scheduled" && out[n].Subject == e.Subject &&
			out[n].Person == e.Person && out[n].Key == e.Key && out[n].At.Sub(e.At) < time.Minute {
			out[n].Text = l.T("created and scheduled a post")
			continue
		}
		entry := auditLine{Event: e, Who: actorOf(l, e), Text: sentence(l, e), Link: linkOf(e)}
		if code, ok := e.Detail["error_code"].(string); ok && strings.HasSuffix(e.Kind, "_failed") {
			entry.Reason = detailWords(l, "error_code", code)
		}
		out = append(out, entry)
	}
	return out
}

// auditView is a page of the audit log.
type auditView struct {
	auditFilter

	Days    []auditDay
	Groups  []group
	Ranges  []auditRange
	Members []team.Member // offered in the filter
	File    string        // path of the selected events as CSV
	Pages   *shell.LogPager
}

// auditRange is a link to the events in a date range.
type auditRange struct {
	Name    locale.Key
	Path    string
	Current bool
}

// rangesOf returns links to the offered date ranges. The links keep the other filters.
func rangesOf(f auditFilter, now time.Time) []auditRange {
	out := []auditRange{{Name: "All time"}, {Name: "Today"}, {Name: "Last 7 days"}, {Name: "Last 30 days"}}
	for i, days := range []int{0, 1, 7, 30} {
		other := f
		other.From, other.To = "", ""
		if days > 0 {
			other.From = now.AddDate(0, 0, 1-days).Format(time.DateOnly)
		}
		out[i].Path, out[i].Current = other.path(0), other == f
	}
	return out
}

// auditFilter is the filter in the form. From and To are the first and last day, such as 2026-11-30.
type auditFilter struct {
	Kind, From, To string
	Person         int64
}

// Filters reports whether any filter is set.
func (f auditFilter) Filters() bool { return f != auditFilter{} }

// filterOf returns the filter of a request. It ignores invalid days.
func filterOf(r *http.Request) auditFilter {
	query := r.URL.Query()
	f := auditFilter{Kind: query.Get("kind"), From: query.Get("from"), To: query.Get("to")}
	f.Person, _ = strconv.ParseInt(query.Get("person"), 10, 64) // 0 for everybody
	for _, day := range []*string{&f.From, &f.To} {
		if _, err := time.Parse(time.DateOnly, *day); err != nil {
			*day = ""
		}
	}
	return f
}

// page returns the filter as an auditlog.Page. The filter's days are in the given time zone.
func (f auditFilter) page(zone *time.Location) auditlog.Page {
	out := auditlog.Page{Kind: f.Kind, Person: f.Person, Limit: eventsPerPage + 1}
	if from, err := time.ParseInLocation(time.DateOnly, f.From, zone); err == nil {
		out.Since = from
	}
	if to, err := time.ParseInLocation(time.DateOnly, f.To, zone); err == nil {
		out.Until = to.AddDate(0, 0, 1)
	}
	return out
}

// path returns the path of the page with the events before an ID, or of the first page if before is 0.
func (f auditFilter) path(before int64) string { return f.pathAt("/settings/audit", before) }

func (f auditFilter) pathAt(basePath string, before int64) string {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	set("kind", f.Kind)
	set("from", f.From)
	set("to", f.To)
	set("person", strconv.FormatInt(f.Person, 10))
	set("before", strconv.FormatInt(before, 10))
	if len(query) == 0 {
		return basePath
	}
	return basePath + "?" + query.Encode()
}

// auditDay holds the events of a day, newest first.
type auditDay struct {
	At    time.Time // time of the newest event
	Lines []auditLine
}

// groupByDay groups lines, newest first, by the day of their time.
func groupByDay(lines []auditLine) []auditDay {
	var out []auditDay
	for _, l := range lines {
		if n := len(out); n == 0 || out[n-1].At.Format(time.DateOnly) != l.At.Format(time.DateOnly) {
			out = append(out, auditDay{At: l.At})
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, l)
	}
	return out
}

// group is a group of event kinds in the form.
type group struct {
	Name  locale.Key
	Kinds []kind
}

// groups holds all kinds, grouped for the form.
var groups = func() []group {
	var out []group
	for _, k := range kinds {
		if len(out) == 0 || out[len(out)-1].Name != k.Group {
			out = append(out, group{Name: k.Group})
		}
		last := &out[len(out)-1]
		last.Kinds = append(last.Kinds, k)
	}
	return out
}()

// maxOfferedMembers is the maximum number of members that the form offers.
const maxOfferedMembers = 200

func (h *Handlers) auditPage(w http.ResponseWriter, r *http.Request) {
	view := auditView{auditFilter: filterOf(r), Groups: groups}
	view.Ranges = rangesOf(view.auditFilter, h.DB.Now().In(zone(r)))
	view.File = view.pathAt("/settings/audit.csv", 0)
	page := view.page(zone(r))
	if before := r.URL.Query().Get("before"); before != "" {
		var err error
		if page.BeforeID, err = strconv.ParseInt(before, 10, 64); err != nil || page.BeforeID < 1 {
			h.ShowError(w, r,
				apierr.Invalid(apierr.InvalidCursor, "before",
					"This page does not exist. Start with the first page."))
			return
		}
	}
	events, err := auditlog.List(r.Context(), h.DB, teamID(r), page)
	if err == nil {
		view.Members, err = h.Teams.MemberPage(r.Context(), teamID(r), 0, maxOfferedMembers)
	}
	var position auditlog.PagePosition
	if err == nil {
		position, err = auditlog.FindPosition(r.Context(), h.DB, teamID(r), page, eventsPerPage)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	next := int64(0)
	if len(events) > eventsPerPage {
		events = events[:eventsPerPage]
		next = events[eventsPerPage-1].ID
	}
	view.Pages = shell.LogPagerOf(h.Language(r), position, len(events), page.BeforeID, next, view.path)
	lines := linesOf(h.Language(r), events, zone(r))
	if err := h.addNames(r, lines); err != nil {
		h.ShowError(w, r, err)
		return
	}
	view.Days = groupByDay(lines)
	h.Show(w, r, http.StatusOK, pages["audit"], "Audit log", view)
}
