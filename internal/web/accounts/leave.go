package accounts

import (
	"fmt"
	"net/http"

	"pressroom/internal/operation"
	"pressroom/internal/social"
	"pressroom/internal/web/frame"
)

// leaveView is the page that says what disconnecting an account touches.
type leaveView struct {
	social.Account

	Waiting int // scheduled posts that are to go out to it
}

func (p *Part) leavePage(w http.ResponseWriter, r *http.Request, a social.Account) {
	waiting, err := p.posts.Waiting(r.Context(), a.TeamID, a.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["leave"], "Disconnect "+a.Username, leaveView{a, waiting})
}

// leave disconnects an account, after taking it out of scheduled posts where that is wanted.
func (p *Part) leave(w http.ResponseWriter, r *http.Request, a social.Account) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx := r.Context()
	text := "The account " + a.Username + " is disconnected."
	if r.PostForm.Get("posts") == "take_out" {
		actor, err := p.actor(r)
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		n, err := p.posts.TakeOut(ctx, operation.Call{Actor: actor, Operation: "disconnect", Now: p.DB.Now()}, a.ID)
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		if n > 0 {
			text += fmt.Sprintf(" It was taken out of %s.", frame.Plural(n, "scheduled post", "scheduled posts"))
		}
	}
	revoked, err := p.connector.Accounts.Disconnect(ctx, frame.VisitorOf(ctx).ID, a.TeamID, a.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	switch revoked {
	case social.RevokedThere:
		text += " " + frame.NetworkName(a.Platform) + " was told that it is over."
	case social.NotRevoked:
		p.Log.WarnContext(ctx, "a network could not be told of a disconnection", "platform", a.Platform)
		text += " " + frame.NetworkName(a.Platform) + " could not be told: remove this service in its settings too."
	case social.NotOffered:
		text += " To take the permission back at " + frame.NetworkName(a.Platform) + " as well, remove this service in its settings."
	}
	p.Say(r, text)
	frame.Redirect(w, r, "/accounts")
}
