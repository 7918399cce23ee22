package instagramgraph

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestHashtagStoreIDs(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		shelf := NewDBHashtagStore(testkit.Open(t, url, nil))
		for _, id := range []string{"", "17", "18"} {
			if id != "" {
				must.NoError(t, shelf.SaveID(t.Context(), "bread", id))
			}
			if got, err := shelf.ID(t.Context(), "bread"); got != id || err != nil {
				t.Errorf("%q, %v; want %q", got, err, id)
			}
		}
	})
}

func TestReserve(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(began)
		shelf := NewDBHashtagStore(testkit.Open(t, url, clock))
		place := func(hashtag, want string, accounts ...string) Slot {
			t.Helper()
			got, err := shelf.Reserve(t.Context(), hashtag, accounts, maxSlots)
			if err != nil || got.Account != want {
				t.Fatalf("%s: %+v, %v; want %q", hashtag, got, err, want)
			}
			return got
		}
		place("bread", "a", "a", "b")
		place("bread", "a", "b", "a")
		place("cake", "b", "a", "b")
		place("pie", "a", "a", "b")
		place("jam", "b", "a", "b")
		place("bread", "b", "b") // the account with the slot is not available
		clock.Advance(time.Minute)
		for i := range maxSlots - 3 {
			place(fmt.Sprint("more", i), "b", "b")
		}
		if free := place("late", "", "b").FreeAt; !free.Equal(began.Add(slotDuration + slotMargin)) {
			t.Errorf("the first slot is free at %s", free)
		}
		place("cake", "b", "b")
		place("late", "a", "b", "a")
		// A slot that may have expired at Instagram is reserved again.
		clock.Advance(slotDuration - time.Minute)
		place("cake", "b", "b")
		clock.Advance(slotMargin)
		place("fresh", "b", "b") // the slots of jam and bread have expired, but not the slot of cake
		place("other", "b", "b")
		if free := place("late", "", "b").FreeAt; !free.Equal(began.Add(time.Minute + slotDuration + slotMargin)) {
			t.Errorf("the next slot is free at %s", free)
		}
		must.NoError(t, shelf.Release(t.Context(), "fresh", "b"))
		place("late", "b", "b")
		if _, err := shelf.Reserve(t.Context(), "bread", nil, maxSlots); err == nil {
			t.Error("no account has the slot")
		}
	})
}

// Background queries get no slot if a third of the slots is in use. The result has the time of the next attempt.
func TestReserveInBackground(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(began)
		shelf := NewDBHashtagStore(testkit.Open(t, url, clock))
		place := func(hashtag string, most int, want string) Slot {
			t.Helper()
			got, err := shelf.Reserve(t.Context(), hashtag, []string{"a", "b"}, most)
			if err != nil || got.Account != want {
				t.Fatalf("%s: %+v, %v; want %q", hashtag, got, err, want)
			}
			return got
		}
		account := func(i int) string { return []string{"a", "b"}[i%2] }
		for i := range 2 * backgroundSlots {
			if i == 2*lowPrioritySlots {
				place("ready-made", lowPrioritySlots, "") // part of the slots is reserved for teams' requests
			}
			place(fmt.Sprint("tag", i), backgroundSlots, account(i))
			clock.Advance(time.Minute)
		}
		if free := place("late", backgroundSlots, "").FreeAt; !free.Equal(began.Add(slotDuration + slotMargin)) {
			t.Errorf("the first slot is free at %s", free)
		}
		place("tag3", backgroundSlots, "b") // already requested
		for i := range 4 {
			place(fmt.Sprint("paid", i), maxSlots, account(i))
		}
		// Three slots of an account must expire. The first six slots, three per account, do.
		if free := place("late", backgroundSlots, "").FreeAt; !free.Equal(began.Add(4*time.Minute + slotDuration +
			slotMargin)) {
			t.Errorf("the next slot is free at %s", free)
		}
		clock.Advance(slotDuration + slotMargin - (2*backgroundSlots-4)*time.Minute)
		place("late", backgroundSlots, "a")
		place("later", backgroundSlots, "")
	})
}

// Concurrent nodes do not exceed the slots.
func TestConcurrentReservations(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(began)
		var nodes []*DBHashtagStore
		for range 3 {
			nodes = append(nodes, NewDBHashtagStore(testkit.Open(t, url, clock)))
		}
		var all sync.WaitGroup
		for n := range 90 {
			all.Go(func() {
				accounts := []string{"a", "b"}
				if n%2 == 0 {
					accounts = []string{"b", "a"}
				}
				if _, err := nodes[n%3].Reserve(t.Context(), fmt.Sprint("tag", n%75), accounts, maxSlots); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, account := range []string{"a", "b"} {
			if taken := count(t, nodes[0].db, account); taken != maxSlots {
				t.Errorf("account %s has %d places", account, taken)
			}
		}
		var twice int
		if err := nodes[0].db.QueryRow(t.Context(), `SELECT count(*) - count(DISTINCT hashtag)
			FROM instagram_hashtag_places`).Scan(&twice); err != nil || twice != 0 {
			t.Errorf("%d hashtags have two slots: %v", twice, err)
		}
	})
}

func count(t *testing.T, d *db.DB, account string) int {
	t.Helper()
	var taken int
	must.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM instagram_hashtag_places WHERE account = ?`, account).
		Scan(&taken))
	return taken
}
