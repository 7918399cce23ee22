package ratelimit

import (
	"context"
	"fmt"
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
)

// PlanLimits are a team's plan and its limits.
type PlanLimits struct {
	Plan               PlanLimitsPlan   `json:"plan"`
	Limits             PlanLimitsLimits `json:"limits" jsonschema:"Limits of the plan. -1 means unlimited, 0 means none."`
	APIAccess          bool             `json:"api_access" jsonschema:"Whether the plan includes API and tool access."`
	FreeCallsLeftToday int64            `json:"free_calls_left_today" min:"-1"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (PlanLimits) Descriptions() map[string]string {
	return map[string]string{
		"free_calls_left_today": "Free calls left until midnight in the team's time zone. -1 means unlimited, 0 " +
			"means none.",
	}
}

// PlanLimitsPlan identifies a plan.
type PlanLimitsPlan struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// PlanLimitsLimits are the limits of a plan: -1 means unlimited, 0 means none.
type PlanLimitsLimits struct {
	SocialAccounts         int64 `json:"social_accounts" min:"-1" jsonschema:"Connected social accounts."`
	PostsPerMonth          int64 `json:"posts_per_month" min:"-1" jsonschema:"Posts per calendar month in the team's time zone."`
	Seats                  int64 `json:"seats" min:"-1" jsonschema:"Members of the team."`
	StorageBytes           int64 `json:"storage_bytes" min:"-1" jsonschema:"Size of the media library in bytes."`
	AnalyticsRetentionDays int64 `json:"analytics_retention_days" min:"-1" jsonschema:"Days for which analytics data is retained."`
	ProfilesComparable     int64 `json:"profiles_comparable" min:"-1" jsonschema:"Profiles in one comparison."`
	FreeCallsPerDay        int64 `json:"free_calls_per_day" min:"-1" jsonschema:"Free calls per day of all keys and assistants together."`
	HashtagLists           int64 `json:"hashtag_lists" min:"-1" jsonschema:"Saved hashtag lists."`
	TrackedReports         int64 `json:"tracked_reports" min:"-1" jsonschema:"Reports that are refreshed automatically."`
}

// Operations returns the operation get_limits.
func (c *FreeCalls) Operations(catalog plan.Catalog) []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_limits", Method: http.MethodGet, Path: "/limits", Needs: access.Read, Success: http.StatusOK,
			Unmetered: true,
			Summary:   "Get plan limits",
			Description: "Returns the team's plan, its limits, whether it includes API and tool access, and the free " +
				"calls left today. Call it after plan_limit_reached or daily_call_limit_reached, and before a task " +
				"with many calls. -1 means unlimited, 0 means none. The call never counts against the daily free-call " +
				"allowance.",
			Example: operation.Example{Data: PlanLimits{
				Plan: PlanLimitsPlan{"agency", "Agency"}, APIAccess: true, FreeCallsLeftToday: 99_120,
				Limits: PlanLimitsLimits{SocialAccounts: plan.Unlimited, PostsPerMonth: plan.Unlimited, Seats: 50,
					StorageBytes:           1_073_741_824_000,
					AnalyticsRetentionDays: 730, ProfilesComparable: 25, FreeCallsPerDay: 100_000, HashtagLists: 500,
					TrackedReports: 100},
			}},
		}, func(ctx context.Context, call operation.Call, _ struct{}) (operation.Response[PlanLimits], error) {
			return c.getLimits(ctx, catalog, call)
		}),
	}
}

func (c *FreeCalls) getLimits(ctx context.Context, catalog plan.Catalog, call operation.Call) (operation.Response[PlanLimits], error) {
	teamPlan, ok := catalog.Plan(call.Plan)
	if !ok {
		return operation.Response[PlanLimits]{}, fmt.Errorf("team %d is on the unknown plan %q", call.TeamID, call.Plan)
	}
	left, err := c.Remaining(ctx, call.Actor)
	if err != nil {
		return operation.Response[PlanLimits]{}, err
	}
	return operation.Response[PlanLimits]{App: "/settings/plan", Data: PlanLimits{
		Plan: PlanLimitsPlan{teamPlan.ID, teamPlan.Name}, Limits: newPlanLimits(teamPlan, call.Daily.FreeCalls),
		APIAccess:          teamPlan.APIKeys,
		FreeCallsLeftToday: left,
	}}, nil
}

func newPlanLimits(p plan.Plan, freeCalls int64) PlanLimitsLimits {
	return PlanLimitsLimits{
		SocialAccounts: p.SocialAccounts, PostsPerMonth: p.PostsPerMonth, Seats: p.Seats, StorageBytes: p.StorageBytes,
		AnalyticsRetentionDays: p.AnalyticsRetentionDays, ProfilesComparable: p.ProfilesComparable,
		FreeCallsPerDay: freeCalls,
		HashtagLists:    p.HashtagLists, TrackedReports: p.TrackedReports,
	}
}
