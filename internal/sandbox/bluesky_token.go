package sandbox

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

const (
	accessLife   = 2 * time.Hour
	refreshLife  = 90 * 24 * time.Hour
	refreshGrace = 2 * time.Hour // how long an exchanged refresh token stays valid

	accessType  = "at+jwt"
	refreshType = "refresh+jwt"
)

// claims are the claims of a token. Session is the sandbox's own: it lets a marker end the tokens of one sign-in.
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
	errTokenUnclear  = &xrpcError{http.StatusBadRequest, "InvalidToken", "Token could not be verified"}
	errTokenKind     = &xrpcError{http.StatusBadRequest, "InvalidToken", "Invalid token type"}
	errTokenExpired  = &xrpcError{http.StatusBadRequest, "ExpiredToken", "Token has expired"}
	errTokenRevoked  = &xrpcError{http.StatusBadRequest, "ExpiredToken", "Token has been revoked"}
	errAuthorization = &xrpcError{http.StatusBadRequest, "InvalidToken", "Unexpected authorization type"}
)

// token returns a signed JSON Web Token for a session.
func (b *bluesky) token(kind, account, session, id string) string {
	now := b.now()
	c := claims{
		Scope: "com.atproto.appPass", Aud: "did:web:sandbox", Sub: account, Session: session, ID: id,
		Issued: now.Unix(),
	}
	c.Expires = now.Add(accessLife).Unix()
	if kind == refreshType {
		c.Scope, c.Expires = "com.atproto.refresh", now.Add(refreshLife).Unix()
	}
	signed := encodePart(tokenHeader{Type: kind, Algorithm: "HS256"}) + "." + encodePart(c)
	return signed + "." + base64.RawURLEncoding.EncodeToString(b.seal(signed))
}

func encodePart(part any) string {
	body, _ := json.Marshal(part) //nolint:errchkjson // structs of strings and integers cannot fail
	return base64.RawURLEncoding.EncodeToString(body)
}

// bearer parses the request's token of a kind. It checks in the genuine server's order.
func (b *bluesky) bearer(r *http.Request, kind string) (claims, error) {
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
	if len(parts) != 3 || !b.signedByUs(parts) || !decodePart(parts[0], &header) || !decodePart(parts[1], &c) {
		return claims{}, errTokenUnclear
	}
	if b.now().Unix() >= c.Expires {
		return claims{}, errTokenExpired
	}
	if header.Type != kind {
		return claims{}, errTokenKind
	}
	return c, nil
}

func (b *bluesky) signedByUs(parts []string) bool {
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	return err == nil && hmac.Equal(signature, b.seal(parts[0]+"."+parts[1]))
}

func decodePart(part string, into any) bool {
	body, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(body, into) == nil
}

// authorize returns the account of the request's access token.
func (b *bluesky) authorize(r *http.Request, t tx) (account, claims, error) {
	c, err := b.bearer(r, accessType)
	if err != nil {
		return account{}, claims{}, err
	}
	alive, err := t.liveSession(r.Context(), blueskyName, c.Session)
	if err != nil {
		return account{}, claims{}, err
	}
	if !alive {
		return account{}, claims{}, errTokenExpired
	}
	a, found, err := t.account(r.Context(), blueskyName, c.Sub)
	if err == nil && !found {
		err = errTokenUnclear
	}
	return a, c, err
}
