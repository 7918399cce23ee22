package bluesky

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	serviceType     = "JWT"
	serviceLifetime = time.Minute // of a token without exp
	maxServiceLife  = time.Hour
)

// serviceClaims are the claims of a token with which a server lets another service act for an account.
type serviceClaims struct {
	Issuer  string `json:"iss"`
	Aud     string `json:"aud"`
	Method  string `json:"lxm,omitempty"`
	ID      string `json:"jti"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
}

var errServiceToken = &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "The service token is not valid"}

// getServiceAuth returns a token for a method of a service.
func (b *Network) getServiceAuth(r *http.Request) (any, error) {
	query := r.URL.Query()
	var a store.Account
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		a, _, err = b.authorize(r, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := requireValues("aud", query.Get("aud")); err != nil {
		return nil, err
	}
	now := b.Now()
	c := serviceClaims{
		Issuer: a.ID, Aud: query.Get("aud"), Method: query.Get("lxm"), ID: base.NewID(), Issued: now.Unix(),
		Expires: now.Add(serviceLifetime).Unix(),
	}
	if text := query.Get("exp"); text != "" {
		c.Expires, err = strconv.ParseInt(text, 10, 64)
		if err != nil || c.Expires <= now.Unix() || c.Expires > now.Add(maxServiceLife).Unix() {
			return nil, &xrpcError{http.StatusBadRequest, "BadExpiration", "expiration is in past or too far ahead"}
		}
	}
	signed := encodePart(tokenHeader{Type: serviceType, Algorithm: "HS256"}) + "." + encodePart(c)
	return map[string]string{"token": signed + "." + base64.RawURLEncoding.EncodeToString(b.Hash(signed))}, nil
}

// serviceAccount returns the account of the request's service token, which has to be for the audience and the method.
func (b *Network) serviceAccount(r *http.Request, t store.Tx, aud, method string) (store.Account, error) {
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(text, ".")
	var header tokenHeader
	var c serviceClaims
	if len(parts) != 3 || !b.validSignature(parts) || !decodePart(parts[0], &header) || !decodePart(parts[1], &c) ||
		header.Type != serviceType || c.Aud != aud || c.Method != method || b.Now().Unix() >= c.Expires {
		return store.Account{}, errServiceToken
	}
	a, found, err := t.Account(r.Context(), Name, c.Issuer)
	if err == nil && !found {
		err = errServiceToken
	}
	return a, err
}
