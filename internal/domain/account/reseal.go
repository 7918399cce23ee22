package account

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// errMissingKey says that a sealing key is missing: a node without it would take deliveries that it cannot make.
var errMissingKey = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not hold every key that this database's accounts were sealed with; give the missing one too, after a comma, and take it away once pressroom admin reseal has said that it opens nothing more")

// CheckKeys refuses sealing keys that do not open what the database holds. It looks at one entry of an index for
// each key that sealed something, however many accounts there are.
func (s *Service) CheckKeys(ctx context.Context) error {
	if err := s.checkKeyMarks(ctx); err != nil {
		return err
	}
	return s.checkNewestGrant(ctx)
}

func (s *Service) checkKeyMarks(ctx context.Context) error {
	known, err := grants.KnowsAll(ctx, s.db, s.seal)
	if err == nil && !known {
		err = errMissingKey
	}
	return err
}

// The columns that hold sealed grants.
var (
	grants      = tokencrypt.Column{Table: "social_accounts", Name: "sealed_grant", Row: "id", Owner: "id", Bond: sealContext}
	revocations = tokencrypt.Column{Table: "grant_revocations", Name: "sealed_grant", Row: "id", Owner: "account_id", Bond: sealContext}
)

// checkNewestGrant opens one grant: that a key has the right name does not yet make it the right one.
func (s *Service) checkNewestGrant(ctx context.Context) error {
	var newest int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM social_accounts WHERE length(sealed_grant) > 0`).Scan(&newest)
	if err != nil {
		return fmt.Errorf("looking for connected accounts: %w", err)
	}
	if newest == 0 {
		return nil
	}
	if _, err := s.Grant(ctx, newest); err != nil {
		return fmt.Errorf("%w: %w", errMissingKey, err)
	}
	return nil
}

// ResealResult says what a change of sealing keys has done.
type ResealResult struct {
	Resealed int `json:"resealed"` // grants and other secrets that the first key seals from now on
	Left     int `json:"left"`     // of them, those that another key sealed meanwhile: a node still seals with it
}

// Reseal is ResealAnyway, refused with nothing changed where a node serves that does not have the first key: it could not
// open what that seals. A node that was killed counts as one that serves for a minute.
func (s *Service) Reseal(ctx context.Context) (ResealResult, error) {
	lack, err := s.lacking(ctx)
	switch {
	case err != nil:
		return ResealResult{}, err
	case lack > 0:
		return ResealResult{}, apierr.Refusal(fmt.Sprintf("nothing was sealed anew, as %d of the nodes that serve do not have the first key and could publish nothing then: start every node again with both keys, then run this again; --force seals all the same, where such a node is known to be gone", lack))
	}
	return s.ResealUnchecked(ctx)
}

// ResealUnchecked seals with the first key whatever another one sealed, while nodes run: what somebody changes meanwhile is left
// to the next look.
func (s *Service) ResealUnchecked(ctx context.Context) (ResealResult, error) {
	var out ResealResult
	for _, column := range []tokencrypt.Column{grants, revocations} {
		done, err := column.Reseal(ctx, s.db, s.seal)
		out.Resealed += done
		if err != nil { // what was sealed until then stays so
			return out, errors.Join(err, s.recordResealed(context.WithoutCancel(ctx), out))
		}
	}
	for _, column := range []tokencrypt.Column{grants, revocations} {
		left, err := column.Left(ctx, s.db, s.seal)
		if err != nil {
			return out, err
		}
		out.Left += left
	}
	return out, s.recordResealed(ctx, out)
}

func (s *Service) recordResealed(ctx context.Context, done ResealResult) error {
	if done.Resealed == 0 {
		return nil
	}
	err := s.db.InTx(ctx, "social.resealed", func(ctx context.Context, tx *db.Tx) error {
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.resealed", "", map[string]any{"resealed": done.Resealed, "left": done.Left})
	})
	if err != nil {
		return fmt.Errorf("recording that grants were sealed anew: %w", err)
	}
	return nil
}

// serversBatch is how many accounts Servers reads at once.
const serversBatch = 100

type sealedGrant struct {
	id     int64
	sealed []byte
}

// ConnectedPlatforms are the networks, by name, at which accounts are connected.
func (s *Service) ConnectedPlatforms(ctx context.Context) ([]string, error) {
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
			`SELECT id, sealed_grant FROM social_accounts WHERE platform = ? AND connection_state <> ? AND length(sealed_grant) > 0 AND id > ? ORDER BY id LIMIT ?`, platform, string(Lost), after, serversBatch)
		if err != nil {
			return nil, fmt.Errorf("reading where accounts live: %w", err)
		}
		if len(found) == 0 {
			return out, nil
		}
		for _, one := range found {
			grant, err := s.openGrant(one)
			if err != nil {
				return nil, err
			}
			out[grant.Server]++
		}
		after = found[len(found)-1].id
	}
}

func (s *Service) openGrant(g sealedGrant) (network.Grant, error) {
	var out network.Grant
	plain, err := s.seal.Open(g.sealed, sealContext(g.id))
	if err == nil {
		err = json.Unmarshal(plain, &out)
	}
	if err != nil {
		return out, fmt.Errorf("reading the grant of account %d: %w", g.id, err)
	}
	return out, nil
}
