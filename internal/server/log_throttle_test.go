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

	"pressroom.example/pressroom/internal/platform/db"
)

// During an outage, each error is logged immediately and then throttled. Other errors are always logged.
func TestLogOutagesThrottled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, outageThrottle: newThrottle(outageInterval)}
		lines := func() int {
			defer log.Reset()
			return strings.Count(log.String(), "\n")
		}
		for range 40 {
			s.logError(t.Context(), "waking jobs", db.ErrReplica)
			s.logError(t.Context(), "sweeping", db.ErrReplica)
			s.logError(t.Context(), "sweeping", errors.New("a row that cannot be read"))
			<-time.After(time.Second / 4)
		}
		if got := lines(); got != 42 {
			t.Errorf("%d lines in ten seconds", got)
		}
		<-time.After(outageInterval)
		s.logError(t.Context(), "sweeping", db.ErrReplica)
		if got := log.String(); !strings.Contains(got, "suppressed=39") {
			t.Errorf("half a minute later: %s", got)
		}
	})
}

// Equal log lines of the queue's library are throttled.
func TestQuietLogger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		queue := quietLogger(slog.New(slog.NewTextHandler(&log, nil)))
		for range 10 {
			queue.Info("Producer: Run loop started")
			queue.With("client", 1).Warn("Elector: Error attempting election", "err", os.ErrClosed)
			queue.WithGroup("queue").Error("Producer: Error fetching jobs", "err", os.ErrClosed)
		}
		queue.Error("Producer: Error fetching jobs", "err", os.ErrPermission)
		for job := range 3 { // a panic is logged nowhere else
			queue.Error("JobExecutor: Job panicked", "job_id", job, "panic_val", "nil map")
		}
		if got := log.String(); strings.Count(got, "\n") != 6 || strings.Contains(got, "started") {
			t.Errorf("at once: %s", got)
		}
		log.Reset()
		<-time.After(outageInterval)
		queue.Warn("Elector: Error attempting election", "err", os.ErrClosed)
		if got := log.String(); !strings.Contains(got, "suppressed=9") {
			t.Errorf("half a minute later: %s", got)
		}
	})
}
