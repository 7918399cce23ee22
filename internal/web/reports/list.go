package reports

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/report"
	"pressroom/internal/web/shell"
)

// listView is the list with its filters.
type listView struct {
	Reports     []report.ReportEntry
	Filters     url.Values
	Filtered    bool
	First, Next string // addresses of pages
	MaySpend    bool
	Comparable  int64 // reports that the plan compares; less than 2 for none
	Wrong       string
}

func (p *Part) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	view := listView{Filters: q, MaySpend: maySpend(r)}
	args := operation.Arguments{"limit": int64(20)}
	for _, name := range []string{"type", "platform", "status", "query", "cursor"} {
		if value := strings.TrimSpace(q.Get(name)); value != "" {
			args[name] = value
			view.Filtered = view.Filtered || name != "cursor"
		}
	}
	if q.Get("tracked") != "" {
		args["tracked_only"], view.Filtered = true, true
	}
	plan, err := p.plan(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	view.Comparable = plan.ProfilesComparable
	list, outcome, err := shell.Ask[report.ReportList](p.Frame, r, "list_reports", args)
	status := http.StatusOK
	if err != nil {
		wrong, ok := p.mendable(w, r, err)
		if !ok {
			return
		}
		view.Wrong, status = wrong, shell.StatusOf(err)
	}
	view.Reports = list.Reports
	if q.Get("cursor") != "" {
		view.First = pageOf(r.URL, "cursor", "")
	}
	if outcome.Page != nil {
		view.Next = pageOf(r.URL, "cursor", outcome.Page.Cursor)
	}
	p.Show(w, r, status, pages["list"], "Reports", view)
}

// pageOf is the same address with another cursor, or with none.
func pageOf(u *url.URL, name, cursor string) string {
	next := url.Values{}
	for key, values := range u.Query() {
		if values[0] != "" && key != name {
			next[key] = values
		}
	}
	if cursor != "" {
		next.Set(name, cursor)
	}
	return (&url.URL{Path: u.Path, RawQuery: next.Encode()}).String()
}

// newView is the form for a report.
type newView struct {
	purse

	Type, Platform, Subject string
	Wrong, Field            string
}

func (p *Part) newPage(w http.ResponseWriter, r *http.Request) {
	q := p.Resumed(r)
	if q == nil {
		q = r.URL.Query()
	}
	p.showNew(w, r, http.StatusOK, newView{Type: q.Get("type"), Platform: q.Get("platform"), Subject: q.Get("subject")})
}

func (p *Part) showNew(w http.ResponseWriter, r *http.Request, status int, view newView) {
	var err error
	if view.purse, err = p.purse(r); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if view.Type == "" {
		view.Type = report.Profile
	}
	p.Show(w, r, status, pages["new"], "New report", view)
}

func (p *Part) create(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	view := newView{
		Type: r.PostForm.Get("type"), Platform: r.PostForm.Get("platform"), Subject: r.PostForm.Get("subject"),
	}
	if view.Type == report.Hashtag {
		view.Platform = "instagram" // the only one that has them
	}
	_, outcome, err := shell.Ask[job.Job](p.Frame, r, "create_report",
		operation.Arguments{"type": view.Type, "platform": view.Platform, "subject": view.Subject})
	if err != nil {
		wrong, ok := p.mendable(w, r, err)
		if ok {
			view.Wrong, view.Field = wrong, fieldOf(err)
			p.showNew(w, r, shell.StatusOf(err), view)
		}
		return
	}
	p.Say(r, said(outcome.Notes, outcome.Billing, "The report is being made."))
	shell.Redirect(w, r, outcome.App)
}

// said is what the next page tells of paid work that was begun: the operation's notes where it has any.
func said(notes []string, b *operation.Billing, begun string) string {
	if len(notes) > 0 {
		return strings.Join(notes, " ")
	}
	if b == nil || b.Charged == 0 {
		return begun
	}
	return fmt.Sprintf("%s %s set aside for it.", begun, credits(b.Charged, " is", " are"))
}

func credits(n int64, one, many string) string {
	if n == 1 {
		return "1 credit" + one
	}
	return shell.Count(n) + " credits" + many
}

// fieldOf is the field of a form that a refusal is about.
func fieldOf(err error) string {
	field, _ := apierr.Of(err).Context["argument"].(string)
	return field
}
