package list

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestChange(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		l := w.mustCreate(t, CreateInput{Name: "old", Color: "#000000", Icon: "ri-cup-line", Hashtags: []string{"a", "b"}})
		for _, c := range []struct {
			change Change
			want   HashtagListEntry
		}{
			{Change{Name: new(" new ")}, HashtagListEntry{ID: l.ID, Name: "new", Size: 2, Color: "#000000", Icon: "ri-cup-line"}},
			{Change{Color: new("#ABCDEF"), Icon: new("")}, HashtagListEntry{ID: l.ID, Name: "new", Size: 2, Color: "#abcdef"}},
			{Change{}, HashtagListEntry{ID: l.ID, Name: "new", Size: 2, Color: "#abcdef"}},
		} {
			changed := must.Get(w.Change(t.Context(), w.team, w.actor(), l.ID, c.change))(t)
			if diff := cmp.Diff(c.want, newEntry(changed)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, w.mustGet(t, l.ID).HashtagListEntry); diff != "" {
				t.Error(diff)
			}
		}
		for _, c := range []Change{{Name: new("")}, {Color: new("red")},
			{Name: new("kept"), Icon: new("ri-none-such")}} {
			if _, err := w.Change(t.Context(), w.team, w.actor(), l.ID, c); !apierr.Is(err, apierr.ValidationFailed) {
				t.Error(err)
			}
		}
		if name := w.mustGet(t, l.ID).Name; name != "new" {
			t.Errorf("an invalid change was partly applied: %q", name)
		}
		must.NoError(t, w.Remove(t.Context(), w.team, w.actor(), l.ID, "a"))
		checkRejected(t, w.Remove(t.Context(), w.team, w.actor(), l.ID, "a"), apierr.NotFound, "")
		w.checkInvariants(t, l.ID)
		must.NoError(t, w.Delete(t.Context(), w.team, w.actor(), l.ID))
		checkRejected(t, w.Delete(t.Context(), w.team, w.actor(), l.ID), apierr.NotFound, "")
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtag_list_items`); n != 0 {
			t.Errorf("%d hashtags of a deleted list remain", n)
		}
		want := []string{"hashtag_list.created", "hashtag_list.changed", "hashtag_list.changed", "hashtag_list.changed",
			"hashtag_list.removed_from", "hashtag_list.deleted"}
		if diff := cmp.Diff(want, w.events(t)); diff != "" {
			t.Error(diff)
		}
		if again := w.mustCreate(t, CreateInput{}); again.ID <= l.ID {
			t.Errorf("the ID %d was reused", again.ID)
		}
	})
}

// The largest list is created in one call and read in full.
func TestLongestList(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.plan = "agency"
		tags := make([]string, 5000)
		for n := range tags {
			tags[n] = fmt.Sprint("tag", n)
		}
		l := w.mustCreate(t, CreateInput{Hashtags: tags})
		if diff := cmp.Diff(tags, w.hashtags(t, l.ID)); diff != "" || l.Size != 5000 {
			t.Error(diff)
		}
		if c := w.mustAdd(t, l.ID, slices.Concat(tags, []string{"another"})...); len(c.AlreadyPresent) != 5000 ||
			len(c.Refused) != 1 {
			t.Errorf("%d were already present, %v rejected", len(c.AlreadyPresent), c.Refused)
		}
		w.checkInvariants(t, l.ID)
	})
}

// Many hashtags are enqueued before the transaction that adds them, if the list accepts them.
func TestEnqueueBeforeTransaction(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.plan = "agency"
		w.setLimits(1, 700)
		tags := make([]string, 1000)
		for n := range tags {
			tags[n] = fmt.Sprint("tag", n)
		}
		check := func(want ...int) {
			t.Helper()
			if diff := cmp.Diff(want, w.metrics.batchSizes); diff != "" {
				t.Error(diff)
			}
		}
		must.NoError(t, w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "few",
			Hashtags: tags[:maxPerTransaction]}))
		check()
		must.NoError(t, w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "many",
			Hashtags: tags}))
		check(700)
		l := w.mustCreate(t, CreateInput{Name: "many", Hashtags: tags[:90]})
		if err := w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "another",
			Hashtags: tags}); !apierr.Is(err, apierr.PlanLimitReached) {
			t.Error(err)
		}
		must.NoError(t, w.enqueueForAdd(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID, Hashtags: tags}))
		check(700, 610)
		if err := w.newTeam(t, "agency").enqueueForAdd(t.Context(), w.newTeam(t, "agency").call("add_hashtags"),
			AddInput{ListID: l.ID, Hashtags: tags}); !apierr.Is(err, apierr.NotFound) {
			t.Error(err)
		}
		check(700, 610)
	})
}

// InAnyList considers all teams' lists for the platform or for all platforms.
func TestInAnyList(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.mustCreate(t, CreateInput{Platform: "tiktok", Hashtags: []string{"a", "b"}})
		w.mustCreate(t, CreateInput{Platform: "instagram", Hashtags: []string{"b"}})
		l := w.newTeam(t, "creator").mustCreate(t, CreateInput{Hashtags: []string{"c"}})
		for _, c := range []struct {
			hashtag           string
			instagram, tiktok bool
		}{{"a", false, true}, {"b", true, true}, {"c", true, true}, {"d", false, false}, {"pizza", false, false}} {
			for platform, want := range map[string]bool{"instagram": c.instagram, "tiktok": c.tiktok} {
				got := must.Get(w.InAnyList(t.Context(), w.db, platform, c.hashtag))(t)
				if got != want {
					t.Errorf("%s on %s: %v", c.hashtag, platform, got)
				}
			}
		}
		must.NoError(t, w.Delete(t.Context(), w.queryInt(t, `SELECT team_id FROM hashtag_lists WHERE id = ?`, l.ID), w.actor(),
			l.ID))
		if held, err := w.InAnyList(t.Context(), w.db, "instagram", "c"); held || err != nil {
			t.Errorf("%v, %v", held, err)
		}
	})
}

// IDs of teams' lists start after those of the ready-made lists.
func TestOwnListIDs(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO hashtag_lists (id, team_id, name, created_at) VALUES (7, ?, 'n', 1)`,
				w.team)
			return err
		})
		if err == nil {
			t.Error("a team's list has the ID of a ready-made list")
		}
	})
}
