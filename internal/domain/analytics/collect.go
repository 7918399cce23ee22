package analytics

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

const (
	lookEvery       = time.Second
	firstPeriod     = 90 * 24 * time.Hour // how far back the first turn goes
	usualPeriod     = 30 * 24 * time.Hour // and every other, as older posts hardly change
	overlap         = 24 * time.Hour      // by which a turn after a long pause goes back behind the last
	maxPostsPerTurn = 500                 // of one turn
	minPause        = 15 * time.Minute    // at least, where a network wants a pause and does not say how long
	minBackoff      = time.Minute         // after a turn that failed, doubling
	maxPause        = 24 * time.Hour      // whatever pause a network wants
)

// Run collects accounts as their turns come, until the context ends.
func (s *Service) Run(ctx context.Context, report func(error)) {
	var turns sync.WaitGroup
	defer turns.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if _, err := s.start(ctx, &turns, report); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.places.freed:
		}
	}
}

// Once takes every turn that is due, and waits for those that this node has taken.
func (s *Service) Once(ctx context.Context) error {
	var mu sync.Mutex
	var failed []error
	for {
		var turns sync.WaitGroup
		found, err := s.start(ctx, &turns, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, err)
		})
		turns.Wait()
		if err != nil || found == 0 || len(failed) > 0 || ctx.Err() != nil {
			return errors.Join(append(failed, err)...)
		}
	}
}

// start has the turns begin that are due and for which there is a place, and tells how many were due.
func (s *Service) start(ctx context.Context, turns *sync.WaitGroup, report func(error)) (int, error) {
	found, err := s.listDue(ctx)
	for _, d := range found {
		if s.places.take(d.platform) {
			turns.Go(func() {
				defer s.places.release(d.platform)
				if err := s.collect(ctx, d.account); err != nil && ctx.Err() == nil {
					report(err)
				}
			})
		}
	}
	return len(found), err
}

// collect takes one account's turn. A fault of one network's code must not end the work for all.
func (s *Service) collect(ctx context.Context, account int64) error {
	defer func() {
		if fault := recover(); fault != nil {
			s.opts.Log.ErrorContext(ctx, "collecting an account panicked", "account", account, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	t, mine, err := s.take(ctx, account)
	if err != nil || !mine {
		return err
	}
	if err := s.runTurn(ctx, t); err != nil && !errors.Is(err, errTurnLost) {
		return fmt.Errorf("collecting account %d: %w", account, err)
	}
	return nil
}

// runTurn goes through a turn. What it has no use for now comes again later, as it may change: a connection that is lost, a
// team that is closed, a plan without analytics, a network that tells nothing.
func (s *Service) runTurn(ctx context.Context, t turn) error {
	g, err := s.accounts.Grant(ctx, t.account)
	if err != nil {
		return err
	}
	n, err := s.accounts.Network(t.platform)
	if err != nil && !errors.Is(err, account.ErrNoNetwork) {
		return err
	}
	from, ok := n.(network.Collector)
	if !ok || g.Lost || t.closed || t.kept == 0 {
		return s.write(ctx, "insight.rest", t, func(context.Context, *db.Tx, *turn) (time.Time, error) { return s.nextTurn(), nil })
	}
	since := t.since(s.db.Now())
	told, err := s.fetch(ctx, t, from, g, since)
	if err != nil {
		return s.handleFailure(ctx, t, g, told, err)
	}
	err = s.write(ctx, "insight.collected", t, func(ctx context.Context, tx *db.Tx, t *turn) (time.Time, error) {
		return s.nextTurn(), t.store(ctx, tx, told, since)
	})
	if err != nil || s.opts.Posts == nil {
		return err
	}
	if err := s.opts.Posts(ctx, t.platform, told.Posts); err != nil {
		return fmt.Errorf("telling of what was collected: %w", err)
	}
	return nil
}

// nextTurn is when the turn after one that went well comes, spread so that accounts do not all come at once.
func (s *Service) nextTurn() time.Time {
	tenth := s.opts.Every / 10
	return s.db.Now().Add(s.opts.Every - tenth + rand.N(2*tenth+1)) //nolint:gosec // nobody gains by guessing it
}

// since is from when on a turn asks for posts.
func (t *turn) since(now time.Time) time.Time {
	first := later(now.Add(-firstPeriod), firstDay(now, t.zone, t.kept))
	if t.collected.IsZero() {
		return first
	}
	usual := now.Add(-usualPeriod)
	if behind := t.collected.Add(-overlap); behind.Before(usual) {
		usual = behind
	}
	return later(first, usual)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetch asks the network, and once more where the grant has to be renewed first. What came before an error is told too.
func (s *Service) fetch(ctx context.Context, t turn, from network.Collector, g account.Grant, since time.Time) (network.Collected, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTurn)
	defer cancel()
	told, err := from.Collect(ctx, g.Grant, since, maxPostsPerTurn)
	s.reportCall(ctx, t, err)
	if classOf(err) != network.AuthRefresh {
		return told, err
	}
	fresh, err := s.accounts.Refresh(ctx, t.account, g)
	switch {
	case err != nil:
		return told, err
	case fresh.Lost:
		return told, &network.Error{Class: network.AuthDead, Err: errors.New("the connection was lost meanwhile")}
	}
	told, err = from.Collect(ctx, fresh.Grant, since, maxPostsPerTurn)
	s.reportCall(ctx, t, err)
	return told, err
}

func (s *Service) reportCall(ctx context.Context, t turn, err error) {
	if s.opts.Called == nil || ctx.Err() != nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "failed"
		if class := classOf(err); class != "" {
			result = string(class)
		}
	}
	s.opts.Called(t.platform, "collect", result)
}

// classOf is the class of a network's error, empty for any other.
func classOf(err error) network.Class {
	if said, ok := errors.AsType[*network.Error](err); ok {
		return said.Class
	}
	return ""
}

// handleFailure keeps what was told before an error and decides when it is tried again. A grant that is worth nothing any more
// loses the connection.
func (s *Service) handleFailure(ctx context.Context, t turn, g account.Grant, told network.Collected, cause error) error {
	if ctx.Err() != nil { // we are stopping: somebody else goes on
		return s.write(context.WithoutCancel(ctx), "insight.left", t, func(_ context.Context, tx *db.Tx, _ *turn) (time.Time, error) { return tx.Now(), nil })
	}
	dead := classOf(cause) == network.AuthDead
	if !dead {
		s.opts.Log.InfoContext(ctx, "an account was not collected", "account", t.account, "platform", t.platform, "error", cause)
	}
	return s.write(ctx, "insight.failed", t, func(ctx context.Context, tx *db.Tx, t *turn) (time.Time, error) {
		t.fails++
		t.failedBy = string(classOf(cause))
		if err := t.storePosts(ctx, tx, told.Posts); err != nil || !dead {
			return s.retryAt(*t, cause), err
		}
		return s.nextTurn(), s.accounts.MarkLost(ctx, t.account, g)
	})
}

// retryAt is when a turn that failed is tried again.
func (s *Service) retryAt(t turn, cause error) time.Time {
	now := s.db.Now()
	pause := min(s.opts.Every, minBackoff<<min(t.fails-1, 10))
	said, ok := errors.AsType[*network.Error](cause)
	if ok && (said.Class == network.Rate || said.Class == network.Quota) {
		pause = max(pause, minPause)
		if !said.After.IsZero() {
			pause = min(maxPause, max(minBackoff, said.After.Sub(now)))
		}
	}
	return now.Add(pause + rand.N(minBackoff)) //nolint:gosec // nobody gains by guessing it
}

// write ends a turn with what comes of it, in one transaction. In every turn what is too old is forgotten.
func (s *Service) write(ctx context.Context, name string, t turn, what func(context.Context, *db.Tx, *turn) (time.Time, error)) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		t := t // a transaction may be run again
		next, err := what(ctx, tx, &t)
		if err != nil {
			return err
		}
		if err := t.deleteExpired(ctx, tx); err != nil {
			return err
		}
		return t.end(ctx, tx, next)
	})
}
