package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Kind is a kind of caller that acts for a team.
type Kind string

// The kinds.
const (
	OfKey       Kind = "key"
	OfAssistant Kind = "assistant" // a connection that a person has authorized
)

// NewConnection is a new connection of an assistant.
type NewConnection struct {
	TeamID, PersonID int64 // the person for whom it acts
	Client           string
	ClientID         string // OAuth client ID
	// host of the client's redirect URI, to compare with the name; empty if unknown
	Host         string
	Capabilities []access.Capability // that the person granted
}

var (
	errClientName  = apierr.Invalidf(apierr.Malformed, "client", "An assistant needs a name, one line of at most %d characters.", maxLine)
	errNothing     = apierr.Invalid(apierr.NotAllowedValue, "capabilities", "Choose what the assistant may do.")
	errOfClient    = apierr.Invalid(apierr.NotAllowedValue, "team", "Clients of a team cannot connect assistants.")
	errMoreThanOwn = apierr.Invalid(apierr.NotAllowedValue, "capabilities",
		"Your role in the team does not allow this.")
)

// check sorts the granted capabilities and removes duplicates.
func (n *NewConnection) check() error {
	n.Client = strings.TrimSpace(n.Client)
	if !isLine(n.Client) {
		return errClientName
	}
	known := access.Capabilities()
	if len(n.Capabilities) == 0 || slices.ContainsFunc(n.Capabilities, func(c access.Capability) bool {
		return !slices.Contains(known, c)
	}) {
		return errNothing
	}
	n.Capabilities = slices.DeleteFunc(known, func(c access.Capability) bool {
		return !slices.Contains(n.Capabilities, c)
	})
	return nil
}

// Connect lets an assistant act for a member of a team, and returns the connection's ID. It returns not_found for
// people who are not members or are suspended. It refuses clients, grants beyond the person's role, and plans without
// API access.
func (s *Service) Connect(ctx context.Context, tx *db.Tx, n NewConnection) (int64, error) {
	if err := n.check(); err != nil {
		return 0, err
	}
	if err := s.mayConnect(ctx, tx, n); err != nil {
		return 0, err
	}
	nobodys := make([]byte, len(apikey.Hash("")))
	if _, err := rand.Read(nobodys); err != nil {
		return 0, fmt.Errorf("creating a connection: %w", err)
	}
	var made int64
	level := access.LevelIncluding(n.Capabilities)
	err := tx.QueryRow(ctx,
		`INSERT INTO api_keys (team_id, person_id, kind, name, level, capabilities, client_id, client_host, hash,
		created_at, daily_credits) VALUES (?, ?, 'assistant', ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		n.TeamID, n.PersonID, n.Client, string(level), access.JoinCapabilities(n.Capabilities), n.ClientID, n.Host, nobodys,
		db.Micros(tx.Now()), plan.Unlimited).Scan(&made)
	if err != nil {
		return 0, fmt.Errorf("adding a connection: %w", err)
	}
	if err := auditlog.Record(ctx, tx, n.TeamID, auditlog.Actor{PersonID: n.PersonID}, "assistant.connected", id(made),
		map[string]any{"may": access.JoinCapabilities(n.Capabilities)}); err != nil {
		return 0, err
	}
	return made, s.bumpAccessVersion(ctx, tx)
}

// mayConnect locks the team, so that the person's role cannot change before the connection exists.
func (s *Service) mayConnect(ctx context.Context, tx *db.Tx, n NewConnection) error {
	var closed int64
	err := tx.QueryRow(ctx, `SELECT closed_at FROM teams WHERE id = ?`+s.db.ForUpdate(), n.TeamID).Scan(&closed)
	if errors.Is(err, sql.ErrNoRows) || closed > 0 {
		return apierr.Missing()
	}
	if err != nil {
		return fmt.Errorf("finding the team of a connection: %w", err)
	}
	role, err := roleOf(ctx, tx, n.TeamID, n.PersonID)
	if err != nil {
		return err
	}
	if role == access.Client {
		return errOfClient
	}
	if len(access.Within(n.Capabilities, role)) < len(n.Capabilities) {
		return errMoreThanOwn
	}
	return s.Admin(n.PersonID, n.TeamID).mayHaveKeys(ctx, tx)
}

// Disconnect permanently ends a connection if its token asks for it or if it has no token left. An ended connection
// stays unchanged. Nodes accept its tokens for up to another second, but no new ones are issued after this transaction.
// The reason is recorded.
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
	if err := auditlog.Record(ctx, tx, team, auditlog.Actor{}, "assistant.disconnected", id(connection),
		map[string]any{"reason": reason}); err != nil {
		return err
	}
	return s.bumpAccessVersion(ctx, tx)
}

// IsConnectionActive reports whether new tokens may be issued for a connection: neither it nor its person's membership
// has ended.
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
