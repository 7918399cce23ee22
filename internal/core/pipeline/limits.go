package pipeline

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/teamtime"
)

// checkRequestRate applies the rate limit for a key's requests. Calls from the app are exempt, because a page may make
// several calls.
func (p *Pipeline) checkRequestRate(ctx context.Context, cs *callState, next handler) error {
	if cs.outcome.Call.InApp() {
		return next(ctx, cs)
	}
	if err := p.count(ctx, cs, PerCredential); err != nil {
		return err
	}
	return next(ctx, cs)
}

// checkActionLimits applies the rate limits for writes and for calls that reach social networks.
func (p *Pipeline) checkActionLimits(ctx context.Context, cs *callState, next handler) error {
	if !cs.request.Operation.Reads() {
		if err := p.count(ctx, cs, PerConnection); err != nil {
			return err
		}
	}
	ok, err := cs.request.Operation.ReachesNetworks(ctx, cs.outcome.Call, cs.arguments)
	if err != nil {
		return err
	}
	if ok {
		if err := p.count(ctx, cs, PerProvider); err != nil {
			return err
		}
	}
	return next(ctx, cs)
}

var rateLimitErrors = map[Scope]*apierr.Error{
	PerCredential: apierr.New(apierr.RateLimited,
		"Too many requests with this key or connection, over REST and MCP together. Retry after the wait.").
		With("scope", string(PerCredential)),
	PerConnection: apierr.New(apierr.RateLimited,
		"Too many writes with this key or connection. Retry after the wait.").
		With("scope", string(PerConnection)),
	PerProvider: apierr.New(apierr.RateLimited,
		"Too many calls that reach social networks. Retry after the wait.").
		With("scope", string(PerProvider)),
}

// count counts a call toward a rate limit. It returns an error if the call exceeds the limit.
func (p *Pipeline) count(ctx context.Context, cs *callState, scope Scope) error {
	if slices.ContainsFunc(cs.outcome.Rates, func(rate Rate) bool { return rate.Scope == scope }) {
		return nil // already counted: the transaction runs again after a conflict
	}
	r := p.Rates.Take(ctx, scope, cs.outcome.Call.CallerID())
	cs.outcome.Rates = append(cs.outcome.Rates, r)
	if r.Limited {
		return rateLimitErrors[scope].WithRetryAfter(r.RetryAfter)
	}
	return nil
}

const (
	teamOffDetail  = "The team's owner has turned off API and tool access. The owner can turn it on again in the app."
	notOwnerDetail = "The person who created this key no longer owns the team. The key is revoked; the owner can " +
		"create a new one."
	notRoleDetail = "The person this connection acts for no longer has a role that can publish, or is now a client " +
		"of the team. The connection is revoked; it can be connected again with a role that allows assistants."
)

// gateErrors contains the error for each closed gate, in the order of the table in the spec.
var gateErrors = []struct {
	closed     func(access.Gates) bool
	code       apierr.Code
	key        string // detail for a key
	connection string // detail for an assistant's connection
}{
	{func(g access.Gates) bool { return g.APIOff }, apierr.RestDisabled,
		"The operator has turned off the API. Your key is unchanged and works again once the API is on.",
		"The operator has turned off the API and the tools. Your connection is unchanged and works again once the " +
			"API is on."},
	{func(g access.Gates) bool { return g.TeamOff }, apierr.TeamAccessDisabled, teamOffDetail, teamOffDetail},
	{func(g access.Gates) bool { return g.PlanLapsed }, apierr.PlanLapsed,
		"The team's plan does not include API keys. This key works again once the team has a plan that does.",
		"The team's plan does not include API and tool access. This connection works again once the team has a plan " +
			"that does."},
	{func(g access.Gates) bool { return g.Paused }, apierr.ConnectionSuspended,
		"This key, its team or the service is paused. Nothing was done; try again once it is resumed.",
		"This connection, its team or the service is paused. Nothing was done; try again once it is resumed."},
	{func(g access.Gates) bool { return g.TeamClosed }, apierr.TeamClosed,
		"The team is closed.", "The team is closed."},
	{func(g access.Gates) bool { return g.OwnerSuspended }, apierr.OwnerSuspended,
		"The account of the team's owner is suspended. The owner must contact the operator.",
		"The account of the team's owner, or of the person this connection acts for, is suspended. That person must " +
			"contact the operator."},
	{func(g access.Gates) bool { return g.MembershipLost }, apierr.MembershipLost,
		"The person this key acts for has left the team. The key is revoked; the owner can create a new one.",
		"The person this connection acts for has left the team. The connection is revoked; a member can connect the " +
			"assistant again."},
	{func(g access.Gates) bool { return g.OwnershipLost }, apierr.OwnershipLost, notOwnerDetail, notOwnerDetail},
	{func(g access.Gates) bool { return g.RoleLost }, apierr.RoleLost, notRoleDetail, notRoleDetail},
}

func (p *Pipeline) checkGates(ctx context.Context, cs *callState, next handler) error {
	if err := CheckGates(cs.outcome.Call.Actor); err != nil {
		return err
	}
	return next(ctx, cs)
}

// CheckGates returns the error for the actor's first closed gate, or nil if no gate is closed.
func CheckGates(a *access.Actor) error {
	for _, gate := range gateErrors {
		if !gate.closed(a.Gates) {
			continue
		}
		if a.Assistant {
			return apierr.New(gate.code, gate.connection)
		}
		return apierr.New(gate.code, gate.key)
	}
	return nil
}

var (
	errCallsUsed = apierr.New(apierr.DailyCallLimit,
		"The team has used all free calls of the day. The allowance resets at midnight in the team's time zone.")
	errNoCalls = apierr.New(apierr.DailyCallLimit, "The team's plan includes no free calls.")
)

// checkDailyCalls returns an error if the call is free and the team has no free calls left.
func (p *Pipeline) checkDailyCalls(ctx context.Context, cs *callState, next handler) error {
	var err error
	if cs.cost, err = cs.request.Operation.Cost(ctx, cs.outcome.Call, cs.arguments); err != nil {
		return err
	}
	if cs.cost == 0 && cs.freeCall == nil && cs.usesFreeCall() {
		_, midnight := teamtime.Day(cs.outcome.Call.Now, cs.outcome.Call.Zone)
		if cs.outcome.Call.Daily.FreeCalls == 0 {
			return errNoCalls.WithRetryAfter(midnight.Sub(cs.outcome.Call.Now))
		}
		return errCallsUsed.WithRetryAfter(midnight.Sub(cs.outcome.Call.Now))
	}
	return next(ctx, cs)
}

// reserveCredits reserves the cost of a paid call before it runs, and adds the billing to the response.
func (p *Pipeline) reserveCredits(ctx context.Context, cs *callState, next handler) error {
	if !cs.request.Operation.IsPaid() {
		return next(ctx, cs)
	}
	cs.outcome.Call.Reservation = 0
	if cs.cost > 0 {
		var err error
		if cs.outcome.Call.Reservation, err = p.Credits.Reserve(ctx, cs.outcome.Call.Tx,
			Charge{Call: cs.outcome.Call, Claim: cs.newClaim(), Amount: cs.cost}); err != nil {
			return err
		}
	}
	if err := next(ctx, cs); err != nil {
		return err
	}
	return p.bill(ctx, cs)
}

func (p *Pipeline) bill(ctx context.Context, cs *callState) error {
	if cs.outcome.Billing == nil {
		cs.outcome.Billing = &operation.Billing{Charged: cs.cost}
	}
	if !cs.outcome.Call.Role.CanSeeBalance() {
		return nil
	}
	balance, err := p.Credits.Balance(ctx, cs.outcome.Call.Tx, cs.outcome.Call.TeamID)
	if err != nil {
		return err
	}
	cs.outcome.Billing.Balance = &balance
	return nil
}
