package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/report/hashtaganalysis"
	"pressroom/internal/platform/db"
)

func TestCreate(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		c := w.make(t, CreateInput{Name: "  Bar  ", Platform: "instagram", Color: "#12AB9F", Icon: "ri-cup-line",
			Hashtags: []string{"travel", "#Sunset", "two words", "#forbidden", "TRAVEL"}})
		want := Changed{Entry: Entry{ID: firstTeamListID, Name: "Bar", Platform: "instagram", Size: 2, Color: "#12ab9f",
			Icon: "ri-cup-line"},
			Added: []string{"travel", "sunset"}, AlreadyPresent: []string{},
			Refused: []Refused{{"two words", "bad_characters"}, {"forbidden", "banned"}}}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Error(diff)
		}
		opened := Opened{Entry: want.Entry, Hashtags: []Hashtag{{Shown: stats.Shown{Hashtag: "travel"}},
			{Shown: stats.Shown{Hashtag: "sunset"}}}}
		if diff := cmp.Diff(opened, w.look(t, c.ID), unwritten); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"instagram travel", "instagram sunset"}, w.known.wanted); diff != "" {
			t.Error(diff)
		}
		alone := w.make(t, CreateInput{Name: "n"})
		if diff := cmp.Diff(Changed{Entry: Entry{ID: firstTeamListID + 1, Name: "n"}, Added: []string{},
			AlreadyPresent: []string{}, Refused: []Refused{}}, alone); diff != "" {
			t.Error(diff)
		}
		if again := w.make(t, CreateInput{Name: "n"}); again.ID == alone.ID {
			t.Error("the same list")
		}
		if diff := cmp.Diff([]string{"hashtag_list.created", "hashtag_list.created", "hashtag_list.created"},
			w.events(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCreateIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w env) {
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
				checkRefused(t, err, apierr.ValidationFailed, c.reason)
			})
		}
		if n := w.number(t, `SELECT COUNT(*) FROM hashtag_lists`); n != 0 {
			t.Errorf("%d lists", n)
		}
	})
}

// What the schemas let through, and what not: the rules that stand in tags.
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
		"name alone": {"create_hashtag_list", operation.Arguments{"name": "n"}, ""},
		"no name":    {"create_hashtag_list", operation.Arguments{}, apierr.MissingArgument},
		"empty name": {"create_hashtag_list", operation.Arguments{"name": ""}, apierr.TooShort},
		"51 characters": {"create_hashtag_list", operation.Arguments{"name": strings.Repeat("é", 51)},
			apierr.TooLong},
		"50 characters": {"create_hashtag_list", operation.Arguments{"name": strings.Repeat("é", 50)}, ""},
		"a platform": {"create_hashtag_list", operation.Arguments{"name": "n", "platform": "facebook"},
			apierr.NotAllowedValue},
		"a line break": {"create_hashtag_list", operation.Arguments{"name": "n", "color": "#12ab9f\n"},
			apierr.Malformed},
		"an icon": {"create_hashtag_list", operation.Arguments{"name": "n", "icon": "ri-<script>"},
			apierr.Malformed},
		"a bare icon": {"create_hashtag_list", operation.Arguments{"name": "n", "icon": "ri-"}, apierr.Malformed},
		"empty icon":  {"create_hashtag_list", operation.Arguments{"name": "n", "icon": ""}, apierr.Malformed},
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
		"nothing to add": {"add_hashtags", operation.Arguments{"list_id": int64(1)}, apierr.MissingArgument},
		"a long label": {"add_hashtags", operation.Arguments{"list_id": int64(1), "hashtags": []any{"a"},
			"subcategory": strings.Repeat("s", 51)}, apierr.TooLong},
		"paging of a list": {"get_hashtag_list", operation.Arguments{"list_id": int64(1), "limit": int64(20)},
			apierr.UnknownArgument},
		"another scope":    {"list_hashtag_lists", operation.Arguments{"scope": "mine"}, apierr.NotAllowedValue},
		"the usual scope":  {"list_hashtag_lists", operation.Arguments{}, ""},
		"more than a page": {"list_hashtag_lists", operation.Arguments{"limit": int64(51)}, apierr.OutOfRange},
		"lists of facebook": {"list_hashtag_lists", operation.Arguments{"platform": "facebook"},
			apierr.NotAllowedValue},
	} {
		t.Run(name, func(t *testing.T) {
			op := byTool[c.tool]
			_, err := op.Check(c.args)
			if c.reason == "" {
				must(t, err)
				return
			}
			checkRefused(t, err, apierr.ValidationFailed, c.reason)
		})
	}
}

func TestAdd(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		l := w.make(t, CreateInput{Hashtags: []string{"first"}})
		in := AddInput{ListID: l.ID, Hashtags: []string{"#", strings.Repeat("l", 101), "a b", "zebra", "apple",
			"#First", "apple"}, Subcategory: " Fruit "}
		answer, err := w.add(t.Context(), w.call("add_hashtags"), in)
		must(t, err)
		want := Changed{Entry: Entry{ID: l.ID, Name: "a list", Size: 3}, Added: []string{"zebra", "apple"},
			AlreadyPresent: []string{"first"},
			Refused:        []Refused{{"#", "empty"}, {strings.Repeat("l", 100), "too_long"}, {"a b", "bad_characters"}}}
		if diff := cmp.Diff(want, answer.Data); diff != "" {
			t.Error(diff)
		}
		shown := []Hashtag{{Shown: stats.Shown{Hashtag: "first"}}, {Shown: stats.Shown{Hashtag: "zebra"},
			Subcategory: "Fruit"}, {Shown: stats.Shown{Hashtag: "apple"}, Subcategory: "Fruit"}}
		if diff := cmp.Diff(shown, w.look(t, l.ID).Hashtags); diff != "" {
			t.Error(diff)
		}
		events, wanted := w.events(t), slices.Clone(w.known.wanted)
		in.Subcategory, in.Hashtags = "Other", []string{"zebra", "apple", "first"}
		answer, err = w.add(t.Context(), w.call("add_hashtags"), in)
		must(t, err)
		if diff := cmp.Diff(Changed{Entry: want.Entry, Added: []string{}, AlreadyPresent: []string{"zebra", "apple",
			"first"}, Refused: []Refused{}}, answer.Data); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(shown, w.look(t, l.ID).Hashtags); diff != "" {
			t.Errorf("a repeat changed the list\n%s", diff)
		}
		if !slices.Equal(events, w.events(t)) || !slices.Equal(wanted, w.known.wanted) {
			t.Error("a repeat was noted as a change")
		}
		in.Subcategory = "a\nb"
		_, err = w.add(t.Context(), w.call("add_hashtags"), in)
		checkRefused(t, err, apierr.ValidationFailed, apierr.Malformed)
	})
}

// A list that is not there, another team's, and an id between the two kinds are the same answer; a ready-made one is
// there and cannot be changed.
func TestWhoseListItIs(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		other := w.newTeam(t, "creator")
		theirs := other.make(t, CreateInput{Hashtags: []string{"theirs"}})
		for _, id := range []int64{theirs.ID, theirs.ID + 77, 0, 999, firstTeamListID - 1, 1<<62 + 3} {
			name := "x"
			_, open := w.get(t.Context(), w.call("get_hashtag_list"), GetInput{id})
			_, add := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: id, Hashtags: []string{"x"}})
			_, change := w.Change(t.Context(), w.team, w.by(), id, Change{Name: &name})
			for _, err := range []error{open, add, change, w.Remove(t.Context(), w.team, w.by(), id, "theirs"),
				w.Delete(t.Context(), w.team, w.by(), id)} {
				if diff := cmp.Diff(apierr.Missing(), apierr.Of(err)); diff != "" {
					t.Errorf("%d: %s", id, diff)
				}
			}
		}
		if diff := cmp.Diff([]string{"theirs"}, other.holds(t, theirs.ID)); diff != "" {
			t.Error(diff)
		}
		before := w.look(t, 1)
		_, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: 1, Hashtags: []string{"intruder"}})
		checkRefused(t, err, apierr.ValidationFailed, apierr.WrongState)
		if state := apierr.Of(err).Context["state"]; state != "ready_made" {
			t.Errorf("state %v", state)
		}
		checkRefused(t, w.Delete(t.Context(), w.team, w.by(), 1), apierr.ValidationFailed, apierr.WrongState)
		if diff := cmp.Diff(before, w.look(t, 1), unwritten); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFigures(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		figures := func(platform, name string, posts int64) {
			w.known.of[platform+" "+name] = stats.Figures{Platform: platform, Hashtag: name,
				Posts: &hashtaganalysis.Posts{Count: posts, Basis: "measured"}, Score: new(50.0),
				MeasuredAt: w.clock.Now()}
		}
		figures("instagram", "both", 9_999)
		figures("tiktok", "both", 10_000)
		figures("tiktok", "one", 2_000_000)
		w.known.of["instagram named"] = stats.Figures{Platform: "instagram", Hashtag: "named"}
		tags := []string{"one", "none", "both", "named"}
		shown := func(name, tier string, posts int64) stats.Shown {
			return stats.Shown{Hashtag: name, Posts: &hashtaganalysis.Posts{Count: posts, Basis: "measured"},
				Tier: tier, Score: new(50.0)}
		}
		bare := func(name string) Hashtag { return Hashtag{Shown: stats.Shown{Hashtag: name}} }
		for platform, want := range map[string][]Hashtag{
			"": {{Shown: shown("one", "huge", 2_000_000), Platform: "tiktok"}, bare("none"),
				{Shown: shown("both", "nano", 9_999), Platform: "instagram"}, bare("named")},
			"instagram": {bare("one"), bare("none"), {Shown: shown("both", "nano", 9_999)}, bare("named")},
			"tiktok": {{Shown: shown("one", "huge", 2_000_000)}, bare("none"),
				{Shown: shown("both", "small", 10_000)}, bare("named")},
		} {
			l := w.make(t, CreateInput{Platform: platform, Hashtags: tags})
			if diff := cmp.Diff(want, w.look(t, l.ID).Hashtags); diff != "" {
				t.Errorf("%q: %s", platform, diff)
			}
		}
		figures("tiktok", "pizza", 1)
		ready := w.look(t, 1)
		if ready.Size != int64(len(ready.Hashtags)) || !ready.ReadyMade || ready.Size < 20 {
			t.Errorf("%+v", ready.Entry)
		}
		n := slices.IndexFunc(ready.Hashtags, func(h Hashtag) bool { return h.Hashtag == "pizza" })
		if n < 0 || ready.Hashtags[n].Platform != "tiktok" || ready.Hashtags[n].Subcategory != "Dishes" {
			t.Errorf("%+v", ready.Hashtags[n])
		}
	})
}

// The store of figures is what the program fills the port with: what is added becomes known there.
func TestStoreOfFigures(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.Figures = stats.New(w.db)
		l := w.make(t, CreateInput{Hashtags: []string{"b", "a"}})
		if n := w.number(t, `SELECT COUNT(*) FROM hashtags WHERE hashtag IN ('a', 'b')`); n != 4 {
			t.Errorf("%d hashtags are known on both platforms", n)
		}
		if diff := cmp.Diff([]string{"b", "a"}, w.holds(t, l.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

// A write that fails on its way leaves nothing behind.
func TestNothingHalfDone(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		l := w.make(t, CreateInput{Hashtags: []string{"a"}})
		w.known.broken = errors.New("no figures")
		if _, err := w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n",
			Hashtags: []string{"b"}}); !errors.Is(err, w.known.broken) {
			t.Error(err)
		}
		if _, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID,
			Hashtags: []string{"b"}}); !errors.Is(err, w.known.broken) {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a"}, w.holds(t, l.ID)); diff != "" ||
			w.number(t, `SELECT COUNT(*) FROM hashtag_lists`) != 1 || len(w.events(t)) != 1 {
			t.Error(diff)
		}
	})
}

func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(2, 3)
		l := w.make(t, CreateInput{Hashtags: []string{"a", "b", "two words", "c", "d", "e"}})
		if diff := cmp.Diff([]Refused{{"two words", "bad_characters"}, {"d", "list_full"}, {"e", "list_full"}},
			l.Refused); diff != "" {
			t.Error(diff)
		}
		c := w.put(t, l.ID, "c", "f", "a")
		if diff := cmp.Diff(Changed{Entry: l.Entry, Added: []string{}, AlreadyPresent: []string{"c", "a"},
			Refused: []Refused{{"f", "list_full"}}}, c); diff != "" {
			t.Error(diff)
		}
		w.make(t, CreateInput{})
		_, err := w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n"})
		checkRefused(t, err, apierr.PlanLimitReached, "")
		if limit := apierr.Of(err).Context["limit"]; limit != "hashtag_lists" {
			t.Errorf("limit %v", limit)
		}
		w.newTeam(t, "creator").make(t, CreateInput{}) // another team's lists do not count
		must(t, w.Delete(t.Context(), w.team, w.by(), l.ID))
		l = w.make(t, CreateInput{})
		w.allow(plan.Unlimited, plan.Unlimited)
		if c := w.put(t, l.ID, "a", "b", "c", "d", "e"); c.Size != 5 || len(c.Refused) > 0 {
			t.Errorf("%+v", c)
		}
		for range 3 {
			w.make(t, CreateInput{})
		}
		w.allow(0, 0)
		_, err = w.create(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "n"})
		checkRefused(t, err, apierr.PlanLimitReached, "")
		if c := w.put(t, l.ID, "a", "f"); c.Size != 5 || len(c.AlreadyPresent) != 1 || len(c.Refused) != 1 {
			t.Errorf("a list longer than the plan allows: %+v", c)
		}
	})
}

// Two calls at once cannot both make the last list that a plan allows.
func TestRaceForTheLastList(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(3, 10)
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
			checkRefused(t, err, apierr.PlanLimitReached, "")
		}
		if n := w.number(t, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`, w.team); n != 3 || good != 3 {
			t.Errorf("%d lists, %d were made", n, good)
		}
	})
}

// Additions at once stay within the list's size, each hashtag is told as added to one of them alone, and the counter is
// what is there.
func TestRaceForTheLastPlace(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(3, 20)
		l := w.make(t, CreateInput{})
		added := make([][]string, 8)
		for _, err := range concurrently(len(added), func(n int) error {
			answer, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID, Hashtags: []string{"same",
				fmt.Sprint("a", n), fmt.Sprint("b", n), fmt.Sprint("c", n)}})
			added[n] = answer.Data.Added
			return err
		}) {
			must(t, err)
		}
		told := slices.Sorted(slices.Values(slices.Concat(added...)))
		there := slices.Sorted(slices.Values(w.holds(t, l.ID)))
		if diff := cmp.Diff(told, there); diff != "" || len(there) != 20 {
			t.Errorf("%d hashtags (-told +there)\n%s", len(there), diff)
		}
		w.checkInvariants(t, l.ID)
	})
}

// concurrently runs a function so many times at once.
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

// checkInvariants fails unless the counter of a list, what it holds and what is shown are the same.
func (w env) checkInvariants(t fatal, list int64) {
	t.Helper()
	counted := w.number(t, `SELECT size FROM hashtag_lists WHERE id = ?`, list)
	there := w.number(t, `SELECT COUNT(*) FROM hashtag_list_items WHERE list_id = ?`, list)
	if opened := w.look(t, list); counted != there || opened.Size != there || int64(len(opened.Hashtags)) != there {
		t.Fatalf("%d counted, %d there, %d told", counted, there, opened.Size)
	}
}

// A list is a sequence without duplicates, for any order of additions and removals.
func TestListIsASequence(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(plan.Unlimited, 12)
		names := rapid.SampledFrom(strings.Fields("a b c d e f g h i j k l m n o p q"))
		rapid.Check(t, func(t *rapid.T) {
			l, model := w.make(t, CreateInput{}), []string{}
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				if gone := names.Draw(t, "gone"); rapid.Bool().Draw(t, "remove") {
					err := w.Remove(t.Context(), w.team, w.by(), l.ID, gone)
					if n := slices.Index(model, gone); n >= 0 {
						must(t, err)
						model = slices.Delete(model, n, n+1)
					} else {
						checkRefused(t, err, apierr.NotFound, "")
					}
				}
				sent := rapid.SliceOfN(names, 0, 9).Draw(t, "sent")
				w.put(t, l.ID, sent...)
				for _, name := range sent {
					if !slices.Contains(model, name) && len(model) < 12 {
						model = append(model, name)
					}
				}
				if diff := cmp.Diff(model, w.holds(t, l.ID)); diff != "" {
					t.Fatal(diff)
				}
				w.checkInvariants(t, l.ID)
			}
		})
	})
}

func TestLists(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(plan.Unlimited, 10)
		other := w.newTeam(t, "creator")
		var own, ready []int64
		for n := range 7 {
			own = append(own, w.make(t, CreateInput{Platform: []string{"", "instagram", "tiktok"}[n%3]}).ID)
			other.make(t, CreateInput{})
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
				got, pages := w.walk(t, ListInput{Scope: c.scope, Limit: limit})
				if diff := cmp.Diff(c.want, got); diff != "" || pages != max(1, (len(c.want)+limit-1)/limit) {
					t.Errorf("%s by %d: %d pages\n%s", c.scope, limit, pages, diff)
				}
			}
		}
		got, _ := w.walk(t, ListInput{Scope: scopeOwn, Platform: "tiktok", Limit: 2})
		if diff := cmp.Diff([]int64{own[0], own[1], own[3], own[4], own[6]}, got); diff != "" {
			t.Error(diff)
		}
		got, _ = w.walk(t, ListInput{Platform: "instagram", Limit: 50})
		if slices.Contains(got, 34) || !slices.Contains(got, 33) || !slices.Contains(got, 1) {
			t.Errorf("ready-made lists for Instagram: %v", got)
		}
		answer, err := w.lists(t.Context(), w.call("list_hashtag_lists"), ListInput{Scope: scopeAll, Limit: 3})
		must(t, err)
		call := w.call("list_hashtag_lists")
		call.Filters = []byte(`{"scope":"own"}`)
		_, err = w.lists(t.Context(), call, ListInput{Scope: scopeOwn, Limit: 3, Cursor: &answer.Page.Cursor})
		checkRefused(t, err, apierr.ValidationFailed, apierr.InvalidCursor)
	})
}

// What comes or goes while somebody turns pages neither repeats nor hides another list.
func TestPagesStayWhileListsComeAndGo(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.allow(plan.Unlimited, 10)
		var own []int64
		for range 6 {
			own = append(own, w.make(t, CreateInput{}).ID)
		}
		in := ListInput{Scope: scopeAll, Limit: 3}
		first, err := w.lists(t.Context(), w.call("list_hashtag_lists"), in)
		must(t, err)
		w.make(t, CreateInput{})
		must(t, w.Delete(t.Context(), w.team, w.by(), own[3])) // where the cursor stands
		in.Cursor = &first.Page.Cursor
		rest, _ := w.walk(t, in)
		if diff := cmp.Diff([]int64{own[2], own[1], own[0], w.readyMadeLists[0].ID}, rest[:4]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestChange(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		l := w.make(t, CreateInput{Name: "old", Color: "#000000", Icon: "ri-cup-line", Hashtags: []string{"a", "b"}})
		for _, c := range []struct {
			change Change
			want   Entry
		}{
			{Change{Name: new(" new ")}, Entry{ID: l.ID, Name: "new", Size: 2, Color: "#000000", Icon: "ri-cup-line"}},
			{Change{Color: new("#ABCDEF"), Icon: new("")}, Entry{ID: l.ID, Name: "new", Size: 2, Color: "#abcdef"}},
			{Change{}, Entry{ID: l.ID, Name: "new", Size: 2, Color: "#abcdef"}},
		} {
			changed, err := w.Change(t.Context(), w.team, w.by(), l.ID, c.change)
			must(t, err)
			if diff := cmp.Diff(c.want, entry(changed)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, w.look(t, l.ID).Entry); diff != "" {
				t.Error(diff)
			}
		}
		for _, c := range []Change{{Name: new("")}, {Color: new("red")},
			{Name: new("kept"), Icon: new("ri-none-such")}} {
			if _, err := w.Change(t.Context(), w.team, w.by(), l.ID, c); !apierr.Is(err, apierr.ValidationFailed) {
				t.Error(err)
			}
		}
		if name := w.look(t, l.ID).Name; name != "new" {
			t.Errorf("half a change was kept: %q", name)
		}
		must(t, w.Remove(t.Context(), w.team, w.by(), l.ID, "a"))
		checkRefused(t, w.Remove(t.Context(), w.team, w.by(), l.ID, "a"), apierr.NotFound, "")
		w.checkInvariants(t, l.ID)
		must(t, w.Delete(t.Context(), w.team, w.by(), l.ID))
		checkRefused(t, w.Delete(t.Context(), w.team, w.by(), l.ID), apierr.NotFound, "")
		if n := w.number(t, `SELECT COUNT(*) FROM hashtag_list_items`); n != 0 {
			t.Errorf("%d hashtags of a list that is gone", n)
		}
		want := []string{"hashtag_list.created", "hashtag_list.changed", "hashtag_list.changed", "hashtag_list.changed",
			"hashtag_list.removed_from", "hashtag_list.deleted"}
		if diff := cmp.Diff(want, w.events(t)); diff != "" {
			t.Error(diff)
		}
		if again := w.make(t, CreateInput{}); again.ID <= l.ID {
			t.Errorf("the id %d was given again", again.ID)
		}
	})
}

// A longest list is made in one call and opened whole.
func TestLongestList(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.plan = "agency"
		tags := make([]string, 5000)
		for n := range tags {
			tags[n] = fmt.Sprint("tag", n)
		}
		l := w.make(t, CreateInput{Hashtags: tags})
		if diff := cmp.Diff(tags, w.holds(t, l.ID)); diff != "" || l.Size != 5000 {
			t.Error(diff)
		}
		if c := w.put(t, l.ID, slices.Concat(tags, []string{"another"})...); len(c.AlreadyPresent) != 5000 ||
			len(c.Refused) != 1 {
			t.Errorf("%d were there, %v", len(c.AlreadyPresent), c.Refused)
		}
		w.checkInvariants(t, l.ID)
	})
}

// Many hashtags are wanted ahead of the transaction that puts them into a list: those that the list takes, where it
// does.
func TestWantedAhead(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.plan = "agency"
		w.allow(1, 700)
		tags := make([]string, 1000)
		for n := range tags {
			tags[n] = fmt.Sprint("tag", n)
		}
		check := func(want ...int) {
			t.Helper()
			if diff := cmp.Diff(want, w.known.ahead); diff != "" {
				t.Error(diff)
			}
		}
		must(t, w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "few",
			Hashtags: tags[:maxPerTransaction]}))
		check()
		must(t, w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "many",
			Hashtags: tags}))
		check(700)
		l := w.make(t, CreateInput{Name: "many", Hashtags: tags[:90]})
		if err := w.enqueueForCreate(t.Context(), w.call("create_hashtag_list"), CreateInput{Name: "another",
			Hashtags: tags}); !apierr.Is(err, apierr.PlanLimitReached) {
			t.Error(err)
		}
		must(t, w.enqueueForAdd(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID, Hashtags: tags}))
		check(700, 610)
		if err := w.newTeam(t, "agency").enqueueForAdd(t.Context(), w.newTeam(t, "agency").call("add_hashtags"),
			AddInput{ListID: l.ID, Hashtags: tags}); !apierr.Is(err, apierr.NotFound) {
			t.Error(err)
		}
		check(700, 610)
	})
}

// A hashtag is held by whichever team's lists, for the platform that they are tied to, or for each.
func TestHeld(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.make(t, CreateInput{Platform: "tiktok", Hashtags: []string{"a", "b"}})
		w.make(t, CreateInput{Platform: "instagram", Hashtags: []string{"b"}})
		l := w.newTeam(t, "creator").make(t, CreateInput{Hashtags: []string{"c"}})
		for _, c := range []struct {
			hashtag           string
			instagram, tiktok bool
		}{{"a", false, true}, {"b", true, true}, {"c", true, true}, {"d", false, false}, {"pizza", false, false}} {
			for platform, want := range map[string]bool{"instagram": c.instagram, "tiktok": c.tiktok} {
				got, err := w.InAnyList(t.Context(), w.db, platform, c.hashtag)
				must(t, err)
				if got != want {
					t.Errorf("%s on %s: %v", c.hashtag, platform, got)
				}
			}
		}
		must(t, w.Delete(t.Context(), w.number(t, `SELECT team_id FROM hashtag_lists WHERE id = ?`, l.ID), w.by(),
			l.ID))
		if held, err := w.InAnyList(t.Context(), w.db, "instagram", "c"); held || err != nil {
			t.Errorf("%v, %v", held, err)
		}
	})
}

// Ids of a team's lists start after those of the ready-made ones.
func TestIdsOfOwnLists(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO hashtag_lists (id, team_id, name, created_at) VALUES (7, ?, 'n', 1)`,
				w.team)
			return err
		})
		if err == nil {
			t.Error("an own list took the id of a ready-made one")
		}
	})
}
