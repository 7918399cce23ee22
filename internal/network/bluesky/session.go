package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/network"
)

// session is what a server answers to a sign-in and to a renewal.
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
			Endpoint any    `json:"serviceEndpoint"` // a string, or anything else that other services use
		} `json:"service"`
	} `json:"didDoc"`
}

// Connect signs in with an app password. A wrong one, a second factor that is asked for and an account that
// is not active are AuthDead.
func (n *Network) Connect(ctx context.Context, c network.Credentials) (network.Grant, error) {
	identifier := strings.TrimPrefix(strings.TrimSpace(c.Identifier), "@")
	var answer session
	err := n.call(ctx, call{
		purpose: network.Reading,
		verb:    http.MethodPost,
		method:  "com.atproto.server.createSession",
		server:  c.Server,
		in: struct {
			Identifier string `json:"identifier"`
			Password   string `json:"password"`
		}{identifier, c.Password},
		out: &answer,
	})
	if err != nil {
		return network.Grant{}, err
	}
	if answer.Active != nil && !*answer.Active {
		return network.Grant{}, &network.Error{
			Class: network.AuthDead, Status: http.StatusOK, Code: "AccountInactive",
			Message: network.Clip(answer.Status, maxMessage),
			Err:     errors.New("signing in: the account is not active"),
		}
	}
	return answer.grant(c.Server)
}

// Refresh trades the refresh token, which stops working some time after, for a new pair. A refusal of the
// token is AuthDead, as nothing but a new sign-in helps; the want of an answer never is.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	var answer session
	err := n.call(ctx, call{
		purpose: network.Signing,
		verb:    http.MethodPost,
		method:  "com.atproto.server.refreshSession",
		server:  g.Server,
		token:   g.Refresh,
		out:     &answer,
	})
	if err != nil {
		return network.Grant{}, err
	}
	if answer.DID != g.Account {
		return network.Grant{}, network.Unreadable(errors.New("renewing the session: the answer is of another account"))
	}
	return answer.grant(g.Server)
}

// Revoke ends the session that a grant is of.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	return n.call(ctx,
		call{
			purpose: network.Signing, verb: http.MethodPost, method: "com.atproto.server.deleteSession",
			server: g.Server, token: g.Refresh,
		})
}

func (s session) grant(server string) (network.Grant, error) {
	if s.Access == "" || s.Refresh == "" || !didSyntax.MatchString(s.DID) {
		return network.Grant{}, network.Unreadable(errors.New("opening a session: the answer lacks a token or a DID"))
	}
	username := s.Handle
	if !handleSyntax.MatchString(username) {
		username = s.DID
	}
	return network.Grant{
		Server: s.home(server), Account: s.DID, Username: username, Access: s.Access, Refresh: s.Refresh,
	}, nil
}

// home is the server that holds the account's repository, as the DID document says, else the one given. A
// document cannot lead from https back to plain http.
func (s session) home(given string) string {
	for _, service := range s.DIDDoc.Service {
		if service.ID != "#atproto_pds" && service.ID != s.DID+"#atproto_pds" {
			continue
		}
		endpoint, _ := service.Endpoint.(string)
		home, err := serverURL(endpoint)
		from, _ := url.Parse(given)
		if err == nil && (home.Scheme == "https" || from == nil || from.Scheme != "https") {
			return endpoint
		}
	}
	return given
}
