package operator

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
)

// pausesView is the page that lists the pauses, with the form for a new pause.
type pausesView struct {
	Pauses []team.Pause
	Names  teamsearch.Names // names of the paused teams
	Keys   teamsearch.Names // names of the paused API keys and assistants
	Teams  []team.Team      // teams that the form offers
	Offers []teamsearch.Key // API keys and assistants that the form offers
	All    int64            // number of teams
	APIOff bool
	Adding bool // the form is open
	Error  string
	Form   url.Values
}

// pauses returns the pauses. They do not include the pause that turns off the API. The second result reports whether
// that pause exists.
func (h *Handlers) pauses(ctx context.Context) ([]team.Pause, bool, error) {
	all, err := h.Teams.Pauses(ctx)
	var out []team.Pause
	apiOff := false
	for _, pause := range all {
		if pause.Action == access.PauseAPI {
			apiOff = true
			continue
		}
		out = append(out, pause)
	}
	return out, apiOff, err
}

func (h *Handlers) pausesPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	h.showPauses(w, r, http.StatusOK,
		pausesView{Adding: query.Has("add"), Form: url.Values{"scope": {"team"}, "target": {query.Get("team")}}})
}

func (h *Handlers) showPauses(w http.ResponseWriter, r *http.Request, status int, view pausesView) {
	if err := h.fillPauses(r.Context(), &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["pauses"], "Pauses", view)
}

// maxOfferedTeams is the maximum number of teams, and of keys, that a form offers.
const maxOfferedTeams = 500

func (h *Handlers) fillPauses(ctx context.Context, view *pausesView) error {
	var err error
	if view.Pauses, view.APIOff, err = h.pauses(ctx); err != nil {
		return err
	}
	var teams, keys []int64
	for _, pause := range view.Pauses {
		switch pause.Scope {
		case team.ForTeam:
			teams = append(teams, pause.Target)
		case team.ForKey:
			keys = append(keys, pause.Target)
		case team.ForService:
		}
	}
	if view.Names, err = teamsearch.TeamNames(ctx, h.DB, teams); err != nil {
		return err
	}
	if view.Keys, err = teamsearch.KeyNames(ctx, h.DB, keys); err != nil {
		return err
	}
	found, err := teamsearch.Teams(ctx, h.DB, teamsearch.Query{Limit: maxOfferedTeams})
	view.Teams = found.Items
	if err == nil {
		view.Offers, err = teamsearch.Keys(ctx, h.DB, "", maxOfferedTeams)
	}
	if err == nil {
		var totals teamsearch.Totals
		totals, err = teamsearch.CountAll(ctx, h.DB, time.Time{}, time.Time{})
		view.All = totals.Teams
	}
	return err
}

// parsePause returns the pause that the form describes.
func (h *Handlers) parsePause(r *http.Request) (team.Pause, error) {
	form := r.PostForm
	out := team.Pause{
		Scope: team.Scope(form.Get("scope")), Action: access.PauseAction(form.Get("action")),
		Reason: strings.TrimSpace(form.Get("reason")),
	}
	entered := form.Get("target")
	if out.Scope == team.ForKey && form.Has("key") {
		entered = form.Get("key")
	}
	var err error
	switch entered = strings.TrimSpace(entered); {
	case out.Scope == team.ForService:
	case entered == "":
		err = apierr.OperatorError("choose the team, key or assistant to pause")
	default:
		out.Target, err = h.findTarget(r, out.Scope, entered)
	}
	return out, err
}

// findTarget returns the ID of a team or key. entered is an ID, an ID followed by a name, or part of a name that only
// one team or key has.
func (h *Handlers) findTarget(r *http.Request, scope team.Scope, entered string) (int64, error) {
	names := teamsearch.TeamNames
	if scope == team.ForKey {
		names = teamsearch.KeyNames
	}
	if id, err := h.chosenID(r, entered, names); err != nil || id > 0 {
		return id, err
	}
	var ids []int64
	if scope == team.ForKey {
		keys, err := teamsearch.Keys(r.Context(), h.DB, entered, 2)
		if err != nil {
			return 0, err
		}
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
	} else {
		teams, err := teamsearch.Teams(r.Context(), h.DB, teamsearch.Query{Text: entered, Limit: 2})
		if err != nil {
			return 0, err
		}
		for _, t := range teams.Items {
			ids = append(ids, t.ID)
		}
	}
	switch len(ids) {
	case 0:
		return 0, apierr.OperatorError("no matches; choose one from the list")
	case 1:
		return ids[0], nil
	}
	return 0, apierr.OperatorError("several matches; choose one from the list")
}

func (h *Handlers) pause(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	pause, err := h.parsePause(r)
	if err == nil && pause.Action == access.PauseAPI {
		err = apierr.OperatorError("choose what to pause")
	}
	if err == nil {
		err = h.Teams.Pause(r.Context(), pause)
	}
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			h.showPauses(w, r, status, pausesView{Error: text, Form: r.PostForm})
		}
		return
	}
	h.finish(w, r, h.T(r, "Paused. It takes effect everywhere within a second."), "/operator/pauses")
}

func (h *Handlers) resume(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	pause, err := h.parsePause(r)
	if err == nil {
		err = h.Teams.Resume(r.Context(), pause)
	}
	if err != nil {
		h.reject(w, r, err)
		return
	}
	h.finish(w, r, h.T(r, "The pause was ended."), "/operator/pauses")
}

func (h *Handlers) switchAPI(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	fn, message := h.Teams.Pause, locale.Key("The API is off for all keys and assistants. The app is not affected.")
	if r.PostForm.Get("api") == "on" {
		fn, message = h.Teams.Resume, "The API is on."
	}
	if err := fn(r.Context(), team.Pause{Scope: team.ForService, Action: access.PauseAPI}); err != nil {
		h.reject(w, r, err)
		return
	}
	h.finish(w, r, h.T(r, message), "/operator/pauses")
}
