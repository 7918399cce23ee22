package team

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"pressroom/internal/db"
	"pressroom/internal/fault"
)

// Search is which teams or people the operator looks for: those whose name or e-mail address holds a text, or whose id it
// is; all where it is empty. After is the id below the first one.
type Search struct {
	Text  string
	After int64
	Most  int
}

// likeness are the arguments by which a text is looked for: in lower case within another, and as an id.
func (s Search) likeness() (string, int64) {
	text := strings.ToLower(strings.TrimSpace(s.Text))
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number = 0
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%", number
}

const teamColumns = `id, name, timezone, content_language, plan, plan_until, daily_credits, access_off_at, closed_at, deleted_at`

func scanTeam(rows *sql.Rows, t *Team) error {
	var until, off, closed, deleted int64
	err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Language, &t.Plan, &until, &t.DailyCredits, &off, &closed, &deleted)
	t.PlanUntil, t.AccessOff, t.Closed, t.Deleted = db.Time(until), off > 0, closed > 0, deleted > 0
	return err
}

// FindTeams lists teams by their ids, for the operator.
func (s *Service) FindTeams(ctx context.Context, q Search) ([]Team, error) {
	like, number := q.likeness()
	return db.AllOf(ctx, s.db, q.Most, scanTeam, `SELECT `+teamColumns+` FROM teams WHERE id > ? AND (LOWER(name) LIKE ? ESCAPE '\' OR id = ?) ORDER BY id LIMIT ?`, q.After, like, number, q.Most)
}

// Team reads one team, for the operator; not_found where there is none.
func (s *Service) Team(ctx context.Context, team int64) (Team, error) {
	return first(db.All(ctx, s.db, scanTeam, `SELECT `+teamColumns+` FROM teams WHERE id = ?`, team))
}

const personColumns = `id, name, email, held_at, operator, deleted_at`

func scanPerson(rows *sql.Rows, p *Person) error {
	var held, operator, deleted int64
	err := rows.Scan(&p.ID, &p.Name, &p.Email, &held, &operator, &deleted)
	p.Held, p.Operator, p.Deleted = held > 0, operator > 0, deleted > 0
	return err
}

// FindPeople lists people by their ids, for the operator.
func (s *Service) FindPeople(ctx context.Context, q Search) ([]Person, error) {
	like, number := q.likeness()
	return db.AllOf(ctx, s.db, q.Most, scanPerson, `SELECT `+personColumns+` FROM people WHERE id > ? AND (LOWER(name) LIKE ? ESCAPE '\' OR email LIKE ? ESCAPE '\' OR id = ?) ORDER BY id LIMIT ?`,
		q.After, like, like, number, q.Most)
}

// Person reads one person, for the operator; not_found where there is none.
func (s *Service) Person(ctx context.Context, person int64) (Person, error) {
	return first(db.All(ctx, s.db, scanPerson, `SELECT `+personColumns+` FROM people WHERE id = ?`, person))
}

// Plans are the ids of the plans that there are.
func (s *Service) Plans() []string { return s.terms.PlanIDs() }

// TeamsOf lists the teams of a person with the person's role in each, for the operator: also of somebody on hold.
func (s *Service) TeamsOf(ctx context.Context, person int64) ([]OwnTeam, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closed int64
		err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Role, &closed)
		t.Closed = closed > 0
		return err
	}, `SELECT t.id, t.name, t.timezone, m.role, t.closed_at FROM memberships m JOIN teams t ON t.id = m.team_id WHERE m.person_id = ? ORDER BY t.id`, person)
}

// first is the only one of what was found; not_found where nothing was.
func first[T any](found []T, err error) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, fault.Missing()
	}
	return found[0], nil
}
