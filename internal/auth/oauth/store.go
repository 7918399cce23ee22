package oauth

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// readClient returns a stored client, or not_found.
func (s *Service) readClient(ctx context.Context, id string) (Client, error) {
	c := Client{ID: id}
	var redirects string
	var createdAt, readAt int64
	err := s.db.QueryRow(ctx, `SELECT name, redirects, created_at, read_at FROM oauth_clients WHERE client_id = ?`,
		id).Scan(&c.Name, &redirects, &createdAt, &readAt)
	if errors.Is(err, sql.ErrNoRows) {
		return c, apierr.ItemNotFound()
	}
	if err == nil {
		err = json.Unmarshal([]byte(redirects), &c.RedirectURIs)
	}
	if err != nil {
		return c, fmt.Errorf("reading a client: %w", err)
	}
	c.CreatedAt, c.readAt = db.Time(createdAt), db.Time(readAt)
	return c, nil
}

// saveClient inserts or updates a client.
func saveClient(ctx context.Context, tx *db.Tx, c Client) error {
	redirects, err := json.Marshal(c.RedirectURIs)
	if err != nil {
		return fmt.Errorf("encoding a client: %w", err)
	}
	_, err = tx.Exec(ctx,
		`INSERT INTO oauth_clients (client_id, name, redirects, created_at, read_at, network) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (client_id) DO UPDATE
		SET name = excluded.name, redirects = excluded.redirects, read_at = excluded.read_at`,
		c.ID, c.Name, string(redirects), db.Micros(c.CreatedAt), db.Micros(c.readAt), c.network)
	if err != nil {
		return fmt.Errorf("storing a client: %w", err)
	}
	return nil
}

// grant is a stored consent.
type grant struct {
	id, team, person, connection       int64
	client                             string
	name                               string // the client's name; empty if the client was deleted
	capabilities                       []access.Capability
	resource, redirect                 string
	challenge                          string
	codeExpiresAt, redeemedAt, endedAt time.Time
	oneFactor                          bool // granted in a session without a second factor
}

const grantColumns = `g.id, g.team_id, g.person_id, g.connection_id, g.client_id,
	COALESCE((SELECT c.name FROM oauth_clients c WHERE c.client_id = g.client_id), ''),
	g.capabilities, g.resource, g.redirect, g.challenge, g.code_ends_at, g.redeemed_at, g.ended_at, g.one_factor`

// lockGrant locks and returns a grant, or returns not_found. clauses is the part of the query after its FROM clause. If
// extraDest is not empty, clauses must join oauth_tokens as t, and lockGrant scans the columns ends_at and spent_at of
// t into extraDest.
func (s *Service) lockGrant(ctx context.Context, tx *db.Tx, clauses string, args []any, extraDest ...any) (grant, error) {
	var g grant
	var granted, columns string
	var codeExpiresAt, redeemedAt, endedAt, oneFactor int64
	columns = grantColumns
	if len(extraDest) > 0 {
		columns += `, t.ends_at, t.spent_at`
	}
	dest := append([]any{
		&g.id, &g.team, &g.person, &g.connection, &g.client, &g.name, &granted, &g.resource, &g.redirect, &g.challenge,
		&codeExpiresAt, &redeemedAt, &endedAt, &oneFactor,
	}, extraDest...)
	err := tx.QueryRow(ctx, `SELECT `+columns+` FROM oauth_grants g `+clauses+s.db.ForUpdate(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return g, apierr.ItemNotFound()
	}
	if err != nil {
		return g, fmt.Errorf("reading a grant: %w", err)
	}
	for name := range strings.FieldsSeq(granted) {
		g.capabilities = append(g.capabilities, access.Capability(name))
	}
	g.codeExpiresAt, g.redeemedAt, g.endedAt, g.oneFactor = db.Time(codeExpiresAt), db.Time(redeemedAt),
		db.Time(endedAt), oneFactor > 0
	return g, nil
}

// tokenKind is the kind of a token.
type tokenKind string

const (
	accessToken  tokenKind = "access"
	refreshToken tokenKind = "refresh"
)

// addToken creates a token for a grant and returns it. It stores only the token's hash.
func addToken(ctx context.Context, tx *db.Tx, g grant, k tokenKind, lifetime time.Duration) (string, error) {
	prefix := apikey.Access
	if k == refreshToken {
		prefix = apikey.Refresh
	}
	token := apikey.New(prefix)
	hash := apikey.Hash(token)
	_, err := tx.Exec(ctx,
		`INSERT INTO oauth_tokens (hash, grant_id, kind, created_at, ends_at) VALUES (?, ?, ?, ?, ?)`,
		hash[:], g.id, string(k), db.Micros(tx.Now()), db.Micros(tx.Now().Add(lifetime)))
	if err != nil {
		return "", fmt.Errorf("storing a token: %w", err)
	}
	return token, nil
}

// updateGrant executes a statement that changes one grant.
func updateGrant(ctx context.Context, tx *db.Tx, statement string, args ...any) error {
	if _, err := tx.Exec(ctx, statement, args...); err != nil {
		return fmt.Errorf("changing a grant: %w", err)
	}
	return nil
}

// Reasons why a connection ends, as they appear in the audit log.
const (
	endRevoked = "revoked"       // the client revoked a token (RFC 7009)
	endExpired = "expired"       // it has no tokens left
	endReused  = "reused"        // a code or refresh token was used again
	endInvalid = "invalid"       // the connection is no longer active, or the person has lost the required role
	endFactor  = "second_factor" // it was created without the second factor that the team now requires
)

// endGrant invalidates all tokens of a grant and ends its connection.
func (s *Service) endGrant(ctx context.Context, tx *db.Tx, g grant, reason string) error {
	if err := updateGrant(ctx, tx, `UPDATE oauth_grants SET ended_at = ? WHERE id = ? AND ended_at = 0`, db.Micros(tx.Now()),
		g.id); err != nil {
		return err
	}
	if g.connection == 0 {
		return nil
	}
	return s.Connections.Disconnect(ctx, tx, g.connection, reason)
}
