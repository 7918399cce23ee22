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

	"pressroom/internal/network"
)

const (
	maxName          = 200 // characters kept of what an account calls itself
	maxOrganizations = 50  // of one person; each costs a call for its name
	readOffices      = "rw_organization_admin"
)

// Kinds names the one way of signing in.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize is the address of the consent page. The network takes no PKCE of web apps.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/oauth/v2/authorization?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, " ")},
		"state":         {a.State},
	}.Encode()
}

// Exchange trades the code for a token, and reads whose it is and which organisations that person speaks for: the
// person comes first. All of them share the token. A code that the network does not take is AuthDead.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	token, err := n.sign(ctx,
		url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}})
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := scopes(token.Scope); len(allowed) > 0 {
		g.Scopes = allowed
	}
	person, err := n.person(ctx, g)
	if err != nil {
		return nil, err
	}
	organizations, err := n.organizations(ctx, g)
	if err != nil {
		return nil, err
	}
	return append([]network.Candidate{person}, organizations...), nil
}

// scopes reads a list that LinkedIn parts by commas, and RFC 6749 by spaces.
func scopes(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// person is the member who consented.
func (n *Network) person(ctx context.Context, g network.Grant) (network.Candidate, error) {
	var me struct {
		Sub  string `json:"sub"`
		Name string `json:"name"`
	}
	call := network.Call{Name: "userinfo", Method: http.MethodGet, URL: g.Server + "/v2/userinfo", Bearer: g.Access}
	if _, err := n.ask(ctx, g, call, &me); err != nil {
		return network.Candidate{}, err
	}
	g.Kind, g.Account = member, "urn:li:person:"+me.Sub
	if !isURN(g.Account, "person") {
		return network.Candidate{}, network.Unreadable(errors.New("reading the account: the answer lacks its id"))
	}
	name := network.Clip(me.Name, maxName)
	g.Username = cmp.Or(name, me.Sub)
	return network.Candidate{Grant: g, DisplayName: name}, nil
}

// offices are the roles in which somebody may publish for an organisation.
var offices = []string{"ADMINISTRATOR", "CONTENT_ADMIN", "CONTENT_ADMINISTRATOR"}

// organizations are those that the member may publish for; none where the app may not ask.
func (n *Network) organizations(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	if !*n.opts.Organizations || !slices.Contains(g.Scopes, readOffices) {
		return nil, nil
	}
	var answer struct {
		Elements []struct {
			Organization string `json:"organization"`
			Target       string `json:"organizationTarget"` // its name in older versions
			Role         string `json:"role"`
		} `json:"elements"`
	}
	call := n.finder(g, "organizationAcls")
	call.Query = url.Values{"q": {"roleAssignee"}, "state": {"APPROVED"}, "count": {"100"}}
	_, err := n.ask(ctx, g, call, &answer)
	if said, ok := errors.AsType[*network.Error](err); ok && said.Status == http.StatusForbidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var urns []string
	for _, e := range answer.Elements {
		if urn := cmp.Or(e.Organization, e.Target); slices.Contains(offices, e.Role) && isURN(urn, organization) {
			urns = append(urns, urn)
		}
	}
	slices.Sort(urns)
	urns = slices.Compact(urns)
	var found []network.Candidate
	for _, urn := range urns[:min(len(urns), maxOrganizations)] {
		found = append(found, n.organization(ctx, g, urn))
	}
	return found, nil
}

// organization is one of them with its name, or with its id where the network does not tell that.
func (n *Network) organization(ctx context.Context, g network.Grant, urn string) network.Candidate {
	var about struct {
		Name   string `json:"localizedName"`
		Vanity string `json:"vanityName"`
	}
	id := urn[strings.LastIndexByte(urn, ':')+1:]
	call := n.rest(g, http.MethodGet, "organizations/"+id)
	call.Query = url.Values{"fields": {"localizedName,vanityName"}}
	_, _ = n.ask(ctx, g, call, &about) // it can be connected without a name
	name := network.Clip(about.Name, maxName)
	g.Kind, g.Account, g.Username = organization, urn, cmp.Or(network.Clip(about.Vanity, maxName), name, id)
	return network.Candidate{Grant: g, DisplayName: name}
}

// Refresh trades the refresh token for a new access token. Only some apps are given refresh tokens; without one, and
// where the network says that the consent is over, it is AuthDead.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.Refresh == "" {
		return network.Grant{}, &network.Error{
			Class: network.AuthDead, Err: errors.New("LinkedIn gave no refresh token"),
		}
	}
	fresh, err := n.sign(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	if err != nil {
		return network.Grant{}, err
	}
	return fresh.Grant(g, n.opts.Now()), nil
}

// sign asks for a token in the app's name.
func (n *Network) sign(ctx context.Context, form url.Values) (network.Token, error) {
	form.Set("client_id", n.opts.ClientID)
	form.Set("client_secret", n.opts.ClientSecret)
	answer, err := n.client.Do(ctx, network.Call{
		Purpose: network.Signing, Name: "oauth/v2/accessToken", Method: http.MethodPost,
		URL:  n.opts.AuthorizeHost + "/oauth/v2/accessToken",
		Form: form, Secrets: []string{n.opts.ClientSecret, form.Get("code"), form.Get("refresh_token")},
	})
	if err != nil {
		return network.Token{}, err
	}
	if answer.Status != http.StatusOK {
		return network.Token{}, n.unsigned(answer, form.Get("grant_type") == "refresh_token")
	}
	var token network.Token
	if err := answer.Decode(&token); err != nil {
		return network.Token{}, err
	}
	if token.Access == "" {
		return network.Token{}, network.Unreadable(errors.New("asking for a token: the answer has none"))
	}
	return token, nil
}

// unsigned is the refusal of a token (RFC 6749, section 5.2). LinkedIn calls a bad code an invalid_request; of a
// refresh nothing but invalid_grant says that the consent is over.
func (n *Network) unsigned(answer network.Answer, refreshing bool) *network.Error {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(answer.Body, &said) // what is not the network's is read as nothing
	class := network.Transient
	switch {
	case answer.Status == http.StatusTooManyRequests:
		class = network.Rate
	case said.Error == "invalid_grant", said.Error == "invalid_request" && !refreshing:
		class = network.AuthDead
	case said.Error == "invalid_client" && !refreshing:
		class = network.Unapproved
	}
	failed := answer.Refusal(class, cmp.Or(said.Error, strconv.Itoa(answer.Status)), said.Description)
	if class == network.Rate {
		failed.After = n.notBefore(answer)
	}
	return failed
}
