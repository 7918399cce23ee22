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

// pendingDirectoryKey is the session key for a directory sign-in that waits until the person has chosen a team. The
// person is not signed in yet.
const pendingDirectoryKey = "directory choice"

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
func (h *Handlers) chooseInvitation(w http.ResponseWriter, r *http.Request, pending pendingDirectorySignIn) {
	invitations, err := h.Teams.InvitationsForDirectory(r.Context(), pending.Identity)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(pending)
	}
	if err == nil {
		err = h.Renew(r.Context())
	}
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.Put(r.Context(), pendingDirectoryKey, raw)
	h.Show(w, r, http.StatusOK, pages["choose"], "Choose a team", invitations)
}

// joinChosen accepts the invitation that the person chose after signing in with the directory, and signs the person
// in.
func (h *Handlers) joinChosen(w http.ResponseWriter, r *http.Request) {
	if h.directory == nil {
		h.NotFound(w, r)
		return
	}
	if !h.ReadForm(w, r) {
		return
	}
	ctx, form := r.Context(), signInForm{signInMethods: h.signInMethods(), Next: "/"}
	var pending pendingDirectorySignIn
	raw := h.Pop(ctx, pendingDirectoryKey)
	if raw != nil {
		if err := json.Unmarshal(raw, &pending); err != nil {
			h.ServerError(w, r, err)
			return
		}
	}
	if age := h.DB.Now().Sub(pending.Since); raw == nil || age < 0 || age >= chooseTimeout {
		h.rejectSignIn(w, r, form, errChoiceExpired)
		return
	}
	invitation, _ := strconv.ParseInt(r.PostForm.Get("invitation"), 10, 64) // 0 if nothing is selected
	person, err := h.Teams.JoinFromDirectory(ctx, pending.Identity, invitation)
	switch {
	case errors.Is(err, team.ErrChooseInvitation): // the chosen invitation is no longer open
		h.chooseInvitation(w, r, pending)
	case err != nil:
		h.rejectSignIn(w, r, form, err)
	default:
		h.enter(w, r, person, form, shell.Proof{Method: shell.Directory, At: pending.AuthenticatedAt})
	}
}

// acceptOpen accepts an invitation listed on the account page.
func (h *Handlers) acceptOpen(w http.ResponseWriter, r *http.Request) {
	invitation, err := shell.PathID(r, "invitation")
	var o team.Offer
	if err == nil {
		o, err = h.Teams.AcceptInvitation(r.Context(), shell.VisitorOf(r.Context()).ID, invitation)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.welcome(w, r, o)
}
