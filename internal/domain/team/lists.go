package team

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// Teams lists every team, for the operator.
func (s *Service) Teams(ctx context.Context) ([]Team, error) {
	return db.All(ctx, s.db, ScanTeam, `SELECT `+Columns+` FROM teams ORDER BY id`)
}

// People lists every person, for the operator.
func (s *Service) People(ctx context.Context) ([]Person, error) {
	return db.All(ctx, s.db, ScanPerson, `SELECT `+PersonColumns+` FROM people ORDER BY id`)
}

// Keys lists all of a team's keys and connections, including revoked keys, for the operator.
func (s *Service) Keys(ctx context.Context, team int64) ([]Key, error) {
	if err := s.checkTeamExists(ctx, team); err != nil {
		return nil, err
	}
	return db.All(ctx, s.db, func(rows *sql.Rows, k *Key) error {
		var createdAt, expiresAt, revokedAt int64
		var granted string
		err := rows.Scan(&k.ID, &k.TeamID, &k.Kind, &k.Name, &k.Level, &granted, &k.Host, &k.DailyCredits, &createdAt,
			&expiresAt, &revokedAt, &k.Lost)
		k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.Granted = db.Time(createdAt), db.Time(expiresAt), db.Time(revokedAt),
			access.SplitCapabilities(granted)
		return err
	}, `SELECT id, team_id, kind, name, level, capabilities, client_host, daily_credits, created_at, expires_at,
		revoked_at, lost FROM api_keys WHERE team_id = ? ORDER BY id`, team)
}

// Member is a person in a team.
type Member struct {
	PersonID int64       `json:"person_id"`
	Name     string      `json:"name"`
	Email    string      `json:"email"`
	Role     access.Role `json:"role"`

	EmailConfirmed bool `json:"email_confirmed"`
}

// Members lists a team's members.
func (s *Service) Members(ctx context.Context, team int64) ([]Member, error) {
	if err := s.checkTeamExists(ctx, team); err != nil {
		return nil, err
	}
	return db.All(ctx, s.db, scanMember,
		`SELECT p.id, p.name, p.email, m.role, p.email_proved_at FROM memberships m
		JOIN people p ON p.id = m.person_id WHERE m.team_id = ? ORDER BY p.id`, team)
}

func scanMember(rows *sql.Rows, m *Member) error {
	var provedAt int64
	err := rows.Scan(&m.PersonID, &m.Name, &m.Email, &m.Role, &provedAt)
	m.EmailConfirmed = provedAt > 0
	return err
}

func (s *Service) checkTeamExists(ctx context.Context, team int64) error {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM teams WHERE id = ?`, team).Scan(&n); err != nil {
		return fmt.Errorf("finding a team: %w", err)
	}
	if n == 0 {
		return operatorErrorf("team not found")
	}
	return nil
}

// CheckPlans returns an error if a team has a plan that is not in the catalog, because the keys of that team would not
// work.
func (s *Service) CheckPlans(ctx context.Context) error {
	usedPlans, err := db.All(ctx, s.db, func(rows *sql.Rows, plan *string) error {
		return rows.Scan(plan)
	}, `SELECT DISTINCT plan FROM teams ORDER BY plan`)
	if err != nil {
		return fmt.Errorf("reading the plans of teams: %w", err)
	}
	for _, plan := range usedPlans {
		if _, ok := s.catalog.Plan(plan); !ok {
			return operatorErrorf("teams have the plan %q, which is not in the plans file (--plans): add it to the file, or "+
				"change the plan of these teams with pressroom admin teams plan", plan)
		}
	}
	return nil
}

// Columns are the columns of teams that ScanTeam reads.
const Columns = `id, name, timezone, content_language, plan, plan_until, daily_credits, access_off_at, closed_at, deleted_at`

// ScanTeam scans a row of teams.
func ScanTeam(rows *sql.Rows, t *Team) error {
	var planUntil, accessOffAt, closedAt, deletedAt int64
	err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Language, &t.Plan, &planUntil, &t.DailyCredits, &accessOffAt, &closedAt,
		&deletedAt)
	t.PlanUntil, t.AccessOff, t.Closed, t.Deleted = db.Time(planUntil), accessOffAt > 0, closedAt > 0, deletedAt > 0
	return err
}

// Team returns a team, for the operator. It returns not_found if there is no such team.
func (s *Service) Team(ctx context.Context, team int64) (Team, error) {
	return firstOrNotFound(db.All(ctx, s.db, ScanTeam, `SELECT `+Columns+` FROM teams WHERE id = ?`, team))
}

// PersonColumns are the columns of people that ScanPerson reads.
const PersonColumns = `id, name, email, held_at, operator, deleted_at, email_proved_at`

// ScanPerson scans a row of people.
func ScanPerson(rows *sql.Rows, p *Person) error {
	var heldAt, isOperator, deletedAt, provedAt int64
	err := rows.Scan(&p.ID, &p.Name, &p.Email, &heldAt, &isOperator, &deletedAt, &provedAt)
	p.Suspended, p.Operator, p.Deleted, p.EmailConfirmed = heldAt > 0, isOperator > 0, deletedAt > 0, provedAt > 0
	return err
}

// Person returns a person, for the operator. It returns not_found if there is no such person.
func (s *Service) Person(ctx context.Context, person int64) (Person, error) {
	return firstOrNotFound(db.All(ctx, s.db, ScanPerson, `SELECT `+PersonColumns+` FROM people WHERE id = ?`, person))
}

// Plans returns the IDs of all plans.
func (s *Service) Plans() []string { return s.catalog.PlanIDs() }

// ListTeams lists a person's teams with the person's roles, for the operator. It also works for suspended people.
func (s *Service) ListTeams(ctx context.Context, person int64) ([]OwnTeam, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closedAt int64
		err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Role, &closedAt)
		t.Closed = closedAt > 0
		return err
	}, `SELECT t.id, t.name, t.timezone, m.role, t.closed_at FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = ? ORDER BY t.id`, person)
}

// firstOrNotFound returns the first element, or not_found if there is none.
func firstOrNotFound[T any](items []T, err error) (T, error) {
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(items) == 0:
		return zero, apierr.ItemNotFound()
	}
	return items[0], nil
}
