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
func (p *Handlers) RedirectToSetup(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if shell.VisitorOf(r.Context()) != nil || !p.signInMethods().Local {
			next(w, r)
			return
		}
		switch pending, err := p.firstRun.Pending(r.Context()); {
		case err != nil:
			p.ShowError(w, r, err)
		case pending:
			shell.Redirect(w, r, "/setup")
		default:
			next(w, r)
		}
	}
}

// unlessSetUp returns a handler that calls do, or redirects to the sign-in page once the installation has people.
func (p *Handlers) unlessSetUp(do http.HandlerFunc) http.HandlerFunc {
	return p.requireLocal(func(w http.ResponseWriter, r *http.Request) {
		switch pending, err := p.firstRun.Pending(r.Context()); {
		case err != nil:
			p.ShowError(w, r, err)
		case !pending:
			shell.Redirect(w, r, "/sign-in")
		default:
			do(w, r)
		}
	})
}

func (p *Handlers) firstRunPage(w http.ResponseWriter, r *http.Request) {
	p.showFirstRun(w, r, http.StatusOK, firstRunView{FirstPerson: team.FirstPerson{Timezone: "UTC"}})
}

func (p *Handlers) showFirstRun(w http.ResponseWriter, r *http.Request, status int, view firstRunView) {
	view.Zones = teamtime.ZoneOptions(p.DB.Now())
	p.Show(w, r, status, pages["firstrun"], "Set up pressroom", view)
}

// setUp creates the first person and team, and signs the person in.
func (p *Handlers) setUp(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	in := team.FirstPerson{
		Code: r.PostForm.Get("code"), Name: r.PostForm.Get("name"), Email: r.PostForm.Get("email"),
		Password: r.PostForm.Get("password"), TeamName: r.PostForm.Get("team"), Timezone: r.PostForm.Get("timezone"),
		From: p.Client(r),
	}
	person, err := p.firstRun.Create(r.Context(), in)
	if err != nil {
		p.rejectFirstRun(w, r, in, err)
		return
	}
	if err := p.SignIn(r.Context(), person, p.ProofNow(shell.Password)); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Flash(r, "Welcome. Your account and your team are ready.")
	shell.Redirect(w, r, "/")
}

func (p *Handlers) rejectFirstRun(w http.ResponseWriter, r *http.Request, in team.FirstPerson, err error) {
	if errors.Is(err, team.ErrSetUp) { // somebody else has set up the installation in the meantime
		p.FlashText(r, p.Detail(r, err))
		shell.Redirect(w, r, "/sign-in")
		return
	}
	if formErr, ok := p.formError(w, r, err); ok {
		p.logRejected(r, err)
		p.showFirstRun(w, r, shell.StatusOf(err), firstRunView{FirstPerson: in, Error: formErr, Field: fieldOf(err)})
	}
}
