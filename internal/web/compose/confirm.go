package compose

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/approval"
)

// confirmation asks a person to confirm publishing a new post or sending it for approval. The post is not saved yet.
type confirmation struct {
	view

	Publishes   bool // whether the post would be published; otherwise it would be sent for approval
	Blocked     bool // whether a network would reject the post
	MaySchedule bool // whether the visitor may schedule posts
	Mails       bool // whether approval links can be sent by email
	MaxMessage  int  // maximum length of the message to the client
}

// confirm shows the confirmation page, or the form with its problems. It saves nothing, so canceling leaves no draft.
func (p *Handlers) confirm(w http.ResponseWriter, r *http.Request, s formData, what string) {
	found, err := p.findErrors(r, s, what)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if len(found) > 0 {
		p.showAt(w, r, s, "", p.T(r, failedActionTexts[what]), found...)
		return
	}
	actor, err := p.actor(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	v, err := p.viewOf(r, s, "")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["confirm"], "New post", &confirmation{
		view: v, Publishes: what == "publish", Blocked: v.Preview.Blocking > 0, Mails: p.approvals.CanSendEmail(),
		MaySchedule: (operation.Call{Actor: actor}).Require(access.Publish) == nil, MaxMessage: approval.MaxComment,
	})
}

// asksFirst reports whether the page's script requests the confirmation page instead of saving a new post.
func asksFirst(r *http.Request) bool { return r.PostForm.Get("ask") != "" && r.PathValue("id") == "" }
