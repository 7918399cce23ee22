package account

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// errMissingKey reports that this node lacks an encryption key. It would claim deliveries that it cannot send.
var errMissingKey = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) lacks a key that encrypted accounts in this " +
	"database; add the missing key after a comma, and remove it after pressroom admin reseal reports that it is no " +
	"longer used")

// CheckKeys returns an error if this node's keys cannot decrypt all grants in the database. It compares the IDs of the
// keys, which needs one index entry for each key, and decrypts only the newest grant.
func (s *Service) CheckKeys(ctx context.Context) error {
	if err := s.checkKeyMarks(ctx); err != nil {
		return err
	}
	return s.checkNewestGrant(ctx)
}

// checkKeyMarks returns an error if a grant is encrypted with a key whose ID this node does not know.
func (s *Service) checkKeyMarks(ctx context.Context) error {
	knowsAll, err := grants.KnowsAll(ctx, s.db, s.seal)
	if err == nil && !knowsAll {
		err = errMissingKey
	}
	return err
}

// Columns with encrypted grants.
var (
	grants = tokencrypt.Column{Table: "social_accounts", Name: "sealed_grant", RowColumn: "id", Owner: "id",
		AssociatedData: sealContext}
	revocations = tokencrypt.Column{Table: "grant_revocations", Name: "sealed_grant", RowColumn: "id", Owner: "account_id",
		AssociatedData: sealContext}
)

// checkNewestGrant decrypts the newest grant, because a key with the right ID may still be the wrong key.
func (s *Service) checkNewestGrant(ctx context.Context) error {
	var newestID int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM social_accounts
		WHERE length(sealed_grant) > 0`).Scan(&newestID)
	if err != nil {
		return fmt.Errorf("reading the newest grant: %w", err)
	}
	if newestID == 0 {
		return nil
	}
	if _, err := s.Grant(ctx, newestID); err != nil {
		return fmt.Errorf("%w: %w", errMissingKey, err)
	}
	return nil
}

// ResealResult is the result of re-encrypting grants.
type ResealResult struct {
	ResealedCount int `json:"resealed"` // number of grants that were re-encrypted with the first key
	Left          int `json:"left"`     // number of grants that another node has meanwhile encrypted with another key
}

// Reseal is like ResealUnchecked, but returns an error if a running node lacks the first key, because that node could
// not decrypt the result. A node that was killed counts as running for a minute.
func (s *Service) Reseal(ctx context.Context) (ResealResult, error) {
	nodeCount, err := s.countNodesWithoutKey(ctx)
	switch {
	case err != nil:
		return ResealResult{}, err
	case nodeCount > 0:
		return ResealResult{}, apierr.OperatorError(fmt.Sprintf("nothing was re-encrypted: %d of the running nodes lack the "+
			"first key and could no longer publish; restart every node with both keys and run this again, or use "+
			"--force if these nodes are gone", nodeCount))
	}
	return s.ResealUnchecked(ctx)
}

// ResealUnchecked re-encrypts all grants that are not encrypted with the first key. Nodes can keep running. It skips
// grants that change concurrently.
func (s *Service) ResealUnchecked(ctx context.Context) (ResealResult, error) {
	var out ResealResult
	for _, column := range []tokencrypt.Column{grants, revocations} {
		count, err := column.Reseal(ctx, s.db, s.seal)
		out.ResealedCount += count
		if err != nil { // Record the grants that were already re-encrypted.
			return out, errors.Join(err, s.recordResealed(context.WithoutCancel(ctx), out))
		}
	}
	for _, column := range []tokencrypt.Column{grants, revocations} {
		remaining, err := column.CountOutdated(ctx, s.db, s.seal)
		if err != nil {
			return out, err
		}
		out.Left += remaining
	}
	return out, s.recordResealed(ctx, out)
}

func (s *Service) recordResealed(ctx context.Context, result ResealResult) error {
	if result.ResealedCount == 0 {
		return nil
	}
	err := s.db.InTx(ctx, "social.resealed", func(ctx context.Context, tx *db.Tx) error {
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.resealed", "",
			map[string]any{"resealed": result.ResealedCount, "left": result.Left})
	})
	if err != nil {
		return fmt.Errorf("recording the re-encryption of grants: %w", err)
	}
	return nil
}

// serversBatch is the number of accounts that Servers reads per query.
const serversBatch = 100

type sealedGrant struct {
	id     int64
	sealed []byte
}

// ConnectedPlatforms returns the platforms that have connected accounts in any team, sorted.
func (s *Service) ConnectedPlatforms(ctx context.Context) ([]string, error) {
	out, err := db.All(ctx, s.db, func(r *sql.Rows, platform *string) error { return r.Scan(platform) },
		`SELECT DISTINCT platform FROM social_accounts WHERE connection_state <> ? ORDER BY platform`, string(Lost))
	if err != nil {
		return nil, fmt.Errorf("listing networks with accounts: %w", err)
	}
	return out, nil
}

// Servers returns the number of a network's connected accounts on each of its servers, across all teams.
func (s *Service) Servers(ctx context.Context, platform string) (map[string]int, error) {
	out := map[string]int{}
	for lastID := int64(0); ; {
		sealedGrants, err := db.All(ctx, s.db, func(r *sql.Rows, g *sealedGrant) error { return r.Scan(&g.id, &g.sealed) },
			`SELECT id, sealed_grant FROM social_accounts WHERE platform = ? AND connection_state <> ?
				AND length(sealed_grant) > 0 AND id > ? ORDER BY id LIMIT ?`, platform, string(Lost), lastID,
			serversBatch)
		if err != nil {
			return nil, fmt.Errorf("listing the servers of accounts: %w", err)
		}
		if len(sealedGrants) == 0 {
			return out, nil
		}
		for _, sealed := range sealedGrants {
			grant, err := s.openGrant(sealed)
			if err != nil {
				return nil, err
			}
			out[grant.Server]++
		}
		lastID = sealedGrants[len(sealedGrants)-1].id
	}
}

func (s *Service) openGrant(g sealedGrant) (network.Grant, error) {
	var out network.Grant
	plaintext, err := s.seal.Open(g.sealed, sealContext(g.id))
	if err == nil {
		err = json.Unmarshal(plaintext, &out)
	}
	if err != nil {
		return out, fmt.Errorf("reading the grant of account %d: %w", g.id, err)
	}
	return out, nil
}
