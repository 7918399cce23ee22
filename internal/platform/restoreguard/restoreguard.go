// Package restoreguard keeps a database that was restored or copied from publishing and charging by itself until the
// operator has looked at what went out meanwhile.
//
// The database remembers where it lives. Where it finds itself elsewhere, or older than it was, it is held: reads and
// drafts go on, and what would publish or charge waits. The condition Free stands in the statements that begin such
// work, so that it holds on every node from the transaction on that sets it.
package restoreguard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Free is an SQL condition that is true while nothing is held.
const Free = `NOT EXISTS (SELECT 1 FROM hold WHERE held_at > 0)`

// Why is what a database is held for.
type Why string

// The reasons.
const (
	Restored   Why = "restored"    // from a backup
	Copied     Why = "copied"      // it finds itself where it did not live before
	WentBack   Why = "went_back"   // it is older than it was
	FailedOver Why = "failed_over" // PostgreSQL goes on from a replica, which may lack the last commits
	ByHand     Why = "by_hand"
)

// Text says a reason to the operator.
func (w Why) Text() string {
	switch w {
	case Restored:
		return "this database was restored from a backup"
	case Copied:
		return "this database lives elsewhere than before: it is a copy, or was moved"
	case WentBack:
		return "this database is older than it was: somebody put an earlier copy in its place"
	case FailedOver:
		return "PostgreSQL goes on from a replica, which may lack the last commits"
	case ByHand:
		return "the operator holds it"
	}
	return "it is held"
}

// State is whether a database is held.
type State struct {
	HeldAt time.Time `json:"held_at,omitzero"` // zero where it is not
	Why    Why       `json:"why,omitempty"`
	Reason string    `json:"reason,omitempty"` // the operator's own words
	// Since is from when on something may have gone out that this database does not know: the moment of the backup, or
	// of the last event that a copy holds.
	Since time.Time `json:"since,omitzero"`
}

// Held tells whether it is.
func (s State) Held() bool { return !s.HeldAt.IsZero() }

// Options say where a database lives.
type Options struct {
	File         string // of SQLite; empty for PostgreSQL
	TrustReplica bool   // a failover of PostgreSQL loses nothing: go on after it
	Beside       bool   // a command beside the service: whether a replica took over is for those to judge that serve
	Log          *slog.Logger
}

// Service holds and lifts.
type Service struct {
	db   *db.DB
	opts Options
	told atomic.Pointer[State] // how it stood when the log was told last
}

// New makes the service.
func New(d *db.DB, opts Options) *Service { return &Service{db: d, opts: opts} }

// Read tells whether a database is held.
func Read(ctx context.Context, q db.Querier) (State, error) {
	var s State
	var held, since int64
	err := q.QueryRow(ctx, `SELECT held_at, why, reason, since FROM hold WHERE id = 1`).
		Scan(&held, &s.Why, &s.Reason, &since)
	if err != nil {
		return s, fmt.Errorf("reading whether the database is held: %w", err)
	}
	s.HeldAt, s.Since = db.Time(held), db.Time(since)
	return s, nil
}

// Still tells whether a database is held as it was when that was read, and keeps it so until the transaction ends:
// nobody lifts the hold, nor holds for another reason, meanwhile.
func Still(ctx context.Context, tx *db.Tx, was State) error {
	if _, err := tx.Exec(ctx, `UPDATE hold SET held_at = held_at WHERE id = 1`); err != nil {
		return fmt.Errorf("keeping the hold: %w", err)
	}
	now, err := Read(ctx, tx)
	switch {
	case err != nil:
		return err
	case !now.Held():
		return apierr.OperatorError("nothing is held any more: somebody else lifted the hold meanwhile")
	case now.Why != was.Why || !now.HeldAt.Equal(was.HeldAt):
		return apierr.OperatorError("the database is held anew: " + now.Why.Text() +
			"; what was found out before does not hold for that, so begin again")
	}
	return nil
}

// State tells whether the database is held.
func (s *Service) State(ctx context.Context) (State, error) { return Read(ctx, s.db) }

// maxReason bounds the operator's words.
const maxReason = 200 // characters

// Hold holds the database by hand. Holding again changes the words alone, and never what it was held for.
func (s *Service) Hold(ctx context.Context, reason string) (State, error) {
	return s.say(ctx, reason, func(ctx context.Context, tx *db.Tx) error {
		_, err := s.set(ctx, tx, ByHand, tx.Now())
		return err
	})
}

// HoldCopy holds a database that the operator knows to be a copy, where nothing in it tells: what it does not know may
// have gone out since its last sign of life.
func (s *Service) HoldCopy(ctx context.Context, reason string) (State, error) {
	return s.say(ctx, reason, func(ctx context.Context, tx *db.Tx) error {
		_, err := s.set(ctx, tx, Copied, lastSign(ctx, tx))
		return err
	})
}

// say holds in some way, and notes the operator's words.
func (s *Service) say(ctx context.Context, reason string, hold func(context.Context, *db.Tx) error) (State, error) {
	if utf8.RuneCountInString(reason) > maxReason || !utf8.ValidString(reason) || containsControl(reason) {
		return State{}, apierr.OperatorError("the reason has to be one line of at most 200 characters")
	}
	var out State
	err := s.db.InTx(ctx, "hold.by_hand", func(ctx context.Context, tx *db.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE hold SET reason = ? WHERE id = 1`, reason); err != nil {
			return fmt.Errorf("noting why the database is held: %w", err)
		}
		var err error
		out, err = Read(ctx, tx)
		return err
	})
	return out, err
}

func containsControl(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}

// Begin holds a database that was just filled from a backup of a moment, by a function that runs a statement in the
// transaction that fills it. Where it lives is found out when it is first opened.
func Begin(exec func(query string, args ...any) error, postgres bool, now, since time.Time) error {
	if err := auditlog.AdvanceIDs(exec, postgres, now); err != nil {
		return err
	}
	err := exec(`UPDATE hold SET place = '', starts = 0, held_at = ?, why = ?, reason = '', since = ? WHERE id = 1`,
		db.Micros(now), string(Restored), db.Micros(since))
	if err != nil {
		return fmt.Errorf("holding what was restored: %w", err)
	}
	err = exec(`INSERT INTO events (team_id, at, kind, subject, detail)
		VALUES (0, ?, 'service.held', '', '{"why":"restored"}')`, db.Micros(now))
	if err != nil {
		return fmt.Errorf("recording that what was restored is held: %w", err)
	}
	return nil
}

// takes is an SQL condition on the row of hold that is true where a reason, its one argument, may hold the database:
// where nothing is held, or by hand alone. What was held by hand is known without asking the networks, so that a hold
// by hand may not hide a reason for asking them.
const takes = `(held_at = 0 OR why = 'by_hand' AND ? <> 'by_hand')`

// set holds the database unless it is held already for a reason that takes as much care; it tells whether it was not.
func (s *Service) set(ctx context.Context, tx *db.Tx, why Why, since time.Time) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE hold SET held_at = ?, why = ?, since = ? WHERE id = 1 AND `+takes,
		db.Micros(tx.Now()), string(why), db.Micros(since), string(why))
	if err != nil {
		return false, fmt.Errorf("holding the database: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	if err := accessChanged(ctx, tx); err != nil {
		return false, err
	}
	if why != ByHand {
		exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
		if err := auditlog.AdvanceIDs(exec, s.db.Postgres(), tx.Now()); err != nil {
			return false, err
		}
	}
	return true, auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.held", "", map[string]any{"why": why})
}

// accessChanged has every node forget what it remembers of keys: a hold takes capabilities from all of them.
func accessChanged(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`); err != nil {
		return fmt.Errorf("noting a change of access: %w", err)
	}
	return nil
}

// errNotHeld says that there is nothing to lift.
var errNotHeld = apierr.OperatorError("nothing is held")

// NotHeld tells whether an error says that there is nothing to lift.
func NotHeld(err error) bool { return errors.Is(err, errNotHeld) }

// Lift ends the hold in the caller's transaction. The detail goes into its event.
func Lift(ctx context.Context, tx *db.Tx, detail map[string]any) error {
	n, err := tx.Exec(ctx, `UPDATE hold SET held_at = 0, why = '', reason = '', since = 0 WHERE id = 1 AND held_at > 0`)
	if err != nil {
		return fmt.Errorf("lifting the hold: %w", err)
	}
	if n == 0 {
		return errNotHeld
	}
	if err := accessChanged(ctx, tx); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "service.resumed", "", detail)
}

const lookEvery = 500 * time.Millisecond

// While runs some work as long as nothing is held, until the context ends: the context it gets ends with either. The
// work is begun again once the hold is lifted.
func (s *Service) While(ctx context.Context, report func(error), work func(context.Context)) {
	tick := time.NewTicker(lookEvery)
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
			report(err) // all stays as it is
		case err == nil && state.Held() && stop != nil:
			stop()
			stop = nil
		case err == nil && !state.Held() && stop == nil:
			stop = start(ctx, work)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// start runs some work in the background; the function that it gives ends it and waits for that.
func start(ctx context.Context, work func(context.Context)) func() {
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
