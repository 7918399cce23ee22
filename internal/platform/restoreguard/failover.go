package restoreguard

import (
	"context"
	"fmt"
	"sync/atomic"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Failover detects on each new connection to PostgreSQL, before it is used, that a replica has taken over. Connections
// to the old server do not survive a failover, so checking new ones suffices.
type Failover struct {
	trust bool
	seen  atomic.Int64 // timeline
}

// NewFailover returns a check of connections. With trust, a failover is assumed to lose nothing.
func NewFailover(trust bool) *Failover { return &Failover{trust: trust} }

// CheckConnection holds the database if the new connection is to a server that took over. It returns an error for a
// replica, because the connection would be usable unchecked once the replica takes over. If the role lacks the right to
// read the timeline, only Check detects the failover.
func (f *Failover) CheckConnection(
	_ context.Context, exec func(query string, args ...any) error, ask func(query string, dest ...any) error,
) error {
	now, err := readTimeline(ask)
	if err != nil {
		return checkReplica(ask)
	}
	was := f.seen.Load()
	if was == 0 || was == now || f.trust {
		f.seen.Store(now)
		return nil
	}
	// One statement, because the connection is not in the pool yet.
	err = exec(`WITH held AS (UPDATE hold SET held_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
			why = 'failed_over', since = COALESCE((SELECT at FROM events ORDER BY id DESC LIMIT 1), 0)
		WHERE id = 1 AND (held_at = 0 OR why = 'by_hand') RETURNING held_at),
		told AS (INSERT INTO events (id, team_id, at, kind, subject, detail)
			SELECT ` + auditlog.NextIDExpr("held_at") + `, 0, held_at, 'service.held', '', '{"why":"failed_over"}' FROM held)
		UPDATE access_version SET version = version + 1 WHERE id = 1 AND EXISTS (SELECT 1 FROM held)`)
	if err != nil {
		return fmt.Errorf("holding the database after a failover: %w", err)
	}
	f.seen.Store(now)
	return nil
}

// checkReplica returns an error if the server is a replica, which does not report its timeline.
func checkReplica(ask func(query string, dest ...any) error) error {
	var is bool
	if err := ask(`SELECT pg_is_in_recovery()`, &is); err != nil || !is {
		return nil //nolint:nilerr // the connection is broken, which its user will notice
	}
	return db.ErrReplica
}
