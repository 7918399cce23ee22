package analytics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// runInterval is longer than the time between any two runs.
const runInterval = 7 * time.Hour

// The first run is immediate and covers a long time. Later runs are regular and cover less time.
func TestCollectionRuns(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.collectAfter(0, 1)
		if got := w.net.calls()[0]; !got.since.Equal(start.Add(-90*day)) || got.limit != 500 ||
			got.account != "harbour" {
			w.t.Errorf("request %+v", got)
		}
		w.collectAfter(5*time.Hour, 1)
		w.collectAfter(2*time.Hour, 2)
		if got := w.net.calls()[1]; !got.since.Equal(w.clock.Now().Add(-30 * day)) {
			w.t.Errorf("request %+v", got)
		}
		w.collectAfter(runInterval, 3)
	})
}

// After a long pause, a run covers the time since the last run, but not more than the first run.
func TestCollectionAfterPause(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.collectAfter(0, 1)
		w.collectAfter(50*day, 2)
		if got := w.net.calls()[1]; !got.since.Equal(start.Add(-day)) {
			w.t.Errorf("after 50 days: since %s", got.since)
		}
		w.collectAfter(200*day, 3)
		if got := w.net.calls()[2]; !got.since.Equal(w.clock.Now().Add(-90 * day)) {
			w.t.Errorf("after 200 days: since %s", got.since)
		}
		if notes := strings.Join(w.analytics(1, 365).notes, " "); !strings.Contains(notes, "available since Fri 30 Apr 2027") {
			w.t.Errorf("notes %s", notes)
		}
	})
}

// If several nodes are running, each run is executed by only one of them.
func TestCollectionRunsOnOneNode(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		const accounts = 40
		for n := range accounts {
			w.connect(w.team, "instagram", fmt.Sprint("account-", n))
		}
		nodes := []*analytics.Service{w.service}
		for range 4 {
			nodes = append(nodes, analytics.New(testkit.Open(w.t, w.url, w.clock), w.accounts, w.options))
		}
		for runs := 1; runs <= 3; runs++ {
			var working sync.WaitGroup
			for _, node := range nodes {
				working.Go(func() {
					if err := node.CollectDue(context.Background()); err != nil {
						w.t.Error(err)
					}
				})
			}
			working.Wait()
			times := map[string]int{}
			for _, call := range w.net.calls() {
				times[call.account]++
			}
			for id, n := range times {
				if n != runs {
					w.t.Errorf("%s was collected %d times in %d runs", id, n, runs)
				}
			}
			if len(times) != accounts {
				w.t.Errorf("%d accounts were collected", len(times))
			}
			w.clock.Advance(runInterval)
		}
	})
}

// A revoked token disconnects the account. The account has no runs until a person reconnects it.
func TestRevokedToken(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.setError(network.ReconnectRequired, time.Time{})
		w.collectAfter(0, 1)
		if a := w.account(id); a.Connection != account.Lost || a.Probe != "refused" || a.Status != "needs_reauth" {
			w.t.Errorf("account %+v", a)
		}
		w.collectAfter(runInterval, 1)
		w.setMetrics(10)
		w.connectHarbour()
		w.collectAfter(0, 2)
		if a := w.account(id); a.Connection != account.Connected {
			w.t.Errorf("account %+v", a)
		}
	})
}

// If a person reconnects the account while the network rejects its old grant, the account stays connected.
func TestReconnectDuringRejection(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		revoked := errors.New("revoked")
		w.net.onCollect = func(a collectCall) (network.Collection, error) {
			if a.access != "access-1" {
				return network.Collection{Followers: new(int64(3))}, nil
			}
			w.net.mu.Unlock()
			w.connectHarbour()
			w.net.mu.Lock()
			return network.Collection{}, &network.Error{Class: network.ReconnectRequired, Err: revoked}
		}
		w.collectAfter(0, 2)
		if a := w.account(id); a.Connection != account.Connected {
			w.t.Errorf("account %+v", a)
		}
		if got := w.analytics(id, 1).Followers; got == nil || got.Now != 3 {
			w.t.Errorf("followers %+v", got)
		}
	})
}

// An expired access token is renewed once, and the run continues.
func TestExpiredToken(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.net.onRefresh = func() (network.Grant, error) {
			return network.Grant{Account: "harbour", Username: "harbour", AccessToken: "new"}, nil
		}
		w.net.onCollect = func(a collectCall) (network.Collection, error) {
			if a.access != "new" {
				return network.Collection{}, &network.Error{Class: network.RefreshRequired}
			}
			return network.Collection{Followers: new(int64(5))}, nil
		}
		w.collectAfter(0, 2)
		if got := w.analytics(id, 1).Followers; got == nil || got.Now != 5 {
			w.t.Errorf("followers %+v", got)
		}
	})
}

// A revoked refresh token disconnects the account too.
func TestRevokedRefreshToken(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.net.onRefresh = func() (network.Grant, error) {
			return network.Grant{}, &network.Error{Class: network.ReconnectRequired}
		}
		w.setError(network.RefreshRequired, time.Time{})
		w.collectAfter(0, 1)
		if a := w.account(id); a.Connection != account.Lost {
			w.t.Errorf("account %+v", a)
		}
	})
}

// A run waits as long as the network requests, but at most one day.
func TestRequestedPause(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.setError(network.RateLimited, start.Add(3*time.Hour))
		w.collectAfter(0, 1)
		w.collectAfter(3*time.Hour-time.Second, 1)
		w.setError(network.QuotaExceeded, start.Add(1000*time.Hour))
		w.collectAfter(2*time.Minute, 2)
		w.collectAfter(24*time.Hour-time.Second, 2)
		w.setError(network.RateLimited, time.Time{}) // without a time
		w.collectAfter(2*time.Minute, 3)
		w.collectAfter(15*time.Minute-time.Second, 3)
		w.collectAfter(2*time.Minute, 4)
	})
}

// Failed runs are retried with growing pauses, keep the stored metrics, and cause a note.
func TestBackoff(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.setError(network.Transient, time.Time{})
		w.collectAfter(0, 1)
		for n, pause := 1, time.Minute; n < 12; n++ {
			w.collectAfter(pause-time.Second, n)
			w.collectAfter(time.Minute+time.Second, n+1)
			pause = min(2*pause, 6*time.Hour)
		}
		a := w.analytics(id, 7)
		if notes := strings.Join(a.notes, " "); !strings.Contains(notes, "has failed so far") ||
			w.account(id).Connection != account.Connected {
			w.t.Errorf("notes %s", notes)
		}
		w.setMetrics(1, post("1", w.clock.Now(), 1))
		w.collectAfter(runInterval, 13)
		w.setError(network.Transient, time.Time{})
		w.collectAfter(runInterval, 14)
		w.collectAfter(runInterval, 15)
		if a := w.analytics(id, 7); len(a.notes) < 1 || !strings.Contains(a.notes[0], "has failed since") ||
			*a.Engagement.Likes != 1 {
			w.t.Errorf("notes %q", a.notes)
		}
	})
}

// A panic in an adapter delays only the account that was collected.
func TestPanic(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.connect(w.team, "instagram", "other")
		w.net.onCollect = func(a collectCall) (network.Collection, error) {
			if a.account == "harbour" {
				panic("adapter panics")
			}
			return network.Collection{}, nil
		}
		w.collectAfter(0, 2)
		w.collectAfter(10*time.Minute, 2)
		w.collectAfter(2*time.Minute, 3)
	})
}

// Metrics received before an error are stored.
func TestPartialTurn(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.net.onCollect = func(collectCall) (network.Collection, error) {
			return network.Collection{Posts: []network.CollectedPost{post("1", start.Add(-time.Hour), 3)}},
				&network.Error{Class: network.RateLimited}
		}
		w.collectAfter(0, 1)
		if a := w.analytics(id, 2); a.Engagement == nil || *a.Engagement.Likes != 3 || a.MeasuredAt != nil {
			w.t.Errorf("analytics %+v", a)
		}
	})
}

// If a node stops during a run, the account is due again immediately.
func TestNodeStoppedDuringTurn(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		ctx, stop := context.WithCancel(w.t.Context())
		w.net.onCollect = func(collectCall) (network.Collection, error) {
			stop()
			return network.Collection{}, &network.Error{Class: network.Transient, Err: context.Canceled}
		}
		_ = w.service.CollectDue(ctx) // canceled
		w.setMetrics(1)
		w.collectAfter(0, 2)
	})
}

// Run also collects accounts that are connected later.
func TestRun(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		collected := make(chan struct{}, 1)
		w.net.onCollect = func(collectCall) (network.Collection, error) {
			collected <- struct{}{}
			return network.Collection{}, nil
		}
		ctx, stop := context.WithCancel(w.t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.service.Run(ctx, func(err error) { w.t.Error(err) })
		}()
		w.connectHarbour()
		select {
		case <-collected:
		case <-time.After(20 * time.Second):
			w.t.Error("nothing was collected")
		}
		stop()
		<-ended
	})
}

func (w *env) count(table string) int {
	w.t.Helper()
	var n int
	w.must(w.db.QueryRow(w.t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n))
	return n
}

func (w *env) exec(query string, args ...any) {
	w.t.Helper()
	w.must(w.db.InTx(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	}))
}
