// Package erasure deletes memberships, people's accounts, whole teams, unpublished drafts, revoked keys, and data that
// a network asks pressroom to delete. It keeps the ledger and the audit log, without texts and names. The package also
// exports a team's data.
package erasure

import (
	"context"
	"fmt"
	"io"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Options holds the dependencies of a Service.
type Options struct {
	DB *db.DB
	// Refund refunds a reservation for work that is deleted.
	Refund func(ctx context.Context, tx *db.Tx, reservation int64) error
	// Disconnect disconnects an account on behalf of a person and revokes its grant at the network.
	Disconnect func(ctx context.Context, person, team, account int64) error
	// Open opens one of a team's media files. It returns not_found if the file no longer exists.
	Open func(ctx context.Context, team, media int64) (io.ReadCloser, error)
	// MetaSecrets maps platforms to the app secrets of the operator's Meta apps.
	MetaSecrets map[string]string
}

// Service deletes and exports data.
type Service struct{ Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

const pollInterval = time.Second

// Run deletes the data of teams that await deletion, until ctx is canceled. Every worker node runs it. The database
// stores what remains to be deleted, so that other nodes can continue after a crash.
func (s *Service) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if err := s.DeletePendingTeams(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// bumpAccessVersion invalidates the key caches of all nodes.
func bumpAccessVersion(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`); err != nil {
		return fmt.Errorf("incrementing the access version: %w", err)
	}
	return nil
}

// execAll executes statements with the same arguments. It returns the number of rows that the last statement changed.
func execAll(ctx context.Context, tx *db.Tx, args []any, statements ...string) (int64, error) {
	var n int64
	for _, statement := range statements {
		var err error
		if n, err = tx.Exec(ctx, statement, args...); err != nil {
			return 0, fmt.Errorf("deleting: %w", err)
		}
	}
	return n, nil
}
