package analytics

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	pollInterval   = time.Second
	firstRunPeriod = 90 * 24 * time.Hour // how far back the first run reads
	laterRunPeriod = 30 * 24 * time.Hour // how far back later runs read; older posts rarely change
	overlap        = 24 * time.Hour      // overlap with the last run after a long pause
	maxPostsPerRun = 500                 // maximum number of posts that a run reads
	minPause       = 15 * time.Minute    // minimum pause if a network requests one without a duration
	minBackoff     = time.Minute         // delay after the first failed run; doubles with each failure
	maxPause       = 24 * time.Hour      // maximum pause that a network can request
)

// Run collects the metrics of due accounts until ctx is canceled. It calls report with each error. Several nodes may
// run it at the same time.
func (s *Service) Run(ctx context.Context, report func(error)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if _, err := s.start(ctx, &wg, report); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.slots.freed:
		}
	}
}

// CollectDue starts due runs until none is due or one fails, and waits for the runs that it started.
func (s *Service) CollectDue(ctx context.Context) error {
	var mu sync.Mutex
	var errs []error
	for {
		var wg sync.WaitGroup
		dueCount, err := s.start(ctx, &wg, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
		wg.Wait()
		if err != nil || dueCount == 0 || len(errs) > 0 || ctx.Err() != nil {
			return errors.Join(append(errs, err)...)
		}
	}
}

// start starts due runs while there are free slots. It returns the number of due runs that it found.
func (s *Service) start(ctx context.Context, wg *sync.WaitGroup, report func(error)) (int, error) {
	dueAccounts, err := s.listDue(ctx)
	for _, d := range dueAccounts {
		if s.slots.take(d.platform) {
			wg.Go(func() {
				defer s.slots.release(d.platform)
				if err := s.collect(ctx, d.account); err != nil && ctx.Err() == nil {
					report(err)
				}
			})
		}
	}
	return len(dueAccounts), err
}

// collect claims and executes the run of one account. It recovers from a panic, so that other runs continue.
func (s *Service) collect(ctx context.Context, account int64) error {
	defer func() {
		if reason := recover(); reason != nil {
			s.opts.Log.ErrorContext(ctx, "Collecting an account panicked", "account", account, "panic", reason,
				"stack", string(debug.Stack()))
		}
	}()
	run, claimed, err := s.claim(ctx, account)
	if err != nil || !claimed {
		return err
	}
	if err := s.runCollection(ctx, run); err != nil && !errors.Is(err, errLeaseLost) {
		return fmt.Errorf("collecting account %d: %w", account, err)
	}
	return nil
}

// runCollection executes a run. It does not call the network if the grant is lost, the team is closed, the plan does
// not include analytics, or the network provides no metrics. The next run checks this again.
func (s *Service) runCollection(ctx context.Context, run collectionRun) error {
	g, err := s.accounts.Grant(ctx, run.account)
	if err != nil {
		return err
	}
	n, err := s.accounts.Network(run.platform)
	if err != nil && !errors.Is(err, account.ErrNoNetwork) {
		return err
	}
	collector, ok := n.(network.Collector)
	if !ok || g.Lost || run.isClosed || run.retentionDays == 0 {
		return s.endRun(ctx, "insight.rest", run, func(context.Context, *db.Tx, *collectionRun) (time.Time, error) {
			return s.nextRunAt(), nil
		})
	}
	since := run.since(s.db.Now())
	collected, err := s.fetch(ctx, run, collector, g, since)
	if err != nil {
		return s.handleFailure(ctx, run, g, collected, err)
	}
	picture := s.fetchPicture(ctx, run, collected)
	err = s.endRun(ctx, "insight.collected", run, func(ctx context.Context, tx *db.Tx, run *collectionRun) (time.Time, error) {
		if err := run.storePicture(ctx, tx, picture); err != nil {
			return time.Time{}, err
		}
		return s.nextRunAt(), run.store(ctx, tx, collected, since)
	})
	if err != nil || s.opts.Posts == nil {
		return err
	}
	if err := s.opts.Posts(ctx, run.platform, collected.Posts); err != nil {
		return fmt.Errorf("passing on the collected posts: %w", err)
	}
	return nil
}

// nextRunAt returns when the next run is due after a successful run. The time has a random offset, so that accounts are
// not all due at the same time.
func (s *Service) nextRunAt() time.Time {
	tenth := s.opts.Interval / 10
	return s.db.Now().Add(s.opts.Interval - tenth + rand.N(2*tenth+1)) //nolint:gosec // not a secret
}

// since returns how far back a run requests posts.
func (r *collectionRun) since(now time.Time) time.Time {
	earliest := later(now.Add(-firstRunPeriod), firstDay(now, r.zone, r.retentionDays))
	if r.collectedAt.IsZero() {
		return earliest
	}
	usual := now.Add(-laterRunPeriod)
	if behind := r.collectedAt.Add(-overlap); behind.Before(usual) {
		usual = behind
	}
	return later(earliest, usual)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetch requests metrics from the network. If the token has expired, it refreshes the grant and tries again. On an
// error, it also returns the metrics received before the error.
func (s *Service) fetch(ctx context.Context, run collectionRun, collector network.Collector, g account.Grant,
	since time.Time) (network.Collection, error) {
	ctx, cancel := context.WithTimeout(ctx, maxRunTime)
	defer cancel()
	collected, err := collector.Collect(ctx, g.Grant, since, maxPostsPerRun)
	s.reportCall(ctx, run, err)
	if classOf(err) != network.RefreshRequired {
		return collected, err
	}
	renewed, err := s.accounts.Refresh(ctx, run.account, g)
	switch {
	case err != nil:
		return collected, err
	case renewed.Lost:
		return collected, &network.Error{Class: network.ReconnectRequired, Err: errors.New("the connection was lost")}
	}
	collected, err = collector.Collect(ctx, renewed.Grant, since, maxPostsPerRun)
	s.reportCall(ctx, run, err)
	return collected, err
}

// reportCall calls OnCall with the result of a network call, unless ctx is done.
func (s *Service) reportCall(ctx context.Context, run collectionRun, err error) {
	if s.opts.OnCall == nil || ctx.Err() != nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "failed"
		if class := classOf(err); class != "" {
			result = string(class)
		}
	}
	s.opts.OnCall(run.platform, "collect", result)
}

// classOf returns the class of a network error, or "" for any other error.
func classOf(err error) network.ErrorClass {
	if networkErr, ok := errors.AsType[*network.Error](err); ok {
		return networkErr.Class
	}
	return ""
}

// handleFailure stores the metrics received before an error and schedules the next run. If the grant was revoked, it
// marks the account as disconnected.
func (s *Service) handleFailure(ctx context.Context, run collectionRun, g account.Grant, collected network.Collection,
	cause error) error {
	if ctx.Err() != nil { // The process is stopping, so another node may start the run immediately.
		return s.endRun(context.WithoutCancel(ctx), "insight.left", run, func(_ context.Context, tx *db.Tx,
			_ *collectionRun) (time.Time, error) {
			return tx.Now(), nil
		})
	}
	grantRevoked := classOf(cause) == network.ReconnectRequired
	if !grantRevoked {
		s.opts.Log.InfoContext(ctx, "Collecting an account failed", "account", run.account, "platform", run.platform,
			"error", cause)
	}
	picture := s.fetchPicture(ctx, run, collected)
	return s.endRun(ctx, "insight.failed", run, func(ctx context.Context, tx *db.Tx, run *collectionRun) (time.Time, error) {
		run.failureCount++
		run.lastErrorClass = string(classOf(cause))
		if err := run.storePicture(ctx, tx, picture); err != nil {
			return time.Time{}, err
		}
		if err := run.storePosts(ctx, tx, collected.Posts); err != nil || !grantRevoked {
			return s.retryAt(*run, cause), err
		}
		return s.nextRunAt(), s.accounts.MarkLostTx(ctx, tx, run.account, g)
	})
}

// retryAt returns the time of the next run after a failed run.
func (s *Service) retryAt(run collectionRun, cause error) time.Time {
	now := s.db.Now()
	delay := min(s.opts.Interval, minBackoff<<min(run.failureCount-1, 10))
	networkErr, ok := errors.AsType[*network.Error](cause)
	if ok && (networkErr.Class == network.RateLimited || networkErr.Class == network.QuotaExceeded) {
		delay = max(delay, minPause)
		if !networkErr.RetryAt.IsZero() {
			delay = min(maxPause, max(minBackoff, networkErr.RetryAt.Sub(now)))
		}
	}
	return now.Add(delay + rand.N(minBackoff)) //nolint:gosec // not a secret
}

// endRun ends a run in one transaction, which also deletes expired metrics. change stores the result of the run and
// returns when the next run is due.
func (s *Service) endRun(ctx context.Context, name string, run collectionRun, change func(context.Context, *db.Tx,
	*collectionRun) (time.Time, error)) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		run := run // InTx may repeat this function, so it must not change the caller's run.
		next, err := change(ctx, tx, &run)
		if err != nil {
			return err
		}
		if err := run.deleteExpired(ctx, tx); err != nil {
			return err
		}
		return run.end(ctx, tx, next)
	})
}
