package compose

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/approval"
)

// confirmation asks whether a new post is published or sent for approval, before the post is saved.
type confirmation struct {
	view

	Publishes   bool // otherwise the post is sent for approval
	Blocked     bool // a network would reject the post
	MaySchedule bool
	Mails       bool
	MaxMessage  int
}

// confirm sends the confirmation question, or the form with its problems. It saves nothing, so canceling leaves no draft.
func (p *Handlers) confirm(w http.ResponseWriter, r *http.Request, s sheet, what string) {
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
		view: v, Publishes: what == "publish", Blocked: v.Preview.Blocking > 0, Mails: p.approvals.Mails(),
		MaySchedule: (operation.Call{Actor: actor}).Require(access.Publish) == nil, MaxMessage: approval.MaxComment,
	})
}

// asksFirst reports whether the script requests the confirmation question before it saves a new post.
func asksFirst(r *http.Request) bool { return r.PostForm.Get("ask") != "" && r.PathValue("id") == "" }
