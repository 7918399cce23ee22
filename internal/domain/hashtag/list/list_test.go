package list

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestCreate(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		c := w.mustCreate(t, CreateInput{Name: "  Bar  ", Platform: "instagram", Color: "#12AB9F", Icon: "ri-cup-line",
			Hashtags: []string{"travel", "#Sunset", "two words", "#forbidden", "TRAVEL"}})
		want := HashtagListChange{HashtagListEntry: HashtagListEntry{ID: firstTeamListID, Name: "Bar",
			Platform: "instagram", Size: 2, Color: "#12ab9f",
			Icon: "ri-cup-line"},
			Added: []string{"travel", "sunset"}, AlreadyPresent: []string{},
			Refused: []HashtagListChangeRefused{{"two words", "bad_characters"}, {"forbidden", "banned"}}}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Error(diff)
		}
		opened := HashtagList{HashtagListEntry: want.HashtagListEntry, Hashtags: []ListedHashtag{
			{HashtagSummary: stats.HashtagSummary{Hashtag: "travel"}}, {HashtagSummary: stats.HashtagSummary{Hashtag: "sunset"}}}}
		if diff := cmp.Diff(opened, w.mustGet(t, c.ID), ignoreEncodedJSON); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"instagram travel", "instagram sunset"}, w.metrics.requested); diff != "" {
			t.Error(diff)
		}
		alone := w.mustCreate(t, CreateInput{Name: "n"})
		if diff := cmp.Diff(HashtagListChange{HashtagListEntry: HashtagListEntry{ID: firstTeamListID + 1, Name: "n"}, Added: []string{},
			AlreadyPresent: []string{}, Refused: []HashtagListChangeRefused{}}, alone); diff != "" {
			t.Error(diff)
		}
		if again := w.mustCreate(t, CreateInput{Name: "n"}); again.ID == alone.ID {
			t.Error("both calls returned the same list")
		}
		if diff := cmp.Diff([]string{"hashtag_list.created", "hashtag_list.created", "hashtag_list.created"},
			w.events(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCreateRejected(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		for name, c := range map[string]struct {
			in     CreateInput
			reason string
		}{
			"spaces":       {CreateInput{Name: "   "}, apierr.TooShort},
			"two lines":    {CreateInput{Name: "a\nb"}, apierr.Malformed},
			"a long name":  {CreateInput{Name: strings.Repeat("n", 51)}, apierr.TooLong},
			"a color":      {CreateInput{Name: "n", Color: "#12ab9f\n"}, apierr.Malformed},
			"another icon": {CreateInput{Name: "n", Icon: "ri-no-such-icon"}, apierr.NotAllowedValue},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := w.create(t.Context(), w.call("create_hashtag_list"), c.in)
				checkRejected(t, err, apierr.ValidationFailed, c.reason)
			})
		}
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtag_lists`); n != 0 {
			t.Errorf("%d lists", n)
		}
	})
}

// The input schemas accept and reject these arguments.
func TestArguments(t *testing.T) {
	byTool := map[string]operation.Operation{}
	for _, op := range new(Service).Operations() {
		byTool[op.Tool] = op
	}
	for name, c := range map[string]struct {
		tool   string
		args   operation.Arguments
		reason string
	}{
		"only a name": {"create_hashtag_list", operation.Arguments{"name": "n"}, ""},
		"no name":     {"create_hashtag_list", operation.Arguments{}, apierr.MissingArgument},
		"empty name":  {"create_hashtag_list", operation.Arguments{"name": ""}, apierr.TooShort},
		"51 characters": {"create_hashtag_list", operation.Arguments{"name": strings.Repeat("é", 51)},
			apierr.TooLong},
		"50 characters": {"create_hashtag_list", operation.Arguments{"name": strings.Repeat("é", 50)}, ""},
		"a platform": {"create_hashtag_list", operation.Arguments{"name": "n", "platform": "facebook"},
			apierr.NotAllowedValue},
		"a line break": {"create_hashtag_list", operation.Arguments{"name": "n", "color": "#12ab9f\n"},
			apierr.Malformed},
		"an icon": {"create_hashtag_list", operation.Arguments{"name": "n", "icon": "ri-<script>"},
			apierr.Malformed},
		"icon prefix only": {"create_hashtag_list", operation.Arguments{"name": "n", "icon": "ri-"}, apierr.Malformed},
		"empty icon":       {"create_hashtag_list", operation.Arguments{"name": "n", "icon": ""}, apierr.Malformed},
		"a text": {"create_hashtag_list", operation.Arguments{"name": "n", "hashtags": "travel"},
			apierr.NotAList},
		"a number": {"create_hashtag_list", operation.Arguments{"name": "n", "hashtags": []any{int64(5)}},
			apierr.Malformed},
		"too many": {"create_hashtag_list", operation.Arguments{"name": "n",
			"hashtags": slices.Repeat([]any{"a"}, 5001)}, apierr.TooLong},
		"many": {"create_hashtag_list", operation.Arguments{"name": "n",
			"hashtags": slices.Repeat([]any{"a"}, 5000)}, ""},
		"unknown": {"create_hashtag_list", operation.Arguments{"name": "n", "shared": true},
			apierr.UnknownArgument},
		"no hashtags": {"add_hashtags", operation.Arguments{"list_id": int64(1)}, apierr.MissingArgument},
		"a long label": {"add_hashtags", operation.Arguments{"list_id": int64(1), "hashtags": []any{"a"},
			"subcategory": strings.Repeat("s", 51)}, apierr.TooLong},
		"paging of a list": {"get_hashtag_list", operation.Arguments{"list_id": int64(1), "limit": int64(20)},
			apierr.UnknownArgument},
		"another scope":  {"list_hashtag_lists", operation.Arguments{"scope": "mine"}, apierr.NotAllowedValue},
		"default scope":  {"list_hashtag_lists", operation.Arguments{}, ""},
		"limit too high": {"list_hashtag_lists", operation.Arguments{"limit": int64(51)}, apierr.OutOfRange},
		"lists of facebook": {"list_hashtag_lists", operation.Arguments{"platform": "facebook"},
			apierr.NotAllowedValue},
	} {
		t.Run(name, func(t *testing.T) {
			op := byTool[c.tool]
			_, err := op.Check(c.args)
			if c.reason == "" {
				must.NoError(t, err)
				return
			}
			checkRejected(t, err, apierr.ValidationFailed, c.reason)
		})
	}
}

func TestAdd(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		l := w.mustCreate(t, CreateInput{Hashtags: []string{"first"}})
		in := AddInput{ListID: l.ID, Hashtags: []string{"#", strings.Repeat("l", 101), "a b", "zebra", "apple",
			"#First", "apple"}, Subcategory: " Fruit "}
		answer, err := w.add(t.Context(), w.call("add_hashtags"), in)
		must.NoError(t, err)
		want := HashtagListChange{HashtagListEntry: HashtagListEntry{ID: l.ID, Name: "a list", Size: 3}, Added: []string{"zebra", "apple"},
			AlreadyPresent: []string{"first"},
			Refused:        []HashtagListChangeRefused{{"#", "empty"}, {strings.Repeat("l", 100), "too_long"}, {"a b", "bad_characters"}}}
		if diff := cmp.Diff(want, answer.Data); diff != "" {
			t.Error(diff)
		}
		shown := []ListedHashtag{
			{HashtagSummary: stats.HashtagSummary{Hashtag: "first"}},
			{HashtagSummary: stats.HashtagSummary{Hashtag: "zebra"}, Subcategory: "Fruit"},
			{HashtagSummary: stats.HashtagSummary{Hashtag: "apple"}, Subcategory: "Fruit"},
		}
		if diff := cmp.Diff(shown, w.mustGet(t, l.ID).Hashtags); diff != "" {
			t.Error(diff)
		}
		events, wanted := w.events(t), slices.Clone(w.metrics.requested)
		in.Subcategory, in.Hashtags = "Other", []string{"zebra", "apple", "first"}
		answer = must.Get(w.add(t.Context(), w.call("add_hashtags"), in))(t)
		if diff := cmp.Diff(HashtagListChange{HashtagListEntry: want.HashtagListEntry, Added: []string{},
			AlreadyPresent: []string{"zebra", "apple",
				"first"}, Refused: []HashtagListChangeRefused{}}, answer.Data); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(shown, w.mustGet(t, l.ID).Hashtags); diff != "" {
			t.Errorf("a repeated call changed the list\n%s", diff)
		}
		if !slices.Equal(events, w.events(t)) || !slices.Equal(wanted, w.metrics.requested) {
			t.Error("a repeated call was recorded as a change")
		}
		in.Subcategory = "a\nb"
		_, err = w.add(t.Context(), w.call("add_hashtags"), in)
		checkRejected(t, err, apierr.ValidationFailed, apierr.Malformed)
	})
}

// Missing lists, other teams' lists and unassigned IDs return not_found. Ready-made lists cannot be changed.
func TestForeignListNotFound(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		other := w.newTeam(t, "creator")
		theirs := other.mustCreate(t, CreateInput{Hashtags: []string{"theirs"}})
		for _, id := range []int64{theirs.ID, theirs.ID + 77, 0, 999, firstTeamListID - 1, 1<<62 + 3} {
			name := "x"
			_, open := w.get(t.Context(), w.call("get_hashtag_list"), GetInput{id})
			_, add := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: id, Hashtags: []string{"x"}})
			_, change := w.Change(t.Context(), w.team, w.actor(), id, Change{Name: &name})
			for _, err := range []error{open, add, change, w.Remove(t.Context(), w.team, w.actor(), id, "theirs"),
				w.Delete(t.Context(), w.team, w.actor(), id)} {
				if diff := cmp.Diff(apierr.ItemNotFound(), apierr.FromError(err)); diff != "" {
					t.Errorf("%d: %s", id, diff)
				}
			}
		}
		if diff := cmp.Diff([]string{"theirs"}, other.hashtags(t, theirs.ID)); diff != "" {
			t.Error(diff)
		}
		before := w.mustGet(t, 1)
		_, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: 1, Hashtags: []string{"intruder"}})
		checkRejected(t, err, apierr.ValidationFailed, apierr.WrongState)
		if state := apierr.FromError(err).Context["state"]; state != "ready_made" {
			t.Errorf("state %v", state)
		}
		checkRejected(t, w.Delete(t.Context(), w.team, w.actor(), 1), apierr.ValidationFailed, apierr.WrongState)
		if diff := cmp.Diff(before, w.mustGet(t, 1), ignoreEncodedJSON); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMetrics(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		metrics := func(platform, name string, posts int64) {
			w.metrics.byHashtag[platform+" "+name] = stats.Statistics{Platform: platform, Hashtag: name,
				Posts: &hashtaganalysis.TagPosts{Count: posts, Basis: "measured"}, Score: new(50.0),
				MeasuredAt: w.clock.Now()}
		}
		metrics("instagram", "both", 9_999)
		metrics("tiktok", "both", 10_000)
		metrics("tiktok", "one", 2_000_000)
		w.metrics.byHashtag["instagram named"] = stats.Statistics{Platform: "instagram", Hashtag: "named"}
		tags := []string{"one", "none", "both", "named"}
		shown := func(name, tier string, posts int64) stats.HashtagSummary {
			return stats.HashtagSummary{Hashtag: name, Posts: &hashtaganalysis.TagPosts{Count: posts, Basis: "measured"},
				Tier: tier, Score: new(50.0)}
		}
		bare := func(name string) ListedHashtag {
			return ListedHashtag{HashtagSummary: stats.HashtagSummary{Hashtag: name}}
		}
		for platform, want := range map[string][]ListedHashtag{
			"": {{HashtagSummary: shown("one", "huge", 2_000_000), Platform: "tiktok"}, bare("none"),
				{HashtagSummary: shown("both", "nano", 9_999), Platform: "instagram"}, bare("named")},
			"instagram": {bare("one"), bare("none"), {HashtagSummary: shown("both", "nano", 9_999)}, bare("named")},
			"tiktok": {{HashtagSummary: shown("one", "huge", 2_000_000)}, bare("none"),
				{HashtagSummary: shown("both", "small", 10_000)}, bare("named")},
		} {
			l := w.mustCreate(t, CreateInput{Platform: platform, Hashtags: tags})
			if diff := cmp.Diff(want, w.mustGet(t, l.ID).Hashtags); diff != "" {
				t.Errorf("%q: %s", platform, diff)
			}
		}
		metrics("tiktok", "pizza", 1)
		ready := w.mustGet(t, 1)
		if ready.Size != int64(len(ready.Hashtags)) || !ready.ReadyMade || ready.Size < 20 {
			t.Errorf("%+v", ready.HashtagListEntry)
		}
		n := slices.IndexFunc(ready.Hashtags, func(h ListedHashtag) bool { return h.Hashtag == "pizza" })
		if n < 0 || ready.Hashtags[n].Platform != "tiktok" || ready.Hashtags[n].Subcategory != "Dishes" {
			t.Errorf("%+v", ready.Hashtags[n])
		}
	})
}

// The service works with the real store: added hashtags become known there.
func TestRealMetrics(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.Statistics = stats.New(w.db)
		l := w.mustCreate(t, CreateInput{Hashtags: []string{"b", "a"}})
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtags WHERE hashtag IN ('a', 'b')`); n != 4 {
			t.Errorf("%d hashtags are known on both platforms", n)
		}
		if diff := cmp.Diff([]string{"b", "a"}, w.hashtags(t, l.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

// A failed write changes nothing.
func TestFailedWriteRollsBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		l := w.mustCreate(t, CreateInput{Hashtags: []string{"a"}})
		w.metrics.err = errors.New("no metrics")
		if _, err := w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n",
			Hashtags: []string{"b"}}); !errors.Is(err, w.metrics.err) {
			t.Error(err)
		}
		if _, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID,
			Hashtags: []string{"b"}}); !errors.Is(err, w.metrics.err) {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a"}, w.hashtags(t, l.ID)); diff != "" ||
			w.queryInt(t, `SELECT COUNT(*) FROM hashtag_lists`) != 1 || len(w.events(t)) != 1 {
			t.Error(diff)
		}
	})
}

func TestLists(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(plan.Unlimited, 10)
		other := w.newTeam(t, "creator")
		var own, ready []int64
		for n := range 7 {
			own = append(own, w.mustCreate(t, CreateInput{Platform: []string{"", "instagram", "tiktok"}[n%3]}).ID)
			other.mustCreate(t, CreateInput{})
			w.clock.Advance(time.Minute)
		}
		slices.Reverse(own)
		for _, r := range w.readyMadeLists {
			ready = append(ready, r.ID)
		}
		for _, c := range []struct {
			scope string
			want  []int64
		}{{scopeOwn, own}, {scopeSystem, ready}, {scopeAll, slices.Concat(own, ready)}} {
			for _, limit := range []int{1, 2, 7, 50} {
				got, pages := w.listAll(t, ListInput{Scope: c.scope, Limit: limit})
				if diff := cmp.Diff(c.want, got); diff != "" || pages != max(1, (len(c.want)+limit-1)/limit) {
					t.Errorf("%s by %d: %d pages\n%s", c.scope, limit, pages, diff)
				}
			}
		}
		got, _ := w.listAll(t, ListInput{Scope: scopeOwn, Platform: "tiktok", Limit: 2})
		if diff := cmp.Diff([]int64{own[0], own[1], own[3], own[4], own[6]}, got); diff != "" {
			t.Error(diff)
		}
		got, _ = w.listAll(t, ListInput{Platform: "instagram", Limit: 50})
		if slices.Contains(got, 34) || !slices.Contains(got, 33) || !slices.Contains(got, 1) {
			t.Errorf("ready-made lists for Instagram: %v", got)
		}
		answer, err := w.listLists(t.Context(), w.call("list_hashtag_lists"), ListInput{Scope: scopeAll, Limit: 3})
		must.NoError(t, err)
		call := w.call("list_hashtag_lists")
		call.Filters = []byte(`{"scope":"own"}`)
		_, err = w.listLists(t.Context(), call, ListInput{Scope: scopeOwn, Limit: 3, Cursor: &answer.Page.Cursor})
		checkRejected(t, err, apierr.ValidationFailed, apierr.InvalidCursor)
	})
}

// Changes while paging neither repeat nor hide other lists.
func TestPagingDuringChanges(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.setLimits(plan.Unlimited, 10)
		var own []int64
		for range 6 {
			own = append(own, w.mustCreate(t, CreateInput{}).ID)
		}
		in := ListInput{Scope: scopeAll, Limit: 3}
		first := must.Get(w.listLists(t.Context(), w.call("list_hashtag_lists"), in))(t)
		w.mustCreate(t, CreateInput{})
		must.NoError(t, w.Delete(t.Context(), w.team, w.actor(), own[3])) // the list at the cursor
		in.Cursor = &first.Page.Cursor
		rest, _ := w.listAll(t, in)
		if diff := cmp.Diff([]int64{own[2], own[1], own[0], w.readyMadeLists[0].ID}, rest[:4]); diff != "" {
			t.Error(diff)
		}
	})
}
