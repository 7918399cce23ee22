// Package notifications is where people see what happened in their teams and to their own accounts, and choose what
// they get mail of.
package notifications

import (
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/notification"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"time": shell.Time})

// Part is these pages.
type Part struct {
	*shell.Frame

	notices *notification.Service
}

// New makes them.
func New(f *shell.Frame, notices *notification.Service) *Part { return &Part{f, notices} }

// Routes are their addresses. Notices are a person's own, of all teams.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /notices", For: shell.People, Do: p.list},
		{Pattern: "POST /notices/read", For: shell.People, Do: p.readAll},
		{Pattern: "GET /notices/settings", For: shell.People, Do: p.settingsPage},
		{Pattern: "POST /notices/settings", For: shell.People, Do: p.choose},
		{Pattern: "POST /notices/threshold", For: shell.Owners, Do: p.setThreshold},
		{Pattern: "GET /notices/{id}", For: shell.People, Do: p.follow},
		{Pattern: "POST /notices/{id}/read", For: shell.People, Do: p.read},
	}
}

// perPage is how many notices a page shows.
const perPage = 50

// listing is what the list shows.
type listing struct {
	Notices []notification.Notice
	Newest  int64 // the id up to which all are read by one button; 0 where this is not the first page
	Unread  bool
	Pages   paging
}

// paging leads to the pages beside this one.
type paging struct{ First, Next string }

func (p *Part) list(w http.ResponseWriter, r *http.Request) {
	var before int64
	if text := r.URL.Query().Get("before"); text != "" {
		var err error
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			p.Missing(w, r)
			return
		}
	}
	found, err := p.notices.List(r.Context(), shell.VisitorOf(r.Context()).ID, before, perPage+1)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	l := listing{Notices: found}
	if len(found) > perPage {
		l.Notices = found[:perPage]
		l.Pages.Next = "/notices?before=" + strconv.FormatInt(l.Notices[perPage-1].ID, 10)
	}
	for _, n := range l.Notices {
		l.Unread = l.Unread || !n.Read
	}
	if before > 0 {
		l.Pages.First = "/notices"
	} else if len(found) > 0 {
		l.Newest = found[0].ID
	}
	p.Show(w, r, http.StatusOK, pages["list"], "Notices", l)
}

// follow leads to what a notice is about. If that is in another team, Turn switches to it first and leads back here; it
// asks the person if the link is on another site.
func (p *Part) follow(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	n, err := p.named(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if to := shell.LookedAt(v.Account, n.Team); to.ID == n.Team && n.Team != v.Team.ID {
		p.Turn(w, r, to, r.URL.Path)
		return
	}
	if err := p.notices.Read(r.Context(), v.ID, n.ID, false); err != nil {
		p.Refuse(w, r, err)
		return
	}
	shell.Redirect(w, r, n.Place())
}

// named is the visitor's notice that the address names.
func (p *Part) named(r *http.Request) (notification.Notice, error) {
	id, err := shell.IDIn(r, "id")
	if err != nil {
		return notification.Notice{}, err
	}
	return p.notices.Get(r.Context(), shell.VisitorOf(r.Context()).ID, id)
}

func (p *Part) read(w http.ResponseWriter, r *http.Request) {
	n, err := p.named(r)
	if err == nil {
		err = p.notices.Read(r.Context(), shell.VisitorOf(r.Context()).ID, n.ID, false)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	shell.Redirect(w, r, "/notices")
}

// readAll reads those that the page has shown, and older ones: what came meanwhile stays unread.
func (p *Part) readAll(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	newest, err := strconv.ParseInt(r.PostForm.Get("newest"), 10, 64)
	if err != nil {
		p.Notice(w, r, http.StatusBadRequest, "Not done", "This form cannot be read.")
		return
	}
	if err := p.notices.Read(r.Context(), shell.VisitorOf(r.Context()).ID, newest, true); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Say(r, "All notices are read.")
	shell.Redirect(w, r, "/notices")
}

// choices is what the settings show.
type choices struct {
	Mails   bool // that this installation sends any
	Kinds   []choice
	Owns    bool
	Credits string // the threshold as it stands or was typed
	Wrong   string
}

type choice struct {
	notification.About

	Wanted bool
}

func (p *Part) settingsPage(w http.ResponseWriter, r *http.Request) {
	p.settings(w, r, http.StatusOK, nil, "")
}

func (p *Part) settings(w http.ResponseWriter, r *http.Request, status int, typed *string, wrong string) {
	v := shell.VisitorOf(r.Context())
	unwanted, err := p.notices.MutedKinds(r.Context(), v.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	c := choices{Mails: p.notices.Mails(), Owns: v.Team.Role == access.Owner, Wrong: wrong}
	not := map[notification.Kind]bool{}
	for _, k := range unwanted {
		not[k] = true
	}
	for _, k := range notification.Kinds {
		c.Kinds = append(c.Kinds, choice{k, !not[k.Kind]})
	}
	credits, err := p.notices.Threshold(r.Context(), v.Team.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if credits > 0 {
		c.Credits = strconv.FormatInt(credits, 10)
	}
	if typed != nil {
		c.Credits = *typed
	}
	p.Show(w, r, status, pages["settings"], "Notification settings", c)
}

func (p *Part) choose(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	unwanted := map[notification.Kind]bool{}
	for _, k := range notification.Kinds {
		unwanted[k.Kind] = true
	}
	for _, wanted := range r.PostForm["mail"] {
		unwanted[notification.Kind(wanted)] = false
	}
	if err := p.notices.SetMutedKinds(r.Context(), shell.VisitorOf(r.Context()).ID, unwanted); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Say(r, "Your choice is kept.")
	shell.Redirect(w, r, "/notices/settings")
}

func (p *Part) setThreshold(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	typed := strings.TrimSpace(r.PostForm.Get("credits"))
	credits, err := strconv.ParseInt(cmp.Or(typed, "0"), 10, 64)
	if err != nil {
		credits = -1 // out of range, as the service says
	}
	if err := p.notices.SetThreshold(r.Context(), v.ID, v.Team.ID, credits); err != nil {
		if apierr.Is(err, apierr.ValidationFailed) {
			p.settings(w, r, shell.StatusOf(err), &typed, apierr.Of(err).Detail)
			return
		}
		p.Refuse(w, r, err)
		return
	}
	p.Say(r, "The threshold is kept.")
	shell.Redirect(w, r, "/notices/settings")
}
