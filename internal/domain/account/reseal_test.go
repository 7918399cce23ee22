package account_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// countingNetwork is a network on which each connection has a new account.
type countingNetwork struct {
	rotatingNetwork

	connected int
}

func (n *countingNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.connected++
	g := n.grant()
	g.Account = fmt.Sprintf("did:test:%d", n.connected)
	return g, nil
}

// newServiceWithKeys returns an account service with encryption keys.
func newServiceWithKeys(t *testing.T, d *db.DB, n network.Network, keys ...string) *account.Service {
	t.Helper()
	s := must.Get(tokencrypt.New(strings.Join(keys, ",")))(t)
	return account.New(d, s, nil, n)
}

// A sealing key can be replaced while nodes run. While both keys are configured, all grants can be read. After Reseal,
// the old key can be removed.
func TestChangeSealingKey(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &countingNetwork{}
		old, next := newKey(t), newKey(t)
		before, both, after := newServiceWithKeys(t, d, n, old), newServiceWithKeys(t, d, n, next, old), newServiceWithKeys(t, d, n, next)
		ids := connectMany(t, d, before, 250) // more than two batches
		for name, s := range map[string]*account.Service{"the old key": before, "both": both} {
			if err := s.CheckKeys(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := after.CheckKeys(t.Context()); err == nil || !strings.Contains(err.Error(), "reseal") {
			t.Errorf("CheckKeys without the old key before Reseal: %v", err)
		}
		if got, err := both.Reseal(t.Context()); err != nil || got != (account.ResealResult{ResealedCount: 250}) {
			t.Fatalf("resealed %+v, %v", got, err)
		}
		if got, err := both.Reseal(t.Context()); err != nil || got != (account.ResealResult{}) {
			t.Errorf("second Reseal: %+v, %v", got, err)
		}
		if err := after.CheckKeys(t.Context()); err != nil {
			t.Errorf("CheckKeys with only the new key: %v", err)
		}
		for _, id := range ids {
			if g, err := after.Grant(t.Context(), id); err != nil || g.AccessToken == "" {
				t.Fatalf("account %d: %v", id, err)
			}
		}
		if err := before.CheckKeys(t.Context()); err == nil {
			t.Error("CheckKeys with only the old key succeeded")
		}
	})
}

// Reseal is rejected while a node without the first key is running. Nodes that stopped or whose last heartbeat is more
// than a minute old do not count. Resealing is recorded as an event.
func TestResealRequiresKeyOnEveryNode(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		n, old, next := &countingNetwork{}, newKey(t), newKey(t)
		node, both := newServiceWithKeys(t, d, n, old), newServiceWithKeys(t, d, n, next, old)
		connectMany(t, d, node, 3)
		quit := serveNode(t, d, node, 1)
		rejected := func() {
			t.Helper()
			if got, err := both.Reseal(t.Context()); err == nil || !strings.Contains(err.Error(), "first key") ||
				got != (account.ResealResult{}) {
				t.Errorf("resealed %+v, %v", got, err)
			}
			if err := node.CheckKeys(t.Context()); err != nil {
				t.Errorf("the rejected Reseal changed grants: %v", err)
			}
		}
		rejected()
		ready := serveNode(t, d, both, 2)
		rejected()
		quit()
		if got, err := both.Reseal(t.Context()); err != nil || got.ResealedCount != 3 {
			t.Errorf("after the node stopped: %+v, %v", got, err)
		}
		ready()
		last := newServiceWithKeys(t, d, n, newKey(t), next)
		killed := serveNodeWith(t, d, both, 1, func(error) {}) // It may report that it lacks the third key.
		if got, err := last.Reseal(t.Context()); err == nil {
			t.Errorf("Reseal with a third key: %+v", got)
		}
		clock.Advance(2 * time.Minute) // its heartbeat is too old
		if got, err := last.Reseal(t.Context()); err != nil || got.ResealedCount != 3 {
			t.Errorf("two minutes later: %+v, %v", got, err)
		}
		if got, err := both.ResealUnchecked(t.Context()); err == nil {
			t.Errorf("ResealUnchecked without the key: %+v", got)
		}
		killed()
		var events int
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM events
			WHERE kind = 'service.resealed'`).Scan(&events); err != nil || events != 2 {
			t.Errorf("%d events, %v", events, err)
		}
	})
}

// ResealUnchecked succeeds although a node lacks the first key. That node reports the missing key.
func TestResealForced(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n, old, next := &countingNetwork{}, newKey(t), newKey(t)
		node, both := newServiceWithKeys(t, d, n, old), newServiceWithKeys(t, d, n, next, old)
		connectMany(t, d, node, 3)
		reported := make(chan error, 9)
		// The node may check its keys during or after resealing.
		defer serveNodeWith(t, d, node, 1, func(err error) { reported <- err })()
		if got, err := both.ResealUnchecked(t.Context()); err != nil || got.ResealedCount != 3 {
			t.Errorf("%+v, %v", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go node.RunHeartbeat(ctx, func(err error) { reported <- err })
		if err := <-reported; !strings.Contains(err.Error(), "PRESSROOM_SEALING_KEY") {
			t.Error(err)
		}
	})
}

// serveNode runs a node and waits until the given number of nodes is known. The returned function stops the node.
func serveNode(t *testing.T, d *db.DB, s *account.Service, known int) func() {
	t.Helper()
	return serveNodeWith(t, d, s, known, func(err error) { t.Error(err) })
}

func serveNodeWith(t *testing.T, d *db.DB, s *account.Service, known int, report func(error)) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.RunHeartbeat(ctx, report)
	}()
	for n := 0; n < known; <-time.After(time.Millisecond) {
		must.NoError(t, d.QueryRow(t.Context(), `SELECT COUNT(*) FROM nodes`).Scan(&n))
	}
	return func() {
		cancel()
		<-ended
	}
}

// Resealing does not undo a concurrent renewal.
func TestRenewDuringReseal(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &countingNetwork{rotatingNetwork: rotatingNetwork{used: map[string]bool{}}}
		old, next := newKey(t), newKey(t)
		// nodes in the second step of a key rotation
		older, newer := newServiceWithKeys(t, d, n, old, next), newServiceWithKeys(t, d, n, next, old)
		ids := connectMany(t, d, older, 20)
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				g, err := older.Grant(t.Context(), id)
				if err == nil {
					_, err = older.Refresh(t.Context(), id, g)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		if _, err := newer.Reseal(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if _, err := newer.Reseal(t.Context()); err != nil {
			t.Error(err)
		}
		const renewedOnce = 3 // A new account has version 2.
		for _, id := range ids {
			if g, err := newer.Grant(t.Context(), id); err != nil || g.Version != renewedOnce || n.used[g.RefreshToken] {
				t.Errorf("account %d: version %d, used %t, %v", id, g.Version, n.used[g.RefreshToken], err)
			}
		}
		if err := newServiceWithKeys(t, d, n, next).CheckKeys(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func newKey(t *testing.T) string {
	t.Helper()
	return must.Get(tokencrypt.NewKey())(t)
}

func connectMany(t *testing.T, d *db.DB, s *account.Service, number int) []int64 {
	t.Helper()
	teams := team.New(d, nil, plan.Default())
	owner := must.Get(teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
	made := must.Get(teams.AddTeam(t.Context(), team.Team{Name: "Harbour", Timezone: "UTC", Language: "en",
		Plan: "agency"}, owner.ID))(t)
	var ids []int64
	for range number {
		a := must.Get(s.Connect(t.Context(), made.ID, "bluesky", network.Credentials{}))(t)
		ids = append(ids, a.ID)
	}
	return ids
}
