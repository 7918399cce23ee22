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
	"strings"

	"pressroom/internal/network"
)

const (
	maxName     = 200  // characters kept of what a channel calls itself
	mostListed  = "50" // of a page, the most that the network gives
	deadGrant   = "invalid_grant"
	noChannel   = "youtubeSignupRequired"
	noneToRenew = "no_refresh_token"
)

// Kinds names the one way of signing in.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize is the address of the consent page. It asks each time, as the network gives out a refresh token only with a
// consent.
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

// Exchange trades the code for tokens and reads whose channels they open. A code that the network does not take is
// AuthDead; a person without a channel is Rejected.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}}
	if a.Verifier != "" {
		form.Set("code_verifier", a.Verifier)
	}
	token, err := n.sign(ctx, form)
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := strings.Fields(token.Scope); len(allowed) > 0 {
		g.Scopes = allowed // a person may allow a part of what was asked for
	}
	return n.channels(ctx, g)
}

// channelID is the form of a channel's id, and of a playlist's.
var channelID = regexp.MustCompile(`^[A-Za-z0-9_-]{2,64}$`)

// channels are those that a grant opens, each with it.
func (n *Network) channels(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var answer struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Title     string `json:"title"`
				CustomURL string `json:"customUrl"`
			} `json:"snippet"`
		} `json:"items"`
	}
	if err := n.read(ctx, g, "channels", url.Values{"part": {"snippet"}, "mine": {"true"}, "maxResults": {mostListed}},
		&answer); err != nil {
		return nil, err
	}
	if len(answer.Items) == 0 {
		return nil, &network.Error{
			Class: network.Rejected, Status: http.StatusOK, Code: noChannel,
			Message: "This Google account has no YouTube channel.",
			Err:     errors.New("reading the channels: there are none"),
		}
	}
	var found []network.Candidate
	for _, item := range answer.Items {
		name := strings.TrimPrefix(item.Snippet.CustomURL, "@")
		if name == "" {
			name = item.Snippet.Title
		}
		if !channelID.MatchString(item.ID) || name == "" {
			return nil, network.Unreadable(errors.New("reading the channels: one lacks its id or its name"))
		}
		mine := g
		mine.Account, mine.Username, mine.Holder = item.ID, network.Clip(name, maxName), holder+item.ID
		found = append(found, network.Candidate{Grant: mine, DisplayName: network.Clip(item.Snippet.Title, maxName)})
	}
	return found, nil
}

// Refresh trades the refresh token for another hour. The network gives out no new refresh token: the old one stays.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.Refresh == "" {
		return network.Grant{}, &network.Error{
			Class: network.AuthDead, Code: noneToRenew, Err: errors.New("renewing a grant: it has no refresh token"),
		}
	}
	fresh, err := n.sign(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	if err != nil {
		return network.Grant{}, err
	}
	g.Holder = holder + g.Account // of grants that were made before it was noted
	return fresh.Grant(g, n.opts.Now()), nil
}

// sign asks for a token.
func (n *Network) sign(ctx context.Context, form url.Values) (network.Token, error) {
	form.Set("client_id", n.opts.ClientID)
	form.Set("client_secret", n.opts.ClientSecret)
	var token network.Token
	err := n.client.Read(ctx, network.Call{
		Purpose: network.Signing, Name: "token", Method: http.MethodPost, URL: n.opts.TokenHost + "/token", Form: form,
		Secrets: []string{n.opts.ClientSecret, form.Get("code"), form.Get("code_verifier"), form.Get("refresh_token")},
	}, &token, unsigned, http.StatusOK)
	if err != nil {
		return network.Token{}, err
	}
	if token.Access == "" {
		return network.Token{}, network.Unreadable(errors.New("asking for a token: the answer has none"))
	}
	return token, nil
}

// unsigned is the error of a token that was not given out (RFC 6749, section 5.2). Only one code says that a consent is
// over; all others are of the app or pass.
func unsigned(answer network.Answer) *network.Error {
	var said struct {
		Error string `json:"error"`
		Text  string `json:"error_description"`
	}
	_ = json.Unmarshal(answer.Body, &said) // an answer in another form is that of something on the way
	class := network.Transient
	if said.Error == deadGrant {
		class = network.AuthDead
	}
	return answer.Refusal(class, said.Error, said.Text)
}
