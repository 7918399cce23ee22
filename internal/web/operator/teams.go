package operator

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

// teamsView is a page of the list of teams.
type teamsView struct {
	searchView

	Teams []team.Team
	Sizes map[int64]teamsearch.TeamStats
}

// teamOrders are the columns that teams can be sorted by.
var teamOrders = []teamsearch.Order{
	teamsearch.ByName, teamsearch.ByCredits, teamsearch.ByMembers, teamsearch.ByAccounts, teamsearch.ByLastActive,
}

// teamStates are the states that teams can be filtered by.
var teamStates = []teamsearch.State{"", teamsearch.Closed}

// stateFilter is a link that selects teams or people by their state.
type stateFilter struct {
	State   teamsearch.State
	Path    string
	Current bool
}

// stateFilters returns the links for states. The links keep the search text.
func stateFilters(path string, q teamsearch.Query, states []teamsearch.State) []stateFilter {
	var out []stateFilter
	for _, state := range states {
		query := q
		query.State, query.After = state, 0
		out = append(out, stateFilter{state, searchPath(path, query), state == q.State})
	}
	return out
}

// parseQuery returns the search query of a request. It ignores an unknown state or sort order.
func parseQuery(r *http.Request, states []teamsearch.State, orders []teamsearch.Order) teamsearch.Query {
	values := r.URL.Query()
	q := teamsearch.Query{Text: values.Get("q"), After: queryNumber(r, "after"), Limit: rowsPerPage}
	if state := teamsearch.State(values.Get("state")); slices.Contains(states, state) {
		q.State = state
	}
	if order := teamsearch.Order(values.Get("sort")); slices.Contains(orders, order) {
		q.Order, q.Descending = order, values.Get("direction") == "descending"
	}
	return q
}

// idsOf returns the IDs of items.
func idsOf[T any](items []T, id func(T) int64) []int64 {
	out := make([]int64, len(items))
	for i, item := range items {
		out[i] = id(item)
	}
	return out
}

func (h *Handlers) teamsPage(w http.ResponseWriter, r *http.Request) {
	q := parseQuery(r, teamStates, teamOrders)
	found, err := teamsearch.Teams(r.Context(), h.DB, q)
	var sizes map[int64]teamsearch.TeamStats
	if err == nil {
		sizes, err = teamsearch.StatsByTeam(r.Context(), h.DB, idsOf(found.Items, func(t team.Team) int64 { return t.ID }))
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	const path = "/operator/teams"
	h.Show(w, r, http.StatusOK, pages["teams"], "Teams", teamsView{
		newSearchView(path, q, teamStates, found), found.Items, sizes,
	})
}

// searchView holds the data that the lists of teams and people have in common.
type searchView struct {
	sorting

	Text    string
	Filters []stateFilter
	State   teamsearch.State
	Pages   pager
	Partial bool // there are too many rows, so only the first ones are sorted
}

func newSearchView[T any](path string, q teamsearch.Query, states []teamsearch.State, page teamsearch.Results[T]) searchView {
	return searchView{
		sortingOf(path, q), q.Text, stateFilters(path, q, states), q.State, searchPages(path, q, page.Next), page.Partial,
	}
}

// searchPages returns the pager of a search.
func searchPages(path string, q teamsearch.Query, next int64) pager {
	var out pager
	if q.After > 0 {
		q.After = 0
		out.First = searchPath(path, q)
	}
	if next > 0 {
		q.After = next
		out.Next = searchPath(path, q)
	}
	return out
}

// searchPath returns the path of a search.
func searchPath(path string, q teamsearch.Query) string {
	query := url.Values{}
	if q.Text != "" {
		query.Set("q", q.Text)
	}
	if q.State != "" {
		query.Set("state", string(q.State))
	}
	if q.Order != "" {
		query.Set("sort", string(q.Order))
	}
	if q.Descending {
		query.Set("direction", "descending")
	}
	if q.After > 0 {
		query.Set("after", strconv.FormatInt(q.After, 10))
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// teamView is a team's page. Form holds the values of a rejected form.
type teamView struct {
	team.Team

	Size      teamsearch.TeamStats
	Members   []team.Member
	Available int64                    // available credits
	Lines     []settings.StatementLine // newest transactions
	Plans     []string
	Pauses    []team.Pause
	Created   bool   // the team was just created
	Error, At string // error, and the form that it is about
	Form      url.Values
}

// LastDay returns the last day of the plan in UTC, as a value for the form.
func (v teamView) LastDay() string {
	return v.PlanUntil.UTC().Add(-time.Microsecond).Format(time.DateOnly)
}

// BalanceMatches reports whether the available credits match the balance of the newest ledger entry.
func (v teamView) BalanceMatches() bool {
	if len(v.Lines) == 0 {
		return v.Available == 0
	}
	return v.Available == v.Lines[0].Balance
}

// LimitRule returns the selected kind of daily limit: "plan", "unlimited", "none" or "amount".
func (v teamView) LimitRule() string {
	switch {
	case v.At == "limit":
		return v.Form.Get("rule")
	case v.DailyCredits == nil:
		return "plan"
	case *v.DailyCredits == plan.Unlimited:
		return "unlimited"
	case *v.DailyCredits == 0:
		return "none"
	}
	return "amount"
}

// LimitAmount returns the entered or current daily limit in credits, or "" if the limit is not an amount.
func (v teamView) LimitAmount() string {
	switch {
	case v.At == "limit":
		return v.Form.Get("limit")
	case v.LimitRule() == "amount":
		return strconv.FormatInt(*v.DailyCredits, 10)
	}
	return ""
}

const linesPerPage = 20

func (h *Handlers) teamPage(w http.ResponseWriter, r *http.Request) {
	view := teamView{Created: r.URL.Query().Has("created")}
	if entered := h.SavedForm(r); entered != nil {
		view.At, view.Form = "credits", entered
		for _, form := range []string{"plan", "limit"} {
			if entered.Has(form) {
				view.At = form
			}
		}
	}
	h.showTeam(w, r, http.StatusOK, view)
}

func (h *Handlers) showTeam(w http.ResponseWriter, r *http.Request, status int, view teamView) {
	if err := h.fillTeam(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	title := view.Name
	if view.Deleted {
		title = h.T(r, "Deleted team")
	}
	h.ShowTitled(w, r, status, pages["team"], title, view)
}

func (h *Handlers) fillTeam(r *http.Request, view *teamView) error {
	ctx := r.Context()
	id, err := shell.PathID(r, "team")
	if err != nil {
		return err
	}
	if view.Team, err = h.Teams.Team(ctx, id); err != nil {
		return err
	}
	sizes, err := teamsearch.StatsByTeam(ctx, h.DB, []int64{id})
	if err != nil {
		return err
	}
	view.Size = sizes[id]
	if view.Members, err = h.Teams.MemberPage(ctx, id, 0, 2*rowsPerPage); err != nil {
		return err
	}
	items, err := h.Credits.Items(ctx, id, credit.StatementQuery{To: h.DB.Now().Add(time.Hour), Limit: linesPerPage})
	if err != nil {
		return err
	}
	view.Lines = settings.StatementLines(items)
	if view.Available, err = h.Credits.Balance(ctx, h.DB, id); err != nil {
		return err
	}
	pauses, _, err := h.pauses(ctx)
	for _, pause := range pauses {
		if pause.Scope == team.ForTeam && pause.Target == id {
			view.Pauses = append(view.Pauses, pause)
		}
	}
	view.Plans = h.Teams.Plans()
	return err
}

// changeTeam handles one of the forms on a team's page. It calls fn with the ID of the team in the path, and redirects
// to the page with the message that fn returns.
func (h *Handlers) changeTeam(w http.ResponseWriter, r *http.Request, form string, fn func(id int64) (string, error)) {
	if !h.ReadForm(w, r) {
		return
	}
	id, err := shell.PathID(r, "team")
	message := ""
	if err == nil {
		message, err = fn(id)
	}
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			h.showTeam(w, r, status, teamView{Error: text, At: form, Form: r.PostForm})
		}
		return
	}
	h.finish(w, r, message, fmt.Sprintf("/operator/teams/%d", id))
}

func (h *Handlers) setPlan(w http.ResponseWriter, r *http.Request) {
	h.changeTeam(w, r, "plan", func(id int64) (string, error) {
		until, err := dayEnd(r.PostForm.Get("until"), h.DB.Now())
		if err != nil {
			return "", err
		}
		return h.T(r, "The plan was changed."), h.Teams.SetPlan(r.Context(), id, r.PostForm.Get("plan"), until)
	})
}

// dayEnd returns the end of a day in UTC, or the zero time if day is empty. It returns an error if the day has passed.
func dayEnd(day string, now time.Time) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return at, apierr.OperatorError("enter the last day as a date, such as 2030-12-31")
	}
	if at = at.AddDate(0, 0, 1); !at.After(now) {
		return at, apierr.OperatorError("the last day is in the past; leave it empty for a plan that does not expire")
	}
	return at, nil
}

func (h *Handlers) adjustCredits(w http.ResponseWriter, r *http.Request) {
	h.changeTeam(w, r, "credits", func(id int64) (string, error) {
		credits, err := strconv.ParseInt(strings.TrimSpace(r.PostForm.Get("credits")), 10, 64)
		if err != nil {
			return "", apierr.OperatorError("enter the credits as a whole number")
		}
		fn, isWithdrawal := h.Credits.Grant, r.PostForm.Get("booking") == "withdraw"
		if isWithdrawal {
			fn = h.Credits.Withdraw
		}
		result, err := fn(r.Context(), id, credits, r.PostForm.Get("reference"), r.PostForm.Get("note"))
		l := h.Language(r)
		switch {
		case result.Repeated:
			return l.T("A transaction with this reference already exists. Nothing was changed."), err
		case isWithdrawal:
			return l.N(credits, "%d credit withdrawn. The team has %s left.", "%d credits withdrawn. The team has %s left.",
				result.Balance), err
		}
		return l.N(credits, "%d credit granted. The team has %s left.", "%d credits granted. The team has %s left.",
			result.Balance), err
	})
}

func (h *Handlers) setLimit(w http.ResponseWriter, r *http.Request) {
	h.changeTeam(w, r, "limit", func(id int64) (string, error) {
		limit, err := parseLimit(r.PostForm)
		if err != nil {
			return "", err
		}
		return h.T(r, "The daily limit was changed."), h.Teams.SetDailyCredits(r.Context(), id, limit)
	})
}

// parseLimit returns the daily limit in a form, or nil for the plan's limit.
func parseLimit(form url.Values) (*int64, error) {
	var n int64
	switch form.Get("rule") {
	case "plan":
		return nil, nil //nolint:nilnil // nil means the plan's limit
	case "unlimited":
		n = plan.Unlimited
	case "none":
		n = 0
	case "amount":
		var err error
		if n, err = strconv.ParseInt(strings.TrimSpace(form.Get("limit")), 10, 64); err != nil || n < 0 {
			return nil, apierr.OperatorError("enter the daily limit as a whole number of credits")
		}
	default:
		return nil, apierr.OperatorError("choose a daily limit")
	}
	return &n, nil
}

func (h *Handlers) closePage(w http.ResponseWriter, r *http.Request) {
	view := teamView{}
	if err := h.fillTeam(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowTitled(w, r, http.StatusOK, pages["close"], h.T(r, "Close %s", view.Name), view)
}

func (h *Handlers) closeTeam(w http.ResponseWriter, r *http.Request) {
	h.changeTeam(w, r, "closed", func(id int64) (string, error) {
		return h.T(r, "The team was closed. Its keys and assistants do not work and nothing is published until you reopen "+
			"it."), h.Teams.Close(r.Context(), id)
	})
}

func (h *Handlers) reopenTeam(w http.ResponseWriter, r *http.Request) {
	h.changeTeam(w, r, "closed", func(id int64) (string, error) {
		return h.T(r, "The team was reopened."), h.Teams.Reopen(r.Context(), id)
	})
}
