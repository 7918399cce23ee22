package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// AdjustmentResult is the result of Grant or Withdraw.
type AdjustmentResult struct {
	TransferID int64 `json:"transfer_id"`
	Balance    int64 `json:"balance"`  // available credits
	Repeated   bool  `json:"repeated"` // the reference was already used; nothing changed
}

// adjustment is a request by the operator to grant or withdraw credits.
type adjustment struct {
	team, credits   int64
	kind            Kind
	movement        movement
	event           string // name of the event in the audit log
	reference, note string
}

// Grant gives a team from 1 to 10¹² credits. If it is called again with the same reference, it changes nothing and
// returns the first adjustment. It returns an error if the reference was used for a different adjustment.
func (s *Service) Grant(ctx context.Context, team, credits int64, reference, note string) (AdjustmentResult, error) {
	return s.record(ctx, adjustment{team, credits, KindGrant, grantMovement(credits), "credits.granted", reference, note})
}

// Withdraw takes available credits from a team. Reserved credits cannot be withdrawn. Repeated calls are handled as in
// Grant.
func (s *Service) Withdraw(ctx context.Context, team, credits int64, reference, note string) (AdjustmentResult, error) {
	return s.record(ctx, adjustment{team, credits, KindWithdraw, withdrawMovement(credits), "credits.withdrawn",
		reference, note})
}

// record validates an adjustment and books it, unless it was booked before.
func (s *Service) record(ctx context.Context, adj adjustment) (AdjustmentResult, error) {
	adj.reference = strings.TrimSpace(adj.reference)
	if err := adj.validate(); err != nil {
		return AdjustmentResult{}, err
	}
	var out AdjustmentResult
	err := s.db.InTx(ctx, "credit."+string(adj.kind), func(ctx context.Context, tx *db.Tx) error {
		if err := checkTeam(ctx, tx, adj.team); err != nil {
			return err
		}
		if err := ensureWallet(ctx, tx, adj.team); err != nil {
			return err
		}
		wallet, err := s.lockWallet(ctx, tx, adj.team)
		if err != nil {
			return err
		}
		out, err = adj.findEarlier(ctx, tx, wallet)
		if err != nil || out.Repeated {
			return err
		}
		out, err = adj.book(ctx, tx, wallet)
		if err != nil || adj.kind != KindWithdraw {
			return err
		}
		return s.notifyBalanceLowered(ctx, tx, adj.team, wallet.available, adj.credits)
	})
	if err != nil {
		return AdjustmentResult{}, err
	}
	return out, nil
}

// findEarlier returns the earlier adjustment with the same reference, or the zero AdjustmentResult if there is none. It
// returns an error if the earlier adjustment differs.
func (adj adjustment) findEarlier(ctx context.Context, tx *db.Tx, wallet balances) (AdjustmentResult, error) {
	out := AdjustmentResult{Balance: wallet.available, Repeated: true}
	var kind string
	var amount int64
	err := tx.QueryRow(ctx,
		`SELECT t.id, t.kind, e.amount FROM ledger_transfers t
		JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
		WHERE t.team_id = ? AND t.reference = ? AND t.reference <> ''`, adj.team, adj.reference).
		Scan(&out.TransferID, &kind, &amount)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return AdjustmentResult{}, nil
	case err != nil:
		return AdjustmentResult{}, fmt.Errorf("reading the earlier booking of team %d: %w", adj.team, err)
	case amount != adj.movement.available: // positive only for grants
		return AdjustmentResult{},
			operatorErrorf("this reference is already used for the %s of %d credits (transfer %d); use another",
				kind, max(amount, -amount), out.TransferID)
	}
	return out, nil
}

// book adds the transfer to the ledger and an entry to the audit log.
func (adj adjustment) book(ctx context.Context, tx *db.Tx, wallet balances) (AdjustmentResult, error) {
	if err := adj.checkAccounts(wallet); err != nil {
		return AdjustmentResult{}, err
	}
	id, err := transfer{team: adj.team, kind: adj.kind, reference: adj.reference, note: adj.note, movement: adj.movement}.book(ctx, tx)
	if err != nil {
		return AdjustmentResult{}, err
	}
	err = auditlog.Record(ctx, tx, adj.team, auditlog.Actor{}, adj.event, strconv.FormatInt(id, 10),
		map[string]any{"credits": adj.credits})
	return AdjustmentResult{TransferID: id, Balance: wallet.available + adj.movement.available}, err
}

// Line is a transfer in the operator's statement.
type Line struct {
	ID            int64     `json:"id"`
	Kind          Kind      `json:"kind"`
	Operation     string    `json:"operation,omitempty"` // the paid operation
	ReservationID int64     `json:"reservation_id,omitempty"`
	Reference     string    `json:"reference,omitempty"` // set by the operator
	Note          string    `json:"note,omitempty"`
	Change        int64     `json:"change"`  // change in available credits
	Balance       int64     `json:"balance"` // available credits afterwards
	CreatedAt     time.Time `json:"created_at"`
}

// maxStatement is the maximum number of lines in a statement.
const maxStatement = 1000

// Statement returns up to limit of a team's latest transfers, newest first. limit must be from 1 to 1000.
func (s *Service) Statement(ctx context.Context, team int64, limit int) ([]Line, error) {
	if limit < 1 || limit > maxStatement {
		return nil, operatorErrorf("the number of lines must be from 1 to %d", maxStatement)
	}
	if err := checkTeam(ctx, s.db, team); err != nil {
		return nil, err
	}
	lines, err := db.AllSized(ctx, s.db, limit, func(rows *sql.Rows, l *Line) error {
		var kind string
		var createdAt int64
		err := rows.Scan(&l.ID, &kind, &l.Operation, &l.ReservationID, &l.Reference, &l.Note, &l.Change, &createdAt,
			&l.Balance)
		l.Kind, l.CreatedAt = Kind(kind), db.Time(createdAt)
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
