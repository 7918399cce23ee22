package reports

import (
	"net/http"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/report"
	"pressroom/internal/web/shell"
)

// plan is the one that holds for the team now.
func (p *Part) plan(r *http.Request) (plan.Plan, error) {
	v := shell.VisitorOf(r.Context())
	actor, err := p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err != nil {
		return plan.Plan{}, err
	}
	limits, _ := p.reports.Terms.Plan(actor.Plan) // one that is not there any more compares none
	return limits, nil
}

// beside are the reports that are compared.
type beside struct {
	Reports []report.ReportSummary
	Most    int64 // that the plan allows; -1 for any number
	Wrong   string
}

// mostBeside is what one page holds, whatever the plan.
const mostBeside = 50

// compare shows headline figures of several profiles' reports side by side.
func (p *Part) compare(w http.ResponseWriter, r *http.Request) {
	limits, err := p.plan(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	view := beside{Most: limits.ProfilesComparable}
	ids := asked(r.URL.Query()["ids"])
	most := limits.ProfilesComparable
	if most == plan.Unlimited || most > mostBeside {
		most = mostBeside
	}
	switch {
	case int64(len(ids)) > most:
		view.Wrong = "That are more reports than can be compared at once: your plan allows " + shell.Plural(most,
			"profile", "profiles") + "."
		p.Show(w, r, http.StatusForbidden, pages["compare"], "Compare profiles", view)
		return
	case len(ids) < 2:
		view.Wrong = "Choose at least two reports on profiles in the list."
		p.Show(w, r, http.StatusBadRequest, pages["compare"], "Compare profiles", view)
		return
	}
	for _, id := range ids {
		one, _, err := shell.Ask[report.ReportSummary](p.Frame, r, "get_report",
			operation.Arguments{"type": report.Profile, "id": id})
		if err != nil {
			if apierr.Is(err, apierr.ValidationFailed) {
				err = apierr.Missing()
			}
			p.Refuse(w, r, err)
			return
		}
		view.Reports = append(view.Reports, one)
	}
	p.Show(w, r, http.StatusOK, pages["compare"], "Compare profiles", view)
}

// asked are the ids of an address, each once, however they are written: ids=a,b or ids=a&ids=b.
func asked(values []string) []string {
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

// Component is a part of a report's score; nil where it could not be computed.
func (beside) Component(s report.ReportSummary, name string) *float64 {
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

// Components are the parts of a profile's score in the order in which they are shown.
func (beside) Components() []string {
	return []string{"engagement", "reach", "growth", "activity", "consistency"}
}

// MostRate is the greatest engagement rate among them, as the measure of the others' bars; 0 where none has one.
func (b beside) MostRate() float64 {
	most := 0.0
	for _, s := range b.Reports {
		if s.Engagement != nil && s.Engagement.RateByFollowers != nil {
			most = max(most, s.Engagement.RateByFollowers.Median)
		}
	}
	return most
}
