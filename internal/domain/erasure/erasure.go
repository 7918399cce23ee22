// Package erasure is how data goes: a person leaves a team, a person's account, a whole team with all that it has, a
// draft that never went out, a key that was revoked; what a network asks to be deleted; and the file of a team's data
// that can be taken along before. The ledger and the record of events stay, only by numbers: they hold no texts and
// no names.
package erasure

import (
	"context"
	"fmt"
	"io"
	"time"

	"pressroom/internal/platform/db"
)

// Options say what leaving stands on.
type Options struct {
	DB *db.DB
	// Refund gives back what is set aside for work that nobody is going to do any longer.
	Refund func(ctx context.Context, tx *db.Tx, reservation int64) error
	// Disconnect takes an account from its team in a person's name and tells the network.
	Disconnect func(ctx context.Context, person, team, account int64) error
	// Open opens the bytes of a team's media item; not_found where they cannot be had any longer.
	Open func(ctx context.Context, team, media int64) (io.ReadCloser, error)
	// MetaSecrets are the secrets of the operator's apps at Meta by their platforms.
	MetaSecrets map[string]string
}

// Service lets data go.
type Service struct{ Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

const runEvery = time.Second

// Run works on what is to be deleted until the context ends. Every working node runs one; they may run side by side.
// What a node that died left undone goes on with another: what is left is found in the database itself.
func (s *Service) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(runEvery)
	defer tick.Stop()
	for {
		if err := s.Work(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// bumpAccessVersion makes every node discard its cache of keys.
func bumpAccessVersion(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`); err != nil {
		return fmt.Errorf("noting a change of access: %w", err)
	}
	return nil
}

// all runs statements that take the same arguments, and tells how many rows the last one changed.
func all(ctx context.Context, tx *db.Tx, args []any, statements ...string) (int64, error) {
	var n int64
	for _, statement := range statements {
		var err error
		if n, err = tx.Exec(ctx, statement, args...); err != nil {
			return 0, fmt.Errorf("deleting: %w", err)
		}
	}
	return n, nil
}
