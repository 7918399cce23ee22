package restoreguard

import (
	"context"
	"fmt"
	"sync/atomic"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Failover notices on each new connection to PostgreSQL, before anything is done by it, that a replica has taken over:
// a server that goes on has no need for new connections, and one that took over has none of the old.
type Failover struct {
	trust bool
	seen  atomic.Int64 // the timeline
}

// NewFailover makes what looks at connections. With trust a replica that takes over has lost nothing.
func NewFailover(trust bool) *Failover { return &Failover{trust: trust} }

// Connected looks at a new connection, and refuses one to a replica: kept until the replica takes over, it would write
// without having been looked at. What cannot be asked, for want of a right, is left to Look.
func (f *Failover) Connected(
	_ context.Context, exec func(query string, args ...any) error, ask func(query string, dest ...any) error,
) error {
	now, err := timeline(ask)
	if err != nil {
		return replica(ask)
	}
	was := f.seen.Load()
	if was == 0 || was == now || f.trust {
		f.seen.Store(now)
		return nil
	}
	// One statement: the connection is nobody's yet.
	err = exec(`WITH held AS (UPDATE hold SET held_at = (extract(epoch
		FROM clock_timestamp()) * 1000000)::bigint, why = 'failed_over',
			since = COALESCE((SELECT at FROM events ORDER BY id DESC LIMIT 1), 0)
		WHERE id = 1 AND (held_at = 0 OR why = 'by_hand') RETURNING held_at),
		told AS (INSERT INTO events (id, team_id, at, kind, subject, detail) SELECT ` + auditlog.NextIDExpr("held_at") +
		`, 0, held_at, 'service.held', '', '{"why":"failed_over"}' FROM held)
		UPDATE access_version SET version = version + 1 WHERE id = 1 AND EXISTS (SELECT 1 FROM held)`)
	if err != nil {
		return fmt.Errorf("holding the database, as a replica took over: %w", err)
	}
	f.seen.Store(now)
	return nil
}

// replica is an error where a server does not tell its timeline because it is a replica.
func replica(ask func(query string, dest ...any) error) error {
	var is bool
	if err := ask(`SELECT pg_is_in_recovery()`, &is); err != nil || !is {
		return nil //nolint:nilerr // it does not answer: whoever uses the connection finds out
	}
	return db.ErrReplica
}
