package reports

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/web/shell"
)

// shareView is the page for sharing a report.
type shareView struct {
	report.Detail

	ID         string
	Links      []sharelink.Link
	Created    string // URL of a new link, which is shown only once
	Lifetimes  []int
	Days       int // selected lifetime
	Mail       mailView
	At, Error  string
	Name       string // entered for a new link
	CanBeShown bool   // the report is ready, so it has metrics to share
}

// createdLinkKey is the prefix of the session key for a new link, which the share page shows once. The report's ID
// follows the prefix.
const createdLinkKey = "report link "

func (p *Handlers) sharePage(w http.ResponseWriter, r *http.Request, kind, id string) {
	p.showShare(w, r, http.StatusOK, kind, id, shareView{Created: string(p.Pop(r.Context(), createdLinkKey+id))})
}

// showCreated redirects to the share page, which shows the new link. Reloading that page does not create another
// link.
func (p *Handlers) showCreated(w http.ResponseWriter, r *http.Request, id, link string) {
	p.Put(r.Context(), createdLinkKey+id, []byte(link))
	shell.Redirect(w, r, "/reports/"+id+"/share")
}

// showShare shows the share page. input holds the data that is not read from the database: the new link, or the input
// and error of a form.
func (p *Handlers) showShare(w http.ResponseWriter, r *http.Request, status int, kind, id string, input shareView) {
	v, out := shell.VisitorOf(r.Context()), input
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	if out.Detail, err = p.reports.Detail(r.Context(), v.Team.ID, v.ID, kind, id); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if out.Links, err = p.links.List(r.Context(), v.Team.ID, id); err != nil {
		p.ShowError(w, r, err)
		return
	}
	for i := range out.Links {
		l := &out.Links[i]
		l.CreatedAt, l.ExpiresAt = l.CreatedAt.In(zone), l.ExpiresAt.In(zone)
		if !l.OpenedAt.IsZero() {
			l.OpenedAt = l.OpenedAt.In(zone)
		}
	}
	if out.Mail, err = p.readMails(r, id, zone); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if input.At == "mails" {
		out.Mail.Email = r.PostForm.Get("email")
	}
	out.ID, out.Lifetimes, out.CanBeShown = id, sharelink.Lifetimes, out.Status == report.Ready
	if out.Days == 0 {
		out.Days = 30
	}
	p.ShowTitled(w, r, status, pages["share"], p.T(r, "Share %s", subject(out.Kind, out.Subject)), out)
}

// createLink creates a share link and shows it once.
func (p *Handlers) createLink(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !p.ReadForm(w, r) {
		return
	}
	days, _ := strconv.Atoi(r.PostForm.Get("days")) // 0 if invalid, which Create rejects
	call, err := p.NewCall(r, "share_report")
	if err == nil {
		var made string
		if made, err = p.links.Create(r.Context(), call, id, r.PostForm.Get("name"), days); err == nil {
			p.showCreated(w, r, id, made)
			return
		}
	}
	if formErr, ok := p.formError(w, r, err); ok {
		p.showShare(w, r, shell.StatusOf(err), kind, id, shareView{At: "links", Error: formErr, Days: days, Name: r.PostForm.Get("name")})
	}
}

// replaceLink revokes a share link and shows the new link that replaces it.
func (p *Handlers) replaceLink(w http.ResponseWriter, r *http.Request, _, id string) {
	call, link, ok := p.linkCall(w, r, "share_report")
	if !ok {
		return
	}
	created, err := p.links.Replace(r.Context(), call, id, link)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.showCreated(w, r, id, created)
}

// linkCall reads the form. It returns a call of the given operation, and the ID of the link in the path. If an error
// occurs, it writes the error response and returns false.
func (p *Handlers) linkCall(w http.ResponseWriter, r *http.Request, tool string) (operation.Call, int64, bool) {
	if !p.ReadForm(w, r) {
		return operation.Call{}, 0, false
	}
	link, err := shell.PathID(r, "link")
	if err != nil {
		p.ShowError(w, r, err)
		return operation.Call{}, 0, false
	}
	call, err := p.NewCall(r, tool)
	if err != nil {
		p.ShowError(w, r, err)
		return operation.Call{}, 0, false
	}
	return call, link, true
}

// revokeView is the page that asks for confirmation before a share link is revoked.
type revokeView struct {
	ID   string // ID of the report
	Link sharelink.Link
}

// revokePage asks for confirmation before a share link is revoked.
func (p *Handlers) revokePage(w http.ResponseWriter, r *http.Request, _, id string) {
	link, err := shell.PathID(r, "link")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	links, err := p.links.List(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	at := slices.IndexFunc(links, func(l sharelink.Link) bool { return l.ID == link })
	if at < 0 {
		p.NotFound(w, r)
		return
	}
	p.Show(w, r, http.StatusOK, pages["linkrevoke"], "Revoke a share link", revokeView{id, links[at]})
}

// revokeLink revokes a share link.
func (p *Handlers) revokeLink(w http.ResponseWriter, r *http.Request, _, id string) {
	call, link, ok := p.linkCall(w, r, "unshare_report")
	if !ok {
		return
	}
	if err := p.links.Revoke(r.Context(), call, id, link); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Flash(r, "The link was revoked. It no longer shows the report.")
	shell.Redirect(w, r, "/reports/"+id+"/share")
}
