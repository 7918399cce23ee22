package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	pinterestReach    = 90 * 24 * time.Hour // that a report can go back
	pinterestReported = 100                 // maximum of a report
)

// pinterestMetrics are the metrics of reports.
var pinterestMetrics = []string{
	"IMPRESSION", "OUTBOUND_CLICK", "PIN_CLICK", "SAVE", "SAVE_RATE", "TOTAL_COMMENTS", "TOTAL_REACTIONS",
	"USER_FOLLOW", "PROFILE_VISIT",
}

// metrics returns the counts that are listed with a pin. Saves are not among them.
func (n *pinterest) metrics(p post) map[string]any {
	counts := count(p, n.now())
	all := map[string]int64{
		"impression": counts.views, "pin_click": counts.clicks, "clickthrough": counts.clicks / 2,
	}
	lifetime := map[string]int64{"reaction": counts.likes, "comment": counts.comments}
	maps.Copy(lifetime, all)
	return map[string]any{"90d": all, "lifetime_metrics": lifetime}
}

// analytics reports on one pin.
func (n *pinterest) analytics(r *http.Request) (any, error) {
	reports, err := n.reports(r, []string{r.PathValue("id")})
	return reports[r.PathValue("id")], err
}

// severalAnalytics reports on several pins.
func (n *pinterest) severalAnalytics(r *http.Request) (any, error) {
	ids := r.Form["pin_ids"]
	if len(ids) == 0 || len(ids) > pinterestReported {
		return nil, pinterestInvalid("Invalid multi_pins analytics parameters.")
	}
	reports, err := n.reports(r, ids)
	return reports, err
}

func (n *pinterest) reports(r *http.Request, ids []string) (map[string]any, error) {
	metrics, err := n.readReport(r)
	if err != nil {
		return nil, err
	}
	reports := map[string]any{}
	err = n.byCaller(r, func(t tx, a account, _ oauthToken) error {
		for _, id := range ids {
			p, found, err := t.post(r.Context(), pinterestName, id)
			switch {
			case err != nil:
				return err
			case !found:
				return &xError{status: http.StatusNotFound, code: 50, message: "Pin not found."}
			case p.account != a.id:
				return &xError{status: http.StatusForbidden, code: 7, message: "Not authorized to access board or Pin."}
			}
			reports[id] = map[string]any{"all": pinterestReport(count(p, n.now()), metrics)}
		}
		return nil
	})
	return reports, err
}

// readReport returns the requested metrics of a report.
func (n *pinterest) readReport(r *http.Request) ([]string, error) {
	start, startErr := time.Parse(time.DateOnly, r.Form.Get("start_date"))
	end, endErr := time.Parse(time.DateOnly, r.Form.Get("end_date"))
	metrics := strings.Split(r.Form.Get("metric_types"), ",")
	today := n.now().UTC().Truncate(24 * time.Hour)
	unknown := slices.ContainsFunc(metrics, func(name string) bool { return !slices.Contains(pinterestMetrics, name) })
	if startErr != nil || endErr != nil || unknown || end.Before(start) || end.Sub(start) > pinterestReach ||
		today.Sub(start) > pinterestReach {
		return nil, pinterestInvalid("Invalid pins analytics parameters.")
	}
	return metrics, nil
}

// pinterestReport returns a report without daily metrics, which are optional.
func pinterestReport(counts tally, metrics []string) map[string]any {
	summary := map[string]int64{
		"IMPRESSION": counts.views, "PIN_CLICK": counts.clicks, "OUTBOUND_CLICK": counts.clicks / 2,
		"SAVE": counts.saves,
	}
	lifetime := map[string]int64{"TOTAL_COMMENTS": counts.comments, "TOTAL_REACTIONS": counts.likes}
	for _, of := range []map[string]int64{summary, lifetime} {
		for name := range of {
			if !slices.Contains(metrics, name) {
				delete(of, name)
			}
		}
	}
	return map[string]any{"daily_metrics": []any{}, "summary_metrics": summary, "lifetime_metrics": lifetime}
}
