package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Booking is what the operator's booking came to.
type Booking struct {
	TransferID int64 `json:"transfer_id"`
	Balance    int64 `json:"balance"`  // credits that the team has left now
	Repeated   bool  `json:"repeated"` // this was booked before; nothing was changed
}

// booking is what the operator asks for.
type booking struct {
	team, credits   int64
	kind            Kind
	moves           movement
	event           string
	reference, note string
}

// Grant gives a team credits, from 1 to 10¹². A repeat with the same reference changes nothing and says so; the
// same reference for anything else is an error, as is a team that does not exist.
func (s *Service) Grant(ctx context.Context, team, credits int64, reference, note string) (Booking, error) {
	return s.record(ctx, booking{team, credits, Granted, granting(credits), "credits.granted", reference, note})
}

// Withdraw takes credits from a team, as Grant gives them. More than is available is an error: what is reserved
// belongs to work under way.
func (s *Service) Withdraw(ctx context.Context, team, credits int64, reference, note string) (Booking, error) {
	return s.record(ctx, booking{team, credits, Withdrawn, withdrawing(credits), "credits.withdrawn", reference, note})
}

func (s *Service) record(ctx context.Context, b booking) (Booking, error) {
	b.reference = strings.TrimSpace(b.reference)
	if err := b.check(); err != nil {
		return Booking{}, err
	}
	var out Booking
	err := s.db.InTx(ctx, "credit."+string(b.kind), func(ctx context.Context, tx *db.Tx) error {
		if err := mustExist(ctx, tx, b.team); err != nil {
			return err
		}
		if err := openWallet(ctx, tx, b.team); err != nil {
			return err
		}
		a, err := s.lock(ctx, tx, b.team)
		if err != nil {
			return err
		}
		out, err = b.earlier(ctx, tx, a)
		if err != nil || out.Repeated {
			return err
		}
		out, err = b.book(ctx, tx, a)
		if err != nil || b.kind != Withdrawn {
			return err
		}
		return s.lowered(ctx, tx, b.team, a.available, b.credits)
	})
	if err != nil {
		return Booking{}, err
	}
	return out, nil
}

// earlier finds what was booked with the same reference.
func (b booking) earlier(ctx context.Context, tx *db.Tx, a accounts) (Booking, error) {
	out := Booking{Balance: a.available, Repeated: true}
	var kind string
	var moved int64
	err := tx.QueryRow(ctx,
		`SELECT t.id, t.kind, e.amount FROM ledger_transfers t
		JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
		WHERE t.team_id = ? AND t.reference = ? AND t.reference <> ''`, b.team, b.reference).
		Scan(&out.TransferID, &kind, &moved)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Booking{}, nil
	case err != nil:
		return Booking{}, fmt.Errorf("looking for an earlier booking of team %d: %w", b.team, err)
	case moved != b.moves.available: // it is above 0 for a grant alone
		return Booking{},
			invalid("this reference stands for the %s of %d credits already (transfer %d); take another one", kind,
				max(moved, -moved), out.TransferID)
	}
	return out, nil
}

func (b booking) book(ctx context.Context, tx *db.Tx, a accounts) (Booking, error) {
	if err := b.against(a); err != nil {
		return Booking{}, err
	}
	id, err := transfer{team: b.team, kind: b.kind, reference: b.reference, note: b.note, moves: b.moves}.book(ctx, tx)
	if err != nil {
		return Booking{}, err
	}
	err = auditlog.Record(ctx, tx, b.team, auditlog.Actor{}, b.event, strconv.FormatInt(id, 10),
		map[string]any{"credits": b.credits})
	return Booking{TransferID: id, Balance: a.available + b.moves.available}, err
}

// Line is a transfer as the operator reads it.
type Line struct {
	ID            int64     `json:"id"`
	Kind          Kind      `json:"kind"`
	Operation     string    `json:"operation,omitempty"` // what was paid for
	ReservationID int64     `json:"reservation_id,omitempty"`
	Reference     string    `json:"reference,omitempty"` // the operator's
	Note          string    `json:"note,omitempty"`
	Change        int64     `json:"change"`  // of the credits available
	Balance       int64     `json:"balance"` // credits available after it
	CreatedAt     time.Time `json:"created_at"`
}

// maxStatement is how many lines a statement has at most.
const maxStatement = 1000

// Statement lists a team's latest transfers, the newest first, from 1 to 1000. A team that does not exist is an error.
func (s *Service) Statement(ctx context.Context, team int64, limit int) ([]Line, error) {
	if limit < 1 || limit > maxStatement {
		return nil, invalid("a statement has from 1 to %d lines", maxStatement)
	}
	if err := mustExist(ctx, s.db, team); err != nil {
		return nil, err
	}
	lines, err := db.AllSized(ctx, s.db, limit, func(rows *sql.Rows, l *Line) error {
		var kind string
		var created int64
		err := rows.Scan(&l.ID, &kind, &l.Operation, &l.ReservationID, &l.Reference, &l.Note, &l.Change, &created,
			&l.Balance)
		l.Kind, l.CreatedAt = Kind(kind), db.Time(created)
		return err
	}, `SELECT t.id, t.kind, COALESCE(r.operation, ''), t.reservation_id, t.reference, t.note, COALESCE(e.amount, 0),
		t.created_at, t.balance
		FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
		LEFT JOIN reservations r ON r.id = t.reservation_id
		WHERE t.team_id = ? ORDER BY t.id DESC LIMIT ?`, team, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the statement of team %d: %w", team, err)
	}
	return lines, nil
}
