package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// Effective returns the current capabilities of a connection: the granted capabilities that the person's current role
// includes.
func (k ListedKey) Effective() []access.Capability { return access.WithinRole(k.Granted, k.Role) }

// ListConnections lists at most limit of a team's connections, newest first. If person is not 0, it lists only that
// person's connections. If before is not 0, it lists only connections with lower IDs.
func (s *Service) ListConnections(ctx context.Context, team, person, before int64, limit int) ([]ListedKey, error) {
	return s.listOfKind(ctx, team, KindAssistant, person, before, limit)
}

// Connection returns one of a team's connections. It returns not_found if the team has no such connection.
func (s *Service) Connection(ctx context.Context, team, connection int64) (ListedKey, error) {
	return s.getOfKind(ctx, team, KindAssistant, connection)
}

// FindConnectionTeam returns the team of a connection. It returns not_found if none of the teams has the connection, or
// if the person may not see it. A person sees their own connections. Owners and admins see all connections of the team.
func (s *Service) FindConnectionTeam(ctx context.Context, person, connection int64, teams []int64) (int64, error) {
	owner, err := s.findOwningTeam(ctx, KindAssistant, connection, teams)
	if err != nil {
		return 0, err
	}
	return owner, s.Admin(person, owner).checkCanEnd(ctx, s.db, connection)
}

// OwnConnections lists at most limit of a person's connections in all teams, newest first. It omits ended connections
// and connections in closed teams.
func (s *Service) OwnConnections(ctx context.Context, person int64, limit int) ([]ListedKey, error) {
	out, err := db.All(ctx, s.db, scanListedKey,
		listedKeyQuery+`k.person_id = ? AND k.kind = 'assistant' AND k.revoked_at = 0 AND k.lost = ''
		AND (k.expires_at = 0 OR k.expires_at > ?) AND t.closed_at = 0
		ORDER BY k.id DESC LIMIT ?`, person, db.Micros(s.db.Now()), limit)
	if err != nil {
		return nil, fmt.Errorf("reading the assistants of person %d: %w", person, err)
	}
	for i := range out {
		s.setLatestUse(&out[i])
	}
	return out, nil
}

// LimitConnection sets how many credits one of the team's connections may spend per day. -1 means unlimited. Only the
// owner may call it.
func (a Admin) LimitConnection(ctx context.Context, connection, credits int64) error {
	if !isDailyLimit(credits) {
		return errKeyLimit
	}
	err := a.change(ctx, "assistant.limit_changed", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		oldLimit, err := a.readLimit(ctx, tx, connection)
		if err != nil {
			return auditEntry{}, err
		}
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET daily_credits = ?
		WHERE id = ? AND team_id = ? AND kind = 'assistant' AND revoked_at = 0 AND lost = '' AND (expires_at = 0 OR
		expires_at > ?)`,
			credits, connection, a.team, db.Micros(tx.Now()))
		if err := a.checkKeyChanged(ctx, tx, KindAssistant, connection, n, err); err != nil {
			return auditEntry{}, err
		}
		if oldLimit == credits {
			return auditEntry{}, errUnchanged
		}
		return auditEntry{connection, map[string]any{"daily_credits": credits, "daily_credits_before": oldLimit}}, nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

func (a Admin) readLimit(ctx context.Context, tx *db.Tx, connection int64) (int64, error) {
	var limit int64
	err := tx.QueryRow(ctx, `SELECT daily_credits FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'assistant'`,
		connection, a.team).Scan(&limit)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	if err != nil {
		return 0, fmt.Errorf("reading a connection before its change: %w", err)
	}
	return limit, nil
}

// EndConnection permanently ends one of the team's connections. Members may end their own connections. The owner and
// admins may end all connections. EndConnection returns not_found if the person may not end the connection.
func (a Admin) EndConnection(ctx context.Context, connection int64) error {
	return a.change(ctx, "assistant.revoked", access.Roles(), func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		if err := a.checkCanEnd(ctx, tx, connection); err != nil {
			return auditEntry{}, err
		}
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND kind = 'assistant' AND revoked_at = 0`,
			db.Micros(tx.Now()), connection, a.team)
		return auditEntry{subject: connection}, a.checkKeyChanged(ctx, tx, KindAssistant, connection, n, err)
	})
}

// checkCanEnd returns not_found unless the person is the connection's person, the owner or an admin.
func (a Admin) checkCanEnd(ctx context.Context, q db.Querier, connection int64) error {
	role, err := memberRole(ctx, q, a.team, a.person)
	if err != nil || slices.Contains(managerRoles, role) {
		return err
	}
	var ownCount int64
	err = q.QueryRow(ctx,
		`SELECT COUNT(*) FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'assistant' AND person_id = ?`,
		connection, a.team, a.person).Scan(&ownCount)
	if err != nil {
		return fmt.Errorf("looking up the person of a connection: %w", err)
	}
	if ownCount == 0 {
		return apierr.ItemNotFound()
	}
	return nil
}
