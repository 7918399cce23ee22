package account

import (
	"net/http"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// recoveryView is the page on which a person sets a new password.
type recoveryView struct {
	team.Person

	Path, Wrong string
	Credentials keepables // that the new password removes
	Issued      issued
}

func (p *Part) recoveryPage(w http.ResponseWriter, r *http.Request) {
	p.showRecovery(w, r, http.StatusOK, "")
}

func (p *Part) showRecovery(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	view := recoveryView{Path: team.RecoveryPath + r.PathValue("token"), Wrong: wrong}
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		view.Person, err = p.Teams.PersonByRecovery(r.Context(), r.PathValue("token"))
		return err
	})
	if err == nil {
		view.Credentials, err = p.keepables(r, view.ID, time.UTC)
	}
	if err == nil {
		view.Issued, err = p.issued(r, view.ID, time.UTC)
	}
	if err == nil && r.Method == http.MethodGet {
		err = p.suggestRevoking(r, view.ID, view.Issued.Shown)
	}
	if err != nil {
		p.badLink(w, r, err)
		return
	}
	p.Show(w, r, status, pages["recovery"], "Set a new password", view)
}

// suggestRevoking selects what an intruder may have made to get back in: open invitations, which are quickly made
// again, and the API keys that were made since the password was last changed.
func (p *Part) suggestRevoking(r *http.Request, person int64, shown []revocable) error {
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

func (p *Part) recover(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	var person team.Person
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		person, err = p.signIns.Recover(r.Context(), r.PathValue("token"), r.PostForm.Get("password"), choiceOf(r))
		return err
	})
	switch f := apierr.Of(err); {
	case err == nil:
		p.renewOrTell(w, r, person)
	case f.Code == apierr.ValidationFailed && fieldOf(err) != "", f.Code == apierr.RateLimited:
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.showRecovery(w, r, shell.StatusOf(err), wrong)
		}
	default:
		p.badLink(w, r, err)
	}
}

// renewOrTell signs the person in, or tells where that is not possible because no team has the person.
func (p *Part) renewOrTell(w http.ResponseWriter, r *http.Request, person team.Person) {
	if _, err := p.Teams.Account(r.Context(), person.ID); apierr.Is(err, apierr.NotFound) {
		p.Notice(w, r, http.StatusOK, "Your password is set",
			"You are in no team yet. Ask an owner or admin of your team for an invitation.")
		return
	}
	has, err := p.Teams.Factors(r.Context(), person.ID)
	if err == nil && has.App { // it was kept
		err = p.forgetOthers(r, person.ID)
	}
	switch {
	case err != nil:
		p.Refuse(w, r, err)
		return
	case has.App:
		p.askCode(w, r, waiting{Person: person.ID, Epoch: person.Epoch}, signInForm{ways: p.ways(), Next: "/account"})
		return
	}
	p.renew(w, r, person, p.Proved(shell.Link), "Your new password is set. You are signed out everywhere else.")
}
