// Package directoryroles compares people's memberships with the roles of their directory groups.
package directoryroles

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// Membership is a person's role in a team, or "" if the person is not a member.
type Membership struct {
	Team int64
	Role access.Role
}

// Memberships returns a person's role in each of the teams, ordered by team. It omits teams that do not exist or are
// closed.
func Memberships(ctx context.Context, q db.Querier, person int64, teams []int64) ([]Membership, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, m *Membership) error { return rows.Scan(&m.Team, &m.Role) },
		`SELECT t.id, COALESCE(m.role, '') FROM teams t LEFT JOIN memberships m ON m.team_id = t.id AND m.person_id = ?
		WHERE t.closed_at = 0 AND t.id IN (`+db.Placeholders(len(teams))+`) ORDER BY t.id`, db.Args(person, teams)...)
	if err != nil {
		return nil, fmt.Errorf("reading the teams of a person: %w", err)
	}
	return out, nil
}

// DifferingTeams returns the teams where a person's role differs from the directory's role. It omits teams that the
// person owns, because the directory does not change the owner of a team.
func DifferingTeams(ctx context.Context, q db.Querier, person int64, roles map[int64]access.Role) ([]int64, error) {
	if len(roles) == 0 {
		return nil, nil
	}
	memberships, err := Memberships(ctx, q, person, slices.Collect(maps.Keys(roles)))
	var out []int64
	for _, m := range memberships {
		if m.Role != roles[m.Team] && m.Role != access.Owner {
			out = append(out, m.Team)
		}
	}
	return out, err
}

// UnknownTeams returns the given teams that do not exist or are closed.
func UnknownTeams(ctx context.Context, q db.Querier, teams []int64) ([]int64, error) {
	if len(teams) == 0 {
		return nil, nil
	}
	openTeams, err := Memberships(ctx, q, 0, teams)
	return slices.DeleteFunc(slices.Clone(teams), func(team int64) bool {
		return slices.ContainsFunc(openTeams, func(m Membership) bool { return m.Team == team })
	}), err
}
