package bluesky

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	accessLifetime  = 2 * time.Hour
	refreshLifetime = 90 * 24 * time.Hour
	refreshGrace    = 2 * time.Hour // how long a refresh token remains valid after it was exchanged

	accessType  = "at+jwt"
	refreshType = "refresh+jwt"
)

// claims are the claims of a token. Only the sandbox has the claim Session: a marker can use it to end all tokens of a
// sign-in.
type claims struct {
	Scope   string `json:"scope"`
	Aud     string `json:"aud"`
	Sub     string `json:"sub"`
	Session string `json:"sid"`
	ID      string `json:"jti,omitempty"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
}

type tokenHeader struct {
	Type      string `json:"typ"`
	Algorithm string `json:"alg"`
}

var (
	errAuthMissing   = &xrpcError{http.StatusUnauthorized, "AuthMissing", "Authentication Required"}
	errTokenInvalid  = &xrpcError{http.StatusBadRequest, "InvalidToken", "Token could not be verified"}
	errTokenKind     = &xrpcError{http.StatusBadRequest, "InvalidToken", "Invalid token type"}
	errTokenExpired  = &xrpcError{http.StatusBadRequest, "ExpiredToken", "Token has expired"}
	errTokenRevoked  = &xrpcError{http.StatusBadRequest, "ExpiredToken", "Token has been revoked"}
	errAuthorization = &xrpcError{http.StatusBadRequest, "InvalidToken", "Unexpected authorization type"}
)

// token returns a signed JSON Web Token for a session.
func (b *Network) token(kind, account, session, id string) string {
	now := b.Now()
	c := claims{
		Scope: "com.atproto.appPass", Aud: "did:web:sandbox", Sub: account, Session: session, ID: id,
		Issued: now.Unix(),
	}
	c.Expires = now.Add(accessLifetime).Unix()
	if kind == refreshType {
		c.Scope, c.Expires = "com.atproto.refresh", now.Add(refreshLifetime).Unix()
	}
	return b.sign(kind, c)
}

// sign returns a signed JSON Web Token of the given kind.
func (b *Network) sign(kind string, claims any) string {
	signed := encodePart(tokenHeader{Type: kind, Algorithm: "HS256"}) + "." + encodePart(claims)
	return signed + "." + base64.RawURLEncoding.EncodeToString(b.Hash(signed))
}

// parseToken parses a token's claims. It returns the token's kind, and reports whether the token is valid. It does not
// check whether the token has expired.
func (b *Network) parseToken(text string, claims any) (string, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return "", false
	}
	var header tokenHeader
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	ok := err == nil && hmac.Equal(signature, b.Hash(parts[0]+"."+parts[1])) &&
		decodePart(parts[0], &header) && decodePart(parts[1], claims)
	return header.Type, ok
}

func encodePart(part any) string {
	body, _ := json.Marshal(part) //nolint:errchkjson // structs of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(body)
}

// bearer returns the claims of the request's token, which must be of the given kind. It makes the checks in the same
// order as the real server.
func (b *Network) bearer(r *http.Request, kind string) (claims, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme == "" {
		return claims{}, errAuthMissing
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return claims{}, errAuthorization
	}
	var c claims
	tokenKind, ok := b.parseToken(strings.TrimSpace(text), &c)
	if !ok {
		return claims{}, errTokenInvalid
	}
	if b.Now().Unix() >= c.Expires {
		return claims{}, errTokenExpired
	}
	if tokenKind != kind {
		return claims{}, errTokenKind
	}
	return c, nil
}

func decodePart(part string, out any) bool {
	body, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(body, out) == nil
}

// account returns the account of the request's access token.
func (b *Network) account(r *http.Request) (store.Account, error) {
	var a store.Account
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		a, _, err = b.authorize(r, t)
		return err
	})
	return a, err
}

// authorize returns the account and the claims of the request's access token.
func (b *Network) authorize(r *http.Request, t store.Tx) (store.Account, claims, error) {
	c, err := b.bearer(r, accessType)
	if err != nil {
		return store.Account{}, claims{}, err
	}
	active, err := t.SessionActive(r.Context(), Name, c.Session)
	if err != nil {
		return store.Account{}, claims{}, err
	}
	if !active {
		return store.Account{}, claims{}, errTokenExpired
	}
	a, found, err := t.Account(r.Context(), Name, c.Sub)
	if err == nil && !found {
		err = errTokenInvalid
	}
	return a, c, err
}
