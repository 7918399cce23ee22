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

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// Tokens are what a program gets for a code, or for a refresh token.
type Tokens struct {
	Access, Refresh string
	Lives           time.Duration // of the access token
	Scope           string
}

// Exchange answers a program's request for tokens. What it is told is a *Error.
func (s *Service) Exchange(ctx context.Context, client string, request url.Values) (Tokens, error) {
	for name, values := range request {
		if len(values) > 1 && name != "resource" {
			return Tokens{}, refused(InvalidRequest, "A parameter is given twice.")
		}
	}
	if client == "" {
		return Tokens{}, refused(InvalidClient, "Say who asks, by client_id.")
	}
	if slices.ContainsFunc(request["resource"], func(address string) bool { return !s.isResource(address) }) {
		return Tokens{}, errResource
	}
	switch request.Get("grant_type") {
	case "authorization_code":
		return s.redeem(ctx, client, request)
	case "refresh_token":
		return s.renew(ctx, client, request)
	}
	return Tokens{}, refused(NotThisGrant, "The grant types are authorization_code and refresh_token.")
}

var (
	errCode      = refused(InvalidGrant, "The code is not one that can be exchanged: it is used, too old, or another program's.")
	errVerifier  = refused(InvalidGrant, "The code_verifier does not fit the code_challenge, or the redirect_uri is another one.")
	errRefresh   = refused(InvalidGrant, "The refresh token is not one that can be exchanged: it is used, too old, revoked, or another program's.")
	errNoLeave   = refused(InvalidGrant, "The person cannot allow this any more.")
	errFactor    = refused(InvalidGrant, "The team requires a second factor now, and this was granted without one. Ask the person to sign in with a second factor and to grant it again.")
	errMoreScope = refused(InvalidScope, "More was asked for than was granted.")
	errLessScope = refused(InvalidScope, "Tokens are for all that was granted: leave scope out. For less, ask the person anew.")
)

// longAgo stands in spent_at, in microseconds since 1970, for a time that no moment of grace reaches: the token was followed by
// others, or set aside for one beside it.
const longAgo = 1

const byHash = `SELECT COUNT(*) FROM oauth_tokens WHERE hash = ?`

// known tells whether there is such a secret, before anything is held to change what it is of: strangers may send what they
// like.
func (s *Service) known(ctx context.Context, query string, hash []byte) (bool, error) {
	var n int
	if err := s.db.QueryRow(ctx, query, hash).Scan(&n); err != nil {
		return false, fmt.Errorf("looking for a code or a token: %w", err)
	}
	return n > 0, nil
}

// redeem makes a connection of a code. Of many at once one gets it; a code that comes a second time may have been stolen,
// and ends what was made of it.
func (s *Service) redeem(ctx context.Context, client string, request url.Values) (Tokens, error) {
	var out Tokens
	var refusal *Error
	hash := apikey.Hash(request.Get("code"))
	if known, err := s.known(ctx, `SELECT COUNT(*) FROM oauth_grants WHERE code_hash = ?`, hash[:]); err != nil || !known {
		return answer(out, errCode, err)
	}
	err := s.db.InTx(ctx, "oauth.redeem", func(ctx context.Context, tx *db.Tx) error {
		out, refusal = Tokens{}, nil
		g, err := s.grantBy(ctx, tx, `WHERE g.code_hash = ?`, []any{hash[:]})
		if err != nil {
			refusal, err = unless(err, errCode)
			return err
		}
		if !g.redeemed.IsZero() {
			refusal = errCode
			return s.end(ctx, tx, g, endReused)
		}
		if refusal = g.accepts(client, request, tx.Now()); refusal != nil {
			return nil //nolint:nilerr // the program is told once the transaction is over
		}
		if refusal, err = s.meetsFactor(ctx, tx, g); refusal != nil || err != nil {
			return err
		}
		out, refusal, err = s.connect(ctx, tx, g)
		return err
	})
	return answer(out, refusal, err)
}

// accepts says what is wrong with a request that has the code of this grant.
func (g grant) accepts(client string, request url.Values, now time.Time) *Error {
	sum := sha256.Sum256([]byte(request.Get("code_verifier")))
	fits := subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(g.challenge)) == 1
	switch {
	case g.client != client || !g.ended.IsZero() || !now.Before(g.codeEnds):
		return errCode
	case !isVerifier(request.Get("code_verifier")) || !fits || request.Get("redirect_uri") != g.redirect:
		return errVerifier
	}
	return nil
}

// isVerifier holds a text against RFC 7636, section 4.1.
func isVerifier(text string) bool {
	foreign := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~", c)
	}
	return len(text) >= 43 && len(text) <= 128 && !strings.ContainsFunc(text, foreign)
}

// connect makes the connection of a grant, with its first tokens. The person may have lost what it needs since.
func (s *Service) connect(ctx context.Context, tx *db.Tx, g grant) (Tokens, *Error, error) {
	if err := change(ctx, tx, `UPDATE oauth_grants SET redeemed_at = ? WHERE id = ?`, db.Micros(tx.Now()), g.id); err != nil {
		return Tokens{}, nil, err
	}
	var err error
	g.connection, err = s.Connections.Connect(ctx, tx, Connection{Team: g.team, Person: g.person, Program: g.name, ClientID: g.client, Host: place(g.redirect), Capabilities: g.capabilities})
	if err != nil {
		if apierr.Of(err).Code != apierr.Internal { // refused before anything was written
			return Tokens{}, errNoLeave, s.end(ctx, tx, g, endInvalid)
		}
		return Tokens{}, nil, fmt.Errorf("making a connection: %w", err)
	}
	if err := change(ctx, tx, `UPDATE oauth_grants SET connection_id = ? WHERE id = ?`, g.connection, g.id); err != nil {
		return Tokens{}, nil, err
	}
	out, err := issue(ctx, tx, g)
	return out, nil, err
}

// issue gives the next tokens of a connection out.
func issue(ctx context.Context, tx *db.Tx, g grant) (Tokens, error) {
	out := Tokens{Lives: accessLives, Scope: scopeOf(g.capabilities)}
	var err error
	if out.Access, err = addToken(ctx, tx, g, ofAccess, accessLives); err != nil {
		return Tokens{}, err
	}
	if out.Refresh, err = addToken(ctx, tx, g, ofRefresh, refreshLives); err != nil {
		return Tokens{}, err
	}
	return out, change(ctx, tx, `UPDATE oauth_grants SET ends_at = ? WHERE id = ?`, db.Micros(tx.Now().Add(refreshLives)), g.id)
}

// renew exchanges a refresh token. One that was exchanged a while ago, or whose answer was used to go on, may have been stolen, by
// whoever has it now or by whoever had it then, and ends the connection.
func (s *Service) renew(ctx context.Context, client string, request url.Values) (Tokens, error) {
	var out Tokens
	var refusal *Error
	hash := apikey.Hash(request.Get("refresh_token"))
	if known, err := s.known(ctx, byHash, hash[:]); err != nil || !known {
		return answer(out, errRefresh, err)
	}
	err := s.db.InTx(ctx, "oauth.renew", func(ctx context.Context, tx *db.Tx) error {
		out, refusal = Tokens{}, nil
		var ends, spent int64
		g, err := s.grantBy(ctx, tx, `JOIN oauth_tokens t ON t.grant_id = g.id WHERE t.hash = ? AND t.kind = 'refresh'`, []any{hash[:]}, &ends, &spent)
		if err != nil {
			refusal, err = unless(err, errRefresh)
			return err
		}
		if g.client != client || !g.ended.IsZero() || g.resource != s.Resource() || !tx.Now().Before(db.Time(ends)) {
			refusal = errRefresh
			return nil
		}
		if refusal = g.all(request.Get("scope")); refusal != nil {
			return nil //nolint:nilerr // as above
		}
		if refusal, err = s.stillStands(ctx, tx, g, db.Time(spent)); refusal != nil || err != nil {
			return err
		}
		if spent == 0 { // a repeat changes nothing of what was spent
			if err := spend(ctx, tx, g, hash[:]); err != nil {
				return err
			}
		}
		out, err = issue(ctx, tx, g)
		return err
	})
	return answer(out, refusal, err)
}

// spend notes that a refresh token is exchanged for the first time. Whoever has it got the answer before it, so no other token of
// the grant has a place any more: neither the one that it came from, nor what a repeat of that brought, which is unspent. They
// count as spent long ago, so that a grant has one line of tokens and goes on by it alone.
func spend(ctx context.Context, tx *db.Tx, g grant, hash []byte) error {
	if err := change(ctx, tx, `UPDATE oauth_tokens SET spent_at = ? WHERE grant_id = ? AND kind = 'refresh' AND spent_at <> ?`, longAgo, g.id, longAgo); err != nil {
		return err
	}
	return change(ctx, tx, `UPDATE oauth_tokens SET spent_at = ? WHERE hash = ?`, db.Micros(tx.Now()), hash)
}

// unless makes a refusal of what is not_found; any other error stays one.
func unless(err error, refusal *Error) (*Error, error) {
	if apierr.Is(err, apierr.NotFound) {
		return refusal, nil
	}
	return nil, err
}

// stillStands ends a grant whose connection is no more, or whose refresh token was spent too long ago to come again.
func (s *Service) stillStands(ctx context.Context, tx *db.Tx, g grant, spent time.Time) (*Error, error) {
	if !spent.IsZero() && tx.Now().Sub(spent) > graceLives {
		return errRefresh, s.end(ctx, tx, g, endReused)
	}
	stands, err := s.Connections.Stands(ctx, tx, g.connection)
	if err != nil {
		return nil, err
	}
	if !stands {
		return errRefresh, s.end(ctx, tx, g, endInvalid)
	}
	return s.meetsFactor(ctx, tx, g)
}

// meetsFactor ends a grant from a session with one factor once its team requires two. The program is told invalid_grant,
// upon which programs ask the person anew.
func (s *Service) meetsFactor(ctx context.Context, tx *db.Tx, g grant) (*Error, error) {
	if !g.oneFactor {
		return nil, nil //nolint:nilnil // no refusal and no error
	}
	required, err := s.Connections.RequiresFactor(ctx, tx, g.team)
	if err != nil || !required {
		return nil, err
	}
	return errFactor, s.end(ctx, tx, g, endFactor)
}

// all refuses a scope that is not the granted one. One with less would promise the program a token that can do less, and
// every token of a connection can do what the connection can (RFC 6749, section 6).
func (g grant) all(scope string) *Error {
	if scope == "" {
		return nil
	}
	want, err := asked(scope)
	switch {
	case err != nil || slices.ContainsFunc(want, func(c access.Capability) bool { return !slices.Contains(g.capabilities, c) }):
		return errMoreScope
	case len(want) < len(g.capabilities):
		return errLessScope
	}
	return nil
}

// answer is what a transaction came to that was kept although the program is refused.
func answer(out Tokens, refusal *Error, err error) (Tokens, error) {
	switch {
	case err != nil:
		return Tokens{}, err
	case refusal != nil:
		return Tokens{}, refusal
	}
	return out, nil
}

// Revoke ends the connection of a token for the program that has it, whichever of its tokens that is (RFC 7009). What is no
// token of the program's is passed over.
func (s *Service) Revoke(ctx context.Context, client, token string) error {
	if client == "" {
		return refused(InvalidClient, "Say who asks, by client_id.")
	}
	hash := apikey.Hash(token)
	if known, err := s.known(ctx, byHash, hash[:]); err != nil || !known {
		return err
	}
	return s.db.InTx(ctx, "oauth.revoke", func(ctx context.Context, tx *db.Tx) error {
		g, err := s.grantBy(ctx, tx, `JOIN oauth_tokens t ON t.grant_id = g.id WHERE t.hash = ? AND g.client_id = ?`, []any{hash[:], client})
		if apierr.Is(err, apierr.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.end(ctx, tx, g, endRevoked)
	})
}

// Connection is the connection of an access token, and until when the token is good. It is false for what is no token that
// is good now for the tools of this installation. Whether the connection itself stands is not asked.
func (s *Service) Connection(ctx context.Context, token string) (int64, time.Time, bool, error) {
	if !apikey.WellFormed(apikey.Access, token) {
		return 0, time.Time{}, false, nil
	}
	hash := apikey.Hash(token)
	var id, ends int64
	err := s.db.QueryRow(ctx, `SELECT g.connection_id, t.ends_at FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id
		WHERE t.hash = ? AND t.kind = 'access' AND t.ends_at > ? AND g.ended_at = 0 AND g.resource = ? AND g.connection_id > 0`,
		hash[:], db.Micros(s.db.Now()), s.Resource()).Scan(&id, &ends)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, time.Time{}, false, nil
	}
	if err != nil {
		return 0, time.Time{}, false, fmt.Errorf("looking up a token: %w", err)
	}
	return id, db.Time(ends), true, nil
}
