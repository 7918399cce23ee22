package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pressroom/internal/core/operation"
)

// MaxWait is how many seconds a call may wait for the end of a job. It is less than the time limit of a call.
const MaxWait = 25

const (
	firstCheck       = 150 * time.Millisecond // most work is short
	lastLook         = time.Second
	progressInterval = 5 * time.Second // between progress messages
	maxWaiters       = 256             // waiting calls of one node; others return at once
)

// waiters are the calls that wait for jobs to end. Any node may end a job, so its record is polled, ever more
// rarely, without an open transaction.
type waiters struct {
	places chan struct{}
	over   chan struct{}
	end    sync.Once
}

func newWaiters() *waiters {
	return &waiters{places: make(chan struct{}, maxWaiters), over: make(chan struct{})}
}

// EndWaits makes every waiting call return at once, and later ones too, because the program ends.
func (s *Store) EndWaits() { s.waits.end.Do(func() { close(s.waits.over) }) }

// wait returns the record when the job has ended, or after the given seconds.
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
	end := time.NewTimer(time.Duration(min(seconds, MaxWait)) * time.Second)
	defer end.Stop()
	heard := progressReporter{call: call, began: time.Now(), total: seconds}
	for pause := firstCheck; !r.IsFinished(); pause = min(pause*3/2, lastLook) {
		heard.report(r)
		select {
		case <-ctx.Done(): // the caller is gone
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

// progressReporter reports the progress of a job to a waiting caller: on each change, and from time to time.
type progressReporter struct {
	call  operation.Call
	began time.Time
	total int
	told  time.Time
	last  string
}

func (l *progressReporter) report(r Record) {
	if l.call.OnProgress == nil {
		return
	}
	words, now := "The job is "+string(r.State)+".", time.Now()
	if r.Total > 0 {
		words = fmt.Sprintf("The job is %s; %d of %d parts are done.", r.State, r.Done, r.Total)
	}
	if words == l.last && now.Sub(l.told) < progressInterval {
		return
	}
	l.last, l.told = words, now
	l.call.OnProgress(operation.Progress{Done: now.Sub(l.began).Round(10 * time.Millisecond).Seconds(),
		Total: float64(l.total), Message: words})
}
