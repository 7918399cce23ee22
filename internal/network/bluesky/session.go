package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// session is the response to a sign-in or a refresh.
type session struct {
	Access  string `json:"accessJwt"`
	Refresh string `json:"refreshJwt"`
	DID     string `json:"did"`
	Handle  string `json:"handle"`
	Active  *bool  `json:"active"`
	Status  string `json:"status"`
	DIDDoc  struct {
		Service []struct {
			ID       string `json:"id"`
			Endpoint any    `json:"serviceEndpoint"` // a string for a repository; other services may use objects
		} `json:"service"`
	} `json:"didDoc"`
}

// Connect signs in with an app password. The error is of class ReconnectRequired if the password is wrong, a second
// factor is required, or the account is inactive.
func (n *Network) Connect(ctx context.Context, c network.Credentials) (network.Grant, error) {
	identifier := strings.TrimPrefix(strings.TrimSpace(c.Identifier), "@")
	var response session
	err := n.call(ctx, call{
		purpose: network.PurposeRead,
		verb:    http.MethodPost,
		method:  "com.atproto.server.createSession",
		server:  c.Server,
		in: struct {
			Identifier string `json:"identifier"`
			Password   string `json:"password"`
		}{identifier, c.Password},
		out: &response,
	})
	if err != nil {
		return network.Grant{}, err
	}
	if response.Active != nil && !*response.Active {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired, Status: http.StatusOK, Code: "AccountInactive",
			Message: network.Clip(response.Status, maxMessage),
			Err:     errors.New("signing in: the account is not active; reactivate it on Bluesky"),
		}
	}
	return response.grant(c.Server)
}

// Refresh exchanges the refresh token for a new pair of tokens. The old refresh token expires soon after. The error is
// of class ReconnectRequired only if the server rejects the token, not if a response is missing.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	var response session
	err := n.call(ctx, call{
		purpose: network.PurposeAuthorize,
		verb:    http.MethodPost,
		method:  "com.atproto.server.refreshSession",
		server:  g.Server,
		token:   g.RefreshToken,
		out:     &response,
	})
	if err != nil {
		return network.Grant{}, err
	}
	if response.DID != g.Account {
		return network.Grant{}, network.InvalidResponse(errors.New("refreshing the session: the response is for another account"))
	}
	return response.grant(g.Server)
}

// Revoke ends the session of a grant.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	return n.call(ctx, call{
		purpose: network.PurposeAuthorize, verb: http.MethodPost, method: "com.atproto.server.deleteSession",
		server: g.Server, token: g.RefreshToken,
	})
}

func (s session) grant(server string) (network.Grant, error) {
	if s.Access == "" || s.Refresh == "" || !didSyntax.MatchString(s.DID) {
		return network.Grant{}, network.InvalidResponse(errors.New("opening a session: the response lacks a token or a DID"))
	}
	username := s.Handle
	if !handleSyntax.MatchString(username) {
		username = s.DID
	}
	return network.Grant{
		Server: s.pdsURL(server), Account: s.DID, Username: username, AccessToken: s.Access, RefreshToken: s.Refresh,
	}, nil
}

// pdsURL returns the URL of the server with the account's repository from the DID document, or fallback if the document
// has none. It never replaces an https URL with an http URL.
func (s session) pdsURL(fallback string) string {
	for _, service := range s.DIDDoc.Service {
		if service.ID != "#atproto_pds" && service.ID != s.DID+"#atproto_pds" {
			continue
		}
		endpoint, _ := service.Endpoint.(string)
		pds, err := serverURL(endpoint)
		fallbackURL, _ := url.Parse(fallback)
		if err == nil && (pds.Scheme == "https" || fallbackURL == nil || fallbackURL.Scheme != "https") {
			return endpoint
		}
	}
	return fallback
}
