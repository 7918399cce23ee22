package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// May returns the capabilities of a connection: those granted that the person's role has.
func (k ListedKey) May() []access.Capability { return access.Within(k.Granted, k.Role) }

// ConnectionLines lists at most limit connections of a team, newest first. A person other than 0 selects that person's
// connections; before other than 0 selects those with lower IDs.
func (s *Service) ConnectionLines(ctx context.Context, team, person, before int64, limit int) ([]ListedKey, error) {
	return s.lines(ctx, team, OfAssistant, person, before, limit)
}

// ConnectionLine returns one connection of a team, and not_found for another team's.
func (s *Service) ConnectionLine(ctx context.Context, team, connection int64) (ListedKey, error) {
	return s.line(ctx, team, OfAssistant, connection)
}

// ConnectionHome returns which of some teams a connection belongs to. It returns not_found if it belongs to none of
// them or if the person, who is neither its owner nor an owner or admin of the team, may not see it.
func (s *Service) ConnectionHome(ctx context.Context, person, connection int64, teams []int64) (int64, error) {
	home, err := s.homeOf(ctx, OfAssistant, connection, teams)
	if err != nil {
		return 0, err
	}
	return home, s.Admin(person, home).mayEnd(ctx, s.db, connection)
}

// OwnConnections lists a person's connections in all teams, newest first, at most limit. Those that have ended, and
// those of closed teams, are not among them.
func (s *Service) OwnConnections(ctx context.Context, person int64, limit int) ([]ListedKey, error) {
	out, err := db.All(ctx, s.db, scanKeyLine,
		keyLines+`k.person_id = ? AND k.kind = 'assistant' AND k.revoked_at = 0 AND k.lost = ''
		AND (k.expires_at = 0 OR k.expires_at > ?) AND t.closed_at = 0
		ORDER BY k.id DESC LIMIT ?`, person, db.Micros(s.db.Now()), limit)
	if err != nil {
		return nil, fmt.Errorf("reading the assistants of person %d: %w", person, err)
	}
	for i := range out {
		s.latest(&out[i])
	}
	return out, nil
}

// LimitConnection sets how many credits one of the team's connections may spend per day, for the owner; -1 is
// unlimited.
func (h Admin) LimitConnection(ctx context.Context, connection, credits int64) error {
	if !isDailyLimit(credits) {
		return errKeyLimit
	}
	err := h.change(ctx, "assistant.limit_changed", owners, func(ctx context.Context, tx *db.Tx) (done, error) {
		before, err := h.limitBefore(ctx, tx, connection)
		if err != nil {
			return done{}, err
		}
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET daily_credits = ?
		WHERE id = ? AND team_id = ? AND kind = 'assistant' AND revoked_at = 0 AND lost = '' AND (expires_at = 0 OR
		expires_at > ?)`,
			credits, connection, h.team, db.Micros(tx.Now()))
		if err := h.changedKey(ctx, tx, OfAssistant, connection, n, err); err != nil {
			return done{}, err
		}
		if before == credits {
			return done{}, errSameKey
		}
		return done{connection, map[string]any{"daily_credits": credits, "daily_credits_before": before}}, nil
	})
	if errors.Is(err, errSameKey) {
		return nil
	}
	return err
}

func (h Admin) limitBefore(ctx context.Context, tx *db.Tx, connection int64) (int64, error) {
	var before int64
	err := tx.QueryRow(ctx, `SELECT daily_credits FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'assistant'`,
		connection, h.team).Scan(&before)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.Missing()
	}
	if err != nil {
		return 0, fmt.Errorf("reading a connection before its change: %w", err)
	}
	return before, nil
}

// EndConnection permanently ends one of the team's connections: members end their own, the owner and admins all. It
// returns not_found for people who may not.
func (h Admin) EndConnection(ctx context.Context, connection int64) error {
	return h.change(ctx, "assistant.revoked", access.Roles(), func(ctx context.Context, tx *db.Tx) (done, error) {
		if err := h.mayEnd(ctx, tx, connection); err != nil {
			return done{}, err
		}
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND kind = 'assistant' AND revoked_at = 0`,
			db.Micros(tx.Now()), connection, h.team)
		return done{subject: connection}, h.changedKey(ctx, tx, OfAssistant, connection, n, err)
	})
}

// mayEnd allows the connection's person, the owner and admins; others get not_found.
func (h Admin) mayEnd(ctx context.Context, q db.Querier, connection int64) error {
	role, err := roleOf(ctx, q, h.team, h.person)
	if err != nil || slices.Contains(managers, role) {
		return err
	}
	var own int64
	err = q.QueryRow(ctx,
		`SELECT COUNT(*) FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'assistant' AND person_id = ?`,
		connection, h.team, h.person).Scan(&own)
	if err != nil {
		return fmt.Errorf("finding whose a connection is: %w", err)
	}
	if own == 0 {
		return apierr.Missing()
	}
	return nil
}
