package instagramgraph

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/platform/db"
)

// Shelf keeps what is known of hashtags for all nodes.
type Shelf interface {
	// ID is what Instagram knows a hashtag by; empty where that was not kept.
	ID(ctx context.Context, hashtag string) (string, error)
	// KeepID keeps it for ever.
	KeepID(ctx context.Context, hashtag, id string) error
	// Place takes a place for a hashtag at one of the accounts: at one that has asked for it already, else at the one with
	// the most places left, as long as fewer than most of its places are taken.
	Place(ctx context.Context, hashtag string, accounts []string, most int) (Place, error)
	// GiveBack gives a place back that Instagram did not grant.
	GiveBack(ctx context.Context, hashtag, account string) error
}

// Place is where a hashtag can be asked for.
type Place struct {
	Account string    // empty where none has a place left, or none of those that may be taken
	Free    time.Time // when the next of these gets free, where none has one left
}

// Instagram's limit: so many different hashtags for an account in so long, counted from when each was first asked for.
const (
	places = 30
	held   = 7 * 24 * time.Hour
	// idlePlaces is how many places of an account may be taken when one is taken that nobody waits for. The rest stays with
	// those who do; whose the taken ones are does not matter.
	idlePlaces = places / 3
	// sparePlaces is the same for one that no team asked for.
	sparePlaces = idlePlaces / 2
	// slack is how much longer a place is held by us than by Instagram, as it is taken before Instagram is asked, and
	// clocks differ. What is asked for in it again may be a new place to Instagram.
	slack = time.Hour
)

// Shelves keeps what is known of hashtags in the database.
type Shelves struct{ db *db.DB }

// NewShelves makes one on a migrated database.
func NewShelves(d *db.DB) *Shelves { return &Shelves{d} }

// ID is what Instagram knows a hashtag by; empty where that was not kept.
func (s *Shelves) ID(ctx context.Context, hashtag string) (string, error) {
	var id string
	err := s.db.QueryRow(ctx, `SELECT id FROM instagram_hashtags WHERE hashtag = ?`, hashtag).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("looking for a hashtag's id: %w", err)
	}
	return id, nil
}

// KeepID keeps what Instagram knows a hashtag by.
func (s *Shelves) KeepID(ctx context.Context, hashtag, id string) error {
	return s.db.InTx(ctx, "hashtag.id", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO instagram_hashtags (hashtag, id) VALUES (?, ?) ON CONFLICT (hashtag) DO UPDATE SET id = excluded.id`, hashtag, id); err != nil {
			return fmt.Errorf("keeping a hashtag's id: %w", err)
		}
		return nil
	})
}

// Place takes a place for a hashtag. Nodes that take places at an account at once do so one after the other.
func (s *Shelves) Place(ctx context.Context, hashtag string, accounts []string, most int) (Place, error) {
	if len(accounts) == 0 {
		return Place{}, errors.New("taking a place for a hashtag: there is no account")
	}
	account, err := s.asked(ctx, hashtag, accounts)
	if err != nil || account != "" {
		return Place{Account: account}, err
	}
	var place Place
	err = s.db.InTx(ctx, "hashtag.place", func(ctx context.Context, tx *db.Tx) error {
		if err := s.lock(ctx, tx, accounts); err != nil {
			return err
		}
		taken, err := s.taken(ctx, tx, accounts)
		if err != nil {
			return err
		}
		if place = choose(taken, hashtag, accounts, most); place.Account == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `INSERT INTO instagram_hashtag_places (account, hashtag, asked_at) VALUES (?, ?, ?)
			ON CONFLICT (account, hashtag) DO UPDATE SET asked_at = excluded.asked_at`, place.Account, hashtag, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("taking a place for a hashtag: %w", err)
		}
		return nil
	})
	return place, err
}

// asked finds an account that has asked for a hashtag and surely still may again.
func (s *Shelves) asked(ctx context.Context, hashtag string, accounts []string) (string, error) {
	var account string
	err := s.db.QueryRow(ctx, `SELECT account FROM instagram_hashtag_places WHERE hashtag = ? AND asked_at > ? AND account IN (`+db.Marks(len(accounts))+`)
		ORDER BY asked_at DESC, account LIMIT 1`, among(accounts, hashtag, db.Micros(s.db.Now().Add(slack-held)))...).Scan(&account)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("looking who asked for a hashtag: %w", err)
	}
	return account, nil
}

// lock lets nobody else take a place at the accounts until the transaction ends. Everybody locks in the same order.
func (s *Shelves) lock(ctx context.Context, tx *db.Tx, accounts []string) error {
	for _, account := range slices.Sorted(slices.Values(accounts)) {
		if _, err := tx.Exec(ctx, `INSERT INTO instagram_hashtag_accounts (account) VALUES (?) ON CONFLICT DO NOTHING`, account); err != nil {
			return fmt.Errorf("noting an account that asks for hashtags: %w", err)
		}
		var locked string
		if err := tx.QueryRow(ctx, `SELECT account FROM instagram_hashtag_accounts WHERE account = ?`+s.db.ForUpdate(), account).Scan(&locked); err != nil {
			return fmt.Errorf("locking an account that asks for hashtags: %w", err)
		}
	}
	return nil
}

// seat is a place that is taken.
type seat struct {
	account, hashtag string
	free             time.Time // when it gets free
}

// taken are the places that are taken at the accounts. Those that got free are forgotten.
func (s *Shelves) taken(ctx context.Context, tx *db.Tx, accounts []string) ([]seat, error) {
	in := ` account IN (` + db.Marks(len(accounts)) + `)`
	if _, err := tx.Exec(ctx, `DELETE FROM instagram_hashtag_places WHERE asked_at <= ? AND`+in, among(accounts, db.Micros(tx.Now().Add(-held-slack)))...); err != nil {
		return nil, fmt.Errorf("forgetting old hashtags: %w", err)
	}
	seats, err := db.All(ctx, tx, func(rows *sql.Rows, one *seat) error {
		var at int64
		err := rows.Scan(&one.account, &one.hashtag, &at)
		one.free = db.Time(at).Add(held + slack)
		return err
	}, `SELECT account, hashtag, asked_at FROM instagram_hashtag_places WHERE`+in, among(accounts)...)
	if err != nil {
		return nil, fmt.Errorf("reading which hashtags were asked for: %w", err)
	}
	return seats, nil
}

// choose finds a place for a hashtag: at an account that has it, else at the one with the fewest, the first of equals;
// else when so many places get free at one of them that fewer than most are taken.
func choose(taken []seat, hashtag string, accounts []string, most int) Place {
	free := map[string][]time.Time{}
	for _, one := range taken {
		if one.hashtag == hashtag {
			return Place{Account: one.account}
		}
		free[one.account] = append(free[one.account], one.free)
	}
	best := slices.MinFunc(accounts, func(a, b string) int { return len(free[a]) - len(free[b]) })
	if len(free[best]) < most {
		return Place{Account: best}
	}
	var soonest time.Time
	for _, account := range accounts {
		slices.SortFunc(free[account], time.Time.Compare)
		if at := free[account][len(free[account])-most]; soonest.IsZero() || at.Before(soonest) {
			soonest = at
		}
	}
	return Place{Free: soonest}
}

// GiveBack gives a place back.
func (s *Shelves) GiveBack(ctx context.Context, hashtag, account string) error {
	return s.db.InTx(ctx, "hashtag.return", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM instagram_hashtag_places WHERE account = ? AND hashtag = ?`, account, hashtag); err != nil {
			return fmt.Errorf("giving a hashtag's place back: %w", err)
		}
		return nil
	})
}

// among are the arguments of a query that ends with a list of accounts.
func among(accounts []string, before ...any) []any {
	for _, account := range accounts {
		before = append(before, account)
	}
	return before
}
