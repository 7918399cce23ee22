package operator

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// peopleView is a page of the list of people.
type peopleView struct {
	searchView

	People     []team.Person
	Activities map[int64]teamsearch.Activity
}

// peopleOrders are the columns that people can be sorted by.
var peopleOrders = []teamsearch.Order{teamsearch.ByName, teamsearch.ByMemberships, teamsearch.BySignIn}

// peopleStates are the states that people can be filtered by.
var peopleStates = []teamsearch.State{"", teamsearch.Operators, teamsearch.Suspended, teamsearch.Unconfirmed}

func (h *Handlers) peoplePage(w http.ResponseWriter, r *http.Request) {
	q := parseQuery(r, peopleStates, peopleOrders)
	found, err := teamsearch.People(r.Context(), h.DB, q)
	var activities map[int64]teamsearch.Activity
	if err == nil {
		activities, err = teamsearch.Activities(r.Context(), h.DB, idsOf(found.Items, func(h team.Person) int64 { return h.ID }))
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	const path = "/operator/people"
	h.Show(w, r, http.StatusOK, pages["people"], "People", peopleView{
		newSearchView(path, q, peopleStates, found), found.Items, activities,
	})
}

// personView is a person's page.
type personView struct {
	team.Person

	Teams  []team.OwnTeam
	IsSelf bool // the visitor's own account
	Mails  bool // a recovery link can be emailed

	Factors  team.Factors
	SignIns  []teamsearch.SignIn
	SignedIn time.Time // when the person last signed in; zero if it is unknown
}

// person returns the person whose ID is in the path. If an error occurs, it writes the error response and returns
// false.
func (h *Handlers) person(w http.ResponseWriter, r *http.Request) (team.Person, bool) {
	id, err := shell.PathID(r, "person")
	var person team.Person
	if err == nil {
		person, err = h.Teams.Person(r.Context(), id)
	}
	if err != nil {
		h.ShowError(w, r, err)
	}
	return person, err == nil
}

func (h *Handlers) personPage(w http.ResponseWriter, r *http.Request) {
	person, ok := h.person(w, r)
	if !ok {
		return
	}
	view := personView{Person: person, IsSelf: person.ID == shell.VisitorOf(r.Context()).ID, Mails: h.LinkMailer.Enabled()}
	var err error
	if view.Teams, err = h.Teams.ListTeams(r.Context(), person.ID); err == nil {
		view.SignIns, view.SignedIn, err = teamsearch.SignIns(r.Context(), h.DB, person.ID)
	}
	if err == nil {
		view.Factors, err = h.Teams.Factors(r.Context(), person.ID)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	title := person.Name
	if person.Deleted {
		title = h.T(r, "Deleted person")
	}
	h.ShowTitled(w, r, http.StatusOK, pages["person"], title, view)
}

// changePerson calls fn with the person whose ID is in the path, and shows the message that fn returns. Operators
// cannot change themselves, so that at least one operator remains.
func (h *Handlers) changePerson(w http.ResponseWriter, r *http.Request, fn func(team.Person) (locale.Key, error)) {
	if !h.ReadForm(w, r) {
		return
	}
	person, ok := h.person(w, r)
	if !ok {
		return
	}
	err := error(apierr.OperatorError("you cannot change your own account; ask another operator"))
	message := locale.Key("")
	if person.ID != shell.VisitorOf(r.Context()).ID {
		message, err = fn(person)
	}
	if err != nil {
		h.reject(w, r, err)
		return
	}
	h.finish(w, r, h.T(r, message), fmt.Sprintf("/operator/people/%d", person.ID))
}

func (h *Handlers) suspend(w http.ResponseWriter, r *http.Request) {
	h.changePerson(w, r, func(person team.Person) (locale.Key, error) {
		suspend := r.PostForm.Get("held") == "yes"
		message := locale.Key("The suspension was ended.")
		if suspend {
			message = "The account is suspended. The person cannot sign in, and the person’s assistants and the keys " +
				"and assistants of the person’s own teams do not work."
		}
		return message, h.Teams.SetSuspended(r.Context(), person.ID, suspend)
	})
}

func (h *Handlers) setOperator(w http.ResponseWriter, r *http.Request) {
	h.changePerson(w, r, func(person team.Person) (locale.Key, error) {
		on := r.PostForm.Get("operator") == "yes"
		message := locale.Key("This person is no longer an operator.")
		if on {
			message = "This person is now an operator."
		}
		if !on || r.PostForm.Get("unconfirmed") == "yes" {
			_, err := h.Teams.SetOperator(r.Context(), person.Email, on)
			return message, err
		}
		_, err := h.Teams.MakeOperator(r.Context(), person.Email)
		if errors.Is(err, team.ErrUnconfirmed) {
			err = errUnconfirmed
		}
		return message, err
	})
}

var errUnconfirmed = apierr.OperatorError("this email address is not confirmed; go back and check the box if you know " +
	"whose account it is")

// recoveryView is the only page that shows a recovery link.
type recoveryView struct {
	team.Recovery

	Link string
}

func (h *Handlers) recover(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	person, ok := h.person(w, r)
	if !ok {
		return
	}
	if r.PostForm.Get("mail") == "yes" {
		h.mailRecovery(w, r, person)
		return
	}
	recovery, err := h.Teams.Recover(r.Context(), person.Email)
	if err != nil {
		h.reject(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["recovery"], "Recovery link",
		recoveryView{recovery, h.PublicURL + team.RecoveryPath + recovery.Token})
}

// mailRecovery emails a recovery link to the person, so that nobody else sees it.
func (h *Handlers) mailRecovery(w http.ResponseWriter, r *http.Request, person team.Person) {
	if _, err := h.LinkMailer.Recover(r.Context(), person.Email); err != nil {
		h.reject(w, r, err)
		return
	}
	h.finish(w, r, h.T(r, "We sent a recovery link to %s.", person.Email), fmt.Sprintf("/operator/people/%d", person.ID))
}
