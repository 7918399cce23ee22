package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxName          = 200 // characters kept of a name
	maxOrganizations = 50  // per person; the name of each needs a call
)

// The sign-in methods. Each needs a separate app.
const (
	kindDefault = ""
	kindCompany = "company"
)

// appKey is the key in Grant.Extra for the app that connected the account. It is not set for the default app.
const appKey = "app"

// Kinds returns the sign-in methods for which an app is configured.
func (n *Network) Kinds() []string {
	var kinds []string
	if n.opts.ClientID != "" {
		kinds = append(kinds, kindDefault)
	}
	if n.opts.Company.ClientID != "" {
		kinds = append(kinds, kindCompany)
	}
	return kinds
}

// appFor returns the app of a sign-in method.
func (n *Network) appFor(kind string) network.OAuthApp {
	if kind == kindCompany {
		return n.opts.Company
	}
	return network.OAuthApp{ClientID: n.opts.ClientID, ClientSecret: n.opts.ClientSecret, Scopes: n.opts.Scopes}
}

// Authorize returns the URL of the consent page. The network supports no PKCE for web apps.
func (n *Network) Authorize(a network.Authorization) string {
	app := n.appFor(a.Kind)
	return n.opts.AuthorizeHost + "/oauth/v2/authorization?" + url.Values{
		"client_id":     {app.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(app.Scopes, " ")},
		"state":         {a.State},
	}.Encode()
}

// Exchange exchanges the code for a token. It returns the member, if the scopes allow publishing for the member, and
// then the organizations for which the member may publish. The accounts share the token. The error is of class
// ReconnectRequired if the code is rejected.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	app := n.appFor(a.Kind)
	token, err := n.requestToken(ctx, app, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: app.Scopes}, n.opts.Now())
	if a.Kind == kindCompany {
		g.Extra = map[string]string{appKey: kindCompany}
	}
	if allowed := splitScopes(token.Scope); len(allowed) > 0 {
		g.Scopes = allowed
	}
	candidates, err := n.readMember(ctx, g)
	if err != nil {
		return nil, err
	}
	organizations, err := n.listOrganizations(ctx, g)
	if err != nil {
		return nil, err
	}
	return append(candidates, organizations...), nil
}

// splitScopes splits a list at commas, which LinkedIn uses, and at spaces, as in RFC 6749.
func splitScopes(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// readMember returns the member who consented, or no candidate if the member cannot publish or cannot be identified.
func (n *Network) readMember(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		Sub   string `json:"sub"` // returned by userinfo, like Name
		Name  string `json:"name"`
		ID    string `json:"id"` // returned by me, like First and Last
		First string `json:"localizedFirstName"`
		Last  string `json:"localizedLastName"`
	}
	path := "userinfo"
	switch {
	case !slices.Contains(g.Scopes, scopeWriteMember):
		return nil, nil
	case slices.Contains(g.Scopes, scopeOpenID):
	case slices.Contains(g.Scopes, scopeBasicProfile):
		path = "me"
	default:
		return nil, nil
	}
	call := network.Call{Name: path, Method: http.MethodGet, URL: g.Server + "/v2/" + path, Bearer: g.AccessToken}
	if _, err := n.do(ctx, g, call, &me); err != nil {
		return nil, err
	}
	id := cmp.Or(me.Sub, me.ID)
	g.Kind, g.Account = member, "urn:li:person:"+id
	if !isURN(g.Account, "person") {
		return nil, network.InvalidResponse(errors.New("reading the account: the response has no id"))
	}
	name := network.Clip(strings.TrimSpace(cmp.Or(me.Name, me.First+" "+me.Last)), maxName)
	g.Username = cmp.Or(name, id)
	return []network.Candidate{{Grant: g, DisplayName: name}}, nil
}

// publishingRoles are the roles that may publish for an organization.
var publishingRoles = []string{"ADMINISTRATOR", "CONTENT_ADMIN", "CONTENT_ADMINISTRATOR"}

// listOrganizations returns the organizations for which the member may publish, or none if the app may not list
// organizations.
func (n *Network) listOrganizations(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	if !slices.Contains(g.Scopes, scopeOrganizationAdmin) {
		return nil, nil
	}
	var response struct {
		Elements []struct {
			Organization string `json:"organization"`
			Target       string `json:"organizationTarget"` // the same URN in older API versions
			Role         string `json:"role"`
		} `json:"elements"`
	}
	call := n.newFinder(g, "organizationAcls")
	call.Query = url.Values{"q": {"roleAssignee"}, "state": {"APPROVED"}, "count": {"100"}}
	_, err := n.do(ctx, g, call, &response)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusForbidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var urns []string
	for _, e := range response.Elements {
		if urn := cmp.Or(e.Organization, e.Target); slices.Contains(publishingRoles, e.Role) && isURN(urn, organization) {
			urns = append(urns, urn)
		}
	}
	slices.Sort(urns)
	urns = slices.Compact(urns)
	var candidates []network.Candidate
	for _, urn := range urns[:min(len(urns), maxOrganizations)] {
		candidates = append(candidates, n.readOrganization(ctx, g, urn))
	}
	return candidates, nil
}

// readOrganization returns the candidate for one organization. If the name cannot be read, the ID is used as the name.
func (n *Network) readOrganization(ctx context.Context, g network.Grant, urn string) network.Candidate {
	var response struct {
		Name   string `json:"localizedName"`
		Vanity string `json:"vanityName"`
	}
	id := urn[strings.LastIndexByte(urn, ':')+1:]
	call := n.newCall(g, http.MethodGet, "organizations/"+id)
	call.Query = url.Values{"fields": {"localizedName,vanityName"}}
	_, _ = n.do(ctx, g, call, &response) // the name is optional
	name := network.Clip(response.Name, maxName)
	g.Kind, g.Account, g.Username = organization, urn, cmp.Or(network.Clip(response.Vanity, maxName), name, id)
	return network.Candidate{Grant: g, DisplayName: name}
}

// Refresh exchanges the refresh token for a new access token. Only some apps receive refresh tokens. The error is of
// class ReconnectRequired if there is no refresh token or the consent has ended.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.RefreshToken == "" {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired, Err: errors.New("LinkedIn issued no refresh token"),
		}
	}
	app := n.appFor(g.Extra[appKey])
	if app.ClientID == "" {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired, Err: errors.New("the app that connected the account is not configured"),
		}
	}
	token, err := n.requestToken(ctx, app, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken},
	})
	if err != nil {
		return network.Grant{}, err
	}
	return token.Grant(g, n.opts.Now()), nil
}

// requestToken requests a token with an app's credentials.
func (n *Network) requestToken(ctx context.Context, app network.OAuthApp, form url.Values) (network.Token, error) {
	form.Set("client_id", app.ClientID)
	form.Set("client_secret", app.ClientSecret)
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeAuthorize, Name: "oauth/v2/accessToken", Method: http.MethodPost,
		URL:  n.opts.AuthorizeHost + "/oauth/v2/accessToken",
		Form: form, Secrets: []string{app.ClientSecret, form.Get("code"), form.Get("refresh_token")},
	})
	if err != nil {
		return network.Token{}, err
	}
	if response.Status != http.StatusOK {
		return network.Token{}, n.tokenError(response, form.Get("grant_type") == "refresh_token")
	}
	var token network.Token
	if err := response.Decode(&token); err != nil {
		return network.Token{}, err
	}
	if token.AccessToken == "" {
		return network.Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return token, nil
}

// tokenError returns the error for a rejected token request (RFC 6749, section 5.2). LinkedIn reports a wrong code as
// invalid_request. In a refresh, only invalid_grant means that the consent has ended.
func (n *Network) tokenError(response network.Response, refreshing bool) *network.Error {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(response.Body, &body) // a proxy's response has a different format
	class := network.Transient
	switch {
	case response.Status == http.StatusTooManyRequests:
		class = network.RateLimited
	case body.Error == "invalid_grant", body.Error == "invalid_request" && !refreshing:
		class = network.ReconnectRequired
	case body.Error == "invalid_client" && !refreshing:
		class = network.AppNotApproved
	}
	netErr := response.Rejection(class, cmp.Or(body.Error, strconv.Itoa(response.Status)), body.Description)
	if class == network.RateLimited {
		netErr.RetryAt = n.retryTime(response)
	}
	return netErr
}
