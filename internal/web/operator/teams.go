package operator

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// teamsView is a part of all teams.
type teamsView struct {
	Text  string
	Teams []team.Team
	Pages pager
}

func (p *Part) teamsPage(w http.ResponseWriter, r *http.Request) {
	q := team.Search{Text: r.URL.Query().Get("q"), After: numberOf(r, "after"), Most: atOnce}
	found, err := p.Teams.FindTeams(r.Context(), q)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["teams"], "Teams",
		teamsView{q.Text, found.Items, searchPages("/operator/teams", q, found.Next)})
}

// searchPages lead through what was found.
func searchPages(path string, q team.Search, next int64) pager {
	to := func(after int64) string {
		query := url.Values{}
		if q.Text != "" {
			query.Set("q", q.Text)
		}
		if after > 0 {
			query.Set("after", strconv.FormatInt(after, 10))
		}
		return path + "?" + query.Encode()
	}
	var out pager
	if q.After > 0 {
		out.First = to(0)
	}
	if next > 0 {
		out.Next = to(next)
	}
	return out
}

// teamView is a team's page, with what was typed last.
type teamView struct {
	team.Team

	Members   []team.Member
	Available int64         // credits that the wallet has
	Lines     []credit.Line // the newest
	Plans     []string
	Pauses    []team.Pause
	Wrong, At string // what was refused, and at which form
	Form      url.Values
}

// LastDay is the last day of the plan in UTC, as the form takes it.
func (v teamView) LastDay() string {
	return v.PlanUntil.UTC().Add(-time.Microsecond).Format(time.DateOnly)
}

// Agrees tells whether the wallet has what the newest booking says is left.
func (v teamView) Agrees() bool {
	if len(v.Lines) == 0 {
		return v.Available == 0
	}
	return v.Available == v.Lines[0].Balance
}

const linesAtOnce = 20

func (p *Part) teamPage(w http.ResponseWriter, r *http.Request) {
	view := teamView{}
	if typed := p.Resumed(r); typed != nil {
		view.At, view.Form = "credits", typed
		for _, form := range []string{"plan", "limit"} {
			if typed.Has(form) {
				view.At = form
			}
		}
	}
	p.showTeam(w, r, http.StatusOK, view)
}

func (p *Part) showTeam(w http.ResponseWriter, r *http.Request, status int, view teamView) {
	if err := p.fillTeam(r, &view); err != nil {
		p.Refuse(w, r, err)
		return
	}
	title := view.Name
	if view.Deleted {
		title = "Deleted team"
	}
	p.Show(w, r, status, pages["team"], title, view)
}

func (p *Part) fillTeam(r *http.Request, view *teamView) error {
	ctx := r.Context()
	id, err := shell.IDIn(r, "team")
	if err != nil {
		return err
	}
	if view.Team, err = p.Teams.Team(ctx, id); err != nil {
		return err
	}
	if view.Members, err = p.Teams.MemberPage(ctx, id, 0, 2*atOnce); err != nil {
		return err
	}
	if view.Lines, err = p.Credits.Statement(ctx, id, linesAtOnce); err != nil {
		return err
	}
	if view.Available, err = p.Credits.Balance(ctx, p.DB, id); err != nil {
		return err
	}
	pauses, _, err := p.pauses(ctx)
	for _, x := range pauses {
		if x.Scope == team.ForTeam && x.Target == id {
			view.Pauses = append(view.Pauses, x)
		}
	}
	view.Plans = p.Teams.Plans()
	return err
}

// onTeam does something to the team of the address by one of its forms, and shows the page again.
func (p *Part) onTeam(w http.ResponseWriter, r *http.Request, form string, do func(id int64) (string, error)) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := shell.IDIn(r, "team")
	said := ""
	if err == nil {
		said, err = do(id)
	}
	if err != nil {
		if text, status, ok := p.wrongOf(w, r, err); ok {
			p.showTeam(w, r, status, teamView{Wrong: text, At: form, Form: r.PostForm})
		}
		return
	}
	p.did(w, r, said, fmt.Sprintf("/operator/teams/%d", id))
}

func (p *Part) setPlan(w http.ResponseWriter, r *http.Request) {
	p.onTeam(w, r, "plan", func(id int64) (string, error) {
		until, err := dayEnd(r.PostForm.Get("until"), p.DB.Now())
		if err != nil {
			return "", err
		}
		return "The plan is changed.", p.Teams.SetPlan(r.Context(), id, r.PostForm.Get("plan"), until)
	})
}

// dayEnd is the end of a day in UTC; the zero time of no day.
func dayEnd(day string, now time.Time) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return at, apierr.OperatorError("the last day has to be a date, such as 2030-12-31")
	}
	if at = at.AddDate(0, 0, 1); !at.After(now) {
		return at, apierr.OperatorError("the last day is over already; leave it empty for a plan that does not end")
	}
	return at, nil
}

func (p *Part) book(w http.ResponseWriter, r *http.Request) {
	p.onTeam(w, r, "credits", func(id int64) (string, error) {
		credits, err := strconv.ParseInt(strings.TrimSpace(r.PostForm.Get("credits")), 10, 64)
		if err != nil {
			return "", apierr.OperatorError("the credits have to be a whole number")
		}
		do, did := p.Credits.Grant, "granted"
		if r.PostForm.Get("booking") == "withdraw" {
			do, did = p.Credits.Withdraw, "withdrawn"
		}
		booked, err := do(r.Context(), id, credits, r.PostForm.Get("reference"), r.PostForm.Get("note"))
		if booked.Repeated {
			return "This was booked before by the same reference. Nothing was changed.", err
		}
		return fmt.Sprintf("%s %s. The team has %s left.", shell.Plural(credits, "credit", "credits"), did,
			shell.Count(booked.Balance)), err
	})
}

func (p *Part) setLimit(w http.ResponseWriter, r *http.Request) {
	p.onTeam(w, r, "limit", func(id int64) (string, error) {
		var limit *int64
		if text := strings.TrimSpace(r.PostForm.Get("limit")); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return "",
					apierr.OperatorError("the daily limit has to be a whole number, -1 for none; leave it empty for " +
						"the plan's")
			}
			limit = &n
		}
		return "The daily limit is changed.", p.Teams.SetDailyCredits(r.Context(), id, limit)
	})
}

func (p *Part) closePage(w http.ResponseWriter, r *http.Request) {
	view := teamView{}
	if err := p.fillTeam(r, &view); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["close"], "Close "+view.Name, view)
}

func (p *Part) closeTeam(w http.ResponseWriter, r *http.Request) {
	p.onTeam(w, r, "closed", func(id int64) (string, error) {
		return "The team is closed. None of its keys and assistants works and nothing of it is published until you " +
			"open it again.", p.Teams.Close(r.Context(), id)
	})
}

func (p *Part) reopenTeam(w http.ResponseWriter, r *http.Request) {
	p.onTeam(w, r, "closed", func(id int64) (string, error) {
		return "The team is open again.", p.Teams.Reopen(r.Context(), id)
	})
}
