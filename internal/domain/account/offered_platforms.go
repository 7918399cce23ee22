package account

import (
	"context"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
)

// OfferedPlatforms returns the platforms that this installation can connect, in the order of the API description.
func (c *Connector) OfferedPlatforms() []string {
	var out []string
	for platform := range strings.SplitSeq(Platforms+"|"+platformTikTokBusiness, "|") {
		if _, err := c.signInMethods(link{platform: platform}); err == nil {
			out = append(out, platform)
		}
	}
	return out
}

// SlotsLeft returns how many more accounts a team's plan allows, or plan.Unlimited.
func (c *Connector) SlotsLeft(ctx context.Context, actor *access.Actor) (int64, error) {
	p, ok := c.Catalog.Plan(actor.Plan)
	if !ok {
		p = plan.Plan{} // A plan that was removed from the catalog allows no accounts.
	}
	return slotsLeft(ctx, c.Accounts.db, actor.TeamID, p)
}

// ReconnectPath returns the path of a page where a person can reconnect one of the team's accounts.
func (c *Connector) ReconnectPath(ctx context.Context, actor *access.Actor, account int64) (string, error) {
	a, err := readAccount(ctx, c.Accounts.db, actor.TeamID, account)
	if err != nil {
		return "", err
	}
	l := link{teamID: actor.TeamID, accountID: account, personID: actor.PersonID, inApp: true, platform: a.Platform,
		expiresAt: c.Accounts.db.Now().Add(linkLifetime)}
	if _, err := c.signInMethods(l); err != nil {
		return "", apierr.New(apierr.ProviderUnavailable,
			"This installation no longer supports that network.").Wrap(err)
	}
	return ConnectPath + c.newToken(l), nil
}
