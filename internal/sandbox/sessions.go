package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// refreshToken is a link in a session's chain of refresh tokens.
type refreshToken struct {
	id      string
	session string
	expires time.Time
	next    string // id of the token it was exchanged for; empty before
}

func (t tx) beginSession(ctx context.Context, platform, id, account string) error {
	_, err := t.ExecContext(ctx, `insert into sessions (platform, id, account) values (?, ?, ?)`, platform, id, account)
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	return nil
}

// liveSession reports whether the session exists and has not ended.
func (t tx) liveSession(ctx context.Context, platform, id string) (bool, error) {
	var dead bool
	err := t.QueryRowContext(ctx, `select dead from sessions where platform = ? and id = ?`, platform, id).Scan(&dead)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("finding a session: %w", err)
	}
	return !dead, nil
}

func (t tx) killSession(ctx context.Context, platform, id string) error {
	if _, err := t.ExecContext(ctx, `update sessions set dead = 1 where platform = ? and id = ?`, platform,
		id); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// killSessionsOf ends all sessions of an account, as when its owner revokes an app's access.
func (t tx) killSessionsOf(ctx context.Context, platform, account string) error {
	if _, err := t.ExecContext(ctx, `update sessions set dead = 1 where platform = ? and account = ?`, platform,
		account); err != nil {
		return fmt.Errorf("ending the sessions of an account: %w", err)
	}
	return nil
}

// refreshToken returns a refresh token, and reports whether it exists.
func (t tx) refreshToken(ctx context.Context, platform, id string) (refreshToken, bool, error) {
	var next sql.NullString
	var expires int64
	found := refreshToken{id: id}
	row := t.QueryRowContext(ctx, `select session, expires_at, next from refresh_tokens where platform = ? and id = ?`,
		platform, id)
	err := row.Scan(&found.session, &expires, &next)
	if errors.Is(err, sql.ErrNoRows) {
		return refreshToken{}, false, nil
	}
	if err != nil {
		return refreshToken{}, false, fmt.Errorf("finding a refresh token: %w", err)
	}
	found.expires, found.next = time.UnixMilli(expires), next.String
	return found, true, nil
}

// keepRefreshToken inserts or updates the token.
func (t tx) keepRefreshToken(ctx context.Context, platform string, token refreshToken) error {
	_, err := t.ExecContext(ctx,
		`insert into refresh_tokens (platform, id, session, expires_at, next) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set expires_at = excluded.expires_at, next = excluded.next`,
		platform, token.id, token.session, token.expires.UnixMilli(),
		sql.NullString{String: token.next, Valid: token.next != ""})
	if err != nil {
		return fmt.Errorf("saving a refresh token: %w", err)
	}
	return nil
}

func (t tx) dropRefreshToken(ctx context.Context, platform, id string) error {
	if _, err := t.ExecContext(ctx, `delete from refresh_tokens where platform = ? and id = ?`, platform,
		id); err != nil {
		return fmt.Errorf("revoking a refresh token: %w", err)
	}
	return nil
}
