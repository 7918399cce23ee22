package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// listsPosts checks that an answer lists the noted posts.
func listsPosts(names ...string) func(*env, answer) {
	return func(w *env, got answer) {
		w.t.Helper()
		have := []string{}
		for i := range got.list("data.posts") {
			id := got.text(fmt.Sprintf("data.posts.%d.id", i))
			for name, kept := range w.notes {
				if kept == id {
					id = name
				}
			}
			have = append(have, id)
		}
		if !slices.Equal(have, names) {
			w.t.Errorf("posts %v, want %v", have, names)
		}
	}
}

// withEmptyNote returns a scenario with an empty list whose note explains the filters.
func withEmptyNote(s scenario) scenario {
	check := s.check
	s.check = func(w *env, got answer) {
		w.t.Helper()
		check(w, got)
		if notes := got.list("notes"); len(notes) != 1 || !strings.Contains(got.text("notes.0"), "The range is empty") {
			w.t.Errorf("notes %v, want one on the bounds", notes)
		}
	}
	return s
}

// fivePosts creates posts in several states, newest last. Their times have a different order.
func fivePosts(w *env) {
	w.setNote("old", w.draft("old"))
	w.setNote("march", w.draft("in march", w.accounts[1]))
	w.setNote("april", w.draft("in april"))
	w.setNote("may", w.draft("in may", w.accounts...))
	w.setNote("new", w.draft("new"))
	for name, at := range map[string]string{
		"march": "2026-03-31T22:30:00Z", "april": "2026-04-15T10:00:00Z", "may": "2026-04-30T22:00:00Z",
	} {
		stamp := must.Get(time.Parse(time.RFC3339, at))(w.t)
		w.exec("UPDATE posts SET status = 'published', published_at = ?, slot_at = ? WHERE id = ?", stamp.UnixMicro(),
			stamp.UnixMicro(), w.note(name))
	}
}

func listScenarios() []scenario {
	list := func(name string, args map[string]any, posts ...string) scenario {
		return scenario{
			name: "posts: " + name, tool: "list_posts", as: readOnly, prepare: fivePosts, args: fixedArgs(args),
			check: listsPosts(posts...),
		}
	}
	bad := func(name string, args map[string]any, reason, argument string) scenario {
		return scenario{name: "posts: " + name, tool: "list_posts", args: fixedArgs(args), want: invalid(reason, argument)}
	}
	all := []scenario{
		list("the newest first", nil, "new", "may", "april", "march", "old"),
		list("of a status", map[string]any{"status": "published"}, "may", "april", "march"),
		list("of a status without any", map[string]any{"status": "failed"}),
		// A date is a day in the team's zone: 31 March ends at 22:00 UTC in Berlin.
		list("from a date", map[string]any{"from": "2026-04-01"}, "may", "april", "march"),
		list("from the next date", map[string]any{"from": "2026-04-02"}, "may", "april"),
		list("to a date, which is exclusive", map[string]any{"to": "2026-05-01"}, "april", "march"),
		list("between times with an offset",
			map[string]any{"from": "2026-03-31T22:30:00Z", "to": "2026-05-01T00:00:00+02:00"}, "april", "march"),
		list("from a time of the team's", map[string]any{"from": "2026-04-01T00:31"}, "may", "april"),
		withEmptyNote(list("from after to", map[string]any{"from": "2026-05-02", "to": "2026-04-01"})),
		withEmptyNote(list("from and to the same date", map[string]any{"from": "2026-04-15", "to": "2026-04-15"})),
		list("within times and of a status", map[string]any{"from": "2026-04-02", "status": "published"}, "may", "april"),
		bad("limit 0", map[string]any{"limit": 0}, "out_of_range", "limit"),
		bad("limit 51", map[string]any{"limit": 51}, "out_of_range", "limit"),
		bad("limit many", map[string]any{"limit": "many"}, "not_an_integer", "limit"),
		bad("limit 1.5", map[string]any{"limit": 1.5}, "not_an_integer", "limit"),
		bad("limit true", map[string]any{"limit": true}, "not_an_integer", "limit"),
		bad("limit beyond all numbers", map[string]any{"limit": strings.Repeat("9", 30)}, "not_an_integer", "limit"),
		bad("an empty limit", map[string]any{"limit": ""}, "not_an_integer", "limit"),
		bad("account_id first", map[string]any{"account_id": "first"}, "not_an_integer", "account_id"),
		bad("an unknown status", map[string]any{"status": "lost"}, "not_allowed_value", "status"),
		bad("an empty status", map[string]any{"status": ""}, "not_allowed_value", "status"),
		bad("from yesterday", map[string]any{"from": "yesterday"}, "malformed", "from"),
		bad("to an invalid day", map[string]any{"to": "2026-02-30"}, "malformed", "to"),
		bad("from nothing", map[string]any{"from": ""}, "malformed", "from"),
		bad("to nothing", map[string]any{"to": ""}, "malformed", "to"),
		bad("from a time that the clocks skip", map[string]any{"from": "2026-03-29T02:30"}, "time_does_not_exist", "from"),
		bad("from too long a text", map[string]any{"from": strings.Repeat("2", 65)}, "too_long", "from"),
		bad("an empty cursor", map[string]any{"cursor": ""}, "invalid_cursor", "cursor"),
		bad("a malformed cursor", map[string]any{"cursor": "rubbish"}, "invalid_cursor", "cursor"),
		bad("a cursor that was changed", map[string]any{"cursor": "ATB8MDE5ZDM4ODkAAAAAAAAAAA"}, "invalid_cursor", "cursor"),
		bad("an unknown argument", map[string]any{"colour": "red"}, "unknown_argument", "colour"),
		bad("an argument with a bracket", map[string]any{"limit[]": "5"}, "unknown_argument", ""),
	}
	return append(all, listAccountScenarios()...)
}

func listAccountScenarios() []scenario {
	account := func(i int) func(w *env) map[string]any {
		return func(w *env) map[string]any { return map[string]any{"account_id": w.accounts[i]} }
	}
	return []scenario{
		{name: "posts: no posts", tool: "list_posts", args: noArgs, check: func(w *env, got answer) {
			if posts, ok := got.at("data.posts").([]any); !ok || len(posts) != 0 || got.at("page") != nil {
				w.t.Errorf("no empty list: %s", got.raw)
			}
		}},
		{name: "posts: of an account", tool: "list_posts", prepare: fivePosts, args: account(1), check: listsPosts("may", "march")},
		{name: "posts: of an account and a status", tool: "list_posts", prepare: fivePosts, check: listsPosts("new", "old"),
			args: func(w *env) map[string]any {
				return map[string]any{"account_id": w.accounts[0], "status": "draft"}
			}},
		{name: "posts: of an account in a time range", tool: "list_posts", prepare: fivePosts,
			check: listsPosts("may", "march"), args: func(w *env) map[string]any {
				return map[string]any{"account_id": w.accounts[1], "from": "2026-01-01"}
			}},
		{name: "posts: of an unknown account", tool: "list_posts", prepare: fivePosts, args: fixedArgs(map[string]any{
			"account_id": 999999999,
		}), check: listsPosts()},
		{name: "posts: of account 0, which does not exist", tool: "list_posts", prepare: fivePosts, args: fixedArgs(map[string]any{
			"account_id": 0,
		}), check: listsPosts()},
		{name: "posts: of another team's account", tool: "list_posts", check: listsPosts(), prepare: func(w *env) {
			w.setNote("account", fmt.Sprint(w.stranger().accounts[0]))
		}, args: func(w *env) map[string]any { return map[string]any{"account_id": jsonNumber(w.note("account"))} }},
		{name: "posts: the fields of an entry", tool: "list_posts", prepare: inOrder(aScheduledPost), args: noArgs,
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{
					"data.posts.0.id": w.note("post"), "data.posts.0.status": "scheduled",
					"data.posts.0.scheduled_at.utc": ahead(48 * time.Hour), "data.posts.0.published_at": nil,
					"data.posts.0.accounts.0.id": w.accounts[0], "data.posts.0.accounts.0.platform": "bluesky",
					"data.posts.0.accounts.0.username": "harbour.test",
					"data.posts.0.excerpt":             "a scheduled post", "page": nil,
				})
			}},
		{name: "posts: an excerpt is one short line", tool: "list_posts", args: noArgs, prepare: func(w *env) {
			w.setNote("post", w.draft("two\nlines and "+words(500)))
		}, check: func(w *env, got answer) {
			text := got.text("data.posts.0.excerpt")
			if !strings.HasPrefix(text, "two lines and all work") || !strings.HasSuffix(text, "…") || len([]rune(text)) != 140 {
				w.t.Errorf("excerpt %q", text)
			}
		}},
	}
}
