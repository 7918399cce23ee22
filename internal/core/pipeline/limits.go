package pipeline

import (
	"context"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/teamtime"
)

// requestRate counts the requests of a key. Those of a person are the app's own, several for one page.
func (p *Pipeline) requestRate(ctx context.Context, f *flight, next handler) error {
	if f.outcome.Call.InApp() {
		return next(ctx, f)
	}
	if err := p.count(ctx, f, PerCredential); err != nil {
		return err
	}
	return next(ctx, f)
}

// actionLimits counts what a connection writes, and what of it reaches networks.
func (p *Pipeline) actionLimits(ctx context.Context, f *flight, next handler) error {
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
		"Too many requests with this key or connection, over REST and as tools together.").
		With("scope", string(PerCredential)),
	PerConnection: apierr.New(apierr.RateLimited, "Too many changes through this connection.").
		With("scope", string(PerConnection)),
	PerProvider: apierr.New(apierr.RateLimited, "Too many calls that reach social networks.").
		With("scope", string(PerProvider)),
}

// count counts a call by a limit and refuses it where it is one too many.
func (p *Pipeline) count(ctx context.Context, f *flight, scope Scope) error {
	if slices.ContainsFunc(f.outcome.Rates, func(known Rate) bool { return known.Scope == scope }) {
		return nil // counted before: a transaction that another got in the way of is run again
	}
	r := p.Rates.Take(ctx, scope, f.outcome.Call.Caller())
	f.outcome.Rates = append(f.outcome.Rates, r)
	if r.Limited {
		return tooFast[scope].After(r.RetryAfter)
	}
	return nil
}

// closed is what stands in the way of a key or of an assistant's connection, in the order of the contract's table.
var closed = []struct {
	by         func(access.Gates) bool
	code       apierr.Code
	key        string // what a caller by a key is told
	connection string // what an assistant is told
}{
	{func(g access.Gates) bool { return g.APIOff }, apierr.RestDisabled,
		"The operator has switched the API off. Your key stays as it is and works again once the API is on.",
		"The operator has switched the API off, and the tools with it. Your connection stays as it is and " +
			"works again " +
			"once the API is on."},
	{func(g access.Gates) bool { return g.TeamOff }, apierr.TeamSwitchedOff,
		"The team's owner has switched API and tool access off. The owner can switch it on in the app.",
		"The team's owner has switched API and tool access off. The owner can switch it on in the app."},
	{func(g access.Gates) bool { return g.PlanLapsed }, apierr.PlanLapsed,
		"The team's plan does not include API keys. This key works again once the team is on a plan that does.",
		"The team's plan does not include API and tool access. This connection works again once the team is " +
			"on a plan " +
			"that does."},
	{func(g access.Gates) bool { return g.Paused }, apierr.ConnectionSuspended,
		"This key, its team or the service is paused. Nothing was done; try again once it is resumed.",
		"This connection, its team or the service is paused. Nothing was done; try again once it is resumed."},
	{func(g access.Gates) bool {
		return g.TeamClosed
	}, apierr.TeamClosed, "The team is closed.", "The team is closed."},
	{func(g access.Gates) bool { return g.OwnerHeld }, apierr.AccountNotApproved,
		"The account of the team's owner is on hold. The owner has to clear that with the operator.",
		"The account of the team's owner, or of the person this connection acts for, is on hold. That person has to " +
			"clear it with the operator."},
	{func(g access.Gates) bool { return g.NotMember }, apierr.MembershipLost,
		"The person this key acts for has left the team. The key is revoked; the owner can make a new one.",
		"The person this connection acts for has left the team. The connection is revoked; a member can connect the " +
			"assistant anew."},
	{func(g access.Gates) bool { return g.NotOwner }, apierr.OwnershipLost,
		"The person who made this key does not own the team any more. The key is revoked; the owner can make " +
			"a new one.",
		"The person who made this key does not own the team any more. The key is revoked; the owner can make " +
			"a new one."},
	{func(g access.Gates) bool { return g.NotRole }, apierr.RoleLost,
		"The person this connection acts for no longer has a role that can publish, or is a client of the team now. " +
			"The connection is revoked; with a role that lets assistants in it can be connected anew.",
		"The person this connection acts for no longer has a role that can publish, or is a client of the team now. " +
			"The connection is revoked; with a role that lets assistants in it can be connected anew."},
}

func (p *Pipeline) gates(ctx context.Context, f *flight, next handler) error {
	if err := Gates(f.outcome.Call.Actor); err != nil {
		return err
	}
	return next(ctx, f)
}

// Gates refuses an actor in whose way something stands, whatever it asks for.
func Gates(a *access.Actor) error {
	for _, gate := range closed {
		if !gate.by(a.Gates) {
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
		"The team's free calls of the day are used up. There are new ones from midnight in the team's time zone.")
	errNoCalls = apierr.New(apierr.DailyCallLimit, "The team's plan has no free calls.")
)

// dailyCalls refuses a call that costs nothing when the team's free calls of the day are used up.
func (p *Pipeline) dailyCalls(ctx context.Context, f *flight, next handler) error {
	var err error
	if f.cost, err = f.request.Operation.Cost(ctx, f.outcome.Call, f.arguments); err != nil {
		return err
	}
	if f.cost == 0 && f.free == nil && f.counted() {
		_, midnight := teamtime.Day(f.outcome.Call.Now, f.outcome.Call.Zone)
		if f.outcome.Call.Daily.FreeCalls == 0 {
			return errNoCalls.After(midnight.Sub(f.outcome.Call.Now))
		}
		return errCallsUsed.After(midnight.Sub(f.outcome.Call.Now))
	}
	return next(ctx, f)
}

// credits sets aside what the call costs, before any work, and tells the cost in the answer.
func (p *Pipeline) credits(ctx context.Context, f *flight, next handler) error {
	if !f.request.Operation.Paid() {
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

func (p *Pipeline) bill(ctx context.Context, f *flight) error {
	if f.outcome.Billing == nil {
		f.outcome.Billing = &operation.Billing{Charged: f.cost}
	}
	if !f.outcome.Call.Role.SeesBalance() {
		return nil
	}
	balance, err := p.Credits.Balance(ctx, f.outcome.Call.Tx, f.outcome.Call.TeamID)
	if err != nil {
		return err
	}
	f.outcome.Billing.Balance = &balance
	return nil
}
