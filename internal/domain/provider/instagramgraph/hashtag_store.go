package instagramgraph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// HashtagStore stores hashtag IDs and quotas for all nodes.
type HashtagStore interface {
	// ID returns Instagram's ID of a hashtag, or "" if it is not stored.
	ID(ctx context.Context, hashtag string) (string, error)
	// SaveID stores the ID of a hashtag.
	SaveID(ctx context.Context, hashtag, id string) error
	// Reserve reserves a slot for a hashtag at one of the accounts. It prefers an account that has already queried the
	// hashtag. Otherwise, it selects the account with the most free slots, if the account uses fewer than limit slots.
	Reserve(ctx context.Context, hashtag string, accounts []string, limit int) (Slot, error)
	// Release frees a reserved slot that Instagram did not grant, because the account has used its quota.
	Release(ctx context.Context, hashtag, account string) error
}

// Slot is the result of a reservation.
type Slot struct {
	Account string    // empty if no slot is free
	FreeAt  time.Time // when the next slot is freed; zero if Account is set
}

// Instagram limits the number of distinct hashtags that an account can query in a rolling week. A hashtag's week begins
// with its first query.
const (
	maxSlots     = 30
	slotDuration = 7 * 24 * time.Hour
	// backgroundSlots is the limit for background queries. They get a slot only while an account uses fewer slots.
	backgroundSlots = maxSlots / 3
	// lowPrioritySlots is the limit for low-priority queries.
	lowPrioritySlots = backgroundSlots / 2
	// slotMargin is how much longer a slot counts as used here than on Instagram, because a slot is reserved before the
	// request, and clocks differ. A query for the hashtag during that time may take a new slot on Instagram.
	slotMargin = time.Hour
)

// DBHashtagStore stores hashtag IDs and quotas in the database.
type DBHashtagStore struct{ db *db.DB }

// NewDBHashtagStore returns a store that uses d, which must be a migrated database.
func NewDBHashtagStore(d *db.DB) *DBHashtagStore { return &DBHashtagStore{d} }

// ID returns Instagram's ID of a hashtag, or "" if it is not stored.
func (s *DBHashtagStore) ID(ctx context.Context, hashtag string) (string, error) {
	var id string
	err := s.db.QueryRow(ctx, `SELECT id FROM instagram_hashtags WHERE hashtag = ?`, hashtag).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading a hashtag's ID: %w", err)
	}
	return id, nil
}

// SaveID stores Instagram's ID of a hashtag.
func (s *DBHashtagStore) SaveID(ctx context.Context, hashtag, id string) error {
	return s.db.InTx(ctx, "hashtag.id", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO instagram_hashtags (hashtag, id) VALUES (?, ?) ON CONFLICT (hashtag)
			DO UPDATE SET id = excluded.id`, hashtag, id); err != nil {
			return fmt.Errorf("storing a hashtag's ID: %w", err)
		}
		return nil
	})
}

// Reserve reserves a slot for a hashtag. Concurrent reservations on the same account are serialized.
func (s *DBHashtagStore) Reserve(ctx context.Context, hashtag string, accounts []string, limit int) (Slot, error) {
	if len(accounts) == 0 {
		return Slot{}, errors.New("reserving a hashtag slot: no account")
	}
	account, err := s.findAccount(ctx, hashtag, accounts)
	if err != nil || account != "" {
		return Slot{Account: account}, err
	}
	var slot Slot
	err = s.db.InTx(ctx, "hashtag.place", func(ctx context.Context, tx *db.Tx) error {
		if err := s.lockAccounts(ctx, tx, accounts); err != nil {
			return err
		}
		reserved, err := s.reservedSlots(ctx, tx, accounts)
		if err != nil {
			return err
		}
		if slot = chooseSlot(reserved, hashtag, accounts, limit); slot.Account == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `INSERT INTO instagram_hashtag_places (account, hashtag, asked_at) VALUES (?, ?, ?)
			ON CONFLICT (account, hashtag) DO UPDATE SET asked_at = excluded.asked_at`, slot.Account, hashtag,
			db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("reserving a hashtag slot: %w", err)
		}
		return nil
	})
	return slot, err
}

// findAccount returns an account that has queried the hashtag and whose slot for it cannot have expired yet. If there
// is no such account, it returns "".
func (s *DBHashtagStore) findAccount(ctx context.Context, hashtag string, accounts []string) (string, error) {
	var account string
	err := s.db.QueryRow(ctx, `SELECT account FROM instagram_hashtag_places WHERE hashtag = ? AND asked_at > ?
		AND account IN (`+db.Placeholders(len(accounts))+`)
		ORDER BY asked_at DESC, account LIMIT 1`, accountArgs(accounts, hashtag,
		db.Micros(s.db.Now().Add(slotMargin-slotDuration)))...).Scan(&account)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("finding the account of a hashtag: %w", err)
	}
	return account, nil
}

// lockAccounts locks the accounts until the transaction ends, in a fixed order to avoid deadlocks.
func (s *DBHashtagStore) lockAccounts(ctx context.Context, tx *db.Tx, accounts []string) error {
	for _, account := range slices.Sorted(slices.Values(accounts)) {
		if _, err := tx.Exec(ctx, `INSERT INTO instagram_hashtag_accounts (account) VALUES (?) ON CONFLICT DO NOTHING`,
			account); err != nil {
			return fmt.Errorf("inserting a hashtag account: %w", err)
		}
		var locked string
		if err := tx.QueryRow(ctx, `SELECT account FROM instagram_hashtag_accounts WHERE account = ?`+s.db.ForUpdate(),
			account).Scan(&locked); err != nil {
			return fmt.Errorf("locking a hashtag account: %w", err)
		}
	}
	return nil
}

// reservedSlot is one of an account's slots that is used by a hashtag.
type reservedSlot struct {
	account, hashtag string
	freeAt           time.Time // when it is freed
}

// reservedSlots deletes expired slots and returns the accounts' used slots.
func (s *DBHashtagStore) reservedSlots(ctx context.Context, tx *db.Tx, accounts []string) ([]reservedSlot, error) {
	in := ` account IN (` + db.Placeholders(len(accounts)) + `)`
	if _, err := tx.Exec(ctx, `DELETE FROM instagram_hashtag_places WHERE asked_at <= ? AND`+in,
		accountArgs(accounts, db.Micros(tx.Now().Add(-slotDuration-slotMargin)))...); err != nil {
		return nil, fmt.Errorf("deleting expired hashtag slots: %w", err)
	}
	slots, err := db.All(ctx, tx, func(rows *sql.Rows, slot *reservedSlot) error {
		var at int64
		err := rows.Scan(&slot.account, &slot.hashtag, &at)
		slot.freeAt = db.Time(at).Add(slotDuration + slotMargin)
		return err
	}, `SELECT account, hashtag, asked_at FROM instagram_hashtag_places WHERE`+in, accountArgs(accounts)...)
	if err != nil {
		return nil, fmt.Errorf("reading hashtag slots: %w", err)
	}
	return slots, nil
}

// chooseSlot returns the account to use for a hashtag: an account that already has a slot for it, or else the first
// account with the fewest used slots. If all accounts use at least limit slots, chooseSlot returns the time when an
// account will use fewer.
func chooseSlot(reserved []reservedSlot, hashtag string, accounts []string, limit int) Slot {
	freeTimes := map[string][]time.Time{}
	for _, slot := range reserved {
		if slot.hashtag == hashtag {
			return Slot{Account: slot.account}
		}
		freeTimes[slot.account] = append(freeTimes[slot.account], slot.freeAt)
	}
	leastUsed := slices.MinFunc(accounts, func(a, b string) int { return len(freeTimes[a]) - len(freeTimes[b]) })
	if len(freeTimes[leastUsed]) < limit {
		return Slot{Account: leastUsed}
	}
	var soonest time.Time
	for _, account := range accounts {
		slices.SortFunc(freeTimes[account], time.Time.Compare)
		if at := freeTimes[account][len(freeTimes[account])-limit]; soonest.IsZero() || at.Before(soonest) {
			soonest = at
		}
	}
	return Slot{FreeAt: soonest}
}

// Release frees a slot.
func (s *DBHashtagStore) Release(ctx context.Context, hashtag, account string) error {
	return s.db.InTx(ctx, "hashtag.return", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM instagram_hashtag_places WHERE account = ? AND hashtag = ?`, account,
			hashtag); err != nil {
			return fmt.Errorf("releasing a hashtag slot: %w", err)
		}
		return nil
	})
}

// accountArgs appends accounts to query arguments.
func accountArgs(accounts []string, args ...any) []any {
	for _, account := range accounts {
		args = append(args, account)
	}
	return args
}
