package pipeline

import (
	"context"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/teamtime"
)

// requestRate applies the rate limit on requests of a key. The app is exempt, as it makes several calls per page.
func (p *Pipeline) requestRate(ctx context.Context, f *callState, next handler) error {
	if f.outcome.Call.InApp() {
		return next(ctx, f)
	}
	if err := p.count(ctx, f, PerCredential); err != nil {
		return err
	}
	return next(ctx, f)
}

// actionLimits applies the rate limits on writes and on calls that reach social networks.
func (p *Pipeline) actionLimits(ctx context.Context, f *callState, next handler) error {
	if !f.request.Operation.Reads() {
		if err := p.count(ctx, f, PerConnection); err != nil {
			return err
		}
	}
	reaches, err := f.request.Operation.ReachesNetworks(ctx, f.outcome.Call, f.arguments)
	if err != nil {
		return err
	}
	if reaches {
		if err := p.count(ctx, f, PerProvider); err != nil {
			return err
		}
	}
	return next(ctx, f)
}

var tooFast = map[Scope]*apierr.Error{
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

// count counts a call for a rate limit and returns an error if it exceeds the limit.
func (p *Pipeline) count(ctx context.Context, f *callState, scope Scope) error {
	if slices.ContainsFunc(f.outcome.Rates, func(known Rate) bool { return known.Scope == scope }) {
		return nil // already counted, as the transaction is run again after a conflict
	}
	r := p.Rates.Take(ctx, scope, f.outcome.Call.CallerID())
	f.outcome.Rates = append(f.outcome.Rates, r)
	if r.Limited {
		return tooFast[scope].After(r.RetryAfter)
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

// gateErrors are the errors of closed gates, in the order of the contract's table.
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
	{func(g access.Gates) bool { return g.TeamOff }, apierr.TeamSwitchedOff, teamOffDetail, teamOffDetail},
	{func(g access.Gates) bool { return g.PlanLapsed }, apierr.PlanLapsed,
		"The team's plan does not include API keys. This key works again once the team has a plan that does.",
		"The team's plan does not include API and tool access. This connection works again once the team has a plan " +
			"that does."},
	{func(g access.Gates) bool { return g.Paused }, apierr.ConnectionSuspended,
		"This key, its team or the service is paused. Nothing was done; try again once it is resumed.",
		"This connection, its team or the service is paused. Nothing was done; try again once it is resumed."},
	{func(g access.Gates) bool { return g.TeamClosed }, apierr.TeamClosed,
		"The team is closed.", "The team is closed."},
	{func(g access.Gates) bool { return g.OwnerHeld }, apierr.AccountNotApproved,
		"The account of the team's owner is suspended. The owner must contact the operator.",
		"The account of the team's owner, or of the person this connection acts for, is suspended. That person must " +
			"contact the operator."},
	{func(g access.Gates) bool { return g.NotMember }, apierr.MembershipLost,
		"The person this key acts for has left the team. The key is revoked; the owner can create a new one.",
		"The person this connection acts for has left the team. The connection is revoked; a member can connect the " +
			"assistant again."},
	{func(g access.Gates) bool { return g.NotOwner }, apierr.OwnershipLost, notOwnerDetail, notOwnerDetail},
	{func(g access.Gates) bool { return g.NotRole }, apierr.RoleLost, notRoleDetail, notRoleDetail},
}

func (p *Pipeline) gates(ctx context.Context, f *callState, next handler) error {
	if err := Gates(f.outcome.Call.Actor); err != nil {
		return err
	}
	return next(ctx, f)
}

// Gates returns the error of the first closed gate of an actor.
func Gates(a *access.Actor) error {
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

// dailyCalls returns an error if the call costs no credits and the team has no free call left.
func (p *Pipeline) dailyCalls(ctx context.Context, f *callState, next handler) error {
	var err error
	if f.cost, err = f.request.Operation.Cost(ctx, f.outcome.Call, f.arguments); err != nil {
		return err
	}
	if f.cost == 0 && f.free == nil && f.usesFreeCall() {
		_, midnight := teamtime.Day(f.outcome.Call.Now, f.outcome.Call.Zone)
		if f.outcome.Call.Daily.FreeCalls == 0 {
			return errNoCalls.After(midnight.Sub(f.outcome.Call.Now))
		}
		return errCallsUsed.After(midnight.Sub(f.outcome.Call.Now))
	}
	return next(ctx, f)
}

// credits reserves the cost of the call before the work, and adds the billing to the answer.
func (p *Pipeline) credits(ctx context.Context, f *callState, next handler) error {
	if !f.request.Operation.IsPaid() {
		return next(ctx, f)
	}
	f.outcome.Call.Reservation = 0
	if f.cost > 0 {
		var err error
		if f.outcome.Call.Reservation, err = p.Credits.Reserve(ctx, f.outcome.Call.Tx,
			Charge{Call: f.outcome.Call, Claim: f.claim(), Amount: f.cost}); err != nil {
			return err
		}
	}
	if err := next(ctx, f); err != nil {
		return err
	}
	return p.bill(ctx, f)
}

func (p *Pipeline) bill(ctx context.Context, f *callState) error {
	if f.outcome.Billing == nil {
		f.outcome.Billing = &operation.Billing{Charged: f.cost}
	}
	if !f.outcome.Call.Role.CanSeeBalance() {
		return nil
	}
	balance, err := p.Credits.Balance(ctx, f.outcome.Call.Tx, f.outcome.Call.TeamID)
	if err != nil {
		return err
	}
	f.outcome.Billing.Balance = &balance
	return nil
}
