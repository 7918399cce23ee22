package social

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom/internal/db"
	"pressroom/internal/event"
	"pressroom/internal/fault"
	"pressroom/internal/network"
)

// errSealing says that a sealing key is missing: a node without it would take deliveries that it cannot make.
var errSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not hold every key that this database's accounts were sealed with; give the missing one too, after a comma, and take it away once pressroom admin reseal has said that it opens nothing more")

// CheckSealing refuses sealing keys that do not open what the database holds. It looks at one entry of an index for
// each key that sealed something, however many accounts there are.
func (s *Service) CheckSealing(ctx context.Context) error {
	if err := s.checkMarks(ctx); err != nil {
		return err
	}
	return s.checkNewest(ctx)
}

func (s *Service) checkMarks(ctx context.Context) error {
	last := []byte{}
	for {
		var next []byte
		err := s.db.QueryRow(ctx, nextMark, last).Scan(&next)
		if err != nil {
			return fmt.Errorf("looking which keys sealed the connected accounts: %w", err)
		}
		switch {
		case len(next) == 0:
			return nil
		case !s.seal.Knows(next):
			return errSealing
		}
		last = next
	}
}

// nextMark is the next entry of the index: a walk from key to key, past all the accounts of each.
const nextMark = `SELECT COALESCE((SELECT substr(sealed_grant, 1, 5) FROM social_accounts WHERE substr(sealed_grant, 1, 5) > ? ORDER BY substr(sealed_grant, 1, 5) LIMIT 1), '')`

// checkNewest opens one grant: that a key has the right name does not yet make it the right one.
func (s *Service) checkNewest(ctx context.Context) error {
	var newest int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM social_accounts WHERE length(sealed_grant) > 0`).Scan(&newest)
	if err != nil {
		return fmt.Errorf("looking for connected accounts: %w", err)
	}
	if newest == 0 {
		return nil
	}
	if _, err := s.Grant(ctx, newest); err != nil {
		return fmt.Errorf("%w: %w", errSealing, err)
	}
	return nil
}

// Resealed says what a change of sealing keys has done.
type Resealed struct {
	Resealed int `json:"resealed"` // grants and other secrets that the first key seals from now on
	Left     int `json:"left"`     // of them, those that another key sealed meanwhile: a node still seals with it
}

// resealBatch is how many grants are looked for at once.
const resealBatch = 100

// Reseal is ResealAnyway, refused with nothing changed where a node serves that does not have the first key: it could not
// open what that seals. A node that was killed counts as one that serves for a minute.
func (s *Service) Reseal(ctx context.Context) (Resealed, error) {
	lack, err := s.lacking(ctx)
	switch {
	case err != nil:
		return Resealed{}, err
	case lack > 0:
		return Resealed{}, fault.Refusal(fmt.Sprintf("nothing was sealed anew, as %d of the nodes that serve do not have the first key and could publish nothing then: start every node again with both keys, then run this again; --force seals all the same, where such a node is known to be gone", lack))
	}
	return s.ResealAnyway(ctx)
}

// ResealAnyway seals with the first key whatever another one sealed, while nodes run: what somebody changes meanwhile is left
// to the next look.
func (s *Service) ResealAnyway(ctx context.Context) (Resealed, error) {
	var out Resealed
	for _, at := range []sealedAt{ofAccounts, ofRevocations} {
		if err := s.resealAll(ctx, at, &out); err != nil { // what was sealed until then stays so
			return out, errors.Join(err, s.recordResealed(context.WithoutCancel(ctx), out))
		}
	}
	for _, at := range []sealedAt{ofAccounts, ofRevocations} {
		found, err := s.sealedByOthers(ctx, at, 0)
		if err != nil {
			return out, err
		}
		out.Left += len(found)
	}
	return out, s.recordResealed(ctx, out)
}

func (s *Service) recordResealed(ctx context.Context, done Resealed) error {
	if done.Resealed == 0 {
		return nil
	}
	err := s.db.Write(ctx, "social.resealed", func(ctx context.Context, tx *db.Tx) error {
		return event.Record(ctx, tx, 0, event.Actor{}, "service.resealed", "", map[string]any{"resealed": done.Resealed, "left": done.Left})
	})
	if err != nil {
		return fmt.Errorf("recording that grants were sealed anew: %w", err)
	}
	return nil
}

// sealedAt is a table that holds sealed grants, and where the account's id stands in it.
type sealedAt struct{ table, account string }

var (
	ofAccounts    = sealedAt{"social_accounts", "id"}
	ofRevocations = sealedAt{"grant_revocations", "account_id"}
)

type sealedGrant struct {
	id, account int64
	sealed      []byte
}

func (s *Service) resealAll(ctx context.Context, at sealedAt, out *Resealed) error {
	after := int64(0)
	for {
		found, err := s.sealedByOthers(ctx, at, after)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, g := range found {
			done, err := s.reseal(ctx, at, g)
			if err != nil {
				return fmt.Errorf("sealing the grant of account %d anew: %w", g.account, err)
			}
			if done {
				out.Resealed++
			}
		}
		after = found[len(found)-1].id
	}
}

// Connected are the networks, by name, at which accounts are connected.
func (s *Service) Connected(ctx context.Context) ([]string, error) {
	out, err := db.All(ctx, s.db, func(r *sql.Rows, platform *string) error { return r.Scan(platform) },
		`SELECT DISTINCT platform FROM social_accounts WHERE connection_state <> ? ORDER BY platform`, string(Lost))
	if err != nil {
		return nil, fmt.Errorf("reading which networks hold accounts: %w", err)
	}
	return out, nil
}

// Servers are the servers at which the accounts of a network live, with how many each has. Disconnected accounts, and
// those whose connection is lost, are left out.
func (s *Service) Servers(ctx context.Context, platform string) (map[string]int, error) {
	out := map[string]int{}
	for after := int64(0); ; {
		found, err := db.All(ctx, s.db, func(r *sql.Rows, g *sealedGrant) error { return r.Scan(&g.id, &g.sealed) },
			`SELECT id, sealed_grant FROM social_accounts WHERE platform = ? AND connection_state <> ? AND length(sealed_grant) > 0 AND id > ? ORDER BY id LIMIT ?`, platform, string(Lost), after, resealBatch)
		if err != nil {
			return nil, fmt.Errorf("reading where accounts live: %w", err)
		}
		if len(found) == 0 {
			return out, nil
		}
		for _, one := range found {
			grant, err := s.opened(one)
			if err != nil {
				return nil, err
			}
			out[grant.Server]++
		}
		after = found[len(found)-1].id
	}
}

func (s *Service) opened(g sealedGrant) (network.Grant, error) {
	var out network.Grant
	plain, err := s.seal.Open(g.sealed, bond(g.id))
	if err == nil {
		err = json.Unmarshal(plain, &out)
	}
	if err != nil {
		return out, fmt.Errorf("reading the grant of account %d: %w", g.id, err)
	}
	return out, nil
}

// sealedByOthers reads some grants that the first key did not seal, those of the lowest ids above one.
func (s *Service) sealedByOthers(ctx context.Context, at sealedAt, after int64) ([]sealedGrant, error) {
	mark := s.seal.Mark()
	found, err := db.All(ctx, s.db, func(r *sql.Rows, g *sealedGrant) error { return r.Scan(&g.id, &g.account, &g.sealed) },
		`SELECT id, `+at.account+`, sealed_grant FROM `+at.table+` WHERE length(sealed_grant) > 0 AND id > ?
			AND (substr(sealed_grant, 1, 5) < ? OR substr(sealed_grant, 1, 5) > ?) ORDER BY id LIMIT ?`, after, mark, mark, resealBatch)
	if err != nil {
		return nil, fmt.Errorf("looking for grants that another key sealed: %w", err)
	}
	return found, nil
}

// reseal seals one grant anew, unless it was changed since it was read.
func (s *Service) reseal(ctx context.Context, at sealedAt, g sealedGrant) (bool, error) {
	plain, err := s.seal.Open(g.sealed, bond(g.account))
	if err != nil {
		return false, err
	}
	sealed, err := s.seal.Seal(plain, bond(g.account))
	if err != nil {
		return false, err
	}
	done := false
	err = s.db.Write(ctx, "social.reseal", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE `+at.table+` SET sealed_grant = ? WHERE id = ? AND sealed_grant = ?`, sealed, g.id, g.sealed)
		done = n == 1
		return err
	})
	return done, err
}
