package bluesky

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	serviceType        = "JWT"
	serviceLifetime    = time.Minute // lifetime of a token that is requested without exp
	maxServiceLifetime = time.Hour
)

// serviceClaims are the claims of a service token. A server issues such a token to let another service act for an
// account.
type serviceClaims struct {
	Issuer  string `json:"iss"`
	Aud     string `json:"aud"`
	Method  string `json:"lxm,omitempty"`
	ID      string `json:"jti"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
}

var errServiceToken = &xrpcError{http.StatusUnauthorized, "AuthenticationRequired", "The service token is not valid"}

// getServiceAuth issues a token that authorizes a call to a method of another service.
func (b *Network) getServiceAuth(r *http.Request) (any, error) {
	query := r.URL.Query()
	a, err := b.account(r)
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
		if err != nil || c.Expires <= now.Unix() || c.Expires > now.Add(maxServiceLifetime).Unix() {
			return nil, &xrpcError{http.StatusBadRequest, "BadExpiration", "expiration is in past or too far ahead"}
		}
	}
	return map[string]string{"token": b.sign(serviceType, c)}, nil
}

// serviceAccount returns the account of the request's service token, which must be for the given audience and method.
func (b *Network) serviceAccount(r *http.Request, t store.Tx, aud, method string) (store.Account, error) {
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var c serviceClaims
	kind, ok := b.parseToken(text, &c)
	if !ok || kind != serviceType || c.Aud != aud || c.Method != method || b.Now().Unix() >= c.Expires {
		return store.Account{}, errServiceToken
	}
	a, found, err := t.Account(r.Context(), Name, c.Issuer)
	if err == nil && !found {
		err = errServiceToken
	}
	return a, err
}
