package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// RefreshToken is a refresh token of a session.
type RefreshToken struct {
	ID        string
	Session   string
	ExpiresAt time.Time
	NextID    string // ID of the token for which it was exchanged; empty if it was not exchanged
}

// CreateSession starts a session of an account.
func (t Tx) CreateSession(ctx context.Context, platform, id, account string) error {
	return t.Run(ctx, "starting a session",
		`insert into sessions (platform, id, account) values (?, ?, ?)`, platform, id, account)
}

// SessionActive reports whether the session exists and has not ended.
func (t Tx) SessionActive(ctx context.Context, platform, id string) (bool, error) {
	var isEnded bool
	err := t.QueryRowContext(ctx, `select dead from sessions where platform = ? and id = ?`, platform, id).Scan(&isEnded)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("finding a session: %w", err)
	}
	return !isEnded, nil
}

// EndSession marks a session as ended.
func (t Tx) EndSession(ctx context.Context, platform, id string) error {
	return t.Run(ctx, "ending a session", `update sessions set dead = 1 where platform = ? and id = ?`, platform,
		id)
}

// EndSessions ends all sessions of an account, for example when its owner revokes an app's access.
func (t Tx) EndSessions(ctx context.Context, platform, account string) error {
	return t.Run(ctx, "ending the sessions of an account",
		`update sessions set dead = 1 where platform = ? and account = ?`, platform, account)
}

// RefreshToken returns a refresh token, and reports whether it exists.
func (t Tx) RefreshToken(ctx context.Context, platform, id string) (RefreshToken, bool, error) {
	var next sql.NullString
	var expires int64
	token := RefreshToken{ID: id}
	row := t.QueryRowContext(ctx, `select session, expires_at, next from refresh_tokens where platform = ? and id = ?`,
		platform, id)
	err := row.Scan(&token.Session, &expires, &next)
	if errors.Is(err, sql.ErrNoRows) {
		return RefreshToken{}, false, nil
	}
	if err != nil {
		return RefreshToken{}, false, fmt.Errorf("finding a refresh token: %w", err)
	}
	token.ExpiresAt, token.NextID = time.UnixMilli(expires), next.String
	return token, true, nil
}

// SaveRefreshToken inserts or updates the token.
func (t Tx) SaveRefreshToken(ctx context.Context, platform string, token RefreshToken) error {
	return t.Run(ctx, "saving a refresh token",
		`insert into refresh_tokens (platform, id, session, expires_at, next) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set expires_at = excluded.expires_at, next = excluded.next`,
		platform, token.ID, token.Session, token.ExpiresAt.UnixMilli(),
		sql.NullString{String: token.NextID, Valid: token.NextID != ""})
}

// DeleteRefreshToken deletes a refresh token.
func (t Tx) DeleteRefreshToken(ctx context.Context, platform, id string) error {
	return t.Run(ctx, "revoking a refresh token",
		`delete from refresh_tokens where platform = ? and id = ?`, platform, id)
}
