package reports

import (
	"fmt"
	"html/template"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// readHistories reads the history of each report.
func (h *Handlers) readHistories(r *http.Request, view *compareView) error {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return fmt.Errorf("loading the team's time zone: %w", err)
	}
	for _, s := range view.Reports {
		var history report.History
		if s.Engagement != nil {
			if history, err = h.reports.History(r.Context(), v.Team.ID, s.ID, s.Engagement.Counts, zone); err != nil {
				return err
			}
		}
		view.histories = append(view.histories, history)
	}
	return nil
}

// comparison is a chart that compares the reports.
type comparison struct {
	plot.Lines

	l *locale.Language
}

// Chart returns the chart for wide and for narrow screens, or "" if there is not enough data.
func (c comparison) Chart() template.HTML { return c.Draw(c.l) + c.Narrow().Draw(c.l) }

// Trend returns the measurements of the report with index i, as a list entry.
func (v compareView) Trend(i int) entry { return entry{Trend: v.histories[i].Measured} }

// nameOf returns the name of a report in charts, such as "@name on Instagram".
func nameOf(l *locale.Language, s report.ReportSummary) string {
	return l.T("%s on %s|account", subject(s.Kind, s.Subject), shell.NetworkName(s.Platform))
}

// EngagementOverTime compares the median engagement per post in each week or month, as a percentage of the current
// followers.
func (v compareView) EngagementOverTime() comparison {
	out := plot.Lines{Label: v.l.T("Engagement per follower over time. The table below has the numbers."), Percent: true}
	for i, s := range v.Reports {
		if s.Profile == nil || s.Profile.Followers == nil || *s.Profile.Followers < 1 {
			continue
		}
		series := plot.Series{Name: nameOf(v.l, s), Color: i + 1}
		for _, span := range v.histories[i].Spans {
			point := plot.Point{Name: history{History: v.histories[i], l: v.l}.Span(span.From), At: float64(span.From.Unix())}
			if span.Engagement != nil {
				point.Value = new(100 * span.Engagement.Median / float64(*s.Profile.Followers))
			}
			series.Points = append(series.Points, point)
		}
		if len(series.Points) > 1 {
			out.Series = append(out.Series, series)
		}
	}
	return comparison{out, v.l}
}

// Growth compares the growth of followers since each report's first measurement, in percent.
func (v compareView) Growth() comparison {
	out := plot.Lines{Label: v.l.T("Followers since each first measurement. The table below has the numbers."), Percent: true}
	for i, s := range v.Reports {
		measured := v.histories[i].Measured
		if len(measured) < 2 || measured[0].Followers < 1 {
			continue
		}
		series := plot.Series{Name: nameOf(v.l, s), Color: i + 1}
		for _, m := range measured {
			value := 100 * float64(m.Followers-measured[0].Followers) / float64(measured[0].Followers)
			series.Points = append(series.Points, plot.Point{
				Name: v.l.Format(m.At, locale.ShortDay), At: float64(m.At.Unix()), Value: &value,
			})
		}
		out.Series = append(out.Series, series)
	}
	return comparison{out, v.l}
}
