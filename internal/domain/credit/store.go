package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/platform/db"
)

// dailyUsageQuery adds up a team's usage on one day. It uses the index reservations_of_day. For an open reservation,
// the column charged holds the reserved amount. The query also selects the balance, so that the balance and the sums
// are consistent.
const dailyUsageQuery = `SELECT
	CAST(COALESCE(SUM(charged) FILTER (WHERE state = 'settled'), 0) AS BIGINT),
	CAST(COALESCE(SUM(charged) FILTER (WHERE state = 'settled' AND key_id > 0), 0) AS BIGINT),
	CAST(COALESCE(SUM(charged) FILTER (WHERE state = 'open' AND key_id = ?), 0) AS BIGINT),
	CAST(COALESCE(SUM(charged) FILTER (WHERE state = 'open'), 0) AS BIGINT),
	CAST(COALESCE(SUM(charged) FILTER (WHERE key_id = ?), 0) AS BIGINT),
	CAST(COALESCE(SUM(charged) FILTER (WHERE key_id > 0), 0) AS BIGINT),
	COALESCE((SELECT available FROM wallets WHERE team_id = ?), 0),
	CAST(COALESCE((SELECT SUM(amount) FROM credit_holds
		WHERE team_id = ? AND created_at >= ? AND created_at < ? AND released_at = 0 AND key_id = ?), 0) AS BIGINT),
	CAST(COALESCE((SELECT SUM(amount) FROM credit_holds
		WHERE team_id = ? AND created_at >= ? AND created_at < ? AND released_at = 0), 0) AS BIGINT)
	FROM reservations WHERE team_id = ? AND created_at >= ? AND created_at < ?`

// spentKeyQuery selects the reservations of an idempotency key. The condition key_id > 0 lets it use the partial index
// of reservations made by keys and assistants.
const spentKeyQuery = `SELECT id FROM reservations
		WHERE key_id = ? AND key_id > 0 AND idempotency_key = ? AND request_hash = ?`

// balances are the balances of two of a team's accounts.
type balances struct{ granted, available int64 }

// lockWallet locks the team's wallet until the transaction ends, and returns its balances. The first grant creates the
// wallet. Until then, the balances are 0.
func (s *Service) lockWallet(ctx context.Context, tx *db.Tx, team int64) (balances, error) {
	var wallet balances
	err := tx.QueryRow(ctx, `SELECT granted, available FROM wallets WHERE team_id = ?`+s.db.ForUpdate(), team).
		Scan(&wallet.granted, &wallet.available)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return wallet, fmt.Errorf("locking the wallet of team %d: %w", team, err)
	}
	return wallet, nil
}

// ensureWallet creates the team's wallet if it does not exist.
func ensureWallet(ctx context.Context, tx *db.Tx, team int64) error {
	if _, err := tx.Exec(ctx, `INSERT INTO wallets (team_id) VALUES (?) ON CONFLICT (team_id) DO NOTHING`,
		team); err != nil {
		return fmt.Errorf("opening the wallet of team %d: %w", team, err)
	}
	return nil
}

// checkTeam returns an error for the operator if the team does not exist.
func checkTeam(ctx context.Context, q db.Querier, team int64) error {
	var id int64
	err := q.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`, team).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return operatorErrorf("team %d does not exist", team)
	}
	if err != nil {
		return fmt.Errorf("reading team %d: %w", team, err)
	}
	return nil
}

// transfer is one change of a team's accounts.
type transfer struct {
	team        int64
	kind        Kind
	reservation int64 // 0 for an operator's adjustment
	reference   string
	note        string
	movement    movement
}

// book writes a transfer to the ledger and the locked wallet, and returns its ID.
func (t transfer) book(ctx context.Context, tx *db.Tx) (int64, error) {
	balance, err := t.move(ctx, tx)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRow(ctx,
		`INSERT INTO ledger_transfers (team_id, kind, reservation_id, reference, note, balance, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		t.team, string(t.kind), t.reservation, t.reference, t.note, balance, db.Micros(tx.Now())).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("adding a transfer of team %d: %w", t.team, err)
	}
	entries := t.movement.entries()
	args := make([]any, 0, 3*len(entries))
	for _, e := range entries {
		args = append(args, id, e.account, e.amount)
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(entries)), ", ")
	if _, err := tx.Exec(ctx, `INSERT INTO ledger_entries (transfer_id, account, amount) VALUES `+values,
		args...); err != nil {
		return 0, fmt.Errorf("adding the entries of transfer %d: %w", id, err)
	}
	return id, nil
}

// move adds the movement to the wallet and returns the credits available afterwards.
func (t transfer) move(ctx context.Context, tx *db.Tx) (int64, error) {
	var balance int64
	err := tx.QueryRow(ctx,
		`UPDATE wallets SET granted = granted + ?, available = available + ?, reserved = reserved + ?, spent = spent
		+ ? WHERE team_id = ? RETURNING available`,
		t.movement.granted, t.movement.available, t.movement.reserved, t.movement.spent, t.team).Scan(&balance)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("team %d has no wallet", t.team)
	}
	if err != nil {
		return 0, fmt.Errorf("changing the wallet of team %d: %w", t.team, err)
	}
	return balance, nil
}
