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

func (p *Handlers) recoveryPage(w http.ResponseWriter, r *http.Request) {
	p.showRecovery(w, r, http.StatusOK, "")
}

func (p *Handlers) showRecovery(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	view := recoveryView{Path: team.RecoveryPath + r.PathValue("token"), Error: formErr}
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		view.Person, err = p.Teams.PersonByRecovery(r.Context(), r.PathValue("token"))
		return err
	})
	if err == nil {
		view.Credentials, err = p.keepableCredentials(r, view.ID, time.UTC)
	}
	if err == nil {
		view.Issued, err = p.issuedCredentials(r, view.ID, time.UTC)
	}
	if err == nil && r.Method == http.MethodGet {
		err = p.preselectRevocations(r, view.ID, view.Issued.Shown)
	}
	if err != nil {
		p.badLink(w, r, err)
		return
	}
	p.Show(w, r, status, pages["recovery"], "Set a new password", view)
}

// preselectRevocations preselects the items that an intruder may have created: open invitations, and API keys created
// since the password was last changed.
func (p *Handlers) preselectRevocations(r *http.Request, person int64, shown []revocable) error {
	changed, err := p.Teams.PasswordChangedAt(r.Context(), person)
	if err != nil {
		return err
	}
	for i := range shown {
		c := &shown[i]
		c.Revoke = c.Kind == team.IssuedInvitation || !c.CreatedAt.Before(changed)
	}
	return nil
}

func (p *Handlers) recover(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	var person team.Person
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		person, err = p.signIns.Recover(r.Context(), r.PathValue("token"), r.PostForm.Get("password"), choiceOf(r))
		return err
	})
	switch f := apierr.FromError(err); {
	case err == nil:
		p.signInOrExplain(w, r, person)
	case f.Code == apierr.ValidationFailed && fieldOf(err) != "", f.Code == apierr.RateLimited:
		if formErr, ok := p.formError(w, r, err); ok {
			p.showRecovery(w, r, shell.StatusOf(err), formErr)
		}
	default:
		p.badLink(w, r, err)
	}
}

// signInOrExplain signs the person in, asks for a code if the person has an authenticator app, or explains that the
// person has no team.
func (p *Handlers) signInOrExplain(w http.ResponseWriter, r *http.Request, person team.Person) {
	if _, err := p.Teams.Account(r.Context(), person.ID); apierr.Is(err, apierr.NotFound) {
		p.ShowMessage(w, r, http.StatusOK, "Your password is set",
			"You do not belong to a team yet. Ask an owner or admin of your team for an invitation.")
		return
	}
	factors, err := p.Teams.Factors(r.Context(), person.ID)
	if err == nil && factors.App { // the person kept the authenticator app
		err = p.forgetOtherBrowsers(r, person.ID)
	}
	switch {
	case err != nil:
		p.ShowError(w, r, err)
		return
	case factors.App:
		p.requestCode(w, r, pendingSignIn{Person: person.ID, Epoch: person.Epoch},
			signInForm{signInMethods: p.signInMethods(), Next: "/account"})
		return
	}
	p.startNewSession(w, r, person, p.ProofNow(shell.Link), "Your new password is set. You were signed out everywhere else.")
}
