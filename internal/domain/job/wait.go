package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
)

// MaxWaitSeconds is the maximum number of seconds that a call may wait for a job. It is less than the timeout of a
// call.
const MaxWaitSeconds = 25

const (
	minCheckInterval = 150 * time.Millisecond // first poll interval; most jobs are short
	maxCheckInterval = time.Second            // maximum poll interval
	progressInterval = 5 * time.Second        // time between progress messages
	maxWaiters       = 256                    // maximum waiting calls per node; further calls return immediately
)

// waiters limits the number of calls that wait for jobs. Another node may end the job, so a waiting call polls the
// job's record at increasing intervals, without an open transaction.
type waiters struct {
	places chan struct{}
	over   chan struct{}
	end    sync.Once
}

func newWaiters() *waiters {
	return &waiters{places: make(chan struct{}, maxWaiters), over: make(chan struct{})}
}

// EndWaits makes all current and later waits return immediately, because the process is shutting down.
func (s *Store) EndWaits() { s.waits.end.Do(func() { close(s.waits.over) }) }

// wait waits until the job has ended, the given number of seconds has passed, or ctx is canceled, and returns the
// latest record. It returns immediately if too many calls are waiting.
func (s *Store) wait(ctx context.Context, call operation.Call, r Record, seconds int) (Record, error) {
	if r.IsFinished() || seconds <= 0 {
		return r, nil
	}
	select {
	case s.waits.places <- struct{}{}:
		defer func() { <-s.waits.places }()
	default:
		return r, nil
	}
	if call.ReleaseCapacity != nil {
		call.ReleaseCapacity()
	}
	end := time.NewTimer(time.Duration(min(seconds, MaxWaitSeconds)) * time.Second)
	defer end.Stop()
	progress := progressReporter{call: call, began: time.Now(), total: seconds}
	for pause := minCheckInterval; !r.IsFinished(); pause = min(pause*3/2, maxCheckInterval) {
		progress.report(r)
		select {
		case <-ctx.Done():
			return r, nil
		case <-s.waits.over:
			return r, nil
		case <-end.C:
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
	call       operation.Call
	began      time.Time
	total      int
	reportedAt time.Time
	last       string
}

func (l *progressReporter) report(r Record) {
	if l.call.OnProgress == nil {
		return
	}
	words, now := "The job is "+string(r.State)+".", time.Now()
	if r.Total > 0 {
		words = fmt.Sprintf("The job is %s; %d of %d parts are done.", r.State, r.Done, r.Total)
	}
	if words == l.last && now.Sub(l.reportedAt) < progressInterval {
		return
	}
	l.last, l.reportedAt = words, now
	l.call.OnProgress(operation.Progress{Done: now.Sub(l.began).Round(10 * time.Millisecond).Seconds(),
		Total: float64(l.total), Message: words})
}
