package settings

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// allowance is a limit of the plan, and the amount of it that is used.
type allowance struct {
	Name, Used, Limit, Note string
	Percent                 int64 // used share of the limit, shown as a bar; -1 if there is no bar
	Full, Unlimited         bool
}

// planView is the page of the team's plan.
type planView struct {
	plan.Plan

	Allowances []allowance
}

func (h *Handlers) planPage(w http.ResponseWriter, r *http.Request) {
	limits, err := h.Teams.Plan(r.Context(), teamID(r))
	out := planView{Plan: limits}
	if err == nil {
		out.Allowances, err = h.allowances(r, limits)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["plan"], "Plan and limits", out)
}

// limitUsage describes how the use of a limit is counted and shown.
type limitUsage struct {
	name      string
	limit     int64
	countUsed func(ctx context.Context, team int64) (int64, error)
	format    func(any) string
	note      string
}

func (h *Handlers) limitUsages(r *http.Request, limits plan.Plan) []limitUsage {
	l, month := h.Language(r), h.DB.Now().In(zone(r))
	size := func(n any) string { return l.Bytes(n.(int64)) } //nolint:forcetypeassert // always a number of bytes
	return []limitUsage{
		{
			l.T("Social accounts"), limits.SocialAccounts, h.Accounts.CountUsed, l.Count,
			l.T("Includes accounts with a lost connection."),
		},
		{l.T("Posts in %s", l.Format(month, locale.Month)), limits.PostsPerMonth,
			func(ctx context.Context, team int64) (int64, error) {
				return postlist.CountInMonth(ctx, h.DB, team, month)
			},
			func(n any) string { return formatPostCount(l, n) },
			l.T("Published and scheduled this month. A month begins at midnight in the team’s time zone.")},
		{l.T("Seats"), limits.Seats, h.seatsUsed, l.Count, l.T("Members and open invitations.")},
		{l.T("Media library"), limits.StorageBytes, h.Media.UsedBytes, size, ""},
		{l.T("Hashtag lists"), limits.HashtagLists, h.Lists.Count, l.Count, ""},
		{l.T("Tracked reports"), limits.TrackedReports, h.Reports.CountTracked, l.Count,
			l.T("Reports that are refreshed automatically.")},
	}
}

// formatPostCount formats a number of posts, which is counted only up to postlist.MaxUsed.
func formatPostCount(l *locale.Language, n any) string {
	if n == int64(postlist.MaxUsed+1) {
		return l.T("more than %d", postlist.MaxUsed)
	}
	return l.Count(n)
}

func (h *Handlers) seatsUsed(ctx context.Context, team int64) (int64, error) {
	seats, err := h.Teams.Seats(ctx, team)
	return seats.Total(), err
}

func (h *Handlers) allowances(r *http.Request, limits plan.Plan) ([]allowance, error) {
	l := h.Language(r)
	var out []allowance
	for _, c := range h.limitUsages(r, limits) {
		usage, err := c.countUsed(r.Context(), teamID(r))
		if err != nil {
			return nil, err
		}
		out = append(out,
			allowance{
				c.name, c.format(usage), formatLimit(l, c.limit, c.format), c.note, percent(usage, c.limit),
				c.limit != plan.Unlimited && usage >= c.limit, c.limit == plan.Unlimited,
			})
	}
	calls, err := h.freeCalls(r, limits)
	if err != nil {
		return nil, err
	}
	days := func(n any) string {
		if days, ok := n.(int64); ok && days%365 == 0 {
			return l.N(days/365, "%d year", "%d years")
		}
		return l.N(n, "%d day", "%d days")
	}
	return append(out, calls,
		allowance{Name: l.T("Analytics are kept for"), Limit: formatLimit(l, limits.AnalyticsRetentionDays, days), Percent: -1},
		allowance{Name: l.T("Reports compared at once"), Limit: formatLimit(l, limits.ProfilesComparable, l.Count), Percent: -1},
		allowance{Name: l.T("Hashtags per list"), Limit: formatLimit(l, limits.HashtagsPerList, l.Count), Percent: -1}), nil
}

// percent returns the used percentage of a limit. It returns at least 1 if anything is used, and -1 if there is no
// limit.
func percent(used, limit int64) int64 {
	if limit <= 0 {
		return -1
	}
	return min(100, max(used*100/limit, min(used, 1)))
}

func formatLimit(l *locale.Language, n int64, write func(any) string) string {
	switch n {
	case plan.Unlimited:
		return l.T("Unlimited")
	case 0:
		return l.T("none|allowance")
	}
	return write(n)
}

// freeCalls returns the allowance of free calls, with the number of calls that keys and assistants made today.
func (h *Handlers) freeCalls(r *http.Request, limits plan.Plan) (allowance, error) {
	l := h.Language(r)
	out := allowance{
		Name: l.T("Free API calls today"), Limit: formatLimit(l, limits.FreeCallsPerDay, l.Count),
		Note:    l.T("API calls that don’t use credits. The count resets at midnight in the team’s time zone."),
		Percent: -1,
	}
	if limits.FreeCallsPerDay <= 0 {
		return out, nil
	}
	actor, err := h.Teams.InApp(r.Context(), shell.VisitorOf(r.Context()).ID, teamID(r))
	if err != nil {
		return out, err
	}
	actor.Daily.FreeCalls = limits.FreeCallsPerDay // the app itself has no such limit
	left, err := h.Calls.Remaining(r.Context(), actor)
	used := limits.FreeCallsPerDay - left
	out.Used, out.Full, out.Percent = l.Count(used), left == 0, percent(used, limits.FreeCallsPerDay)
	return out, err
}
