package settings

import (
	"context"
	"net/http"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// allowance is one limit of a plan, with what is used of it.
type allowance struct {
	Name, Used, Limit, Note string
	Full                    bool
}

// planView is the team's plan.
type planView struct {
	plan.Plan

	Allowances []allowance
}

func (p *Part) planPage(w http.ResponseWriter, r *http.Request) {
	limits, err := p.Teams.Plan(r.Context(), here(r))
	out := planView{Plan: limits}
	if err == nil {
		out.Allowances, err = p.allowances(r, limits)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["plan"], "Plan and limits", out)
}

// counted is how a limit is counted and written.
type counted struct {
	name  string
	limit int64
	used  func(ctx context.Context, team int64) (int64, error)
	write func(any) string
	note  string
}

func (p *Part) counts(r *http.Request, limits plan.Plan) []counted {
	month := p.DB.Now().In(zone(r))
	size := func(n any) string { return shell.Bytes(n.(int64)) } //nolint:forcetypeassert // limits are numbers of bytes
	return []counted{
		{"Social accounts", limits.SocialAccounts, p.Accounts.CountUsed, shell.Count, "Accounts whose connection is lost keep their place."},
		{"Posts in " + month.Format("January 2006"), limits.PostsPerMonth,
			func(ctx context.Context, team int64) (int64, error) {
				return p.Posts.CountInMonth(ctx, team, month)
			}, posts, "Published and scheduled for this month. A month begins at midnight in the team’s time zone."},
		{"Seats", limits.Seats, p.seatsUsed, shell.Count, "Members and open invitations."},
		{"Media library", limits.StorageBytes, p.Media.Used, size, ""},
		{"Hashtag lists", limits.HashtagLists, p.Lists.Count, shell.Count, ""},
		{"Tracked reports", limits.TrackedReports, p.Reports.CountTracked, shell.Count, "Reports that are refreshed by themselves."},
	}
}

// posts writes a number of posts that may have been counted only so far.
func posts(n any) string {
	if n == int64(post.MaxCounted+1) {
		return "more than " + shell.Count(post.MaxCounted)
	}
	return shell.Count(n)
}

func (p *Part) seatsUsed(ctx context.Context, team int64) (int64, error) {
	seats, err := p.Teams.Seats(ctx, team)
	return seats.Total(), err
}

func (p *Part) allowances(r *http.Request, limits plan.Plan) ([]allowance, error) {
	var out []allowance
	for _, c := range p.counts(r, limits) {
		used, err := c.used(r.Context(), here(r))
		if err != nil {
			return nil, err
		}
		out = append(out,
			allowance{
				c.name, c.write(used), limitOf(c.limit, c.write), c.note, c.limit != plan.Unlimited && used >= c.limit,
			})
	}
	calls, err := p.freeCalls(r, limits)
	if err != nil {
		return nil, err
	}
	return append(out, calls,
		allowance{Name: "Days that analytics are kept", Limit: limitOf(limits.AnalyticsRetentionDays, shell.Count)},
		allowance{Name: "Reports side by side", Limit: limitOf(limits.ProfilesComparable, shell.Count)},
		allowance{Name: "Hashtags in a list", Limit: limitOf(limits.HashtagsPerList, shell.Count)}), nil
}

func limitOf(n int64, write func(any) string) string {
	switch n {
	case plan.Unlimited:
		return "no limit"
	case 0:
		return "none"
	}
	return write(n)
}

// freeCalls counts those that the team's keys and assistants made today.
func (p *Part) freeCalls(r *http.Request, limits plan.Plan) (allowance, error) {
	out := allowance{
		Name: "Free calls today", Limit: limitOf(limits.FreeCallsPerDay, shell.Count),
		Note: "Calls of keys and assistants that cost no credits. The count begins anew at midnight in the team’s " +
			"time zone.",
	}
	if limits.FreeCallsPerDay <= 0 {
		return out, nil
	}
	actor, err := p.Teams.InApp(r.Context(), shell.VisitorOf(r.Context()).ID, here(r))
	if err != nil {
		return out, err
	}
	actor.Daily.FreeCalls = limits.FreeCallsPerDay // what people do in the app has no such limit
	left, err := p.Calls.Left(r.Context(), actor)
	out.Used, out.Full = shell.Count(limits.FreeCallsPerDay-left), left == 0
	return out, err
}
