package account

import (
	"net/http"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// sendConfirmation emails the visitor a link that confirms the email address.
func (h *Handlers) sendConfirmation(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	if err := h.LinkMailer.Confirm(r.Context(), v.ID); err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			out := viewOf(v.Account)
			out.WrongEmail = formErr
			h.show(w, r, shell.StatusOf(err), out)
		}
		return
	}
	h.Flash(r, "We sent a link to %s. Open it in this browser within an hour.", v.Email)
	shell.Redirect(w, r, "/account")
}

// confirmPage asks for a click on a button, because email scanners follow links but do not submit forms.
func (h *Handlers) confirmPage(w http.ResponseWriter, r *http.Request) {
	token, v := r.PathValue("token"), shell.VisitorOf(r.Context())
	if err := h.Teams.CheckProof(r.Context(), token, v.ID); err != nil {
		h.showBadLink(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["confirm"], "Confirm your email address", team.ConfirmPath+token)
}

func (h *Handlers) confirmEmail(w http.ResponseWriter, r *http.Request) {
	if err := h.Teams.ConfirmEmail(r.Context(), r.PathValue("token"), shell.VisitorOf(r.Context()).ID); err != nil {
		h.showBadLink(w, r, err)
		return
	}
	h.Flash(r, "Your email address is confirmed.")
	shell.Redirect(w, r, "/account")
}
