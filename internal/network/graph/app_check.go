package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// CheckCredentials reports whether the network accepts the app's ID and secret. It also works for Threads apps.
//
// Source: https://developers.facebook.com/docs/facebook-login/guides/access-tokens
func (c *Client) CheckCredentials(ctx context.Context, platform, app, server, path string, params url.Values) network.Finding {
	params.Set("grant_type", "client_credentials")
	_, err := c.RequestToken(ctx, http.MethodGet, server, path, params)
	finding := network.CallFinding(platform, strings.TrimSpace(app+" client ID and secret"), err)
	// A wrong secret results in the same code as a temporary failure.
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.IsClientError() &&
		netErr.Class != network.RateLimited {
		finding.Result, finding.NextStep = network.CheckFailed,
			"Compare the app's ID and secret with Meta's developer console."
	}
	return finding
}

// CheckApp reports whether the network accepts the app, and which permissions App Review has approved.
//
// Source: https://developers.facebook.com/docs/graph-api/reference/application/permissions
func (l Login) CheckApp(ctx context.Context, platform, app, server string, required []network.RequiredScope) []network.Finding {
	first := l.Client.CheckCredentials(ctx, platform, app, server, l.Version+"/oauth/access_token",
		url.Values{"client_id": {l.ClientID}, "client_secret": {l.ClientSecret}})
	if first.Result != network.CheckPassed {
		return []network.Finding{first}
	}
	var response struct {
		Data []struct {
			Permission string `json:"permission"`
			Status     string `json:"status"`
		} `json:"data"`
	}
	const subject = "App Review"
	err := l.Client.Do(ctx, Call{
		Method: http.MethodGet, Server: server, Path: l.Version + "/" + l.ClientID + "/permissions", Token: l.appToken(),
		Secrets: []string{l.ClientSecret}, Out: &response,
	})
	if err != nil {
		finding := network.CallFinding(platform, subject, err)
		finding.Result = network.CheckUnclear // Apps of some types do not have this list.
		return []network.Finding{first, finding}
	}
	var approved, missing []string
	for _, p := range response.Data {
		if p.Status == "live" {
			approved = append(approved, p.Permission)
		}
	}
	for _, need := range required {
		if !slices.Contains(approved, need.Scope) {
			missing = append(missing, need.Scope)
		}
	}
	finding := network.Finding{Subject: subject, Result: network.CheckPassed}
	if len(missing) > 0 {
		// An app that is used only for the operator's own accounts may not need App Review.
		finding.Result, finding.NextStep = network.CheckUnclear, network.NextStep(platform, "")
		finding.Detail = "Not approved: " + strings.Join(missing, ", ") +
			". Without approval, only people with a role in the app can connect accounts."
	}
	return []network.Finding{first, finding}
}

// appToken returns the access token of the app itself.
func (l Login) appToken() string { return l.ClientID + "|" + l.ClientSecret }

// CheckToken reports whether an account's token is valid, and which of the required permissions it has.
//
// Source: https://developers.facebook.com/docs/graph-api/reference/debug_token
func (l Login) CheckToken(ctx context.Context, platform string, g network.Grant,
	required []network.RequiredScope) []network.Finding {
	var response struct {
		Data struct {
			Valid  bool     `json:"is_valid"`
			Scopes []string `json:"scopes"`
			Error  struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"data"`
	}
	err := l.Client.Do(ctx, Call{
		Method: http.MethodGet, Server: g.Server, Path: l.Version + "/debug_token", Token: l.appToken(),
		Params: url.Values{"input_token": {g.AccessToken}}, Secrets: []string{g.AccessToken, l.ClientSecret},
		Out: &response,
	})
	const subject = "access token"
	if err == nil && !response.Data.Valid {
		err = &network.Error{
			Class: network.ReconnectRequired, Status: http.StatusOK,
			Message: network.Clip(strings.ReplaceAll(response.Data.Error.Message, g.AccessToken, "…"), maxName),
		}
	}
	if err != nil {
		return []network.Finding{network.CallFinding(platform, subject, err)}
	}
	return append([]network.Finding{{Subject: subject, Result: network.CheckPassed}},
		network.CheckScopes(response.Data.Scopes, required...)...)
}

// CheckLimit reports how many posts an account may still publish. edge is the API edge that returns the account's
// limit.
func (c *Containers) CheckLimit(ctx context.Context, g network.Grant, edge string) network.Finding {
	var response struct {
		Data []struct {
			Usage  int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	const subject = "posts in 24 hours"
	err := c.Client.Do(ctx, c.NewCall(g, http.MethodGet, c.ownerPath(g, edge),
		url.Values{"fields": {"quota_usage,config"}}, &response))
	if err != nil || len(response.Data) == 0 {
		finding := network.CallFinding(c.Platform(), subject, err)
		if err == nil {
			finding.Result, finding.Detail = network.CheckUnclear, "The network does not report the limit."
		}
		return finding
	}
	usage := response.Data[0]
	return network.UsageFinding(subject, usage.Usage, usage.Config.Total)
}
