package pinterest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxReportAge  = 90 * 24 * time.Hour // maximum age of a report's start date
	maxReportPins = 100
)

// reportMetrics are the metrics of reports.
var reportMetrics = []string{
	"IMPRESSION", "OUTBOUND_CLICK", "PIN_CLICK", "SAVE", "SAVE_RATE", "TOTAL_COMMENTS", "TOTAL_REACTIONS",
	"USER_FOLLOW", "PROFILE_VISIT",
}

// metrics returns the metrics that Pinterest lists with a pin. They do not include saves.
func (n *Network) metrics(p store.Post) map[string]any {
	counts := insights.Count(p, n.Now())
	recent := map[string]int64{
		"impression": counts.Views, "pin_click": counts.Clicks, "clickthrough": counts.Clicks / 2,
	}
	lifetime := map[string]int64{"reaction": counts.Likes, "comment": counts.Comments}
	maps.Copy(lifetime, recent)
	return map[string]any{"90d": recent, "lifetime_metrics": lifetime}
}

// analytics returns the report of a pin.
func (n *Network) analytics(r *http.Request) (any, error) {
	reports, err := n.reports(r, []string{r.PathValue("id")})
	return reports[r.PathValue("id")], err
}

// multiAnalytics returns the reports of several pins.
func (n *Network) multiAnalytics(r *http.Request) (any, error) {
	ids := r.Form["pin_ids"]
	if len(ids) == 0 || len(ids) > maxReportPins {
		return nil, invalidRequest("Invalid multi_pins analytics parameters.")
	}
	return n.reports(r, ids)
}

// reports returns the reports of the pins with the given IDs, by ID.
func (n *Network) reports(r *http.Request, ids []string) (map[string]any, error) {
	metrics, err := n.parseReport(r)
	if err != nil {
		return nil, err
	}
	reports := map[string]any{}
	err = n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		for _, id := range ids {
			p, found, err := t.Post(r.Context(), Name, id)
			switch {
			case err != nil:
				return err
			case !found:
				return &rest.Error{Status: http.StatusNotFound, Code: 50, Message: "Pin not found."}
			case p.Account != a.ID:
				return &rest.Error{
					Status: http.StatusForbidden, Code: 7, Message: "Not authorized to access board or Pin.",
				}
			}
			reports[id] = map[string]any{"all": newReport(insights.Count(p, n.Now()), metrics)}
		}
		return nil
	})
	return reports, err
}

// parseReport returns the requested metrics of a report.
func (n *Network) parseReport(r *http.Request) ([]string, error) {
	start, startErr := time.Parse(time.DateOnly, r.Form.Get("start_date"))
	end, endErr := time.Parse(time.DateOnly, r.Form.Get("end_date"))
	metrics := strings.Split(r.Form.Get("metric_types"), ",")
	today := n.Now().UTC().Truncate(24 * time.Hour)
	hasUnknown := slices.ContainsFunc(metrics, func(name string) bool { return !slices.Contains(reportMetrics, name) })
	if startErr != nil || endErr != nil || hasUnknown || end.Before(start) || end.Sub(start) > maxReportAge ||
		today.Sub(start) > maxReportAge {
		return nil, invalidRequest("Invalid pins analytics parameters.")
	}
	return metrics, nil
}

// newReport returns a report. It contains no daily metrics, because they are optional.
func newReport(counts insights.Counts, metrics []string) map[string]any {
	summary := map[string]int64{
		"IMPRESSION": counts.Views, "PIN_CLICK": counts.Clicks, "OUTBOUND_CLICK": counts.Clicks / 2,
		"SAVE": counts.Saves,
	}
	lifetime := map[string]int64{"TOTAL_COMMENTS": counts.Comments, "TOTAL_REACTIONS": counts.Likes}
	unrequested := func(name string, _ int64) bool { return !slices.Contains(metrics, name) }
	maps.DeleteFunc(summary, unrequested)
	maps.DeleteFunc(lifetime, unrequested)
	return map[string]any{"daily_metrics": []any{}, "summary_metrics": summary, "lifetime_metrics": lifetime}
}
