// Package erasure is the pages by which data goes: deleting a team, a person's account, a draft and a revoked key,
// leaving a team, taking a team's data along, and what networks ask to be deleted.
package erasure

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/erasure"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"time": shell.Time})

// Part is these pages.
type Part struct {
	*shell.Frame

	leaving *erasure.Service
}

// New makes them.
func New(f *shell.Frame, s *erasure.Service) *Part { return &Part{f, s} }

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /settings/delete", For: shell.Owners, Do: p.teamPage},
		{Pattern: "POST /settings/delete", For: shell.Owners, Do: p.deleteTeam, Recent: true, Resumes: true},
		{Pattern: "GET /settings/export", For: shell.Managers, Do: p.exportPage},
		{Pattern: "GET /settings/export.zip", For: shell.Managers, Do: p.export, Urgent: true, Recent: true, Page: "/settings/export"},
		{Pattern: "GET /settings/keys/{key}/forget", For: shell.Owners, Do: p.keyPage},
		{Pattern: "POST /settings/keys/{key}/forget", For: shell.Owners, Do: p.forgetKey},
		{Pattern: "GET /settings/assistants/{connection}/forget", For: shell.Owners, Do: p.assistantPage},
		{Pattern: "POST /settings/assistants/{connection}/forget", For: shell.Owners, Do: p.forgetAssistant},
		{Pattern: "GET /posts/{id}/delete", For: shell.Writers, Do: p.draftPage},
		{Pattern: "POST /posts/{id}/delete", For: shell.Writers, Do: p.deleteDraft},
		{Pattern: "GET /account/teams/{team}/leave", For: shell.People, Do: p.Proven(p.leavePage), OneFactor: true},
		{Pattern: "POST /account/teams/{team}/leave", For: shell.People, Do: p.Proven(p.leave), OneFactor: true},
		{Pattern: "GET /account/delete", For: shell.People, Do: p.Proven(p.personPage), OneFactor: true},
		{Pattern: "POST /account/delete", For: shell.People, Do: p.Proven(
			p.deletePerson), Recent: true, Resumes: true, OneFactor: true},
		{Pattern: "POST /networks/meta/deletion", For: shell.Anyone, Do: p.metaAsks, OneFactor: true},
		{Pattern: "GET /networks/deletions/{code}", For: shell.Anyone, Do: p.erased, OneFactor: true},
	}
}

// teamView is the page on which a team is deleted, or what it shows while that goes on.
type teamView struct {
	erasure.Touched

	Only     bool // the visitor is in no other team
	Progress *erasure.Progress
	Name     string // as typed
	Account  bool   // delete the visitor's account too
	Wrong    string
}

func (p *Part) teamPage(w http.ResponseWriter, r *http.Request) {
	p.showTeam(w, r, http.StatusOK, "", p.Resumed(r))
}

func (p *Part) showTeam(w http.ResponseWriter, r *http.Request, status int, wrong string, typed url.Values) {
	v := shell.VisitorOf(r.Context())
	view := teamView{
		Only: len(v.Teams) == 1, Wrong: wrong, Name: typed.Get("name"), Account: typed.Get("account") == "yes",
	}
	progress, err := p.leaving.Progress(r.Context(), v.Team.ID)
	switch {
	case err == nil:
		progress.AskedAt = progress.AskedAt.In(zone(v))
		view.Progress = &progress
	case !apierr.Is(err, apierr.NotFound):
		p.Refuse(w, r, err)
		return
	}
	if view.Touched, err = p.leaving.CountContents(r.Context(), v.Team.ID); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, status, pages["team"], "Delete the team", view)
}

// zone is the one of the team that is looked at.
func zone(v *shell.Visitor) *time.Location {
	z, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return time.UTC // no team has one that there is not
	}
	return z
}

// onlyTeam is what people are told who delete the only team that they are in.
const onlyTeam = "Nothing of it is published any more and no key of it works. What it has goes in the background, " +
	"mostly within minutes; nothing else is to be done, and you can close this page. " +
	"It was your only team: once it is gone you are signed out. If you keep your account, you can sign in " +
	"again after " +
	"somebody has invited you to another team."

func (p *Part) deleteTeam(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	if err := p.leaving.RequestDeletion(r.Context(), v.ID, v.Team.ID, r.PostForm.Get("name"),
		r.PostForm.Get("account") == "yes"); err != nil {
		if told, ok := p.WrongAt(w, r, err, nil); ok {
			p.showTeam(w, r, shell.StatusOf(err), told.Text, r.PostForm)
		}
		return
	}
	if len(v.Teams) == 1 { // once the team is gone no page is left for this person
		p.Notice(w, r, http.StatusOK, "The team is being deleted", onlyTeam)
		return
	}
	p.Say(r, "The team is being deleted. Nothing else is to be done.")
	shell.Redirect(w, r, "/settings/delete")
}

func (p *Part) exportPage(w http.ResponseWriter, r *http.Request) {
	touched, err := p.leaving.CountContents(r.Context(), shell.VisitorOf(r.Context()).Team.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["export"], "Take the team’s data along", touched)
}

// stalled is how long an export waits for a client that takes nothing.
const stalled = time.Minute

func (p *Part) export(w http.ResponseWriter, r *http.Request) {
	if _, err := p.Acting(r, "export"); err != nil {
		p.Refuse(w, r, err)
		return
	}
	team, control := shell.VisitorOf(r.Context()).Team.ID, http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-team-`+strconv.FormatInt(team, 10)+`.zip"`)
	// a server that knows no deadlines has none to be moved
	alive := func() { _ = control.SetWriteDeadline(time.Now().Add(stalled)) }
	if err := p.leaving.Export(r.Context(), team, w, alive); err != nil {
		if r.Context().Err() == nil {
			p.Log.ErrorContext(r.Context(), "an export was cut off", "team", team, "error", err)
		}
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
}

// item is what a page asks about before it goes.
type item struct{ ID, Wrong string }

// keyPage asks before a key is forgotten. One that is not the team's is not there.
func (p *Part) keyPage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.IDIn(r, "key")
	if err == nil {
		_, err = p.Teams.KeyLine(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.showItem(w, r, "key", "key", nil)
}

// assistantPage asks before a connection is forgotten. One that is not the team's is not there.
func (p *Part) assistantPage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.IDIn(r, "connection")
	if err == nil {
		_, err = p.Teams.ConnectionLine(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.showItem(w, r, "assistant", "connection", nil)
}

// draftPage asks before a draft is deleted. One that is not the team's is not there.
func (p *Part) draftPage(w http.ResponseWriter, r *http.Request) {
	if _, err := p.Do(r, "get_post", operation.Arguments{"id": r.PathValue("id")}); err != nil {
		if apierr.Is(err, apierr.ValidationFailed) {
			err = apierr.Missing() // it is no id
		}
		p.Refuse(w, r, err)
		return
	}
	p.showItem(w, r, "draft", "id", nil)
}

// showItem shows the page about the item of the address, with why it was refused.
func (p *Part) showItem(w http.ResponseWriter, r *http.Request, page, name string, err error) {
	status, view := http.StatusOK, item{ID: r.PathValue(name)}
	if err != nil {
		told, ok := p.WrongAt(w, r, err, nil)
		if !ok {
			return
		}
		status, view.Wrong = shell.StatusOf(err), told.Text
	}
	p.Show(w, r, status, pages[page],
		map[string]string{
			"key": "Forget the key", "assistant": "Forget the assistant", "draft": "Delete the draft",
		}[page], view)
}

func (p *Part) forgetKey(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	id, err := shell.IDIn(r, "key")
	if err == nil {
		err = p.leaving.ForgetKey(r.Context(), v.ID, v.Team.ID, id)
	}
	if err != nil {
		p.showItem(w, r, "key", "key", err)
		return
	}
	p.Say(r, "The key is forgotten.")
	shell.Redirect(w, r, "/settings/keys")
}

func (p *Part) forgetAssistant(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	id, err := shell.IDIn(r, "connection")
	if err == nil {
		err = p.leaving.ForgetAssistant(r.Context(), v.ID, v.Team.ID, id)
	}
	if err != nil {
		p.showItem(w, r, "assistant", "connection", err)
		return
	}
	p.Say(r, "The assistant is forgotten.")
	shell.Redirect(w, r, "/settings/assistants")
}

func (p *Part) deleteDraft(w http.ResponseWriter, r *http.Request) {
	call, err := p.Acting(r, "delete_draft")
	if err == nil {
		err = p.leaving.DeleteDraft(r.Context(), call.PersonID, call.TeamID, r.PathValue("id"))
	}
	if err != nil {
		p.showItem(w, r, "draft", "id", err)
		return
	}
	p.Say(r, "The draft is deleted.")
	shell.Redirect(w, r, "/posts")
}
