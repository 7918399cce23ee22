package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// Tokens holds the tokens that a client receives in exchange for a code or a refresh token.
type Tokens struct {
	Access, Refresh string
	ExpiresIn       time.Duration // lifetime of the access token
	Scope           string
}

// Exchange handles a token request. If the request is rejected, the error is an *Error.
func (s *Service) Exchange(ctx context.Context, client string, request url.Values) (Tokens, error) {
	for name, values := range request {
		if len(values) > 1 && name != "resource" {
			return Tokens{}, newError(InvalidRequest, "A parameter was sent more than once.")
		}
	}
	if client == "" {
		return Tokens{}, newError(InvalidClient, "The client_id parameter is missing.")
	}
	if _, err := s.resourcesOf(request); err != nil {
		return Tokens{}, err
	}
	switch request.Get("grant_type") {
	case "authorization_code":
		return s.redeemCode(ctx, client, request)
	case "refresh_token":
		return s.refreshTokens(ctx, client, request)
	}
	return Tokens{}, newError(UnsupportedGrantType, "The grant_type must be authorization_code or refresh_token.")
}

var (
	errInvalidCode = newError(InvalidGrant,
		"The authorization code is invalid, expired, already used, or was issued to another client.")
	errInvalidVerifier = newError(InvalidGrant,
		"The code_verifier does not match the code_challenge, or the redirect_uri differs.")
	errInvalidRefreshToken = newError(InvalidGrant,
		"The refresh token is invalid, expired, revoked, already used, or was issued to another client.")
	errNotPermitted         = newError(InvalidGrant, "The person can no longer authorize this.")
	errSecondFactorRequired = newError(InvalidGrant,
		"The team now requires a second factor. Ask the person to sign in with one and authorize again.")
	errScopeExceeded = newError(InvalidScope, "The scope exceeds what was granted.")
	errScopeReduced  = newError(InvalidScope, "The scope cannot be reduced. Omit it, or request a new authorization.")
)

// spentLongAgo is a value of spent_at, in Unix microseconds, that is before any grace period. It marks refresh tokens
// that have no grace period anymore because a newer token was used.
const spentLongAgo = 1

const countByHashQuery = `SELECT COUNT(*) FROM oauth_tokens WHERE hash = ?`

// exists reports whether a code or token exists. It does not lock any rows, because anyone may send requests.
func (s *Service) exists(ctx context.Context, query string, hash []byte) (bool, error) {
	var n int
	if err := s.db.QueryRow(ctx, query, hash).Scan(&n); err != nil {
		return false, fmt.Errorf("finding a code or a token: %w", err)
	}
	return n > 0, nil
}

// redeemCode exchanges an authorization code for the tokens of a new connection. Only one of several concurrent
// requests succeeds. If a code is used again, redeemCode ends the connection, because the code may have been stolen.
func (s *Service) redeemCode(ctx context.Context, client string, request url.Values) (Tokens, error) {
	var out Tokens
	var rejection *Error
	hash := apikey.Hash(request.Get("code"))
	if exists, err := s.exists(ctx, `SELECT COUNT(*) FROM oauth_grants WHERE code_hash = ?`, hash[:]); err != nil ||
		!exists {
		return tokenResult(out, errInvalidCode, err)
	}
	err := s.db.InTx(ctx, "oauth.redeem", func(ctx context.Context, tx *db.Tx) error {
		out, rejection = Tokens{}, nil
		g, err := s.lockGrant(ctx, tx, `WHERE g.code_hash = ?`, []any{hash[:]})
		if err != nil {
			rejection, err = asRejection(err, errInvalidCode)
			return err
		}
		if !g.redeemedAt.IsZero() {
			rejection = errInvalidCode
			return s.endGrant(ctx, tx, g, endReused)
		}
		if rejection = s.checkRequest(g, client, request, tx.Now()); rejection != nil {
			return nil //nolint:nilerr // the rejection is returned after the transaction commits
		}
		if rejection, err = s.checkFactor(ctx, tx, g); rejection != nil || err != nil {
			return err
		}
		out, rejection, err = s.connect(ctx, tx, g)
		return err
	})
	return tokenResult(out, rejection, err)
}

// checkRequest checks a token request with the authorization code of grant g. It returns nil if the request is valid.
func (s *Service) checkRequest(g grant, client string, request url.Values, now time.Time) *Error {
	sum := sha256.Sum256([]byte(request.Get("code_verifier")))
	verifierMatches := subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(g.challenge)) == 1
	switch {
	case g.client != client || !g.endedAt.IsZero() || !now.Before(g.codeExpiresAt):
		return errInvalidCode
	case !isVerifier(request.Get("code_verifier")) || !verifierMatches || request.Get("redirect_uri") != g.redirect:
		return errInvalidVerifier
	}
	return s.checkResources(g, request)
}

// checkResources returns invalid_target if a token request names other resources than its grant. All tokens of a grant
// are valid for the same resources.
func (s *Service) checkResources(g grant, request url.Values) *Error {
	resource, err := s.resourcesOf(request)
	if err != nil || resource != "" && resource != g.resource {
		return errInvalidResource
	}
	return nil
}

// isVerifier reports whether text has the format of a code verifier (RFC 7636, section 4.1).
func isVerifier(text string) bool {
	isInvalid := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~", c)
	}
	return len(text) >= 43 && len(text) <= 128 && !strings.ContainsFunc(text, isInvalid)
}

// connect creates a grant's connection and its first tokens. It rejects the request if the person has lost the required
// role.
func (s *Service) connect(ctx context.Context, tx *db.Tx, g grant) (Tokens, *Error, error) {
	if err := updateGrant(ctx, tx, `UPDATE oauth_grants SET redeemed_at = ? WHERE id = ?`, db.Micros(tx.Now()),
		g.id); err != nil {
		return Tokens{}, nil, err
	}
	var err error
	g.connection, err = s.Connections.Connect(ctx, tx,
		Connection{
			Team: g.team, Person: g.person, ClientName: g.name, ClientID: g.client, Host: displayHost(g.redirect),
			Capabilities: g.capabilities,
		})
	if err != nil {
		if apierr.FromError(err).Code != apierr.Internal { // the connection was rejected before anything was written
			return Tokens{}, errNotPermitted, s.endGrant(ctx, tx, g, endInvalid)
		}
		return Tokens{}, nil, fmt.Errorf("creating a connection: %w", err)
	}
	if err := updateGrant(ctx, tx, `UPDATE oauth_grants SET connection_id = ? WHERE id = ?`, g.connection,
		g.id); err != nil {
		return Tokens{}, nil, err
	}
	out, err := issueTokens(ctx, tx, g)
	return out, nil, err
}

// issueTokens creates and returns new tokens for a grant.
func issueTokens(ctx context.Context, tx *db.Tx, g grant) (Tokens, error) {
	out := Tokens{ExpiresIn: accessLifetime, Scope: scopeString(g.capabilities)}
	var err error
	if out.Access, err = addToken(ctx, tx, g, accessToken, accessLifetime); err != nil {
		return Tokens{}, err
	}
	if out.Refresh, err = addToken(ctx, tx, g, refreshToken, refreshLifetime); err != nil {
		return Tokens{}, err
	}
	return out, updateGrant(ctx, tx, `UPDATE oauth_grants SET ends_at = ? WHERE id = ?`,
		db.Micros(tx.Now().Add(refreshLifetime)), g.id)
}

// refreshTokens exchanges a refresh token for new tokens. If a token is used again after the grace period, or after its
// successor was used, refreshTokens ends the connection, because the token may have been stolen.
func (s *Service) refreshTokens(ctx context.Context, client string, request url.Values) (Tokens, error) {
	var out Tokens
	var rejection *Error
	hash := apikey.Hash(request.Get("refresh_token"))
	if exists, err := s.exists(ctx, countByHashQuery, hash[:]); err != nil || !exists {
		return tokenResult(out, errInvalidRefreshToken, err)
	}
	err := s.db.InTx(ctx, "oauth.renew", func(ctx context.Context, tx *db.Tx) error {
		out, rejection = Tokens{}, nil
		var expiresAt, spentAt int64
		g, err := s.lockGrant(ctx, tx, `JOIN oauth_tokens t ON t.grant_id = g.id WHERE t.hash = ? AND t.kind = 'refresh'`,
			[]any{hash[:]}, &expiresAt, &spentAt)
		if err != nil {
			rejection, err = asRejection(err, errInvalidRefreshToken)
			return err
		}
		if g.client != client || !g.endedAt.IsZero() || !s.isCurrent(g.resource) || !tx.Now().Before(db.Time(expiresAt)) {
			rejection = errInvalidRefreshToken
			return nil
		}
		if rejection = s.checkResources(g, request); rejection != nil {
			return nil //nolint:nilerr // as above
		}
		if rejection = g.checkScope(request.Get("scope")); rejection != nil {
			return nil //nolint:nilerr // as above
		}
		if rejection, err = s.checkActive(ctx, tx, g, db.Time(spentAt)); rejection != nil || err != nil {
			return err
		}
		if spentAt == 0 { // a repeated request does not change spent tokens
			if err := markSpent(ctx, tx, g, hash[:]); err != nil {
				return err
			}
		}
		out, err = issueTokens(ctx, tx, g)
		return err
	})
	return tokenResult(out, rejection, err)
}

// markSpent records the first use of a refresh token. It invalidates the grant's other refresh tokens: the previous
// token, and unused tokens that were issued when the previous token was used again. Therefore, a grant has only one
// chain of tokens.
func markSpent(ctx context.Context, tx *db.Tx, g grant, hash []byte) error {
	if err := updateGrant(ctx, tx,
		`UPDATE oauth_tokens SET spent_at = ? WHERE grant_id = ? AND kind = 'refresh' AND spent_at <> ?`, spentLongAgo,
		g.id, spentLongAgo); err != nil {
		return err
	}
	return updateGrant(ctx, tx, `UPDATE oauth_tokens SET spent_at = ? WHERE hash = ?`, db.Micros(tx.Now()), hash)
}

// asRejection returns rejection if err is a not_found error. It returns any other error unchanged.
func asRejection(err error, rejection *Error) (*Error, error) {
	if apierr.Is(err, apierr.NotFound) {
		return rejection, nil
	}
	return nil, err
}

// checkActive ends a grant if its connection has ended, or if the refresh token was first used longer ago than the
// grace period. It returns the error for the client, or nil if the grant remains valid.
func (s *Service) checkActive(ctx context.Context, tx *db.Tx, g grant, spentAt time.Time) (*Error, error) {
	if !spentAt.IsZero() && tx.Now().Sub(spentAt) > gracePeriod {
		return errInvalidRefreshToken, s.endGrant(ctx, tx, g, endReused)
	}
	active, err := s.Connections.IsActive(ctx, tx, g.connection)
	if err != nil {
		return nil, err
	}
	if !active {
		return errInvalidRefreshToken, s.endGrant(ctx, tx, g, endInvalid)
	}
	return s.checkFactor(ctx, tx, g)
}

// checkFactor ends a grant that was given in a session with one factor if its team requires two factors. In that case,
// it returns invalid_grant, so that the client requests authorization again.
func (s *Service) checkFactor(ctx context.Context, tx *db.Tx, g grant) (*Error, error) {
	if !g.oneFactor {
		return nil, nil //nolint:nilnil // no rejection and no error
	}
	required, err := s.Connections.RequiresFactor(ctx, tx, g.team)
	if err != nil || !required {
		return nil, err
	}
	return errSecondFactorRequired, s.endGrant(ctx, tx, g, endFactor)
}

// checkScope returns an error if the scope differs from the granted scope. It also rejects a narrower scope, because
// every token has all permissions of its connection (RFC 6749, section 6).
func (g grant) checkScope(scope string) *Error {
	if scope == "" {
		return nil
	}
	requested, err := parseScope(scope)
	switch {
	case err != nil || slices.ContainsFunc(requested, func(c access.Capability) bool {
		return !slices.Contains(g.capabilities, c)
	}):
		return errScopeExceeded
	case len(requested) < len(g.capabilities):
		return errScopeReduced
	}
	return nil
}

// tokenResult returns the tokens or the error of a token request. A rejection is separate from err so that the
// transaction is committed despite the rejection.
func tokenResult(out Tokens, rejection *Error, err error) (Tokens, error) {
	switch {
	case err != nil:
		return Tokens{}, err
	case rejection != nil:
		return Tokens{}, rejection
	}
	return out, nil
}

// Revoke ends the connection that one of the client's access or refresh tokens belongs to (RFC 7009). It ignores
// unknown tokens and tokens of other clients.
func (s *Service) Revoke(ctx context.Context, client, token string) error {
	if client == "" {
		return newError(InvalidClient, "The client_id parameter is missing.")
	}
	hash := apikey.Hash(token)
	if exists, err := s.exists(ctx, countByHashQuery, hash[:]); err != nil || !exists {
		return err
	}
	return s.db.InTx(ctx, "oauth.revoke", func(ctx context.Context, tx *db.Tx) error {
		g, err := s.lockGrant(ctx, tx, `JOIN oauth_tokens t ON t.grant_id = g.id WHERE t.hash = ? AND g.client_id = ?`,
			[]any{hash[:], client})
		if apierr.Is(err, apierr.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.endGrant(ctx, tx, g, endRevoked)
	})
}

// Connection returns the ID of the connection that an access token belongs to, and the token's expiry. It returns false
// if the token is not currently valid for the resource. It does not check whether the connection has ended.
func (s *Service) Connection(ctx context.Context, resource, token string) (int64, time.Time, bool, error) {
	if !apikey.IsWellFormed(apikey.Access, token) {
		return 0, time.Time{}, false, nil
	}
	hash := apikey.Hash(token)
	var id, expiresAt int64
	err := s.db.QueryRow(ctx,
		`SELECT g.connection_id, t.ends_at FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
		WHERE t.hash = ? AND t.kind = 'access' AND t.ends_at > ? AND g.ended_at = 0 AND g.resource IN (?, ?) AND
		g.connection_id > 0`,
		hash[:], db.Micros(s.db.Now()), resource, strings.Join(s.Resources(), " ")).Scan(&id, &expiresAt)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, time.Time{}, false, nil
	}
	if err != nil {
		return 0, time.Time{}, false, fmt.Errorf("looking up a token: %w", err)
	}
	return id, db.Time(expiresAt), true, nil
}
