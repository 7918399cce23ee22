package account

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	heartbeatInterval  = 20 * time.Second
	nodeTimeout        = time.Minute      // time without a heartbeat after which a node no longer counts as running
	nodeRetention      = 24 * time.Hour   // time without a heartbeat after which the row of a node is deleted
	keyWarningInterval = 10 * time.Minute // between two reports of a missing key
)

// RunHeartbeat records a heartbeat with this node's encryption keys every 20 seconds until ctx is canceled. Reseal uses
// the heartbeats to reject keys that running nodes lack. RunHeartbeat passes errors to report, including keys that this
// node lacks.
func (s *Service) RunHeartbeat(ctx context.Context, report func(error)) {
	node := rand.Text()
	var reportedAt time.Time
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		err := s.recordNode(ctx, node)
		if err == nil {
			err = s.checkKeyMarks(ctx)
		}
		// Report a missing key rarely, because the node must be restarted to add it.
		if now := s.db.Now(); err != nil && ctx.Err() == nil && (!errors.Is(err, errMissingKey) ||
			now.Sub(reportedAt) >= keyWarningInterval) {
			report(err)
			reportedAt = now
		}
		select {
		case <-ctx.Done():
			if err := s.removeNode(context.WithoutCancel(ctx), node); err != nil {
				report(err)
			}
			return
		case <-tick.C:
		}
	}
}

func (s *Service) recordNode(ctx context.Context, node string) error {
	keys, err := json.Marshal(s.seal.IDs())
	if err != nil {
		return fmt.Errorf("encoding the keys of this node: %w", err)
	}
	return s.db.InTx(ctx, "social.announce", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		_, err := tx.Exec(ctx, `INSERT INTO nodes (id, sealing_keys, seen_at) VALUES (?, ?, ?) ON CONFLICT (id)
			DO UPDATE SET seen_at = excluded.seen_at`, node, string(keys), db.Micros(now))
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM nodes WHERE seen_at < ?`, db.Micros(now.Add(-nodeRetention)))
		}
		if err != nil {
			return fmt.Errorf("recording that this node runs: %w", err)
		}
		return nil
	})
}

func (s *Service) removeNode(ctx context.Context, node string) error {
	return s.db.InTx(ctx, "social.leave", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM nodes WHERE id = ?`, node); err != nil {
			return fmt.Errorf("recording that this node stops: %w", err)
		}
		return nil
	})
}

// countNodesWithoutKey returns the number of running nodes that lack the first key of this node.
func (s *Service) countNodesWithoutKey(ctx context.Context) (int, error) {
	keyLists, err := db.All(ctx, s.db, func(r *sql.Rows, keys *string) error { return r.Scan(keys) },
		`SELECT sealing_keys FROM nodes WHERE seen_at > ?`, db.Micros(s.db.Now().Add(-nodeTimeout)))
	if err != nil {
		return 0, fmt.Errorf("listing running nodes: %w", err)
	}
	count := 0
	for _, text := range keyLists {
		var keys []string
		if err := json.Unmarshal([]byte(text), &keys); err != nil {
			return 0, fmt.Errorf("decoding the keys of a node: %w", err)
		}
		if !slices.Contains(keys, s.seal.ID()) {
			count++
		}
	}
	return count, nil
}
