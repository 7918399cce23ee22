package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Kind distinguishes API keys from connections.
type Kind string

// The kinds of keys.
const (
	KindKey       Kind = "key"
	KindAssistant Kind = "assistant" // connection of an assistant that a person authorized
)

// NewConnection describes a connection to create for an assistant.
type NewConnection struct {
	TeamID       int64
	PersonID     int64               // person for whom the assistant acts
	Client       string              // name of the OAuth client
	ClientID     string              // ID of the OAuth client
	Host         string              // host of the client's redirect URI, shown with the name; empty if unknown
	Capabilities []access.Capability // capabilities that the person granted
}

var (
	errClientName = apierr.Invalidf(apierr.Malformed, "client", "Enter a name for the assistant: one line of at most %d "+
		"characters.",
		names.MaxLength)
	errNoCapability = apierr.Invalid(apierr.NotAllowedValue, "capabilities", "Choose what the assistant may do.")
	errClientRole   = apierr.Invalid(apierr.NotAllowedValue, "team", "Clients of a team cannot connect assistants.")
	errBeyondRole   = apierr.Invalid(apierr.NotAllowedValue, "capabilities",
		"Your role in the team does not allow this.")
)

// check validates the connection. It sorts the granted capabilities and removes duplicates.
func (n *NewConnection) check() error {
	n.Client = strings.TrimSpace(n.Client)
	if !names.IsValid(n.Client) {
		return errClientName
	}
	allCapabilities := access.Capabilities()
	if len(n.Capabilities) == 0 || slices.ContainsFunc(n.Capabilities, func(c access.Capability) bool {
		return !slices.Contains(allCapabilities, c)
	}) {
		return errNoCapability
	}
	n.Capabilities = slices.DeleteFunc(allCapabilities, func(c access.Capability) bool {
		return !slices.Contains(n.Capabilities, c)
	})
	return nil
}

// Connect creates a connection that lets an assistant act for a member of a team, and returns its ID. It returns
// not_found for people who are suspended or not members. It returns other errors for members with the role client, for
// capabilities beyond the person's role, and for plans without API keys.
func (s *Service) Connect(ctx context.Context, tx *db.Tx, n NewConnection) (int64, error) {
	if err := n.check(); err != nil {
		return 0, err
	}
	if err := s.checkCanConnect(ctx, tx, n); err != nil {
		return 0, err
	}
	randomHash := make([]byte, len(apikey.Hash("")))
	if _, err := rand.Read(randomHash); err != nil {
		return 0, fmt.Errorf("creating a connection: %w", err)
	}
	var connection int64
	level := access.LevelIncluding(n.Capabilities)
	err := tx.QueryRow(ctx,
		`INSERT INTO api_keys (team_id, person_id, kind, name, level, capabilities, client_id, client_host, hash,
		created_at, daily_credits) VALUES (?, ?, 'assistant', ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		n.TeamID, n.PersonID, n.Client, string(level), access.JoinCapabilities(n.Capabilities), n.ClientID, n.Host, randomHash,
		db.Micros(tx.Now()), plan.Unlimited).Scan(&connection)
	if err != nil {
		return 0, fmt.Errorf("adding a connection: %w", err)
	}
	if err := auditlog.Record(ctx, tx, n.TeamID, auditlog.Actor{PersonID: n.PersonID}, "assistant.connected", formatID(connection),
		map[string]any{"may": access.JoinCapabilities(n.Capabilities)}); err != nil {
		return 0, err
	}
	return connection, s.bumpAccessVersion(ctx, tx)
}

// checkCanConnect returns an error if the person may not create the connection. It locks the team, so that the person's
// role cannot change before the transaction ends.
func (s *Service) checkCanConnect(ctx context.Context, tx *db.Tx, n NewConnection) error {
	var closedAt int64
	err := tx.QueryRow(ctx, `SELECT closed_at FROM teams WHERE id = ?`+s.db.ForUpdate(), n.TeamID).Scan(&closedAt)
	if errors.Is(err, sql.ErrNoRows) || closedAt > 0 {
		return apierr.ItemNotFound()
	}
	if err != nil {
		return fmt.Errorf("finding the team of a connection: %w", err)
	}
	role, err := memberRole(ctx, tx, n.TeamID, n.PersonID)
	if err != nil {
		return err
	}
	if role == access.Client {
		return errClientRole
	}
	if len(access.WithinRole(n.Capabilities, role)) < len(n.Capabilities) {
		return errBeyondRole
	}
	return s.Admin(n.PersonID, n.TeamID).checkPlanHasKeys(ctx, tx)
}

// Disconnect permanently ends a connection and records the reason in the audit log. It does not change a connection
// that was already revoked. Nodes accept its tokens for up to another second, but no new tokens are issued after this
// transaction.
func (s *Service) Disconnect(ctx context.Context, tx *db.Tx, connection int64, reason string) error {
	var team int64
	err := tx.QueryRow(ctx,
		`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND kind = 'assistant' AND revoked_at = 0 RETURNING team_id`,
		db.Micros(tx.Now()), connection).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ending a connection: %w", err)
	}
	if err := auditlog.Record(ctx, tx, team, auditlog.Actor{}, "assistant.disconnected", formatID(connection),
		map[string]any{"reason": reason}); err != nil {
		return err
	}
	return s.bumpAccessVersion(ctx, tx)
}

// IsConnectionActive reports whether new tokens may be issued for a connection. It reports false if the connection or
// the person's membership has ended.
func (s *Service) IsConnectionActive(ctx context.Context, q db.Querier, connection int64) (bool, error) {
	var n int64
	err := q.QueryRow(ctx,
		`SELECT COUNT(*) FROM api_keys
		WHERE id = ? AND kind = 'assistant' AND revoked_at = 0 AND lost = '' AND (expires_at = 0 OR expires_at > ?)`,
		connection, db.Micros(s.db.Now())).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("checking a connection: %w", err)
	}
	return n > 0, nil
}
