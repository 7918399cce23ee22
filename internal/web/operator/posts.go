package operator

import (
	"net/http"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
)

// postsView is the page that lists deliveries with an unknown outcome, which a person must determine.
type postsView struct {
	Unconfirmed []delivery.UnconfirmedDelivery
	Names       teamsearch.Names // names of the posts' teams
	Error       string
}

func (p *Handlers) postsPage(w http.ResponseWriter, r *http.Request) {
	p.showPosts(w, r, http.StatusOK, "")
}

func (p *Handlers) showPosts(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	unconfirmed, err := p.Delivery.ListUnconfirmed(r.Context(), 0)
	var names teamsearch.Names
	if err == nil {
		names, err = namesOf(r.Context(), p.DB, unconfirmed, func(d delivery.UnconfirmedDelivery) int64 { return d.TeamID })
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, status, pages["posts"], "Unconfirmed posts", postsView{unconfirmed, names, formErr})
}

// decide records the outcome of a delivery. The audit log names the operator, but the team sees only "the operator".
func (p *Handlers) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	account, err := strconv.ParseInt(r.PostForm.Get("account"), 10, 64)
	found := r.PostForm.Get("found")
	switch {
	case err != nil:
		err = apierr.ItemNotFound()
	case found != "published" && found != "not_published":
		err = apierr.OperatorError("choose whether you found the post on the network")
	default:
		err = p.Delivery.Decide(r.Context(), 0, 0, r.PostForm.Get("post"), account,
			delivery.Decision{
				Published: found == "published", Permalink: strings.TrimSpace(r.PostForm.Get("permalink")),
			})
	}
	if err != nil {
		if text, status, ok := p.formError(w, r, err); ok {
			p.showPosts(w, r, status, text)
		}
		return
	}
	p.finish(w, r, p.T(r, "Decided."), "/operator/posts")
}
