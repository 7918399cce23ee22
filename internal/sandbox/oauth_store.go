package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// oauthToken is an authorization code or a token without its text.
type oauthToken struct {
	kind                string
	session, account    string
	client              string
	redirect, challenge string // of a code
	issued, expires     time.Time
	spent               bool
}

func (t tx) keepOAuthToken(ctx context.Context, platform string, hash []byte, token oauthToken) error {
	_, err := t.ExecContext(ctx,
		`insert into oauth_tokens
		(platform, hash, kind, session, account, client, redirect, challenge, issued_at, expires_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		platform, hash, token.kind, token.session, token.account, token.client, token.redirect, token.challenge,
		token.issued.UnixMilli(), token.expires.UnixMilli())
	if err != nil {
		return fmt.Errorf("saving a token: %w", err)
	}
	return nil
}

// oauthToken returns the token with this hash, or the zero value if there is none.
func (t tx) oauthToken(ctx context.Context, platform string, hash []byte) (oauthToken, error) {
	var token oauthToken
	var issued, expires int64
	err := t.QueryRowContext(ctx,
		`select kind, session, account, client, redirect, challenge, issued_at, expires_at, spent
		from oauth_tokens where platform = ? and hash = ?`, platform, hash).
		Scan(&token.kind, &token.session, &token.account, &token.client, &token.redirect, &token.challenge, &issued,
			&expires, &token.spent)
	if errors.Is(err, sql.ErrNoRows) {
		return oauthToken{}, nil
	}
	if err != nil {
		return oauthToken{}, fmt.Errorf("finding a token: %w", err)
	}
	token.issued, token.expires = time.UnixMilli(issued), time.UnixMilli(expires)
	return token, nil
}

func (t tx) spendOAuthToken(ctx context.Context, platform string, hash []byte) error {
	if _, err := t.ExecContext(ctx, `update oauth_tokens set spent = 1 where platform = ? and hash = ?`, platform,
		hash); err != nil {
		return fmt.Errorf("spending a token: %w", err)
	}
	return nil
}

// keepScopes records the scopes that the consent of a session granted.
func (t tx) keepScopes(ctx context.Context, platform, session string, scopes []string) error {
	_, err := t.ExecContext(ctx, `insert into oauth_scopes (platform, session, scopes) values (?, ?, ?)`, platform,
		session, strings.Join(scopes, " "))
	if err != nil {
		return fmt.Errorf("saving scopes: %w", err)
	}
	return nil
}

// scopes returns the scopes of a session.
func (t tx) scopes(ctx context.Context, platform, session string) ([]string, error) {
	var scopes string
	err := t.QueryRowContext(ctx, `select scopes from oauth_scopes where platform = ? and session = ?`, platform,
		session).Scan(&scopes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("finding scopes: %w", err)
	}
	return strings.Fields(scopes), nil
}

// expireTokens ends the access tokens of a network that clients can refresh.
func (t tx) expireTokens(ctx context.Context, platform string) error {
	_, err := t.ExecContext(ctx, `update oauth_tokens as a set expires_at = 0
		where kind = 'access' and platform = ? and exists (select 1 from oauth_tokens r
			where r.platform = a.platform and r.session = a.session and r.kind = 'refresh')`, platform)
	if err != nil {
		return fmt.Errorf("ending access tokens: %w", err)
	}
	return nil
}
