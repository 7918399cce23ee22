package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Token is the stored data of an authorization code or a token. The store keeps only a hash of the token's text.
type Token struct {
	Kind                string
	Session, Account    string
	Client              string // ID of the app
	Redirect, Challenge string // redirect URI and PKCE challenge; only for codes
	IssuedAt, ExpiresAt time.Time
	IsUsed              bool
}

// SaveToken inserts a token under the hash of its text.
func (t Tx) SaveToken(ctx context.Context, platform string, hash []byte, token Token) error {
	return t.Run(ctx, "saving a token",
		`insert into oauth_tokens
		(platform, hash, kind, session, account, client, redirect, challenge, issued_at, expires_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		platform, hash, token.Kind, token.Session, token.Account, token.Client, token.Redirect, token.Challenge,
		token.IssuedAt.UnixMilli(), token.ExpiresAt.UnixMilli())
}

// Token returns the token with the given hash, or the zero value if it does not exist.
func (t Tx) Token(ctx context.Context, platform string, hash []byte) (Token, error) {
	var token Token
	var issued, expires int64
	err := t.QueryRowContext(ctx,
		`select kind, session, account, client, redirect, challenge, issued_at, expires_at, spent
		from oauth_tokens where platform = ? and hash = ?`, platform, hash).
		Scan(&token.Kind, &token.Session, &token.Account, &token.Client, &token.Redirect, &token.Challenge, &issued,
			&expires, &token.IsUsed)
	if errors.Is(err, sql.ErrNoRows) {
		return Token{}, nil
	}
	if err != nil {
		return Token{}, fmt.Errorf("finding a token: %w", err)
	}
	token.IssuedAt, token.ExpiresAt = time.UnixMilli(issued), time.UnixMilli(expires)
	return token, nil
}

// ConsumeToken marks a token as used.
func (t Tx) ConsumeToken(ctx context.Context, platform string, hash []byte) error {
	return t.Run(ctx, "spending a token",
		`update oauth_tokens set spent = 1 where platform = ? and hash = ?`, platform, hash)
}

// SaveScopes records the scopes that were granted to a session.
func (t Tx) SaveScopes(ctx context.Context, platform, session string, scopes []string) error {
	return t.Run(ctx, "saving scopes",
		`insert into oauth_scopes (platform, session, scopes) values (?, ?, ?)`, platform,
		session, strings.Join(scopes, " "))
}

// Scopes returns the scopes of a session.
func (t Tx) Scopes(ctx context.Context, platform, session string) ([]string, error) {
	var scopes string
	err := t.QueryRowContext(ctx, `select scopes from oauth_scopes where platform = ? and session = ?`, platform,
		session).Scan(&scopes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("finding scopes: %w", err)
	}
	return strings.Fields(scopes), nil
}

// ExpireTokens makes a network's access tokens expire if their session has a refresh token.
func (t Tx) ExpireTokens(ctx context.Context, platform string) error {
	return t.Run(ctx, "expiring access tokens", `update oauth_tokens as a set expires_at = 0
		where kind = 'access' and platform = ? and exists (select 1 from oauth_tokens r
			where r.platform = a.platform and r.session = a.session and r.kind = 'refresh')`, platform)
}
