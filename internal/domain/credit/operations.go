package credit

import (
	"context"
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
)

// Credits is how the team's money stands (contract, Records).
type Credits struct {
	Balance       *int64               `json:"balance,omitempty" jsonschema:"Credits that the team has left. Left out where the person's role may not see it."`
	UsedToday     CreditsUsedToday     `json:"used_today" jsonschema:"Credits charged so far for the work of the team's day, which begins at midnight in its time zone."`
	DailyLimits   CreditsDailyLimits   `json:"daily_limits" jsonschema:"Credits that may be used in one day of the team. -1 means unlimited, 0 means none."`
	ReservedToday CreditsReservedToday `json:"reserved_today" jsonschema:"Credits set aside today for work that has not ended, and those that tracking counts for its next refresh. What keys and assistants set aside counts against the daily limits."`
}

// CreditsUsedToday is what was charged today.
type CreditsUsedToday struct {
	Team         int64 `json:"team" min:"0" jsonschema:"By everybody in the team, automatic work too."`
	KeysAndTools int64 `json:"keys_and_tools" min:"0" jsonschema:"The part of it that API keys and assistants used."`
}

// CreditsDailyLimits are what may be used in a day.
type CreditsDailyLimits struct {
	Key  int64 `json:"key" min:"-1" jsonschema:"By this key."`
	Team int64 `json:"team" min:"-1" jsonschema:"By the team's keys and assistants together."`
}

// CreditsReservedToday is what was set aside today and is not settled.
type CreditsReservedToday struct {
	Key  int64 `json:"key" min:"0" jsonschema:"By this key."`
	Team int64 `json:"team" min:"0" jsonschema:"By everybody in the team."`
}

// Operations declares what clients can ask of the team's money.
func (s *Service) Operations() []operation.Operation {
	balance := int64(974)
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_credits", Method: http.MethodGet, Path: "/credits", Needs: access.Read, Success: http.StatusOK,
			Uncounted: true,
			Summary:   "Credits left, used and reserved",
			Description: "The team's balance, what was used and reserved today, and the daily limits of this key and " +
				"of the team. Ask it before anything that costs credits. A day is the team's, from midnight to " +
				"midnight in its time zone; what was reserved today and settled later counts for today. Changes " +
				"nothing and never counts against the daily free-call allowance.",
			Next: "balance is left out where the person's role may not see it. A paid operation beyond what is left " +
				"is refused as insufficient_credits, beyond a day's limit as daily_credit_limit_reached, and " +
				"charges nothing.",
			Example: operation.Example{Data: Credits{
				Balance: &balance, UsedToday: CreditsUsedToday{Team: 21, KeysAndTools: 16},
				DailyLimits:   CreditsDailyLimits{Key: 100, Team: 250},
				ReservedToday: CreditsReservedToday{Key: 5, Team: 5},
			}},
		}, s.credits),
	}
}

func (s *Service) credits(ctx context.Context, call operation.Call, _ struct{}) (operation.Answer[Credits], error) {
	u, err := s.Today(ctx, s.db, call.Actor, call.Now)
	if err != nil {
		return operation.Answer[Credits]{}, err
	}
	out := Credits{
		UsedToday:     CreditsUsedToday{Team: u.UsedTeam, KeysAndTools: u.UsedKeys},
		DailyLimits:   CreditsDailyLimits{Key: call.Daily.KeyCredits, Team: call.Daily.TeamCredits},
		ReservedToday: CreditsReservedToday{Key: u.ReservedKey, Team: u.ReservedTeam},
	}
	if call.Role.SeesBalance() {
		out.Balance = &u.Balance
	}
	return operation.Answer[Credits]{App: "/settings/credits", Data: out}, nil
}
