package bluesky

import (
	"crypto/hmac"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// sessionResponse is the response to a sign-in or a refresh. In the response to getSession, the tokens are empty.
type sessionResponse struct {
	Access         string         `json:"accessJwt,omitempty"`
	Refresh        string         `json:"refreshJwt,omitempty"`
	DID            string         `json:"did"`
	DIDDoc         map[string]any `json:"didDoc,omitempty"`
	Handle         string         `json:"handle"`
	EmailConfirmed bool           `json:"emailConfirmed"`
	Active         bool           `json:"active"`
}

var errSignIn = &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "Invalid identifier or password"}

func (b *Network) createSession(r *http.Request) (any, error) {
	var in struct{ Identifier, Password string }
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	if err := requireValues("identifier", in.Identifier, "password", in.Password); err != nil {
		return nil, err
	}
	var response sessionResponse
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, found, err := t.Account(r.Context(), Name, strings.ToLower(in.Identifier))
		if err != nil {
			return err
		}
		if !found || !hmac.Equal(a.Password, b.Hash(in.Password)) {
			return errSignIn
		}
		response, err = b.beginSession(r, t, a)
		return err
	})
	return response, err
}

func (b *Network) beginSession(r *http.Request, t store.Tx, a store.Account) (sessionResponse, error) {
	session := base.NewID()
	if err := t.CreateSession(r.Context(), Name, session, a.ID); err != nil {
		return sessionResponse{}, err
	}
	return b.newTokens(r, t, a, session, base.NewID())
}

// newTokens issues tokens for a session. tokenID is the ID of the refresh token.
func (b *Network) newTokens(
	r *http.Request, t store.Tx, a store.Account, session, tokenID string,
) (sessionResponse, error) {
	_, exists, err := t.RefreshToken(r.Context(), Name, tokenID)
	if err == nil && !exists {
		token := store.RefreshToken{ID: tokenID, Session: session, ExpiresAt: b.Now().Add(refreshLifetime)}
		err = t.SaveRefreshToken(r.Context(), Name, token)
	}
	response := b.newSessionResponse(r, a)
	response.Access = b.token(accessType, a.ID, session, "")
	response.Refresh = b.token(refreshType, a.ID, session, tokenID)
	return response, err
}

func (b *Network) newSessionResponse(r *http.Request, a store.Account) sessionResponse {
	return sessionResponse{DID: a.ID, DIDDoc: b.didDocument(r, a), Handle: a.Handle,
		EmailConfirmed: !isUnconfirmed(a), Active: true}
}

func (b *Network) refreshSession(r *http.Request) (any, error) {
	c, err := b.bearer(r, refreshType)
	if err != nil {
		return nil, err
	}
	var response sessionResponse
	err = b.Store.InTx(r.Context(), func(t store.Tx) error {
		response, err = b.rotate(r, t, c)
		return err
	})
	return response, err
}

// rotate exchanges a refresh token for a new one. The old token remains valid for refreshGrace, and rotate always
// exchanges it for the same new token. A client can therefore try again if the response is lost.
func (b *Network) rotate(r *http.Request, t store.Tx, c claims) (sessionResponse, error) {
	token, exists, err := t.RefreshToken(r.Context(), Name, c.ID)
	if err != nil {
		return sessionResponse{}, err
	}
	active, err := t.SessionActive(r.Context(), Name, c.Session)
	if err != nil {
		return sessionResponse{}, err
	}
	a, found, err := t.Account(r.Context(), Name, c.Sub)
	if err != nil {
		return sessionResponse{}, err
	}
	now := b.Now()
	if !exists || !active || !found || !now.Before(token.ExpiresAt) {
		return sessionResponse{}, errTokenRevoked
	}
	if grace := now.Add(refreshGrace); grace.Before(token.ExpiresAt) {
		token.ExpiresAt = grace
	}
	if token.NextID == "" {
		token.NextID = base.NewID()
	}
	if err := t.SaveRefreshToken(r.Context(), Name, token); err != nil {
		return sessionResponse{}, err
	}
	return b.newTokens(r, t, a, c.Session, token.NextID)
}

func (b *Network) getSession(r *http.Request) (any, error) {
	var response sessionResponse
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := b.authorize(r, t)
		response = b.newSessionResponse(r, a)
		return err
	})
	return response, err
}

func (b *Network) deleteSession(r *http.Request) (any, error) {
	c, err := b.bearer(r, refreshType)
	if err != nil {
		return nil, err
	}
	return nil, b.Store.InTx(r.Context(), func(t store.Tx) error {
		return t.DeleteRefreshToken(r.Context(), Name, c.ID)
	})
}
