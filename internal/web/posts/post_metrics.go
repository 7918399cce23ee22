package posts

import (
	"context"
	"slices"
)

// addMetrics adds the collected metrics of the accounts that published the post.
func (p *Handlers) addMetrics(ctx context.Context, v *view) error {
	if v.Sent == 0 {
		return nil
	}
	found, err := p.analytics.MetricsByAccount(ctx, v.Stored.TeamID, v.ID)
	for i := range v.Accounts {
		one := found[v.Accounts[i].ID]
		v.Accounts[i].Metrics, v.Totals = one, v.Totals.Plus(one)
		if one.Any() {
			v.Measured = append(v.Measured, v.Accounts[i])
		}
	}
	return err
}

// HasTechnical reports whether there are attempts or a publishing job to show.
func (v *view) HasTechnical() bool {
	return v.Stored.JobID != "" ||
		slices.ContainsFunc(v.Accounts, func(a accountView) bool { return len(a.Lines) > 0 || a.Earlier > 0 })
}
