// Package teammembers checks whom a team may invite, and reads when its members were active.
package teammembers

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/db"
)

// CheckInvitations returns an error for each address that cannot be invited, because it is invalid or belongs to a
// member. The keys are the addresses as entered. CheckInvitations returns plan_limit_reached if the plan has too few
// seats for all addresses. Service.Invite checks each address again.
func CheckInvitations(ctx context.Context, d *db.DB, s *team.Service, teamID int64, emails []string) (map[string]error, error) {
	members, err := readEmails(ctx, d, `SELECT p.email FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND p.email IN (`+db.Placeholders(len(emails))+`)`, teamID, emails)
	if err != nil {
		return nil, err
	}
	invited, err := readEmails(ctx, d, `SELECT i.email FROM invitations i WHERE i.team_id = ? AND i.email IN (`+
		db.Placeholders(len(emails))+`) AND `+team.OpenInvitation, teamID, emails, db.Micros(d.Now()))
	if err != nil {
		return nil, err
	}
	errByEmail, newSeats := map[string]error{}, int64(0)
	for _, email := range emails {
		switch normalized := names.NormalizeEmail(email); {
		case !names.IsEmail(normalized):
			errByEmail[email] = team.ErrEmail
		case members[normalized]:
			errByEmail[email] = team.ErrMember
		case !invited[normalized]:
			newSeats++
		}
	}
	seats, err := s.Seats(ctx, teamID)
	if err != nil {
		return nil, err
	}
	p, err := s.Plan(ctx, teamID)
	if err == nil && len(errByEmail) == 0 && p.Seats != plan.Unlimited && seats.Total()+newSeats > p.Seats {
		err = team.ErrSeats
	}
	return errByEmail, err
}

// readEmails returns the set of email addresses that a query selects. The query's arguments are the team, the
// normalized addresses, and extraArgs.
func readEmails(
	ctx context.Context, d *db.DB, query string, teamID int64, emails []string, extraArgs ...any,
) (map[string]bool, error) {
	args := []any{teamID}
	for _, email := range emails {
		args = append(args, names.NormalizeEmail(email))
	}
	addresses, err := db.All(ctx, d, func(rows *sql.Rows, email *string) error { return rows.Scan(email) }, query,
		append(args, extraArgs...)...)
	if err != nil {
		return nil, fmt.Errorf("checking addresses to invite: %w", err)
	}
	out := map[string]bool{}
	for _, email := range addresses {
		out[email] = true
	}
	return out, nil
}
