package reports

import (
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// plan returns the team's current plan.
func (h *Handlers) plan(r *http.Request) (plan.Plan, error) {
	v := shell.VisitorOf(r.Context())
	actor, err := h.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err != nil {
		return plan.Plan{}, err
	}
	limits, _ := h.reports.Catalog.Plan(actor.Plan) // an unknown plan has zero limits, which do not allow comparing
	return limits, nil
}

// compareView is the page that compares reports.
type compareView struct {
	Reports   []report.ReportSummary
	Most      int64 // maximum number of reports that the plan allows; -1 if unlimited
	Error     string
	histories []report.History // history of each report
	l         *locale.Language
}

// maxCompared is the maximum number of reports on the page, even if the plan allows more.
const maxCompared = 50

// compare shows key figures of several profile reports side by side.
func (h *Handlers) compare(w http.ResponseWriter, r *http.Request) {
	limits, err := h.plan(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view := compareView{Most: limits.ProfilesComparable, l: h.Language(r)}
	ids := reportIDs(r.URL.Query()["ids"])
	limit := limits.ProfilesComparable
	if limit == plan.Unlimited || limit > maxCompared {
		limit = maxCompared
	}
	switch {
	case int64(len(ids)) > limit:
		view.Error = view.l.N(limit, "Too many reports selected. Your plan allows %d profile.",
			"Too many reports selected. Your plan allows %d profiles.")
		h.Show(w, r, http.StatusForbidden, pages["compare"], "Compare profiles", view)
		return
	case len(ids) < 2:
		view.Error = view.l.T("Select at least two profile reports in the list.")
		h.Show(w, r, http.StatusBadRequest, pages["compare"], "Compare profiles", view)
		return
	}
	for _, id := range ids {
		summary, _, err := shell.Run[report.ReportSummary](h.Shell, r, "get_report",
			operation.Arguments{"type": report.Profile, "id": id})
		if err != nil {
			if apierr.Is(err, apierr.ValidationFailed) {
				err = apierr.ItemNotFound()
			}
			h.ShowError(w, r, err)
			return
		}
		view.Reports = append(view.Reports, summary)
	}
	if err := h.readHistories(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["compare"], "Compare profiles", view)
}

// reportIDs returns the distinct IDs in a query. The query may be written as ids=a,b or ids=a&ids=b.
func reportIDs(values []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, value := range values {
		for id := range strings.SplitSeq(value, ",") {
			if id = strings.TrimSpace(id); id != "" && !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

// Component returns the value of a component of a report's score, or nil if it could not be computed.
func (compareView) Component(s report.ReportSummary, name string) *float64 {
	if s.Score == nil {
		return nil
	}
	for _, c := range s.Score.Components {
		if c.Name == name {
			return &c.Value
		}
	}
	return nil
}

// Components returns the names of the components of a profile's score in display order.
func (compareView) Components() []string {
	return []string{"engagement", "reach", "growth", "activity", "consistency"}
}

// metric returns a metric or a component of the score, or nil if it is unknown.
func (v compareView) metric(s report.ReportSummary, name string) *float64 {
	median := func(m *result.FindingMedian) *float64 {
		if m == nil {
			return nil
		}
		return &m.Median
	}
	switch e := s.Engagement; {
	case name == "followers" && s.Profile != nil && s.Profile.Followers != nil:
		followers := float64(*s.Profile.Followers)
		return &followers
	case name == "score" && s.Score != nil:
		return &s.Score.Value
	case slices.Contains(v.Components(), name):
		return v.Component(s, name)
	case e == nil:
		return nil
	default:
		return map[string]*float64{"posts": e.PostsPerWeek, "rate": median(e.RateByFollowers), "likes": median(e.Likes),
			"comments": median(e.Comments), "views": median(e.Views)}[name]
	}
}

// IsBest reports whether a report has a higher value of a metric than all other reports. At least one other value
// must be known.
func (v compareView) IsBest(s report.ReportSummary, name string) bool {
	own, others := v.metric(s, name), 0
	for _, other := range v.Reports {
		if value := v.metric(other, name); own != nil && value != nil && other.ID != s.ID {
			if others++; *value >= *own {
				return false
			}
		}
	}
	return others > 0
}

// MaxRate returns the highest engagement rate, or 0 if none is known. It is the scale of the bars.
func (v compareView) MaxRate() float64 {
	maxRate := 0.0
	for _, s := range v.Reports {
		if s.Engagement != nil && s.Engagement.RateByFollowers != nil {
			maxRate = max(maxRate, s.Engagement.RateByFollowers.Median)
		}
	}
	return maxRate
}
