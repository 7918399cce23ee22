package credit

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// Credits are a team's balance, usage and daily limits.
type Credits struct {
	Balance       *int64               `json:"balance,omitempty"`
	UsedToday     CreditsUsedToday     `json:"used_today"`
	DailyLimits   CreditsDailyLimits   `json:"daily_limits"`
	ReservedToday CreditsReservedToday `json:"reserved_today"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Credits) Descriptions() map[string]string {
	return map[string]string{
		"balance":      "Credits left. Omitted if the person's role does not allow seeing it.",
		"used_today":   "Credits charged today. A day starts at midnight in the team's time zone.",
		"daily_limits": "Credits that can be used per day. -1 means unlimited, 0 means none.",
		"reserved_today": "Credits reserved today for unfinished work and for the next refresh of tracked reports. " +
			"Reservations by keys and assistants count against the daily limits.",
	}
}

// CreditsUsedToday are the credits charged today.
type CreditsUsedToday struct {
	Team         int64 `json:"team" min:"0" jsonschema:"By the whole team, including automatic work."`
	KeysAndTools int64 `json:"keys_and_tools" min:"0" jsonschema:"The part used by API keys and assistants."`
}

// CreditsDailyLimits are the credits that can be used per day.
type CreditsDailyLimits struct {
	Key  int64 `json:"key" min:"-1" jsonschema:"By this key."`
	Team int64 `json:"team" min:"-1" jsonschema:"By the team's keys and assistants together."`
}

// CreditsReservedToday are the credits reserved today and not yet charged or refunded.
type CreditsReservedToday struct {
	Key  int64 `json:"key" min:"0" jsonschema:"By this key."`
	Team int64 `json:"team" min:"0" jsonschema:"By the whole team."`
}

// Operations returns the operation get_credits.
func (s *Service) Operations() []operation.Operation {
	balance := int64(974)
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_credits", Method: http.MethodGet, Path: "/credits", Needs: access.Read, Success: http.StatusOK,
			Unmetered: true,
			Summary:   "Get credits",
			Description: "Returns the team's balance, the credits used and reserved today, and the daily limits of this " +
				"key and the team. Call it before anything that costs credits. A day starts at midnight in the team's " +
				"time zone; credits reserved today and charged later count for today. The call never counts against the " +
				"daily free-call allowance.",
			Next: "balance is omitted if the person's role does not allow seeing it. insufficient_credits: the " +
				"balance is too low. daily_credit_limit_reached: a daily limit would be exceeded. Both charge nothing.",
			Example: operation.Example{Data: Credits{
				Balance: &balance, UsedToday: CreditsUsedToday{Team: 21, KeysAndTools: 16},
				DailyLimits:   CreditsDailyLimits{Key: 100, Team: 250},
				ReservedToday: CreditsReservedToday{Key: 5, Team: 5},
			}},
		}, s.getCredits),
	}
}

func (s *Service) getCredits(ctx context.Context, call operation.Call, _ struct{}) (operation.Response[Credits], error) {
	u, err := s.DailyUsage(ctx, s.db, call.Actor, call.Now)
	if err != nil {
		return operation.Response[Credits]{}, err
	}
	out := Credits{
		UsedToday:     CreditsUsedToday{Team: u.UsedTeam, KeysAndTools: u.UsedKeys},
		DailyLimits:   CreditsDailyLimits{Key: call.Daily.KeyCredits, Team: call.Daily.TeamCredits},
		ReservedToday: CreditsReservedToday{Key: u.ReservedKey, Team: u.ReservedTeam},
	}
	if call.Role.CanSeeBalance() {
		out.Balance = &u.Balance
	}
	return operation.Response[Credits]{App: "/settings/credits", Data: out}, nil
}
