package restoreguard

import (
	"context"
	"fmt"
	"sync/atomic"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// FailoverCheck checks each new connection to PostgreSQL for a failover, that is, whether a replica was promoted. It is
// enough to check new connections, because connections to the old server do not survive a failover.
type FailoverCheck struct {
	trust        bool
	lastTimeline atomic.Int64 // timeline of the last checked connection
}

// NewFailoverCheck returns a check for new connections. If trust is true, failovers are assumed to lose no data.
func NewFailoverCheck(trust bool) *FailoverCheck { return &FailoverCheck{trust: trust} }

// CheckConnection puts the database on hold if the new connection leads to a promoted replica. It returns an error if
// the server is a replica that was not promoted. Otherwise, the connection would remain in use after a promotion
// without another check. If the database role lacks the privilege to read the timeline, CheckConnection does not detect
// failovers.
func (f *FailoverCheck) CheckConnection(
	_ context.Context, exec func(query string, args ...any) error, queryRow func(query string, dest ...any) error,
) error {
	current, err := readTimeline(queryRow)
	if err != nil {
		return checkReplica(queryRow)
	}
	last := f.lastTimeline.Load()
	if last == 0 || last == current || f.trust {
		f.lastTimeline.Store(current)
		return nil
	}
	// Use a single statement, because the connection is not in the pool yet.
	err = exec(`WITH held AS (UPDATE hold SET held_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
			why = 'failed_over', since = COALESCE((SELECT at FROM events ORDER BY id DESC LIMIT 1), 0)
		WHERE id = 1 AND (held_at = 0 OR why = 'by_hand') RETURNING held_at),
		logged AS (INSERT INTO events (id, team_id, at, kind, subject, detail)
			SELECT ` + auditlog.NextIDExpr("held_at") + `, 0, held_at, 'service.held', '', '{"why":"failed_over"}' FROM held)
		UPDATE access_version SET version = version + 1 WHERE id = 1 AND EXISTS (SELECT 1 FROM held)`)
	if err != nil {
		return fmt.Errorf("putting the database on hold after a failover: %w", err)
	}
	f.lastTimeline.Store(current)
	return nil
}

// checkReplica returns an error if the server is a replica. Replicas do not report their timeline.
func checkReplica(queryRow func(query string, dest ...any) error) error {
	var inRecovery bool
	if err := queryRow(`SELECT pg_is_in_recovery()`, &inRecovery); err != nil || !inRecovery {
		return nil //nolint:nilerr // if the connection is broken, its user gets an error
	}
	return db.ErrReplica
}
