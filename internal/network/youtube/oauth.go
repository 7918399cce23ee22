package youtube

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxName            = 200  // characters kept of a channel's name
	pageSize           = "50" // items per page, the network's limit
	codeInvalidGrant   = "invalid_grant"
	codeNoChannel      = "youtubeSignupRequired"
	codeNoRefreshToken = "no_refresh_token"
)

// Kinds returns only "", because there is only one sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. It always requests consent, because Google issues a refresh token only
// after consent. Source: https://developers.google.com/identity/protocols/oauth2/web-server.
func (n *Network) Authorize(a network.Authorization) string {
	query := url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, " ")},
		"state":         {a.State},
		"access_type":   {"offline"},
		"prompt":        {"consent"},
	}
	if a.Verifier != "" {
		sum := sha256.Sum256([]byte(a.Verifier))
		query.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
		query.Set("code_challenge_method", "S256")
	}
	return n.opts.AuthorizeHost + "/o/oauth2/v2/auth?" + query.Encode()
}

// Exchange exchanges the code for tokens and returns the channels that the tokens give access to. The error is of class
// ReconnectRequired if the code is rejected, and Rejected if the account has no channel.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}}
	if a.Verifier != "" {
		form.Set("code_verifier", a.Verifier)
	}
	token, err := n.requestToken(ctx, form)
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := strings.Fields(token.Scope); len(allowed) > 0 {
		g.Scopes = allowed                        // a person may grant only some of the scopes
		if !slices.Contains(allowed, scopeEdit) { // scopeEdit includes uploads
			if err := network.RequireScopes(allowed, scopeUpload); err != nil {
				return nil, err
			}
		}
	}
	return n.listChannels(ctx, g)
}

// channelID matches the ID of a channel or playlist.
var channelID = regexp.MustCompile(`^[A-Za-z0-9_-]{2,64}$`)

// listChannels returns the channels that a grant gives access to.
func (n *Network) listChannels(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var response struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Title     string `json:"title"`
				CustomURL string `json:"customUrl"`
			} `json:"snippet"`
		} `json:"items"`
	}
	query := url.Values{"part": {"snippet"}, "mine": {"true"}, "maxResults": {pageSize}}
	if err := n.read(ctx, g, "channels", query, &response); err != nil {
		return nil, err
	}
	if len(response.Items) == 0 {
		return nil, &network.Error{
			Class: network.Rejected, Status: http.StatusOK, Code: codeNoChannel,
			Message: "This Google account has no YouTube channel. Create one on YouTube, then connect it.",
			Err:     errors.New("reading the channels: the account has no channel"),
		}
	}
	var candidates []network.Candidate
	for _, item := range response.Items {
		name := strings.TrimPrefix(item.Snippet.CustomURL, "@")
		if name == "" {
			name = item.Snippet.Title
		}
		if !channelID.MatchString(item.ID) || name == "" {
			return nil, network.InvalidResponse(errors.New("reading the channels: a channel lacks the id or the name"))
		}
		channelGrant := g
		channelGrant.Account, channelGrant.Username, channelGrant.Holder = item.ID, network.Clip(name, maxName),
			holderPrefix+item.ID
		candidates = append(candidates, network.Candidate{Grant: channelGrant,
			DisplayName: network.Clip(item.Snippet.Title, maxName)})
	}
	return candidates, nil
}

// Refresh exchanges the refresh token for a new access token, valid for an hour. The refresh token does not change.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.RefreshToken == "" {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired, Code: codeNoRefreshToken,
			Err: errors.New("the grant has no refresh token; connect the channel again"),
		}
	}
	token, err := n.requestToken(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken}})
	if err != nil {
		return network.Grant{}, err
	}
	g.Holder = holderPrefix + g.Account // for grants that were stored without a holder
	return token.Grant(g, n.opts.Now()), nil
}

// requestToken requests a token.
func (n *Network) requestToken(ctx context.Context, form url.Values) (network.Token, error) {
	form.Set("client_id", n.opts.ClientID)
	form.Set("client_secret", n.opts.ClientSecret)
	var token network.Token
	err := n.client.Read(ctx, network.Call{
		Purpose: network.PurposeAuthorize, Name: "token", Method: http.MethodPost, URL: n.opts.TokenHost + "/token",
		Form:    form,
		Secrets: []string{n.opts.ClientSecret, form.Get("code"), form.Get("code_verifier"), form.Get("refresh_token")},
	}, &token, tokenRejection, http.StatusOK)
	if err != nil {
		return network.Token{}, err
	}
	if token.AccessToken == "" {
		return network.Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return token, nil
}

// tokenRejection returns the error for a failed token request (RFC 6749, section 5.2). Only invalid_grant means that
// the consent was revoked or expired. For an error of the app, the operator has to act. Other errors are temporary.
func tokenRejection(response network.Response) *network.Error {
	var body struct {
		Error string `json:"error"`
		Text  string `json:"error_description"`
	}
	_ = json.Unmarshal(response.Body, &body) // a response in a different format comes from a proxy
	class := network.Transient
	switch body.Error {
	case codeInvalidGrant:
		class = network.ReconnectRequired
	case "invalid_client", "unauthorized_client", "redirect_uri_mismatch", "deleted_client", "disabled_client":
		class = network.AppNotApproved
	}
	return response.Rejection(class, body.Error, body.Text)
}
