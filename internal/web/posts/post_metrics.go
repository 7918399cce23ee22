package posts

import (
	"context"
	"math"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
)

// addMetrics adds the post's metrics by account and in total, and the usual metrics of other posts on the same
// accounts.
func (p *Handlers) addMetrics(ctx context.Context, v *view) error {
	if v.Sent == 0 {
		return nil
	}
	metrics, err := p.analytics.MetricsByAccount(ctx, v.Stored.TeamID, v.ID)
	if err != nil {
		return err
	}
	for i := range v.Accounts {
		one := metrics[v.Accounts[i].ID]
		v.Accounts[i].Metrics, v.Totals = one, v.Totals.Plus(one)
		if one.Any() {
			v.Measured = append(v.Measured, v.Accounts[i])
		}
	}
	if len(v.Measured) == 0 {
		return nil
	}
	if v.TooEarly = p.DB.Now().Sub(v.Stored.PublishedAt) < comparableAfter; v.TooEarly {
		return nil
	}
	usual, err := p.analytics.UsualByAccount(ctx, v.Stored.TeamID, v.ID)
	if err != nil {
		return err
	}
	v.Usual = usualOf(v.Measured, usual)
	return nil
}

// comparableAfter is the age from which a post's metrics are compared with those of other posts.
const comparableAfter = 24 * time.Hour

// EngagementRate returns the engagement as a percentage of the views. It counts only accounts that report both, and
// returns "" if there are none.
func (v *view) EngagementRate() string {
	metrics := make([]analytics.PostSums, len(v.Measured))
	for i, a := range v.Measured {
		metrics[i] = a.Metrics
	}
	rate, known := analytics.EngagementRate(metrics)
	if !known {
		return ""
	}
	return v.lang.Percent(rate)
}

// usualOf returns the sums of the accounts' usual metrics. A metric is nil unless the usual value is known for every
// account on which the post has the metric.
func usualOf(measured []accountView, usual map[int64]analytics.PostSums) analytics.PostSums {
	sum := func(metric func(analytics.PostSums) *int64) *int64 {
		var out *int64
		for _, a := range measured {
			if metric(a.Metrics) == nil {
				continue
			}
			one := metric(usual[a.ID])
			if one == nil {
				return nil
			}
			total := *one
			if out != nil {
				total += *out
			}
			out = &total
		}
		return out
	}
	return analytics.PostSums{
		Views:      sum(func(s analytics.PostSums) *int64 { return s.Views }),
		Likes:      sum(func(s analytics.PostSums) *int64 { return s.Likes }),
		Comments:   sum(func(s analytics.PostSums) *int64 { return s.Comments }),
		Shares:     sum(func(s analytics.PostSums) *int64 { return s.Shares }),
		Engagement: sum(func(s analytics.PostSums) *int64 { return s.Engagement }),
	}
}

// comparison compares a metric of the post with its usual value.
type comparison struct {
	Usual  string // text with the usual value
	Change string // such as "+79%"; empty if it cannot be computed
	Higher bool   // whether the post's metric is above the usual value
}

// The following methods compare a metric with its usual value. They return nil if either is unknown.
func (v *view) AgainstViews() *comparison    { return v.compare(v.Totals.Views, v.Usual.Views) }
func (v *view) AgainstLikes() *comparison    { return v.compare(v.Totals.Likes, v.Usual.Likes) }
func (v *view) AgainstComments() *comparison { return v.compare(v.Totals.Comments, v.Usual.Comments) }
func (v *view) AgainstShares() *comparison   { return v.compare(v.Totals.Shares, v.Usual.Shares) }
func (v *view) AgainstEngagement() *comparison {
	return v.compare(v.Totals.Engagement, v.Usual.Engagement)
}

func (v *view) compare(value, usual *int64) *comparison {
	if value == nil || usual == nil {
		return nil
	}
	out := &comparison{Usual: v.lang.T("Usual: %s", v.lang.Count(*usual)), Higher: *value > *usual}
	if *usual > 0 {
		share := math.Round(float64(*value-*usual) / float64(*usual) * 100)
		sign := map[bool]string{true: "+", false: "−"}[share >= 0]
		out.Change = v.lang.T("%s%s%%", sign, v.lang.Count(int64(math.Abs(share))))
	}
	return out
}

// HasTechnical reports whether the page has technical details to show: delivery attempts or a publishing job.
func (v *view) HasTechnical() bool {
	return v.Stored.JobID != "" ||
		slices.ContainsFunc(v.Accounts, func(a accountView) bool { return len(a.Lines) > 0 || a.Earlier > 0 })
}
