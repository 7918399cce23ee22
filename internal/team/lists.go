package team

import (
	"context"
	"database/sql"

	"pressroom/internal/access"
	"pressroom/internal/db"
)

// Teams lists every team, for the operator.
func (s *Service) Teams(ctx context.Context) ([]Team, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, t *Team) error {
		return rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Language, &t.Plan)
	}, `SELECT id, name, timezone, content_language, plan FROM teams ORDER BY id`)
}

// People lists every person, for the operator.
func (s *Service) People(ctx context.Context) ([]Person, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, p *Person) error {
		return rows.Scan(&p.ID, &p.Name, &p.Email)
	}, `SELECT id, name, email FROM people ORDER BY id`)
}

// Keys lists the keys of a team, for the operator; revoked ones too.
func (s *Service) Keys(ctx context.Context, team int64) ([]Key, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, k *Key) error {
		var level string
		var created, revoked int64
		err := rows.Scan(&k.ID, &k.TeamID, &k.Name, &level, &created, &revoked)
		k.Level, k.CreatedAt, k.RevokedAt = access.Level(level), db.Time(created), db.Time(revoked)
		return err
	}, `SELECT id, team_id, name, level, created_at, revoked_at FROM api_keys WHERE team_id = ? ORDER BY id`, team)
}
