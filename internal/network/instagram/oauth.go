package instagram

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

// The scopes without which nothing is published, by the ways of signing in. People may untick them.
const (
	instagramPublish = "instagram_business_content_publish"
	facebookPublish  = "instagram_content_publish"
)

const maxName = 200 // characters kept of what an account calls itself

// Kinds names the ways of signing in that there is an app for.
func (n *Network) Kinds() []string {
	var kinds []string
	if n.opts.ClientID != "" {
		kinds = append(kinds, byInstagram)
	}
	if n.opts.Facebook.ClientID != "" {
		kinds = append(kinds, byFacebook)
	}
	return kinds
}

// Authorize is the address of the consent page. The network takes no PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	page, app, scopes := n.opts.AuthorizeHost+"/oauth/authorize", n.opts.ClientID, n.opts.Scopes
	if a.Kind == byFacebook {
		f := n.opts.Facebook
		page, app, scopes = f.DialogHost+"/"+n.opts.Version+"/dialog/oauth", f.ClientID, f.Scopes
	}
	return page + "?" + url.Values{
		"client_id":     {app},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange trades the code for a token of sixty days and reads which accounts it opens: the one that was signed in to,
// or with Facebook Login that of each Page. A code that the network does not take, and a consent without publishing, is
// AuthDead.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	code = strings.TrimSuffix(code, "#_") // the network ends its redirects so
	if a.Kind == byFacebook {
		return n.exchangeFacebook(ctx, a, code)
	}
	short, err := n.Client.Sign(ctx, http.MethodPost, n.opts.TokenHost, "oauth/access_token", url.Values{
		"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	allowed := n.opts.Scopes
	if len(short.Permissions) > 0 {
		allowed = short.Permissions
	}
	if err := mayPublish(allowed, instagramPublish); err != nil {
		return nil, err
	}
	long, err := n.Client.Sign(ctx, http.MethodGet, n.opts.GraphHost, "access_token", url.Values{
		"grant_type": {"ig_exchange_token"}, "client_secret": {n.opts.ClientSecret}, "access_token": {short.Access},
	})
	if err != nil {
		return nil, err
	}
	g := network.Grant{Server: n.opts.GraphHost, Kind: byInstagram, Scopes: allowed}
	return n.whose(ctx, graph.Issued(g, long.Token, n.opts.Now()))
}

// mayPublish refuses a consent that leaves nothing to do here.
func mayPublish(allowed []string, scope string) error {
	if slices.Contains(allowed, scope) {
		return nil
	}
	return &network.Error{
		Class: network.AuthDead, Status: http.StatusOK, Code: "permission_missing",
		Err: errors.New("publishing was not allowed at the consent: " + scope + " is missing"),
	}
}

// holder is before the id by which the network names a person to this app.
const holder = "instagram:"

// whose completes a grant by the account that it is for.
func (n *Network) whose(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		graph.Professional

		// by which the account is called; its id is one for this app alone, which is not confirmed
		UserID string `json:"user_id"`
	}
	if err := n.Client.Do(ctx,
		n.On(g, http.MethodGet, "me", url.Values{"fields": {"id,user_id,username,name"}}, &me)); err != nil {
		return nil, err
	}
	if graph.IsID(me.ID) {
		g.Holder = holder + me.ID
	}
	if me.UserID != "" {
		me.ID = me.UserID
	}
	found, ok := candidate(g, me.Professional)
	if !ok {
		return nil, network.Unreadable(errors.New("reading the account: the answer lacks its id or its name"))
	}
	return []network.Candidate{found}, nil
}

// candidate is an account with its grant; false where it cannot be called.
func candidate(g network.Grant, p graph.Professional) (network.Candidate, bool) {
	g.Account, g.Username = p.ID, network.Clip(p.Username, maxName)
	return network.Candidate{Grant: g, DisplayName: network.Clip(p.Name, maxName)}, graph.IsID(p.ID) && p.Username != ""
}

// Refresh trades the token for one of another sixty days. One that is not yet a day old comes back as it is, as the
// network does not renew it; one that has expired is AuthDead. Either tells whose permission it is, where that was not
// noted when the grant was made.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	fresh, err := n.renew(ctx, g)
	if err == nil && fresh.Holder == "" {
		fresh.Holder = n.holder(ctx, fresh)
	}
	return fresh, err
}

// holder asks whose permission a grant is. It is empty where the network does not say: no renewal fails for that, and
// the next one asks again.
func (n *Network) holder(ctx context.Context, g network.Grant) string {
	if g.Kind == byFacebook {
		g.Access = g.Extra[userToken]
		who, err := n.login().Holder(ctx, g)
		if err != nil {
			return ""
		}
		return who
	}
	var me struct {
		ID string `json:"id"`
	}
	if err := n.Client.Do(ctx, n.On(g, http.MethodGet, "me", url.Values{"fields": {"id"}}, &me)); err != nil ||
		!graph.IsID(me.ID) {
		return ""
	}
	return holder + me.ID
}

func (n *Network) renew(ctx context.Context, g network.Grant) (network.Grant, error) {
	if graph.TooYoung(g, n.opts.Now()) {
		return g, nil
	}
	if g.Kind == byFacebook {
		return n.refreshFacebook(ctx, g)
	}
	fresh, err := n.Client.Sign(ctx, http.MethodGet, g.Server, "refresh_access_token", url.Values{
		"grant_type": {"ig_refresh_token"}, "access_token": {g.Access},
	})
	if err != nil {
		return network.Grant{}, err
	}
	return graph.Issued(g, fresh.Token, n.opts.Now()), nil
}
