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

func (h *Handlers) postsPage(w http.ResponseWriter, r *http.Request) {
	h.showPosts(w, r, http.StatusOK, "")
}

func (h *Handlers) showPosts(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	unconfirmed, err := h.Delivery.ListUnconfirmed(r.Context(), 0)
	var names teamsearch.Names
	if err == nil {
		names, err = teamNamesOf(r.Context(), h.DB, unconfirmed, func(d delivery.UnconfirmedDelivery) int64 { return d.TeamID })
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["posts"], "Unconfirmed posts", postsView{unconfirmed, names, formErr})
}

// decide records the outcome of a delivery. The audit log names the operator, but the team sees only "the operator".
func (h *Handlers) decide(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
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
		err = h.Delivery.Decide(r.Context(), 0, 0, r.PostForm.Get("post"), account,
			delivery.Decision{
				Published: found == "published", Permalink: strings.TrimSpace(r.PostForm.Get("permalink")),
			})
	}
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			h.showPosts(w, r, status, text)
		}
		return
	}
	h.finish(w, r, h.T(r, "Decided."), "/operator/posts")
}
