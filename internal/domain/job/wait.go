package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
)

// MaxWaitSeconds is the maximum number of seconds that a call may wait for a job. It is less than the call timeout.
const MaxWaitSeconds = 25

const (
	minCheckInterval = 150 * time.Millisecond // first poll interval; most jobs are short
	maxCheckInterval = time.Second            // maximum poll interval
	progressInterval = 5 * time.Second        // time between progress messages
	maxWaiters       = 256                    // maximum number of waiting calls per node; others return immediately
)

// waiters limits the number of calls that wait for jobs. Another node may end the job, so a waiting call polls the
// job's record at increasing intervals. It does not keep a transaction open.
type waiters struct {
	slots    chan struct{}
	shutdown chan struct{}
	endOnce  sync.Once
}

func newWaiters() *waiters {
	return &waiters{slots: make(chan struct{}, maxWaiters), shutdown: make(chan struct{})}
}

// EndWaits makes all current and later waits return immediately, because the process is shutting down.
func (s *Store) EndWaits() { s.waiters.endOnce.Do(func() { close(s.waiters.shutdown) }) }

// wait waits until the job ends, the given number of seconds has passed, ctx is canceled, or EndWaits is called. It
// returns the latest record. If too many calls are waiting, it returns immediately.
func (s *Store) wait(ctx context.Context, call operation.Call, r Record, seconds int) (Record, error) {
	if r.IsFinished() || seconds <= 0 {
		return r, nil
	}
	select {
	case s.waiters.slots <- struct{}{}:
		defer func() { <-s.waiters.slots }()
	default:
		return r, nil
	}
	if call.ReleaseCapacity != nil {
		call.ReleaseCapacity()
	}
	timer := time.NewTimer(time.Duration(min(seconds, MaxWaitSeconds)) * time.Second)
	defer timer.Stop()
	progress := progressReporter{call: call, startedAt: time.Now(), total: seconds}
	for pause := minCheckInterval; !r.IsFinished(); pause = min(pause*3/2, maxCheckInterval) {
		progress.report(r)
		select {
		case <-ctx.Done():
			return r, nil
		case <-s.waiters.shutdown:
			return r, nil
		case <-timer.C:
			return r, nil
		case <-time.After(pause):
		}
		var err error
		if r, err = Get(ctx, s.db, call.TeamID, r.ID); err != nil {
			return r, err
		}
	}
	return r, nil
}

// progressReporter reports the progress of a job to a waiting caller on each change, and at least every
// progressInterval.
type progressReporter struct {
	call        operation.Call
	startedAt   time.Time
	total       int
	reportedAt  time.Time
	lastMessage string
}

func (p *progressReporter) report(r Record) {
	if p.call.OnProgress == nil {
		return
	}
	message, now := "The job is "+string(r.State)+".", time.Now()
	if r.Total > 0 {
		message = fmt.Sprintf("The job is %s; %d of %d parts are done.", r.State, r.Done, r.Total)
	}
	if message == p.lastMessage && now.Sub(p.reportedAt) < progressInterval {
		return
	}
	p.lastMessage, p.reportedAt = message, now
	p.call.OnProgress(operation.Progress{Done: now.Sub(p.startedAt).Round(10 * time.Millisecond).Seconds(),
		Total: float64(p.total), Message: message})
}
