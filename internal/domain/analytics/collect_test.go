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

// turn is a turn that this node has claimed.
const turn = 7 * time.Hour // longer than between any two turns

// The first turn is immediate and covers a long time, later ones are regular and cover less.
func TestTurns(t *testing.T) {
	each(t, func(w *env) {
		w.harbour()
		w.after(0, 1)
		if got := w.net.calls()[0]; !got.since.Equal(start.Add(-90*day)) || got.most != 500 ||
			got.account != "harbour" {
			w.t.Errorf("asked %+v", got)
		}
		w.after(5*time.Hour, 1)
		w.after(2*time.Hour, 2)
		if got := w.net.calls()[1]; !got.since.Equal(w.clock.Now().Add(-30 * day)) {
			w.t.Errorf("asked %+v", got)
		}
		w.after(turn, 3)
	})
}

// After a long pause a turn covers the time since the last one, as far back as the first would.
func TestTurnAfterPause(t *testing.T) {
	each(t, func(w *env) {
		w.harbour()
		w.after(0, 1)
		w.after(50*day, 2)
		if got := w.net.calls()[1]; !got.since.Equal(start.Add(-day)) {
			w.t.Errorf("after 50 days: since %s", got.since)
		}
		w.after(200*day, 3)
		if got := w.net.calls()[2]; !got.since.Equal(w.clock.Now().Add(-90 * day)) {
			w.t.Errorf("after 200 days: since %s", got.since)
		}
		if notes := strings.Join(w.read(1, 365).notes, " "); !strings.Contains(notes, "known since Fri 30 Apr 2027") {
			w.t.Errorf("notes %s", notes)
		}
	})
}

// Each turn is run by one of many nodes.
func TestManyNodes(t *testing.T) {
	each(t, func(w *env) {
		const many = 40
		for n := range many {
			w.connect(w.team, "instagram", fmt.Sprint("account-", n))
		}
		nodes := []*analytics.Service{w.service}
		for range 4 {
			nodes = append(nodes, analytics.New(testkit.Open(w.t, w.url, w.clock), w.accounts, w.options))
		}
		for turns := 1; turns <= 3; turns++ {
			var working sync.WaitGroup
			for _, node := range nodes {
				working.Go(func() {
					if err := node.Once(context.Background()); err != nil {
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
				if n != turns {
					w.t.Errorf("%s was asked %d times in %d turns", id, n, turns)
				}
			}
			if len(times) != many {
				w.t.Errorf("%d accounts were asked", len(times))
			}
			w.clock.Advance(turn)
		}
	})
}

// A dead token disconnects the account, which has no turns until a person reconnects it.
func TestDeadToken(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		w.refuse(network.AuthDead, time.Time{})
		w.after(0, 1)
		if a := w.state(id); a.Connection != account.Lost || a.Probe != "refused" || a.Status != "needs_reauth" {
			w.t.Errorf("account %+v", a)
		}
		w.after(turn, 1)
		w.tell(10)
		w.harbour()
		w.after(0, 2)
		if a := w.state(id); a.Connection != account.Connected {
			w.t.Errorf("account %+v", a)
		}
	})
}

// Reconnecting the account during a refusal of its old grant is not undone.
func TestReconnectDuringRefusal(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		dead := errors.New("dead")
		w.net.tells = func(a asked) (network.Collection, error) {
			if a.access != "access-1" {
				return network.Collection{Followers: new(int64(3))}, nil
			}
			w.net.mu.Unlock()
			w.harbour()
			w.net.mu.Lock()
			return network.Collection{}, &network.Error{Class: network.AuthDead, Err: dead}
		}
		w.after(0, 2)
		if a := w.state(id); a.Connection != account.Connected {
			w.t.Errorf("account %+v", a)
		}
		if got := w.read(id, 1).Followers; got == nil || got.Now != 3 {
			w.t.Errorf("followers %+v", got)
		}
	})
}

// An expired access token is renewed once, and the turn continues.
func TestExpiredToken(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		w.net.fresh = func() (network.Grant, error) {
			return network.Grant{Account: "harbour", Username: "harbour", Access: "new"}, nil
		}
		w.net.tells = func(a asked) (network.Collection, error) {
			if a.access != "new" {
				return network.Collection{}, &network.Error{Class: network.AuthRefresh}
			}
			return network.Collection{Followers: new(int64(5))}, nil
		}
		w.after(0, 2)
		if got := w.read(id, 1).Followers; got == nil || got.Now != 5 {
			w.t.Errorf("followers %+v", got)
		}
	})
}

// A dead refresh token disconnects the account too.
func TestDeadRefreshToken(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		w.net.fresh = func() (network.Grant, error) { return network.Grant{}, &network.Error{Class: network.AuthDead} }
		w.refuse(network.AuthRefresh, time.Time{})
		w.after(0, 1)
		if a := w.state(id); a.Connection != account.Lost {
			w.t.Errorf("account %+v", a)
		}
	})
}

// A pause requested by the network is observed, for a day at most.
func TestPause(t *testing.T) {
	each(t, func(w *env) {
		w.harbour()
		w.refuse(network.Rate, start.Add(3*time.Hour))
		w.after(0, 1)
		w.after(3*time.Hour-time.Second, 1)
		w.refuse(network.Quota, start.Add(1000*time.Hour))
		w.after(2*time.Minute, 2)
		w.after(24*time.Hour-time.Second, 2)
		w.refuse(network.Rate, time.Time{}) // without a time
		w.after(2*time.Minute, 3)
		w.after(15*time.Minute-time.Second, 3)
		w.after(2*time.Minute, 4)
	})
}

// Failures are retried with growing pauses, lose no data, and are reported.
func TestBackOff(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		w.refuse(network.Transient, time.Time{})
		w.after(0, 1)
		for n, pause := 1, time.Minute; n < 12; n++ {
			w.after(pause-time.Second, n)
			w.after(time.Minute+time.Second, n+1)
			pause = min(2*pause, 6*time.Hour)
		}
		a := w.read(id, 7)
		if notes := strings.Join(a.notes, " "); !strings.Contains(notes, "has failed so far") ||
			w.state(id).Connection != account.Connected {
			w.t.Errorf("notes %s", notes)
		}
		w.tell(1, post("1", w.clock.Now(), 1))
		w.after(turn, 13)
		w.refuse(network.Transient, time.Time{})
		w.after(turn, 14)
		w.after(turn, 15)
		if a := w.read(id, 7); len(a.notes) < 1 || !strings.Contains(a.notes[0], "has failed since") ||
			*a.Engagement.Likes != 1 {
			w.t.Errorf("notes %q", a.notes)
		}
	})
}

// A panic in a network's code only delays its own account.
func TestPanic(t *testing.T) {
	each(t, func(w *env) {
		w.harbour()
		w.connect(w.team, "instagram", "other")
		w.net.tells = func(a asked) (network.Collection, error) {
			if a.account == "harbour" {
				panic("a fault")
			}
			return network.Collection{}, nil
		}
		w.after(0, 2)
		w.after(10*time.Minute, 2)
		w.after(2*time.Minute, 3)
	})
}

// Figures received before an error are stored.
func TestPartialTurn(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		w.net.tells = func(asked) (network.Collection, error) {
			return network.Collection{Posts: []network.CollectedPost{post("1", start.Add(-time.Hour), 3)}},
				&network.Error{Class: network.Rate}
		}
		w.after(0, 1)
		if a := w.read(id, 2); a.Engagement == nil || *a.Engagement.Likes != 3 || a.MeasuredAt != nil {
			w.t.Errorf("answer %+v", a)
		}
	})
}

// A turn that a stopping node interrupts is continued by another node at once.
func TestNodeStoppedDuringTurn(t *testing.T) {
	each(t, func(w *env) {
		w.harbour()
		ctx, stop := context.WithCancel(w.t.Context())
		w.net.tells = func(asked) (network.Collection, error) {
			stop()
			return network.Collection{}, &network.Error{Class: network.Transient, Err: context.Canceled}
		}
		_ = w.service.Once(ctx) // cut off
		w.tell(1)
		w.after(0, 2)
	})
}

// Run also collects accounts connected while it runs.
func TestRun(t *testing.T) {
	each(t, func(w *env) {
		told := make(chan struct{}, 1)
		w.net.tells = func(asked) (network.Collection, error) {
			told <- struct{}{}
			return network.Collection{}, nil
		}
		ctx, stop := context.WithCancel(w.t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.service.Run(ctx, func(err error) { w.t.Error(err) })
		}()
		w.harbour()
		select {
		case <-told:
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
