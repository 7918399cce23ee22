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
	refreshGrace    = 2 * time.Hour // time for which an exchanged refresh token stays valid

	accessType  = "at+jwt"
	refreshType = "refresh+jwt"
)

// claims are the claims of a token. Session is specific to the sandbox, so that a marker can end all tokens of one
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
	signed := encodePart(tokenHeader{Type: kind, Algorithm: "HS256"}) + "." + encodePart(c)
	return signed + "." + base64.RawURLEncoding.EncodeToString(b.Hash(signed))
}

func encodePart(part any) string {
	body, _ := json.Marshal(part) //nolint:errchkjson // structs of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(body)
}

// bearer parses the request's token of a kind. It checks in the genuine server's order.
func (b *Network) bearer(r *http.Request, kind string) (claims, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme == "" {
		return claims{}, errAuthMissing
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return claims{}, errAuthorization
	}
	var header tokenHeader
	var c claims
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 3 || !b.validSignature(parts) || !decodePart(parts[0], &header) || !decodePart(parts[1], &c) {
		return claims{}, errTokenInvalid
	}
	if b.Now().Unix() >= c.Expires {
		return claims{}, errTokenExpired
	}
	if header.Type != kind {
		return claims{}, errTokenKind
	}
	return c, nil
}

func (b *Network) validSignature(parts []string) bool {
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	return err == nil && hmac.Equal(signature, b.Hash(parts[0]+"."+parts[1]))
}

func decodePart(part string, into any) bool {
	body, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(body, into) == nil
}

// authorize returns the account of the request's access token.
func (b *Network) authorize(r *http.Request, t store.Tx) (store.Account, claims, error) {
	c, err := b.bearer(r, accessType)
	if err != nil {
		return store.Account{}, claims{}, err
	}
	alive, err := t.SessionActive(r.Context(), Name, c.Session)
	if err != nil {
		return store.Account{}, claims{}, err
	}
	if !alive {
		return store.Account{}, claims{}, errTokenExpired
	}
	a, found, err := t.Account(r.Context(), Name, c.Sub)
	if err == nil && !found {
		err = errTokenInvalid
	}
	return a, c, err
}
