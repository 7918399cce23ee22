package team

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/db"
)

// CheckInvitations returns an error for each address, as given, that cannot be invited: it is invalid or belongs to a member.
// It returns plan_limit_reached if the plan has too few seats for all addresses. Invite checks each again.
func (s *Service) CheckInvitations(ctx context.Context, team int64, emails []string) (map[string]error, error) {
	members, err := s.emails(ctx, `SELECT p.email FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND p.email IN (`+db.Placeholders(len(emails))+`)`, team, emails)
	if err != nil {
		return nil, err
	}
	invited, err := s.emails(ctx, `SELECT i.email FROM invitations i WHERE i.team_id = ? AND i.email IN (`+
		db.Placeholders(len(emails))+`) AND `+openInvitation, team, emails, db.Micros(s.db.Now()))
	if err != nil {
		return nil, err
	}
	wrong, added := map[string]error{}, int64(0)
	for _, email := range emails {
		switch normal := names.NormalizeEmail(email); {
		case !names.IsEmail(normal):
			wrong[email] = errEmail
		case members[normal]:
			wrong[email] = errMember
		case !invited[normal]:
			added++
		}
	}
	seats, err := s.Seats(ctx, team)
	if err != nil {
		return nil, err
	}
	p, err := s.Plan(ctx, team)
	if err == nil && len(wrong) == 0 && p.Seats != plan.Unlimited && seats.Total()+added > p.Seats {
		err = errSeats
	}
	return wrong, err
}

// emails returns the set of email addresses that a query selects by team and addresses.
func (s *Service) emails(ctx context.Context, query string, team int64, emails []string, rest ...any) (map[string]bool, error) {
	args := []any{team}
	for _, email := range emails {
		args = append(args, names.NormalizeEmail(email))
	}
	found, err := db.All(ctx, s.db, func(rows *sql.Rows, email *string) error { return rows.Scan(email) }, query,
		append(args, rest...)...)
	if err != nil {
		return nil, fmt.Errorf("checking addresses to invite: %w", err)
	}
	out := map[string]bool{}
	for _, email := range found {
		out[email] = true
	}
	return out, nil
}
