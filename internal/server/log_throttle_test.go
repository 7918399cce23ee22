package server

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressroom/internal/platform/db"
)

// While the database is away the log is told of each part that misses it at once, and then once in a while; what fails
// for another reason is told each time.
func TestOutagesAreToldOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, outage: newSparing(outageEvery)}
		lines := func() int {
			defer log.Reset()
			return strings.Count(log.String(), "\n")
		}
		for range 40 {
			s.failed(t.Context(), "waking jobs", db.ErrReplica)
			s.failed(t.Context(), "sweeping", db.ErrReplica)
			s.failed(t.Context(), "sweeping", errors.New("a row that cannot be read"))
			<-time.After(time.Second / 4)
		}
		if got := lines(); got != 42 {
			t.Errorf("%d lines within ten seconds", got)
		}
		<-time.After(outageEvery)
		s.failed(t.Context(), "sweeping", db.ErrReplica)
		if got := log.String(); !strings.Contains(got, "unsaid=39") {
			t.Errorf("half a minute later: %s", got)
		}
	})
}

// Of what the queue's library says, lines that are alike are passed on once in a while, from each of its parts.
func TestTheQueueSaysNothingTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		queue := quiet(slog.New(slog.NewTextHandler(&log, nil)))
		for range 10 {
			queue.Info("Producer: Run loop started")
			queue.With("client", 1).Warn("Elector: Error attempting election", "err", os.ErrClosed)
			queue.WithGroup("queue").Error("Producer: Error fetching jobs", "err", os.ErrClosed)
		}
		queue.Error("Producer: Error fetching jobs", "err", os.ErrPermission)
		for job := range 3 { // of one job each: its panic stands nowhere else
			queue.Error("JobExecutor: Job panicked", "job_id", job, "panic_val", "nil map")
		}
		if got := log.String(); strings.Count(got, "\n") != 6 || strings.Contains(got, "started") {
			t.Errorf("at first: %s", got)
		}
		log.Reset()
		<-time.After(outageEvery)
		queue.Warn("Elector: Error attempting election", "err", os.ErrClosed)
		if got := log.String(); !strings.Contains(got, "unsaid=9") {
			t.Errorf("half a minute later: %s", got)
		}
	})
}
