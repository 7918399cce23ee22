package sandbox

import (
	"crypto/hmac"
	"net/http"
	"strings"
)

// sessionAnswer is the answer to a sign-in or a renewal. Without tokens it describes a session.
type sessionAnswer struct {
	Access         string         `json:"accessJwt,omitempty"`
	Refresh        string         `json:"refreshJwt,omitempty"`
	DID            string         `json:"did"`
	DIDDoc         map[string]any `json:"didDoc,omitempty"`
	Handle         string         `json:"handle"`
	EmailConfirmed bool           `json:"emailConfirmed"`
	Active         bool           `json:"active"`
}

var errSignIn = &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "Invalid identifier or password"}

func (b *bluesky) createSession(r *http.Request) (any, error) {
	var in struct{ Identifier, Password string }
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	if err := need("identifier", in.Identifier, "password", in.Password); err != nil {
		return nil, err
	}
	var answer sessionAnswer
	err := b.store.in(r.Context(), func(t tx) error {
		a, found, err := t.account(r.Context(), blueskyName, strings.ToLower(in.Identifier))
		if err != nil {
			return err
		}
		if !found || !hmac.Equal(a.password, b.seal(in.Password)) {
			return errSignIn
		}
		answer, err = b.begin(r, t, a)
		return err
	})
	return answer, err
}

func (b *bluesky) begin(r *http.Request, t tx, a account) (sessionAnswer, error) {
	session := newID()
	if err := t.beginSession(r.Context(), blueskyName, session, a.id); err != nil {
		return sessionAnswer{}, err
	}
	return b.pair(r, t, a, session, newID())
}

// pair returns a session's next tokens. tokenID is the id of the refresh token.
func (b *bluesky) pair(r *http.Request, t tx, a account, session, tokenID string) (sessionAnswer, error) {
	_, known, err := t.refreshToken(r.Context(), blueskyName, tokenID)
	if err == nil && !known {
		fresh := refreshToken{id: tokenID, session: session, expires: b.now().Add(refreshLife)}
		err = t.keepRefreshToken(r.Context(), blueskyName, fresh)
	}
	answer := b.describe(r, a)
	answer.Access = b.token(accessType, a.id, session, "")
	answer.Refresh = b.token(refreshType, a.id, session, tokenID)
	return answer, err
}

func (b *bluesky) describe(r *http.Request, a account) sessionAnswer {
	return sessionAnswer{DID: a.id, DIDDoc: b.didDocument(r, a), Handle: a.handle, EmailConfirmed: true, Active: true}
}

func (b *bluesky) refreshSession(r *http.Request) (any, error) {
	c, err := b.bearer(r, refreshType)
	if err != nil {
		return nil, err
	}
	var answer sessionAnswer
	err = b.store.in(r.Context(), func(t tx) error {
		answer, err = b.rotate(r, t, c)
		return err
	})
	return answer, err
}

// rotate exchanges a refresh token. The old one stays valid for a while and yields the same new one, in case the answer
// was lost.
func (b *bluesky) rotate(r *http.Request, t tx, c claims) (sessionAnswer, error) {
	token, known, err := t.refreshToken(r.Context(), blueskyName, c.ID)
	if err != nil {
		return sessionAnswer{}, err
	}
	alive, err := t.liveSession(r.Context(), blueskyName, c.Session)
	if err != nil {
		return sessionAnswer{}, err
	}
	a, found, err := t.account(r.Context(), blueskyName, c.Sub)
	if err != nil {
		return sessionAnswer{}, err
	}
	now := b.now()
	if !known || !alive || !found || !now.Before(token.expires) {
		return sessionAnswer{}, errTokenRevoked
	}
	if grace := now.Add(refreshGrace); grace.Before(token.expires) {
		token.expires = grace
	}
	if token.next == "" {
		token.next = newID()
	}
	if err := t.keepRefreshToken(r.Context(), blueskyName, token); err != nil {
		return sessionAnswer{}, err
	}
	return b.pair(r, t, a, c.Session, token.next)
}

func (b *bluesky) getSession(r *http.Request) (any, error) {
	var answer sessionAnswer
	err := b.store.in(r.Context(), func(t tx) error {
		a, _, err := b.authorize(r, t)
		answer = b.describe(r, a)
		return err
	})
	return answer, err
}

func (b *bluesky) deleteSession(r *http.Request) (any, error) {
	c, err := b.bearer(r, refreshType)
	if err != nil {
		return nil, err
	}
	return nil, b.store.in(r.Context(), func(t tx) error { return t.dropRefreshToken(r.Context(), blueskyName, c.ID) })
}
