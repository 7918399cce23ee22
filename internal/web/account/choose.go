package account

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// chooserKept is where a session keeps a directory sign-in that waits for a choice of team. Nobody is signed in by it.
const chooserKept = "directory choice"

// chooseWithin is how long the person has to choose.
const chooseWithin = 10 * time.Minute

// chooser is somebody whom the directory has recognized and who is in no team yet.
type chooser struct {
	Who      team.DirectoryIdentity `json:"who"`
	ProvedAt time.Time              `json:"proved_at"`
	Since    time.Time              `json:"since"`
}

var errChoiceLate = apierr.BadState("ended", "This sign-in is over. Sign in again.")

// chooseInvitation shows the open invitations of somebody who came from the directory without an invitation link. The
// browser gets another token: one that somebody planted must not join a team.
func (p *Part) chooseInvitation(w http.ResponseWriter, r *http.Request, of chooser) {
	open, err := p.Teams.OpenOffers(r.Context(), of.Who.Email)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(of)
	}
	if err == nil {
		err = p.Renew(r.Context())
	}
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	p.Keep(r.Context(), chooserKept, raw)
	p.Show(w, r, http.StatusOK, pages["choose"], "Choose a team", open)
}

// joinChosen accepts the invitation that somebody from the directory chose, and signs the person in.
func (p *Part) joinChosen(w http.ResponseWriter, r *http.Request) {
	if p.directory == nil {
		p.Missing(w, r)
		return
	}
	if !p.ReadForm(w, r) {
		return
	}
	ctx, form := r.Context(), signInForm{ways: p.ways(), Next: "/"}
	var of chooser
	raw := p.Take(ctx, chooserKept)
	if raw != nil {
		if err := json.Unmarshal(raw, &of); err != nil {
			p.Broken(w, r, err)
			return
		}
	}
	if age := p.DB.Now().Sub(of.Since); raw == nil || age < 0 || age >= chooseWithin {
		p.refuseSignIn(w, r, form, errChoiceLate)
		return
	}
	invitation, _ := strconv.ParseInt(r.PostForm.Get("invitation"), 10, 64) // none is 0
	joined, err := p.Teams.JoinFromDirectory(ctx, of.Who, invitation)
	switch {
	case errors.Is(err, team.ErrChooseInvitation): // it was revoked meanwhile
		p.chooseInvitation(w, r, of)
	case err != nil:
		p.refuseSignIn(w, r, form, err)
	default:
		p.enter(w, r, joined, form, shell.Proof{By: shell.Directory, At: of.ProvedAt})
	}
}

// acceptOpen accepts an invitation that the account page lists.
func (p *Part) acceptOpen(w http.ResponseWriter, r *http.Request) {
	invitation, err := numberIn(r, "invitation")
	var o team.Offer
	if err == nil {
		o, err = p.Teams.AcceptOpen(r.Context(), shell.VisitorOf(r.Context()).ID, invitation)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.welcome(w, r, o)
}
