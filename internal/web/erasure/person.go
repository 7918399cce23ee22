package erasure

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// leaveView is the page for leaving a team.
type leaveView struct {
	team.OwnTeam

	Only  bool // it is the visitor's only team
	Owner bool
	Error string
}

// newLeaveView returns the page for the team in the path, or not_found if the visitor does not belong to it.
func newLeaveView(r *http.Request) (leaveView, error) {
	v := shell.VisitorOf(r.Context())
	id, err := shell.PathID(r, "team")
	if err != nil {
		return leaveView{}, err
	}
	ownTeam := shell.TeamOrFirst(v.Account, id)
	if ownTeam.ID != id {
		return leaveView{}, apierr.ItemNotFound()
	}
	return leaveView{OwnTeam: ownTeam, Only: len(v.Teams) == 1, Owner: ownTeam.Role == access.Owner}, nil
}

func (h *Handlers) leavePage(w http.ResponseWriter, r *http.Request) {
	view, err := newLeaveView(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["leave"], "Leave team", view)
}

func (h *Handlers) leave(w http.ResponseWriter, r *http.Request) {
	view, err := newLeaveView(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if err := h.erasure.Leave(r.Context(), shell.VisitorOf(r.Context()).ID, view.ID); err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
			view.Error = formErr.Text
			h.Show(w, r, shell.StatusOf(err), pages["leave"], "Leave team", view)
		}
		return
	}
	h.Flash(r, "You left the team.")
	shell.Redirect(w, r, "/account")
}

// ownedTeam is a team that the person has to transfer or delete before deleting their account.
type ownedTeam struct {
	team.OwnTeam

	Others int64 // members besides the owner
}

// personView is the page where people delete their accounts.
type personView struct {
	Owned []ownedTeam
	Email string // as entered
	Error string
}

func (h *Handlers) personPage(w http.ResponseWriter, r *http.Request) {
	h.showPerson(w, r, http.StatusOK, "", h.SavedForm(r).Get("email"))
}

func (h *Handlers) showPerson(w http.ResponseWriter, r *http.Request, status int, formErr, email string) {
	view := personView{Error: formErr, Email: email}
	for _, t := range shell.VisitorOf(r.Context()).Teams {
		if t.Role == access.Owner {
			contents, err := h.erasure.CountContents(r.Context(), t.ID)
			if err != nil {
				h.ShowError(w, r, err)
				return
			}
			view.Owned = append(view.Owned, ownedTeam{t, contents.Members - 1})
		}
	}
	h.Show(w, r, status, pages["person"], "Delete your account", view)
}

func (h *Handlers) deletePerson(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	err := error(apierr.Invalid(apierr.NotAllowedValue, "email",
		"This is not your email address. Enter it as shown above."))
	if r.PostForm.Get("email") == v.Email {
		err = h.erasure.DeletePerson(r.Context(), v.ID)
	}
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
			h.showPerson(w, r, shell.StatusOf(err), formErr.Text, r.PostForm.Get("email"))
		}
		return
	}
	if err := h.SignOut(r.Context()); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowMessage(w, r.WithContext(r.Context()), http.StatusOK, "Your account was deleted",
		"Only an anonymous number remains in the records of your former teams.")
}
