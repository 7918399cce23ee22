package list

import (
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The ready-made lists are valid.
func TestReadyMade(t *testing.T) {
	all := must.Get(loadReadyMade())(t)
	if len(all) < 24 {
		t.Errorf("%d lists", len(all))
	}
	names, languages := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		if r.Size < 20 || r.Size > 60 || int(r.Size) != len(r.items) {
			t.Errorf("%s has %d hashtags", r.Name, r.Size)
		}
		if !r.isReadyMade() || r.TeamID != 0 || r.Icon == "" || r.Color == "" || names[r.Name] {
			t.Errorf("%+v", r.List)
		}
		names[r.Name], languages[r.language] = true, true
		if r.language == "" || r.Platform != "" && !slices.Contains(platforms, r.Platform) {
			t.Errorf("%s: %q, %q", r.Name, r.language, r.Platform)
		}
		subcategories := map[string]bool{}
		for _, i := range r.items {
			subcategories[i.Subcategory] = true
		}
		if len(subcategories) < 2 {
			t.Errorf("%s has no subcategories", r.Name)
		}
	}
	if len(languages) < 5 {
		t.Errorf("languages %v, want at least 5", languages)
	}
	if !slices.IsSortedFunc(all, func(a, b readyMadeList) int { return int(b.ID - a.ID) }) {
		t.Error("not sorted by descending ID")
	}
}

// publishedIDs are the published IDs of lists. Clients may store them, so none may change or be reused.
var publishedIDs = map[int64]string{1: "Food", 2: "Coffee and baking", 3: "Travel", 4: "Fitness", 5: "Fashion",
	6: "Photography", 20: "Small business", 22: "Events and festivals",
	24: "The seasons", 33: "Reels and Stories", 34: "Corners of TikTok", 35: "Deutsch: Alltag und Genuss",
	40: "日本語：カフェと旅", 43: "Bahasa Indonesia: keseharian"}

func TestReadyMadeIDsStable(t *testing.T) {
	all := must.Get(loadReadyMade())(t)
	for id, name := range publishedIDs {
		if !slices.ContainsFunc(all, func(r readyMadeList) bool { return r.ID == id && r.Name == name }) {
			t.Errorf("list %d is no longer %s", id, name)
		}
	}
}

func TestInvalidReadyMade(t *testing.T) {
	good := `{"id":7,"name":"N","language":"en","origin":"us","groups":[{"subcategory":"S","hashtags":"a b"}]}`
	if r, err := parseReadyMade([]byte(good)); err != nil || r.Size != 2 || r.items[1] != (Item{"b", "S"}) {
		t.Fatalf("%+v %v", r, err)
	}
	for _, c := range []struct{ old, wrong string }{
		{`"id":7`, `"id":0`}, {`"id":7`, `"id":1000000`}, {`"name":"N"`, `"name":" "`}, {`"language":"en",`, ``},
		{`"origin":"us",`, ``}, {`"N"`, `"N","colour":"x"`},
		{`"N"`, `"N","color":"red"`}, {`"N"`, `"N","icon":"ri-none-such"`}, {`"a b"`, `"a A"`}, {`"a b"`, `"a #b"`},
		{`"a b"`, `"a a"`}, {`"a b"`, `"a 2024"`},
		{`"S"`, `""`}, {`"S"`, `" S"`}, {`"S"`, `"` + strings.Repeat("S", 51) + `"`}, {`}]}`, `}`},
	} {
		text := strings.Replace(good, c.old, c.wrong, 1)
		if _, err := parseReadyMade([]byte(text)); err == nil {
			t.Errorf("the invalid file %s was accepted", text)
		}
	}
}

// A note explains missing metrics of a ready-made list.
func TestReadyMadeWithoutMetrics(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		open := func() operation.Response[HashtagList] {
			t.Helper()
			got := must.Get(w.get(t.Context(), w.call("get_hashtag_list"), GetInput{ListID: 1}))(t)
			return got
		}
		if notes := open().Notes; len(notes) != 1 || !strings.Contains(notes[0], "no provider is configured") {
			t.Errorf("without a provider: %q", notes)
		}
		w.HasProvider = true
		before := open()
		if len(before.Notes) != 1 || !strings.Contains(before.Notes[0], "45 of 45 hashtags have no metrics yet") {
			t.Errorf("with a provider: %q", before.Notes)
		}
		for i, h := range before.Data.Hashtags {
			w.metrics.byHashtag["instagram "+h.Hashtag] = stats.Statistics{Platform: "instagram", Hashtag: h.Hashtag,
				Score: new(50.0)}
			if i == 0 {
				if notes := open().Notes; len(notes) != 1 || !strings.Contains(notes[0],
					"44 of 45 hashtags have no metrics yet") {
					t.Errorf("with metrics of one hashtag: %q", notes)
				}
			}
		}
		if notes := open().Notes; len(notes) != 0 {
			t.Errorf("with metrics of all hashtags: %q", notes)
		}
	})
}

// Every hashtag of a ready-made list is returned once for each of its platforms.
func TestReadyMadeHashtags(t *testing.T) {
	t.Parallel()
	s := must.Get(New(Options{}))(t)
	for _, platform := range platforms {
		tags := s.ReadyMadeHashtags(platform)
		seen := map[string]int{}
		for _, tag := range tags {
			seen[tag]++
		}
		for _, r := range s.readyMadeLists {
			for _, i := range r.items {
				if want := r.Platform == "" || r.Platform == platform; want && seen[i.Hashtag] != 1 {
					t.Errorf("%s of list %d is returned %d times for %s", i.Hashtag, r.ID, seen[i.Hashtag], platform)
				}
			}
		}
		if first, _ := s.findReadyMade(1); tags[0] != first.items[0].Hashtag {
			t.Errorf("the first is %s", tags[0])
		}
	}
}
