package team

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// Search is which teams or people the operator looks for: those whose name or email address holds a text, or whose id
// it is; all where it is empty. After is the id below the first one.
type Search struct {
	Text  string
	After int64
	Most  int
}

// Found is a part of what was looked for. Next is the id after which to look further; 0 where everything was looked
// through.
type Found[T any] struct {
	Items []T
	Next  int64
}

// lookedThrough is how many teams or people one search goes through: no index finds a part of a name, and a page of few
// hits must not cost more the more there are.
const lookedThrough = 10_000

// pattern returns the LIKE pattern of the search.
func (s Search) pattern() string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`,
		`\_`).Replace(strings.ToLower(strings.TrimSpace(s.Text))) + "%"
}

// number returns the ID that the text is, on the first page; else 0.
func (s Search) number() int64 {
	number, err := strconv.ParseInt(strings.TrimSpace(s.Text), 10, 64)
	if err != nil || s.After > 0 {
		return 0
	}
	return number
}

// address returns the whole email address that the text is, at the beginning of a search; what nobody has where it is
// none.
func (s Search) address() string {
	if text := strings.ToLower(strings.TrimSpace(s.Text)); s.After == 0 && strings.Contains(text, "@") {
		return text
	}
	return "@"
}

// within returns the last ID that a search scans, and whether there are more.
func (s Search) within(ctx context.Context, q db.Querier, table string) (int64, bool, error) {
	var last int64
	err := q.QueryRow(ctx,
		`SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM `+table+` WHERE id > ? ORDER BY id LIMIT ?) x`, s.After,
		lookedThrough).Scan(&last)
	var more bool
	if err == nil {
		err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE id > ?)`, last).Scan(&more)
	}
	if err != nil {
		return 0, false, fmt.Errorf("looking through %s: %w", table, err)
	}
	return last, more, nil
}

// arrangeHits returns the hits in order, starting with an exact ID, up to the requested number.
func arrangeHits[T any](q Search, hits, named []T, id func(T) int64, last int64, more bool) Found[T] {
	out := Found[T]{Items: hits}
	switch {
	case len(hits) > q.Most:
		out.Items, out.Next = hits[:q.Most], id(hits[q.Most-1])
	case more:
		out.Next = last
	}
	for _, one := range named {
		out.Items = slices.DeleteFunc(out.Items, func(other T) bool { return id(other) == id(one) })
	}
	out.Items = append(named, out.Items...)
	return out
}

const teamColumns = `id, name, timezone, content_language, plan, plan_until, daily_credits, access_off_at, closed_at, deleted_at`

func scanTeam(rows *sql.Rows, t *Team) error {
	var until, off, closed, deleted int64
	err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Language, &t.Plan, &until, &t.DailyCredits, &off, &closed,
		&deleted)
	t.PlanUntil, t.AccessOff, t.Closed, t.Deleted = db.Time(until), off > 0, closed > 0, deleted > 0
	return err
}

// FindTeams lists teams by their ids, for the operator. It goes through a bounded part of all of them.
func (s *Service) FindTeams(ctx context.Context, q Search) (Found[Team], error) {
	last, more, err := q.within(ctx, s.db, "teams")
	if err != nil {
		return Found[Team]{}, err
	}
	named, err := db.All(ctx, s.db, scanTeam, `SELECT `+teamColumns+` FROM teams WHERE id = ?`, q.number())
	if err != nil {
		return Found[Team]{}, fmt.Errorf("looking for a team by its number: %w", err)
	}
	hits, err := db.AllSized(ctx, s.db, q.Most+1, scanTeam,
		`SELECT `+teamColumns+
			` FROM teams WHERE id > ? AND id <= ? AND LOWER(name) LIKE ? ESCAPE '\' ORDER BY id LIMIT ?`, q.After, last,
		q.pattern(), q.Most+1)
	if err != nil {
		return Found[Team]{}, fmt.Errorf("looking for teams: %w", err)
	}
	return arrangeHits(q, hits, named, func(t Team) int64 { return t.ID }, last, more), nil
}

// Team reads one team, for the operator; not_found if there is none.
func (s *Service) Team(ctx context.Context, team int64) (Team, error) {
	return first(db.All(ctx, s.db, scanTeam, `SELECT `+teamColumns+` FROM teams WHERE id = ?`, team))
}

const personColumns = `id, name, email, held_at, operator, deleted_at, email_proved_at`

func scanPerson(rows *sql.Rows, p *Person) error {
	var held, operator, deleted, proved int64
	err := rows.Scan(&p.ID, &p.Name, &p.Email, &held, &operator, &deleted, &proved)
	p.Held, p.Operator, p.Deleted, p.EmailConfirmed = held > 0, operator > 0, deleted > 0, proved > 0
	return err
}

// FindPeople lists people by their ids, for the operator. It goes through a bounded part of all of them.
func (s *Service) FindPeople(ctx context.Context, q Search) (Found[Person], error) {
	last, more, err := q.within(ctx, s.db, "people")
	if err != nil {
		return Found[Person]{}, err
	}
	named, err := db.All(ctx, s.db, scanPerson, `SELECT `+personColumns+` FROM people WHERE id = ? OR email = ?`,
		q.number(), q.address())
	if err != nil {
		return Found[Person]{}, fmt.Errorf("looking for a person by number or address: %w", err)
	}
	hits, err := db.AllSized(ctx, s.db, q.Most+1, scanPerson,
		`SELECT `+personColumns+
			` FROM people WHERE id > ? AND id <= ? AND (LOWER(name) LIKE ? ESCAPE '\' OR email LIKE ? ESCAPE '\')
		ORDER BY id LIMIT ?`,
		q.After, last, q.pattern(), q.pattern(), q.Most+1)
	if err != nil {
		return Found[Person]{}, fmt.Errorf("looking for people: %w", err)
	}
	return arrangeHits(q, hits, named, func(p Person) int64 { return p.ID }, last, more), nil
}

// Person reads one person, for the operator; not_found if there is none.
func (s *Service) Person(ctx context.Context, person int64) (Person, error) {
	return first(db.All(ctx, s.db, scanPerson, `SELECT `+personColumns+` FROM people WHERE id = ?`, person))
}

// Plans returns the ids of the plans that there are.
func (s *Service) Plans() []string { return s.terms.PlanIDs() }

// TeamsOf lists the teams of a person with the person's role in each, for the operator: also of a suspended person.
func (s *Service) TeamsOf(ctx context.Context, person int64) ([]OwnTeam, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closed int64
		err := rows.Scan(&t.ID, &t.Name, &t.Timezone, &t.Role, &closed)
		t.Closed = closed > 0
		return err
	}, `SELECT t.id, t.name, t.timezone, m.role, t.closed_at FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = ? ORDER BY t.id`, person)
}

// first returns the only one of what was found; not_found where nothing was.
func first[T any](found []T, err error) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, apierr.Missing()
	}
	return found[0], nil
}
