package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestLimits(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(2, 3)
		l := w.mustCreate(t, CreateInput{Hashtags: []string{"a", "b", "two words", "c", "d", "e"}})
		if diff := cmp.Diff([]HashtagListChangeRefused{{"two words", "bad_characters"}, {"d", "list_full"}, {"e", "list_full"}},
			l.Refused); diff != "" {
			t.Error(diff)
		}
		c := w.mustAdd(t, l.ID, "c", "f", "a")
		if diff := cmp.Diff(HashtagListChange{HashtagListEntry: l.HashtagListEntry, Added: []string{}, AlreadyPresent: []string{"c", "a"},
			Refused: []HashtagListChangeRefused{{"f", "list_full"}}}, c); diff != "" {
			t.Error(diff)
		}
		w.mustCreate(t, CreateInput{})
		_, err := w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n"})
		checkRejected(t, err, apierr.PlanLimitReached, "")
		if limit := apierr.FromError(err).Context["limit"]; limit != "hashtag_lists" {
			t.Errorf("limit %v", limit)
		}
		w.newTeam(t, "creator").mustCreate(t, CreateInput{}) // another team's lists do not count
		must.NoError(t, w.Delete(t.Context(), w.team, w.actor(), l.ID))
		l = w.mustCreate(t, CreateInput{})
		w.setLimits(plan.Unlimited, plan.Unlimited)
		if c := w.mustAdd(t, l.ID, "a", "b", "c", "d", "e"); c.Size != 5 || len(c.Refused) > 0 {
			t.Errorf("%+v", c)
		}
		for range 3 {
			w.mustCreate(t, CreateInput{})
		}
		w.setLimits(0, 0)
		_, err = w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n"})
		checkRejected(t, err, apierr.PlanLimitReached, "")
		if c := w.mustAdd(t, l.ID, "a", "f"); c.Size != 5 || len(c.AlreadyPresent) != 1 || len(c.Refused) != 1 {
			t.Errorf("the list is longer than the plan allows: %+v", c)
		}
	})
}

// Concurrent calls cannot both create the last list of a plan.
func TestConcurrentLastList(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(3, 10)
		made := concurrently(12, func(n int) error {
			_, err := w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: fmt.Sprint("list ", n),
				Hashtags: []string{fmt.Sprint("tag", n), "same"}})
			return err
		})
		good := 0
		for _, err := range made {
			if err == nil {
				good++
				continue
			}
			checkRejected(t, err, apierr.PlanLimitReached, "")
		}
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`, w.team); n != 3 || good != 3 {
			t.Errorf("%d lists exist, %d calls succeeded", n, good)
		}
	})
}

// Concurrent additions respect the limit, report each hashtag as added once, and keep the counter correct.
func TestConcurrentAdditions(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(3, 20)
		l := w.mustCreate(t, CreateInput{})
		added := make([][]string, 8)
		for _, err := range concurrently(len(added), func(n int) error {
			answer, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID, Hashtags: []string{"same",
				fmt.Sprint("a", n), fmt.Sprint("b", n), fmt.Sprint("c", n)}})
			added[n] = answer.Data.Added
			return err
		}) {
			must.NoError(t, err)
		}
		told := slices.Sorted(slices.Values(slices.Concat(added...)))
		there := slices.Sorted(slices.Values(w.hashtags(t, l.ID)))
		if diff := cmp.Diff(told, there); diff != "" || len(there) != 20 {
			t.Errorf("%d hashtags (-told +there)\n%s", len(there), diff)
		}
		w.checkInvariants(t, l.ID)
	})
}

// concurrently runs a function n times in parallel.
func concurrently(n int, do func(int) error) []error {
	type end struct {
		n   int
		err error
	}
	ends, begin := make(chan end), make(chan struct{})
	for i := range n {
		go func() {
			<-begin
			ends <- end{i, do(i)}
		}()
	}
	close(begin)
	out := make([]error, n)
	for range n {
		e := <-ends
		out[e.n] = e.err
	}
	return out
}

// checkInvariants fails unless counter, stored and returned hashtags agree.
func (w env) checkInvariants(t fatal, list int64) {
	t.Helper()
	counted := w.queryInt(t, `SELECT size FROM hashtag_lists WHERE id = ?`, list)
	there := w.queryInt(t, `SELECT COUNT(*) FROM hashtag_list_items WHERE list_id = ?`, list)
	if opened := w.mustGet(t, list); counted != there || opened.Size != there || int64(len(opened.Hashtags)) != there {
		t.Fatalf("%d counted, %d there, %d told", counted, there, opened.Size)
	}
}

// A list is a sequence without duplicates, for any order of additions and removals.
func TestListMatchesModel(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(plan.Unlimited, 12)
		names := rapid.SampledFrom(strings.Fields("a b c d e f g h i j k l m n o p q"))
		rapid.Check(t, func(t *rapid.T) {
			l, model := w.mustCreate(t, CreateInput{}), []string{}
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				if gone := names.Draw(t, "gone"); rapid.Bool().Draw(t, "remove") {
					err := w.Remove(t.Context(), w.team, w.actor(), l.ID, gone)
					if n := slices.Index(model, gone); n >= 0 {
						must.NoError(t, err)
						model = slices.Delete(model, n, n+1)
					} else {
						checkRejected(t, err, apierr.NotFound, "")
					}
				}
				sent := rapid.SliceOfN(names, 0, 9).Draw(t, "sent")
				w.mustAdd(t, l.ID, sent...)
				for _, name := range sent {
					if !slices.Contains(model, name) && len(model) < 12 {
						model = append(model, name)
					}
				}
				if diff := cmp.Diff(model, w.hashtags(t, l.ID)); diff != "" {
					t.Fatal(diff)
				}
				w.checkInvariants(t, l.ID)
			}
		})
	})
}
