package account

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// chooserKey is the session key for a directory sign-in that waits until the person has chosen a team. The person is
// not signed in yet.
const chooserKey = "directory choice"

// chooseTimeout is how long the person has to choose.
const chooseTimeout = 10 * time.Minute

// pendingDirectorySignIn is a person without a team whom the directory has identified.
type pendingDirectorySignIn struct {
	Identity        team.DirectoryIdentity `json:"who"`
	AuthenticatedAt time.Time              `json:"proved_at"`
	Since           time.Time              `json:"since"`
}

var errChoiceExpired = apierr.BadState("ended", "This sign-in has expired. Sign in again.")

// chooseInvitation shows the open invitations of a person who signed in with the directory without an invitation link.
// It issues a new session token, so that a token planted by an attacker cannot join a team.
func (p *Handlers) chooseInvitation(w http.ResponseWriter, r *http.Request, pending pendingDirectorySignIn) {
	invitations, err := p.Teams.InvitationsForDirectory(r.Context(), pending.Identity)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(pending)
	}
	if err == nil {
		err = p.Renew(r.Context())
	}
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	p.Put(r.Context(), chooserKey, raw)
	p.Show(w, r, http.StatusOK, pages["choose"], "Choose a team", invitations)
}

// joinChosen accepts the invitation that the person chose after signing in with the directory, and signs the person
// in.
func (p *Handlers) joinChosen(w http.ResponseWriter, r *http.Request) {
	if p.directory == nil {
		p.NotFound(w, r)
		return
	}
	if !p.ReadForm(w, r) {
		return
	}
	ctx, form := r.Context(), signInForm{signInMethods: p.signInMethods(), Next: "/"}
	var pending pendingDirectorySignIn
	raw := p.Pop(ctx, chooserKey)
	if raw != nil {
		if err := json.Unmarshal(raw, &pending); err != nil {
			p.ServerError(w, r, err)
			return
		}
	}
	if age := p.DB.Now().Sub(pending.Since); raw == nil || age < 0 || age >= chooseTimeout {
		p.rejectSignIn(w, r, form, errChoiceExpired)
		return
	}
	invitation, _ := strconv.ParseInt(r.PostForm.Get("invitation"), 10, 64) // 0 if nothing is selected
	person, err := p.Teams.JoinFromDirectory(ctx, pending.Identity, invitation)
	switch {
	case errors.Is(err, team.ErrChooseInvitation): // the chosen invitation is no longer open
		p.chooseInvitation(w, r, pending)
	case err != nil:
		p.rejectSignIn(w, r, form, err)
	default:
		p.enter(w, r, person, form, shell.Proof{Method: shell.Directory, At: pending.AuthenticatedAt})
	}
}

// acceptOpen accepts an invitation listed on the account page.
func (p *Handlers) acceptOpen(w http.ResponseWriter, r *http.Request) {
	invitation, err := shell.PathID(r, "invitation")
	var o team.Offer
	if err == nil {
		o, err = p.Teams.AcceptInvitation(r.Context(), shell.VisitorOf(r.Context()).ID, invitation)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.welcome(w, r, o)
}
