package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// waitingLife is how long an accepted invitation waits for confirmation.
const waitingLife = 30 * 24 * time.Hour

// Waiting is a person who accepted an invitation but becomes a member only when an owner or admin confirms, because the
// person's email address is not confirmed.
type Waiting struct {
	Invitation  int64
	Name        string
	Email       string
	Role        access.Role
	Since       time.Time
	AccountMade time.Time
}

var errWaiting = apierr.BadState("waiting",
	"An owner or admin of this team must confirm that it is you. You join the team when they do, or when you confirm "+
		"your email address under Your account.")

// wait notes that a person accepted an invitation and has to be confirmed.
func (s *Service) wait(ctx context.Context, tx *db.Tx, o *Offer, person int64) error {
	ends := tx.Now().Add(waitingLife)
	_, err := tx.Exec(ctx, `UPDATE invitations SET waiting_person = ?, waiting_since = ?, expires_at = ? WHERE id = ?`,
		person, db.Micros(tx.Now()), db.Micros(ends), o.ID)
	if err != nil {
		return fmt.Errorf("recording a person who waits for confirmation: %w", err)
	}
	o.Waiting = true
	return auditlog.Record(ctx, tx, o.TeamID, auditlog.Actor{PersonID: person}, "invitation.waiting", id(o.ID),
		map[string]any{"role": o.Role})
}

// Waiting lists the people who wait for confirmation in a team, longest first.
func (s *Service) Waiting(ctx context.Context, team int64) ([]Waiting, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, w *Waiting) error {
		var since, made int64
		err := rows.Scan(&w.Invitation, &w.Name, &w.Email, &w.Role, &since, &made)
		w.Since, w.AccountMade = db.Time(since), db.Time(made)
		return err
	}, `SELECT i.id, p.name, p.email, i.role, i.waiting_since, p.created_at FROM invitations i
		JOIN people p ON p.id = i.waiting_person
		WHERE i.team_id = ? AND i.waiting_person > 0 AND p.held_at = 0 AND `+isOpen+` ORDER BY i.waiting_since, i.id`,
		team, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("listing people who wait for confirmation: %w", err)
	}
	return out, nil
}

// ConfirmMember confirms a waiting person, for the owner and admins.
func (h Admin) ConfirmMember(ctx context.Context, invitation int64) error {
	return h.change(ctx, "member.confirmed", managers, func(ctx context.Context, tx *db.Tx) (done, error) {
		o, person, err := h.waiting(ctx, tx, invitation)
		if err != nil {
			return done{}, err
		}
		return done{subject: person, detail: map[string]any{"role": o.Role}}, h.s.letIn(ctx, tx, o, person)
	})
}

// DeclineMember ends the invitation of a person who waits to be confirmed, for the owner and admins.
func (h Admin) DeclineMember(ctx context.Context, invitation int64) error {
	return h.change(ctx, "member.declined", managers, func(ctx context.Context, tx *db.Tx) (done, error) {
		_, person, err := h.waiting(ctx, tx, invitation)
		if err != nil {
			return done{}, err
		}
		if _, err := tx.Exec(ctx, `UPDATE invitations SET revoked_at = ? WHERE id = ?`, db.Micros(tx.Now()),
			invitation); err != nil {
			return done{}, fmt.Errorf("declining a waiting person: %w", err)
		}
		return done{subject: person}, nil
	})
}

// waiting returns an open invitation of the team and the person who waits for confirmation. It returns not_found if
// nobody does.
func (h Admin) waiting(ctx context.Context, tx *db.Tx, invitation int64) (Offer, int64, error) {
	o, person := Offer{TeamID: h.team}, int64(0)
	err := tx.QueryRow(ctx,
		`SELECT i.id, i.email, i.role, i.waiting_person FROM invitations i
		WHERE i.id = ? AND i.team_id = ? AND i.waiting_person > 0 AND `+isOpen,
		invitation, h.team, db.Micros(tx.Now())).Scan(&o.ID, &o.Email, &o.Role, &person)
	if errors.Is(err, sql.ErrNoRows) {
		return o, 0, apierr.Missing()
	}
	if err != nil {
		return o, 0, fmt.Errorf("looking up a waiting person: %w", err)
	}
	return o, person, nil
}

// endWaiting confirms a person everywhere, because the address is now confirmed. A team whose plan has no free seat
// confirms later.
func (s *Service) endWaiting(ctx context.Context, tx *db.Tx, person int64) error {
	offers, err := db.All(ctx, tx, func(rows *sql.Rows, o *Offer) error {
		return rows.Scan(&o.ID, &o.Email, &o.Role, &o.TeamID)
	},
		`SELECT i.id, i.email, i.role, i.team_id FROM invitations i JOIN teams t ON t.id = i.team_id
		WHERE i.waiting_person = ? AND t.closed_at = 0 AND `+isOpen+` ORDER BY i.team_id, i.id`, person,
		db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("reading where a person waits: %w", err)
	}
	for _, o := range offers {
		if _, err := s.lockOwner(ctx, tx, o.TeamID); err != nil {
			return err
		}
		if err := s.letIn(ctx, tx, o, person); err != nil && !apierr.Is(err, apierr.PlanLimitReached) {
			return err
		}
	}
	return nil
}
