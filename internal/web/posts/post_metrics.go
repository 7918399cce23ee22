package posts

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/domain/analytics"
)

// addMetrics adds the collected metrics of the accounts that published the post, and what their other posts usually have.
func (p *Handlers) addMetrics(ctx context.Context, v *view) error {
	if v.Sent == 0 {
		return nil
	}
	found, err := p.analytics.MetricsByAccount(ctx, v.Stored.TeamID, v.ID)
	if err != nil {
		return err
	}
	for i := range v.Accounts {
		one := found[v.Accounts[i].ID]
		v.Accounts[i].Metrics, v.Totals = one, v.Totals.Plus(one)
		if one.Any() {
			v.Measured = append(v.Measured, v.Accounts[i])
		}
	}
	if len(v.Measured) == 0 {
		return nil
	}
	usual, err := p.analytics.UsualByAccount(ctx, v.Stored.TeamID, v.ID)
	if err != nil {
		return err
	}
	v.Usual = usualOf(v.Measured, usual)
	return nil
}

// usualOf returns the sums of what is usual on the accounts. A metric is nil unless it is known for each account that has it.
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

// The usual value of a metric, in words, or "" if it is not known.
func (v *view) AgainstViews() string      { return v.against(v.Totals.Views, v.Usual.Views) }
func (v *view) AgainstLikes() string      { return v.against(v.Totals.Likes, v.Usual.Likes) }
func (v *view) AgainstComments() string   { return v.against(v.Totals.Comments, v.Usual.Comments) }
func (v *view) AgainstShares() string     { return v.against(v.Totals.Shares, v.Usual.Shares) }
func (v *view) AgainstEngagement() string { return v.against(v.Totals.Engagement, v.Usual.Engagement) }

func (v *view) against(has, usual *int64) string {
	if has == nil || usual == nil {
		return ""
	}
	return v.lang.T("Usual: %s", v.lang.Count(*usual))
}

// HasTechnical reports whether there are attempts or a publishing job to show.
func (v *view) HasTechnical() bool {
	return v.Stored.JobID != "" ||
		slices.ContainsFunc(v.Accounts, func(a accountView) bool { return len(a.Lines) > 0 || a.Earlier > 0 })
}
