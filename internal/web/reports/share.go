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

// createdLinkKeyPrefix is the prefix of the session key for a new link, which the share page shows once. The report's
// ID follows the prefix.
const createdLinkKeyPrefix = "report link "

func (h *Handlers) sharePage(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.showShare(w, r, http.StatusOK, kind, id, shareView{Created: string(h.Pop(r.Context(), createdLinkKeyPrefix+id))})
}

// showCreated redirects to the share page, which shows the new link. Reloading that page does not create another
// link.
func (h *Handlers) showCreated(w http.ResponseWriter, r *http.Request, id, link string) {
	h.Put(r.Context(), createdLinkKeyPrefix+id, []byte(link))
	shell.Redirect(w, r, "/reports/"+id+"/share")
}

// showShare shows the share page. input holds the data that is not read from the database: the new link, or the input
// and error of a form.
func (h *Handlers) showShare(w http.ResponseWriter, r *http.Request, status int, kind, id string, input shareView) {
	v, out := shell.VisitorOf(r.Context()), input
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	if out.Detail, err = h.reports.Detail(r.Context(), v.Team.ID, v.ID, kind, id); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if out.Links, err = h.links.List(r.Context(), v.Team.ID, id); err != nil {
		h.ShowError(w, r, err)
		return
	}
	for i := range out.Links {
		l := &out.Links[i]
		l.CreatedAt, l.ExpiresAt = l.CreatedAt.In(zone), l.ExpiresAt.In(zone)
		if !l.OpenedAt.IsZero() {
			l.OpenedAt = l.OpenedAt.In(zone)
		}
	}
	if out.Mail, err = h.readMails(r, id, zone); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if input.At == "mails" {
		out.Mail.Email = r.PostForm.Get("email")
	}
	out.ID, out.Lifetimes, out.CanBeShown = id, sharelink.Lifetimes, out.Status == report.Ready
	if out.Days == 0 {
		out.Days = 30
	}
	h.ShowTitled(w, r, status, pages["share"], h.T(r, "Share %s", subject(out.Kind, out.Subject)), out)
}

// createLink creates a share link and shows it once.
func (h *Handlers) createLink(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !h.ReadForm(w, r) {
		return
	}
	days, _ := strconv.Atoi(r.PostForm.Get("days")) // 0 if invalid, which Create rejects
	call, err := h.NewCall(r, "share_report")
	if err == nil {
		var created string
		if created, err = h.links.Create(r.Context(), call, id, r.PostForm.Get("name"), days); err == nil {
			h.showCreated(w, r, id, created)
			return
		}
	}
	if formErr, ok := h.formError(w, r, err); ok {
		h.showShare(w, r, shell.StatusOf(err), kind, id, shareView{At: "links", Error: formErr, Days: days, Name: r.PostForm.Get("name")})
	}
}

// replaceLink revokes a share link and shows the new link that replaces it.
func (h *Handlers) replaceLink(w http.ResponseWriter, r *http.Request, _, id string) {
	call, link, ok := h.linkCall(w, r, "share_report")
	if !ok {
		return
	}
	created, err := h.links.Replace(r.Context(), call, id, link)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.showCreated(w, r, id, created)
}

// linkCall reads the form. It returns a call of the given operation, and the ID of the link in the path. If an error
// occurs, it writes the error response and returns false.
func (h *Handlers) linkCall(w http.ResponseWriter, r *http.Request, op string) (operation.Call, int64, bool) {
	if !h.ReadForm(w, r) {
		return operation.Call{}, 0, false
	}
	link, err := shell.PathID(r, "link")
	if err != nil {
		h.ShowError(w, r, err)
		return operation.Call{}, 0, false
	}
	call, err := h.NewCall(r, op)
	if err != nil {
		h.ShowError(w, r, err)
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
func (h *Handlers) revokePage(w http.ResponseWriter, r *http.Request, _, id string) {
	link, err := shell.PathID(r, "link")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	links, err := h.links.List(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	i := slices.IndexFunc(links, func(l sharelink.Link) bool { return l.ID == link })
	if i < 0 {
		h.NotFound(w, r)
		return
	}
	h.Show(w, r, http.StatusOK, pages["linkrevoke"], "Revoke a share link", revokeView{id, links[i]})
}

// revokeLink revokes a share link.
func (h *Handlers) revokeLink(w http.ResponseWriter, r *http.Request, _, id string) {
	call, link, ok := h.linkCall(w, r, "unshare_report")
	if !ok {
		return
	}
	if err := h.links.Revoke(r.Context(), call, id, link); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, "The link was revoked. It no longer shows the report.")
	shell.Redirect(w, r, "/reports/"+id+"/share")
}
