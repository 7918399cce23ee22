package account

import (
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// firstRunView is the page for creating the first person of an installation. If the form is shown again after an error,
// the password field is empty.
type firstRunView struct {
	team.FirstPerson

	Zones        []teamtime.ZoneOption
	Error, Field string
}

// RedirectToSetup returns a handler that redirects signed-out visitors to the setup page while the installation has
// no people. Otherwise, and always if people sign in only with the directory, it calls next.
func (h *Handlers) RedirectToSetup(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if shell.VisitorOf(r.Context()) != nil || !h.signInMethods().Local {
			next(w, r)
			return
		}
		switch pending, err := h.firstRun.Pending(r.Context()); {
		case err != nil:
			h.ShowError(w, r, err)
		case pending:
			shell.Redirect(w, r, "/setup")
		default:
			next(w, r)
		}
	}
}

// unlessSetUp returns a handler that calls next, or redirects to the sign-in page once the installation has people.
func (h *Handlers) unlessSetUp(next http.HandlerFunc) http.HandlerFunc {
	return h.requireLocal(func(w http.ResponseWriter, r *http.Request) {
		switch pending, err := h.firstRun.Pending(r.Context()); {
		case err != nil:
			h.ShowError(w, r, err)
		case !pending:
			shell.Redirect(w, r, "/sign-in")
		default:
			next(w, r)
		}
	})
}

func (h *Handlers) firstRunPage(w http.ResponseWriter, r *http.Request) {
	h.showFirstRun(w, r, http.StatusOK, firstRunView{FirstPerson: team.FirstPerson{Timezone: "UTC"}})
}

func (h *Handlers) showFirstRun(w http.ResponseWriter, r *http.Request, status int, view firstRunView) {
	view.Zones = teamtime.ZoneOptions(h.DB.Now())
	h.Show(w, r, status, pages["firstrun"], "Set up pressroom", view)
}

// setUp creates the first person and team, and signs the person in.
func (h *Handlers) setUp(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	in := team.FirstPerson{
		Code: r.PostForm.Get("code"), Name: r.PostForm.Get("name"), Email: r.PostForm.Get("email"),
		Password: r.PostForm.Get("password"), TeamName: r.PostForm.Get("team"), Timezone: r.PostForm.Get("timezone"),
		From: h.Client(r),
	}
	person, err := h.firstRun.Create(r.Context(), in)
	if err != nil {
		h.rejectFirstRun(w, r, in, err)
		return
	}
	if err := h.SignIn(r.Context(), person, h.ProofNow(shell.Password)); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, "Welcome. Your account and your team are ready.")
	shell.Redirect(w, r, "/")
}

func (h *Handlers) rejectFirstRun(w http.ResponseWriter, r *http.Request, in team.FirstPerson, err error) {
	if errors.Is(err, team.ErrSetUp) { // somebody else has set up the installation in the meantime
		h.FlashText(r, h.Detail(r, err))
		shell.Redirect(w, r, "/sign-in")
		return
	}
	if formErr, ok := h.formError(w, r, err); ok {
		h.logRejected(r, err)
		h.showFirstRun(w, r, shell.StatusOf(err), firstRunView{FirstPerson: in, Error: formErr, Field: fieldOf(err)})
	}
}
