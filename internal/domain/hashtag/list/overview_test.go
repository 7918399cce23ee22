package list

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
)

// A search compares names and hashtags in any case, without wildcards, and only finds lists of the team.
func TestSearch(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.mustCreate(t, CreateInput{Name: "Über uns", Hashtags: []string{"quay_side", "team"}})
		w.mustCreate(t, CreateInput{Name: "Other", Platform: "tiktok", Hashtags: []string{"quayxside"}})
		for _, c := range []struct {
			text string
			in   ListInput
			want string
		}{
			{"über", ListInput{Scope: scopeOwn}, "Über uns"},
			{"#Quay_", ListInput{Scope: scopeOwn}, "Über uns"},
			{"quay", ListInput{Scope: scopeOwn}, "Other, Über uns"},
			{"quay", ListInput{Scope: scopeOwn, Platform: "instagram"}, "Über uns"},
			{"100%", ListInput{}, ""},
			{"barista", ListInput{Scope: scopeSystem}, "Coffee and baking"},
		} {
			found := must.Get(w.Search(t.Context(), w.team, c.in, c.text, 10))(t)
			var names []string
			for _, l := range found {
				names = append(names, l.Name)
			}
			if got := strings.Join(names, ", "); got != c.want {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
			}
		}
		if found := must.Get(w.Search(t.Context(), w.team+1, ListInput{Scope: scopeOwn}, "quay", 10))(t); len(found) != 0 {
			t.Errorf("another team finds %v", found)
		}
	})
}

// Samples are the first hashtags of team and ready-made lists.
func TestSamples(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		own := w.mustCreate(t, CreateInput{Name: "Own", Hashtags: []string{"one", "two", "three"}})
		empty := w.mustCreate(t, CreateInput{Name: "Empty"})
		ready := w.readyMadeLists[0]
		got := must.Get(w.Samples(t.Context(), w.team,
			[]HashtagListEntry{own.HashtagListEntry, empty.HashtagListEntry, newEntry(ready.List)}, 2))(t)
		want := map[int64][]string{
			own.ID: {"one", "two"}, empty.ID: {}, ready.ID: {ready.items[0].Hashtag, ready.items[1].Hashtag},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Ready-made lists are found by the base of a language.
func TestReadyMadeIn(t *testing.T) {
	t.Parallel()
	s := must.Get(New(Options{}))(t)
	german := s.ReadyMadeIn("de-AT")
	if len(german) == 0 || len(german) >= len(s.readyMadeLists) || !s.IsReadyMadeIn(german[0].ID, "de") ||
		s.IsReadyMadeIn(german[0].ID, "en") {
		t.Errorf("%d German lists", len(german))
	}
}
