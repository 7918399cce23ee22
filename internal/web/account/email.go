package account

import (
	"net/http"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// sendConfirmation emails the visitor a link that confirms the email address.
func (p *Handlers) sendConfirmation(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	if err := p.LinkMailer.Confirm(r.Context(), v.ID); err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			out := viewOf(v.Account)
			out.WrongEmail = formErr
			p.show(w, r, shell.StatusOf(err), out)
		}
		return
	}
	p.Flash(r, "We sent a link to %s. Open it in this browser within an hour.", v.Email)
	shell.Redirect(w, r, "/account")
}

// confirmPage asks for a click on a button, because email scanners follow links but do not submit forms.
func (p *Handlers) confirmPage(w http.ResponseWriter, r *http.Request) {
	token, v := r.PathValue("token"), shell.VisitorOf(r.Context())
	if err := p.Teams.CheckProof(r.Context(), token, v.ID); err != nil {
		p.badLink(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["confirm"], "Confirm your email address", team.ConfirmPath+token)
}

func (p *Handlers) confirmEmail(w http.ResponseWriter, r *http.Request) {
	if err := p.Teams.ConfirmEmail(r.Context(), r.PathValue("token"), shell.VisitorOf(r.Context()).ID); err != nil {
		p.badLink(w, r, err)
		return
	}
	p.Flash(r, "Your email address is confirmed.")
	shell.Redirect(w, r, "/account")
}
