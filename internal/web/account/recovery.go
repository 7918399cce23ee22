package account

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// recoveryView is the page for setting a new password.
type recoveryView struct {
	team.Person

	Path, Error string
	Credentials keepableCredentials // removed by the new password
	Issued      issuedCredentials
}

func (h *Handlers) recoveryPage(w http.ResponseWriter, r *http.Request) {
	h.showRecovery(w, r, http.StatusOK, "")
}

func (h *Handlers) showRecovery(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	view := recoveryView{Path: team.RecoveryPath + r.PathValue("token"), Error: formErr}
	err := h.signIns.CheckSecret(h.Client(r), func() error {
		var err error
		view.Person, err = h.Teams.PersonByRecovery(r.Context(), r.PathValue("token"))
		return err
	})
	if err == nil {
		view.Credentials, err = h.keepableCredentials(r, view.ID, time.UTC)
	}
	if err == nil {
		view.Issued, err = h.issuedCredentials(r, view.ID, time.UTC)
	}
	if err == nil && r.Method == http.MethodGet {
		err = h.preselectRevocations(r, view.ID, view.Issued.Shown)
	}
	if err != nil {
		h.showBadLink(w, r, err)
		return
	}
	h.Show(w, r, status, pages["recovery"], "Set a new password", view)
}

// preselectRevocations preselects the items that an intruder may have created: open invitations, and API keys created
// since the password was last changed.
func (h *Handlers) preselectRevocations(r *http.Request, person int64, shown []revocableCredential) error {
	changedAt, err := h.Teams.PasswordChangedAt(r.Context(), person)
	if err != nil {
		return err
	}
	for i := range shown {
		c := &shown[i]
		c.Revoke = c.Kind == team.IssuedInvitation || !c.CreatedAt.Before(changedAt)
	}
	return nil
}

func (h *Handlers) recover(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	var person team.Person
	err := h.signIns.CheckSecret(h.Client(r), func() error {
		var err error
		person, err = h.signIns.Recover(r.Context(), r.PathValue("token"), r.PostForm.Get("password"), choiceOf(r))
		return err
	})
	switch f := apierr.FromError(err); {
	case err == nil:
		h.signInOrExplain(w, r, person)
	case f.Code == apierr.ValidationFailed && fieldOf(err) != "", f.Code == apierr.RateLimited:
		if formErr, ok := h.formError(w, r, err); ok {
			h.showRecovery(w, r, shell.StatusOf(err), formErr)
		}
	default:
		h.showBadLink(w, r, err)
	}
}

// signInOrExplain signs the person in, asks for a code if the person has an authenticator app, or explains that the
// person has no team.
func (h *Handlers) signInOrExplain(w http.ResponseWriter, r *http.Request, person team.Person) {
	if _, err := h.Teams.Account(r.Context(), person.ID); apierr.Is(err, apierr.NotFound) {
		h.ShowMessage(w, r, http.StatusOK, "Your password is set",
			"You do not belong to a team yet. Ask an owner or admin of your team for an invitation.")
		return
	}
	factors, err := h.Teams.Factors(r.Context(), person.ID)
	if err == nil && factors.App { // the person kept the authenticator app
		err = h.forgetOtherBrowsers(r, person.ID)
	}
	switch {
	case err != nil:
		h.ShowError(w, r, err)
		return
	case factors.App:
		h.requestCode(w, r, pendingSignIn{Person: person.ID, Epoch: person.Epoch},
			signInForm{signInMethods: h.signInMethods(), Next: "/account"})
		return
	}
	h.startNewSession(w, r, person, h.ProofNow(shell.Link), "Your new password is set. You were signed out everywhere else.")
}
