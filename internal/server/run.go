package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	drainTimeout       = 20 * time.Second // maximum time to finish requests and work when the program stops
	returnCallsTimeout = 10 * time.Second // maximum time to return unused free calls
	traceFlushTimeout  = 3 * time.Second
	sweepInterval      = time.Minute
)

// Run serves requests on a listener and runs the background work until the context ends. It then waits for running work
// to finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	// Running work may continue after the context has ended.
	backgroundCtx, stop := context.WithCancel(s.tracer.NewContext(context.WithoutCancel(ctx)))
	defer stop()
	var tasks sync.WaitGroup
	s.startBackground(backgroundCtx, &tasks)
	if s.cfg.Role != RoleAPI {
		if err := s.queue.Start(backgroundCtx); err != nil {
			return err
		}
	}
	err := s.listen(ctx, listener)
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err = errors.Join(err, s.ignoreTimeout("work", s.queue.Stop(drainCtx)),
		s.ignoreTimeout("deliveries", s.Delivery.Drain(drainCtx)))
	stop()
	tasks.Wait()
	returnCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnCallsTimeout)
	defer cancel()
	return errors.Join(err, s.freeCalls.Close(returnCtx))
}

// ignoreTimeout returns err unless it is a timeout. It only logs a timeout, which is not an error: other nodes take
// over work and deliveries after the lease, and clients repeat their requests.
func (s *Server) ignoreTimeout(task string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Log.Warn("stopped before everything was finished", "what", task, "waited", drainTimeout.String())
		return nil
	}
	return err
}

// startBackground starts the background tasks.
func (s *Server) startBackground(ctx context.Context, tasks *sync.WaitGroup) {
	report := func(message string) func(error) {
		return func(err error) { s.logError(ctx, message, err) }
	}
	tasks.Go(func() { s.warn(ctx, report("checking for warnings")) })
	tasks.Go(func() { s.Teams.Watch(ctx, report("watching keys")) })
	tasks.Go(func() { s.Teams.RunFlush(ctx, report("recording the use of keys")) })
	tasks.Go(func() { s.Accounts.RunHeartbeat(ctx, report("checking the sealing keys")) })
	tasks.Go(func() { s.Hold.Watch(ctx, report("checking whether the database was moved")) })
	tasks.Go(func() { s.clusterStats.Run(ctx, s.cfg.Role != RoleAPI, report("measuring the installation")) })
	tasks.Go(func() { s.dependencies.run(ctx) })
	tasks.Go(func() { s.feed.Run(ctx, report("reading changes for open pages")) })
	if s.cfg.Role == RoleAPI {
		return
	}
	tasks.Go(func() { s.Delivery.Run(ctx) })
	tasks.Go(func() { s.waker.Run(ctx, report("waking deliveries")) })
	tasks.Go(func() { s.Posts.RunSeries(ctx, report("creating posts of recurring series")) })
	tasks.Go(func() { s.Reports.RunTracking(ctx, report("refreshing tracked reports")) })
	tasks.Go(func() { s.worker.Run(ctx, report("waking jobs")) })
	// During a hold, these tasks must not run: they send emails, delete files, or use grants that another installation
	// may also be using.
	unlessHeld := func(work func(context.Context)) {
		tasks.Go(func() { s.Hold.RunUnlessHeld(ctx, report("checking the hold"), work) })
	}
	unlessHeld(func(ctx context.Context) { s.Accounts.Run(ctx, report("renewing grants")) })
	unlessHeld(func(ctx context.Context) { s.Erasure.Run(ctx, report("deleting teams")) })
	unlessHeld(func(ctx context.Context) { s.Analytics.Run(ctx, report("collecting metrics of accounts")) })
	if s.measurer != nil {
		unlessHeld(func(ctx context.Context) { s.measurer.Run(ctx, report("measuring hashtags")) })
	}
	unlessHeld(func(ctx context.Context) { s.Notifications.RunMail(ctx, report("sending mail")) })
	unlessHeld(func(ctx context.Context) {
		s.Notifications.RunChannels(ctx, report("sending notifications to channels"))
	})
	unlessHeld(func(ctx context.Context) { s.ReportMails.Run(ctx, report("mailing reports")) })
	unlessHeld(func(ctx context.Context) { s.sweep(ctx, report("deleting expired data")) })
}

// sweep regularly deletes expired data, in batches.
func (s *Server) sweep(ctx context.Context, report func(error)) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		for _, sweep := range []func(context.Context) (int64, error){
			s.idempotency.Sweep, s.jobs.Sweep, s.Media.Sweep, s.Reports.Sweep, s.Searches.Sweep, s.hashtagStats.Sweep,
			s.Connector.Sweep, s.Notifications.Sweep, s.app.SweepSessions, s.Teams.SweepSignIns, s.Erasure.Sweep,
			s.OAuth.Sweep, s.app.SweepUnsavedForms, s.ReportLinks.Sweep, s.ReportMails.Sweep,
		} {
			if _, err := sweep(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
