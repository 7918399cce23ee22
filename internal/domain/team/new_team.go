package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// AddTeam creates a team with its owner.
func (s *Service) AddTeam(ctx context.Context, t Team, owner int64) (Team, error) {
	return s.addTeam(ctx, t, func(context.Context, *db.Tx, Team) (int64, error) { return owner, nil })
}

// AddTeamForOwner creates a team whose owner is the person with an email address. The address must be confirmed unless
// the person is the calling operator. A person cannot own two teams with the same name, so a form that is submitted
// twice creates one team.
func (s *Service) AddTeamForOwner(ctx context.Context, operator int64, t Team, email string) (Team, error) {
	var err error
	if t.Language, err = normalizeLanguage(t.Language); err != nil {
		return t, err
	}
	t.Timezone = strings.TrimSpace(t.Timezone)
	return s.addTeam(ctx, t, func(ctx context.Context, tx *db.Tx, t Team) (int64, error) {
		var person, confirmedAt int64
		err := tx.QueryRow(ctx, `SELECT id, email_proved_at FROM people WHERE email = ? AND held_at = 0`+s.db.ForUpdate(),
			names.NormalizeEmail(email)).Scan(&person, &confirmedAt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return 0, errNoOwner
		case err != nil:
			return 0, fmt.Errorf("looking up the owner of a new team: %w", err)
		case confirmedAt == 0 && person != operator:
			return 0, errUnconfirmedOwner
		}
		var sameNameCount int64
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = ? AND m.role = ? AND t.name = ?`, person, string(access.Owner), t.Name).Scan(&sameNameCount); err != nil {
			return 0, fmt.Errorf("finding a team of the same name: %w", err)
		}
		if sameNameCount > 0 {
			return 0, errSameTeam
		}
		return person, nil
	})
}

var (
	errNoOwner          = operatorErrorf("no active person has this email address")
	errUnconfirmedOwner = operatorErrorf("the email address of this person is not confirmed, so the account could be somebody " +
		"else's; have it confirmed first")
	errSameTeam = operatorErrorf("this person already owns a team with this name")
)

func (s *Service) addTeam(
	ctx context.Context, t Team, findOwner func(context.Context, *db.Tx, Team) (int64, error),
) (Team, error) {
	if err := s.checkNewTeam(&t); err != nil {
		return t, err
	}
	err := s.db.InTx(ctx, "team.add_team", func(ctx context.Context, tx *db.Tx) error {
		person, err := findOwner(ctx, tx, t)
		if err != nil {
			return err
		}
		t.ID, err = insertTeam(ctx, tx, t, person)
		return err
	})
	return t, err
}

func insertTeam(ctx context.Context, tx *db.Tx, t Team, owner int64) (int64, error) {
	var team int64
	row := tx.QueryRow(ctx,
		`INSERT INTO teams (name, timezone, content_language, plan, created_at) VALUES (?, ?, ?, ?, ?)
		RETURNING id`,
		t.Name, t.Timezone, t.Language, t.Plan, db.Micros(tx.Now()))
	if err := row.Scan(&team); err != nil {
		return 0, fmt.Errorf("adding a team: %w", err)
	}
	if err := setMember(ctx, tx, team, owner, access.Owner); err != nil {
		return 0, err
	}
	return team, auditlog.Record(ctx, tx, team, auditlog.Actor{}, "team.created", formatID(team), map[string]any{"plan": t.Plan})
}

// checkNewTeam trims the name of a new team and checks its fields.
func (s *Service) checkNewTeam(t *Team) error {
	t.Name = strings.TrimSpace(t.Name)
	switch {
	case !teamtime.IsZone(t.Timezone):
		return errTimezone
	case !names.IsValid(t.Name):
		return operatorErrorf("a team needs a name, one line of at most %d characters", names.MaxLength)
	case names.ContainsURL(t.Name):
		return names.ErrURL
	}
	return s.checkPlan(t.Plan)
}
