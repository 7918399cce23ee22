package ratelimit

import (
	"context"
	"fmt"
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
)

// PlanLimits is what a team's plan allows (contract, Records).
type PlanLimits struct {
	Plan               PlanLimitsPlan   `json:"plan"`
	Limits             PlanLimitsLimits `json:"limits" jsonschema:"What the plan allows. -1 means unlimited, 0 means none."`
	APIAccess          bool             `json:"api_access" jsonschema:"Whether the plan includes access by API and tools."`
	FreeCallsLeftToday int64            `json:"free_calls_left_today" min:"-1" jsonschema:"Calls without a charge that the team can still make until midnight in its time zone. -1 means unlimited, 0 means none."`
}

// PlanLimitsPlan is a plan by its name.
type PlanLimitsPlan struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// PlanLimitsLimits are the limits of a plan; -1 is unlimited, 0 none.
type PlanLimitsLimits struct {
	SocialAccounts         int64 `json:"social_accounts" min:"-1" jsonschema:"Social accounts that the team may connect."`
	PostsPerMonth          int64 `json:"posts_per_month" min:"-1" jsonschema:"Posts in a calendar month of the team's time zone."`
	Seats                  int64 `json:"seats" min:"-1" jsonschema:"People in the team."`
	StorageBytes           int64 `json:"storage_bytes" min:"-1" jsonschema:"Size of the media library, in bytes."`
	AnalyticsRetentionDays int64 `json:"analytics_retention_days" min:"-1" jsonschema:"For how many days analytics data is kept."`
	ProfilesComparable     int64 `json:"profiles_comparable" min:"-1" jsonschema:"Profiles that can be compared with one another."`
	FreeCallsPerDay        int64 `json:"free_calls_per_day" min:"-1" jsonschema:"Calls without a charge that the team's keys and assistants together may make in a day of the team's time zone."`
	HashtagLists           int64 `json:"hashtag_lists" min:"-1" jsonschema:"Hashtag lists that the team may save."`
	TrackedReports         int64 `json:"tracked_reports" min:"-1" jsonschema:"Reports that may be refreshed automatically."`
}

// Operations declares what keys can ask of their team's limits.
func (c *Calls) Operations(t plan.Terms) []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_limits", Method: http.MethodGet, Path: "/limits", Needs: access.Read, Success: http.StatusOK,
			Uncounted: true,
			Summary:   "What the team's plan allows",
			Description: "The team's plan and its limits, whether it includes access by API and tools, and how many " +
				"free calls are left today. Ask it after plan_limit_reached or daily_call_limit_reached, and before " +
				"work of many calls. -1 means unlimited, 0 means none. Never counts against the daily free-call " +
				"allowance.",
			Example: operation.Example{Data: PlanLimits{
				Plan: PlanLimitsPlan{"agency", "Agency"}, APIAccess: true, FreeCallsLeftToday: 99_120,
				Limits: PlanLimitsLimits{SocialAccounts: plan.Unlimited, PostsPerMonth: plan.Unlimited, Seats: 50,
					StorageBytes:           1_073_741_824_000,
					AnalyticsRetentionDays: 730, ProfilesComparable: 25, FreeCallsPerDay: 100_000, HashtagLists: 500,
					TrackedReports: 100},
			}},
		}, func(ctx context.Context, call operation.Call, _ struct{}) (operation.Answer[PlanLimits], error) {
			return c.limits(ctx, t, call)
		}),
	}
}

func (c *Calls) limits(ctx context.Context, t plan.Terms, call operation.Call) (operation.Answer[PlanLimits], error) {
	plan, ok := t.Plan(call.Plan)
	if !ok {
		return operation.Answer[PlanLimits]{}, fmt.Errorf("the terms have no plan %q, which team %d is on", call.Plan,
			call.TeamID)
	}
	left, err := c.Left(ctx, call.Actor)
	if err != nil {
		return operation.Answer[PlanLimits]{}, err
	}
	return operation.Answer[PlanLimits]{App: "/settings/plan", Data: PlanLimits{
		Plan: PlanLimitsPlan{plan.ID, plan.Name}, Limits: figures(plan, call.Daily.FreeCalls), APIAccess: plan.APIKeys,
		FreeCallsLeftToday: left,
	}}, nil
}

func figures(p plan.Plan, freeCalls int64) PlanLimitsLimits {
	return PlanLimitsLimits{
		SocialAccounts: p.SocialAccounts, PostsPerMonth: p.PostsPerMonth, Seats: p.Seats, StorageBytes: p.StorageBytes,
		AnalyticsRetentionDays: p.AnalyticsRetentionDays, ProfilesComparable: p.ProfilesComparable,
		FreeCallsPerDay: freeCalls,
		HashtagLists:    p.HashtagLists, TrackedReports: p.TrackedReports,
	}
}
