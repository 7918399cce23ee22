package account

import (
	"context"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
)

// OfferedPlatforms returns the platforms that this installation can connect, in the order of the contract.
func (c *Connector) OfferedPlatforms() []string {
	var out []string
	for platform := range strings.SplitSeq(Platforms+"|"+platformTikTokBusiness, "|") {
		if _, err := c.ways(link{platform: platform}); err == nil {
			out = append(out, platform)
		}
	}
	return out
}

// SlotsLeft returns how many accounts a team's plan still allows; plan.Unlimited for any number.
func (c *Connector) SlotsLeft(ctx context.Context, actor *access.Actor) (int64, error) {
	p, ok := c.Terms.Plan(actor.Plan)
	if !ok {
		p = plan.Plan{} // a removed plan allows no accounts
	}
	return slotsLeft(ctx, c.Accounts.db, actor.TeamID, p)
}

// Again is where a person of a team connects an account again, be its connection lost or about to end.
func (c *Connector) Again(ctx context.Context, actor *access.Actor, account int64) (string, error) {
	a, err := readAccount(ctx, c.Accounts.db, actor.TeamID, account)
	if err != nil {
		return "", err
	}
	l := link{team: actor.TeamID, account: account, person: actor.PersonID, inApp: true, platform: a.Platform,
		ends: c.Accounts.db.Now().Add(linkLifetime)}
	if _, err := c.ways(l); err != nil {
		return "", apierr.New(apierr.ProviderUnavailable,
			"This installation no longer supports that network.").Wrap(err)
	}
	return ConnectPath + c.token(l), nil
}
