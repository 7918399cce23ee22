package server

import (
	"context"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/sandbox"
)

// demoPerson is the team's user name on the sandbox networks to which people connect in a browser.
const demoPerson = "harbour.coffee"

// demoChoice maps a network to the index of the account to connect, if it is not the first account. On LinkedIn, this
// is the person's company.
var demoChoice = map[string]int{"linkedin": 1}

// connectEverywhere connects an account on every network to which people connect in a browser. It uses a link and the
// network's consent page. It skips accounts whose connection works.
func (q *Quickstart) connectEverywhere(ctx context.Context, team int64) error {
	members, err := q.Teams.Members(ctx, team)
	if err != nil {
		return err
	}
	owner := members[0].PersonID
	for _, platform := range q.Accounts.Platforms() {
		if platform == "bluesky" {
			continue
		}
		args := operation.Arguments{"platform": platform}
		id, found := q.Accounts.FindFirst(ctx, team, platform)
		if found {
			reconnect, err := q.needsReconnect(ctx, id)
			if err != nil {
				return err
			}
			if !reconnect {
				continue
			}
			args = operation.Arguments{"account_id": id}
		}
		if err := q.connectInBrowser(ctx, owner, platform, args); err != nil {
			return fmt.Errorf("connecting the demo account on %s: %w", platform, err)
		}
		if platform == "tiktok" && !found {
			if err := q.setTikTokDefault(ctx, owner, team); err != nil {
				return err
			}
		}
	}
	return nil
}

// setTikTokDefault sets the team's defaults for the post options that a person must choose on TikTok.
func (q *Quickstart) setTikTokDefault(ctx context.Context, owner, team int64) error {
	return q.Teams.Admin(owner, team).SetPostOptions(ctx, network.Options{TikTok: &network.TikTokOptions{
		PrivacyLevel: "PUBLIC_TO_EVERYONE", AllowComment: true, MusicUsageConfirmed: true,
	}})
}

// needsReconnect reports whether an account's connection is lost or uses an earlier address of the sandbox.
func (q *Quickstart) needsReconnect(ctx context.Context, account int64) (bool, error) {
	g, err := q.Accounts.Grant(ctx, account)
	if err != nil || g.Lost {
		return true, err
	}
	if strings.HasPrefix(g.Server, q.Greeting.SandboxURL) {
		return false, nil
	}
	return true, q.Accounts.MarkLost(ctx, account, g)
}

func (q *Quickstart) connectInBrowser(
	ctx context.Context, owner int64, platform string, args operation.Arguments,
) error {
	out, err := q.call(ctx, "get_connect_link", args)
	if err != nil {
		return err
	}
	link, _ := out.Data.(account.ConnectLink)
	token := link.URL[strings.LastIndex(link.URL, "/")+1:]
	offer, err := q.Connector.Offer(ctx, owner, token)
	if err != nil {
		return err
	}
	consent, err := q.Connector.Begin(ctx, owner, token, offer.Methods[0].Kind)
	if err != nil {
		return err
	}
	callback, err := sandbox.Allow(ctx, consent, demoPerson)
	if err != nil {
		return err
	}
	result, err := q.Connector.HandleCallback(ctx, owner,
		account.Callback{
			Platform: platform, State: callback.Get("state"), Code: callback.Get("code"), Error: callback.Get("error"),
		})
	if err == nil && result.Choice != 0 {
		_, err = q.Connector.Choose(ctx, owner, result.Choice, demoChoice[platform])
	}
	return err
}
