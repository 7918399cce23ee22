// Package restoreguard puts a restored or copied database on hold. Nothing is published or charged automatically until
// the operator has reviewed what was published in the meantime.
//
// The database records its own location. It is put on hold if its location has changed, or if its content is older than
// before. During a hold, people can read and write drafts, but all work that publishes or charges waits. The SQL
// statements that start such work contain the condition NotHeld, so a hold takes effect on all nodes when its
// transaction commits.
package restoreguard

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// NotHeld is an SQL condition that is true while the database is not on hold.
const NotHeld = `NOT EXISTS (SELECT 1 FROM hold WHERE held_at > 0)`

// Cause is the reason for a hold.
type Cause string

// The causes.
const (
	Restored   Cause = "restored"    // restored from a backup
	Copied     Cause = "copied"      // the database is at another location
	RolledBack Cause = "went_back"   // the database is older than before
	FailedOver Cause = "failed_over" // a PostgreSQL replica took over, and the last commits may be missing
	Manual     Cause = "by_hand"
)

// Text returns a description of the cause for operators.
func (c Cause) Text() string {
	switch c {
	case Restored:
		return "this database was restored from a backup"
	case Copied:
		return "this database was copied or moved to another place"
	case RolledBack:
		return "an earlier copy replaced the database file"
	case FailedOver:
		return "a PostgreSQL replica took over, which may lack the last commits"
	case Manual:
		return "the operator put it on hold"
	}
	return "the database is on hold"
}

// State is the state of a hold.
type State struct {
	HeldAt time.Time `json:"held_at,omitzero"` // zero if the database is not on hold
	Cause  Cause     `json:"why,omitempty"`
	Reason string    `json:"reason,omitempty"` // the operator's text
	// Since is the time after which posts may have been published that are missing from this database. It is the time
	// of the backup or, for a copy, the time of the last event before the copy was made.
	Since time.Time `json:"since,omitzero"`
}

// IsHeld reports whether the database is on hold.
func (s State) IsHeld() bool { return !s.HeldAt.IsZero() }

// Options configure a Service.
type Options struct {
	File         string // path of the SQLite file; empty for PostgreSQL
	TrustReplica bool   // whether to assume that failovers lose no data; they then do not cause a hold
	BesideServer bool   // whether a command runs beside the service and leaves the detection of failovers to it
	Log          *slog.Logger
}

// Service puts a database on hold and lifts the hold.
type Service struct {
	db         *db.DB
	opts       Options
	lastLogged atomic.Pointer[State] // the state that was last logged
}

// New returns a service.
func New(d *db.DB, opts Options) *Service { return &Service{db: d, opts: opts} }

// Read returns the state of the hold.
func Read(ctx context.Context, q db.Querier) (State, error) {
	var s State
	var heldAt, since int64
	err := q.QueryRow(ctx, `SELECT held_at, why, reason, since FROM hold WHERE id = 1`).
		Scan(&heldAt, &s.Cause, &s.Reason, &since)
	if err != nil {
		return s, fmt.Errorf("reading the hold: %w", err)
	}
	s.HeldAt, s.Since = db.Time(heldAt), db.Time(since)
	return s, nil
}

// CheckUnchanged locks the hold until the transaction ends. It returns an error if the hold is no longer the one in
// previous.
func CheckUnchanged(ctx context.Context, tx *db.Tx, previous State) error {
	if _, err := tx.Exec(ctx, `UPDATE hold SET held_at = held_at WHERE id = 1`); err != nil {
		return fmt.Errorf("locking the hold: %w", err)
	}
	now, err := Read(ctx, tx)
	switch {
	case err != nil:
		return err
	case !now.IsHeld():
		return apierr.OperatorError("the hold was lifted in the meantime")
	case now.Cause != previous.Cause || !now.HeldAt.Equal(previous.HeldAt):
		return apierr.OperatorError("there is a new hold: " + now.Cause.Text() + "; start the review again")
	}
	return nil
}

// State returns the state of the hold.
func (s *Service) State(ctx context.Context) (State, error) { return Read(ctx, s.db) }

const maxReason = 200 // characters

// Hold puts the database on hold manually. If the database is already on hold, Hold only changes the operator's text.
func (s *Service) Hold(ctx context.Context, reason string) (State, error) {
	return s.holdManually(ctx, reason, func(ctx context.Context, tx *db.Tx) error {
		_, err := s.setHold(ctx, tx, Manual, tx.Now())
		return err
	})
}

// HoldCopy puts a copied database on hold at the operator's request, as Check does for a copy that it detects.
func (s *Service) HoldCopy(ctx context.Context, reason string) (State, error) {
	return s.holdManually(ctx, reason, func(ctx context.Context, tx *db.Tx) error {
		_, err := s.setHold(ctx, tx, Copied, lastEventAt(ctx, tx))
		return err
	})
}

// holdManually runs hold and saves the operator's text.
func (s *Service) holdManually(ctx context.Context, reason string, hold func(context.Context, *db.Tx) error) (State, error) {
	if utf8.RuneCountInString(reason) > maxReason || !utf8.ValidString(reason) ||
		strings.ContainsFunc(reason, unicode.IsControl) {
		return State{}, apierr.OperatorError("the reason must be one line of at most 200 characters")
	}
	var out State
	err := s.db.InTx(ctx, "hold.by_hand", func(ctx context.Context, tx *db.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE hold SET reason = ? WHERE id = 1`, reason); err != nil {
			return fmt.Errorf("saving the reason for the hold: %w", err)
		}
		var err error
		out, err = Read(ctx, tx)
		return err
	})
	return out, err
}

// HoldRestored puts a database on hold that was just restored. since is the time of the backup. exec runs a statement
// in the restore's transaction. The first call of Check records the database's location.
func HoldRestored(exec func(query string, args ...any) error, postgres bool, now, since time.Time) error {
	if err := auditlog.AdvanceIDs(exec, postgres, now); err != nil {
		return err
	}
	err := exec(`UPDATE hold SET place = '', starts = 0, held_at = ?, why = ?, reason = '', since = ? WHERE id = 1`,
		db.Micros(now), string(Restored), db.Micros(since))
	if err != nil {
		return fmt.Errorf("putting the restored database on hold: %w", err)
	}
	err = exec(`INSERT INTO events (team_id, at, kind, subject, detail)
		VALUES (0, ?, 'service.held', '', '{"why":"restored"}')`, db.Micros(now))
	if err != nil {
		return fmt.Errorf("recording the hold of the restored database: %w", err)
	}
	return nil
}

// mayHold is an SQL condition on the row of the table hold. Its argument is a cause. It is true if a hold with this
// cause may begin. Other causes may replace a manual hold, because lifting a manual hold does not check the networks.
const mayHold = `(held_at = 0 OR why = 'by_hand' AND ? <> 'by_hand')`

// setHold puts the database on hold, and reports whether this began a new hold.
func (s *Service) setHold(ctx context.Context, tx *db.Tx, cause Cause, since time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE hold SET held_at = ?, why = ?, since = ? WHERE id = 1 AND `+mayHold,
		db.Micros(tx.Now()), string(cause), db.Micros(since), string(cause))
	if err != nil {
		return false, fmt.Errorf("putting the database on hold: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	if err := bumpAccessVersion(ctx, tx); err != nil {
		return false, err
	}
	if cause != Manual {
		exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
		if err := auditlog.AdvanceIDs(exec, s.db.Postgres(), tx.Now()); err != nil {
			return false, err
		}
	}
	return true, auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.held", "", map[string]any{"why": cause})
}

// bumpAccessVersion makes every node reload its cached keys, because a hold limits what all keys can do.
func bumpAccessVersion(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`); err != nil {
		return fmt.Errorf("increasing the access version: %w", err)
	}
	return nil
}

var errNotHeld = apierr.OperatorError("nothing is on hold")

// Lift ends the hold in the caller's transaction. It records detail in the event.
func Lift(ctx context.Context, tx *db.Tx, detail map[string]any) error {
	n, err := tx.Exec(ctx, `UPDATE hold SET held_at = 0, why = '', reason = '', since = 0 WHERE id = 1 AND held_at > 0`)
	if err != nil {
		return fmt.Errorf("lifting the hold: %w", err)
	}
	if n == 0 {
		return errNotHeld
	}
	if err := bumpAccessVersion(ctx, tx); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.resumed", "", detail)
}

const pollInterval = 500 * time.Millisecond

// RunUnlessHeld runs work until ctx ends. A hold cancels the context of work. When the hold is lifted, RunUnlessHeld
// calls work again.
func (s *Service) RunUnlessHeld(ctx context.Context, report func(error), work func(context.Context)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	for {
		state, err := s.State(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			report(err)
		case err == nil && state.IsHeld() && stop != nil:
			stop()
			stop = nil
		case err == nil && !state.IsHeld() && stop == nil:
			stop = startWork(ctx, work)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// startWork runs work in the background. It returns a function that cancels work and waits until it has ended.
func startWork(ctx context.Context, work func(context.Context)) func() {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
