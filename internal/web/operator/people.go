package operator

import (
	"errors"
	"fmt"
	"net/http"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// peopleView is a part of all people.
type peopleView struct {
	Text   string
	People []team.Person
	Pages  pager
}

func (p *Part) peoplePage(w http.ResponseWriter, r *http.Request) {
	q := team.Search{Text: r.URL.Query().Get("q"), After: numberOf(r, "after"), Most: atOnce}
	found, err := p.Teams.FindPeople(r.Context(), q)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["people"], "People",
		peopleView{q.Text, found.Items, searchPages("/operator/people", q, found.Next)})
}

// personView is a person's page.
type personView struct {
	team.Person

	Teams []team.OwnTeam
	Self  bool // the operator's own
	Mails bool // a recovery link can be mailed
}

// person finds the person of the address, or answers.
func (p *Part) person(w http.ResponseWriter, r *http.Request) (team.Person, bool) {
	id, err := shell.IDIn(r, "person")
	var found team.Person
	if err == nil {
		found, err = p.Teams.Person(r.Context(), id)
	}
	if err != nil {
		p.Refuse(w, r, err)
	}
	return found, err == nil
}

func (p *Part) personPage(w http.ResponseWriter, r *http.Request) {
	found, ok := p.person(w, r)
	if !ok {
		return
	}
	teams, err := p.Teams.TeamsOf(r.Context(), found.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	title := found.Name
	if found.Deleted {
		title = "Deleted person"
	}
	p.Show(w, r, http.StatusOK, pages["person"], title,
		personView{found, teams, found.ID == shell.VisitorOf(r.Context()).ID, p.Letters.Possible()})
}

// onPerson does something to the person of the address. Nobody does it to themselves, so that an operator remains.
func (p *Part) onPerson(w http.ResponseWriter, r *http.Request, do func(team.Person) (string, error)) {
	if !p.ReadForm(w, r) {
		return
	}
	found, ok := p.person(w, r)
	if !ok {
		return
	}
	err := error(apierr.OperatorError("this is your own account; ask another operator"))
	said := ""
	if found.ID != shell.VisitorOf(r.Context()).ID {
		said, err = do(found)
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	p.did(w, r, said, fmt.Sprintf("/operator/people/%d", found.ID))
}

func (p *Part) hold(w http.ResponseWriter, r *http.Request) {
	p.onPerson(w, r, func(found team.Person) (string, error) {
		held := r.PostForm.Get("held") == "yes"
		said := "The hold is ended."
		if held {
			said = "The account is suspended: the person cannot sign in, no assistant of the person works, and no key " +
				"or assistant of the teams that the person owns."
		}
		return said, p.Teams.SetHold(r.Context(), found.ID, held)
	})
}

func (p *Part) setOperator(w http.ResponseWriter, r *http.Request) {
	p.onPerson(w, r, func(found team.Person) (string, error) {
		on := r.PostForm.Get("operator") == "yes"
		said := "This person runs the service no more."
		if on {
			said = "This person runs the service now."
		}
		if !on || r.PostForm.Get("unconfirmed") == "yes" {
			_, err := p.Teams.SetOperator(r.Context(), found.Email, on)
			return said, err
		}
		_, err := p.Teams.MakeOperator(r.Context(), found.Email)
		if errors.Is(err, team.ErrUnconfirmed) {
			err = errUnconfirmed
		}
		return said, err
	})
}

var errUnconfirmed = apierr.OperatorError("nobody has proved that this e-mail address belongs to the person; go back and " +
	"tick the box if you know whose account it is")

// recoveryView is the one page that shows a recovery's link.
type recoveryView struct {
	team.Recovery

	Link string
}

func (p *Part) recover(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	found, ok := p.person(w, r)
	if !ok {
		return
	}
	if r.PostForm.Get("mail") == "yes" {
		p.mailRecovery(w, r, found)
		return
	}
	made, err := p.Teams.Recover(r.Context(), found.Email)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["recovery"], "Recovery link",
		recoveryView{made, p.PublicURL + team.RecoveryPath + made.Token})
}

// mailRecovery sends a recovery link to the person, so that nobody else sees it.
func (p *Part) mailRecovery(w http.ResponseWriter, r *http.Request, found team.Person) {
	if _, err := p.Letters.Recover(r.Context(), found.Email); err != nil {
		p.refuse(w, r, err)
		return
	}
	p.did(w, r, "We sent a recovery link to "+found.Email+".", fmt.Sprintf("/operator/people/%d", found.ID))
}
