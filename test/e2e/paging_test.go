package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// pager requests one page of a list.
type pager func(w *env, args map[string]any) answer

// byREST requests a page over REST and checks that the Link header agrees with the cursor.
func byREST(w *env, args map[string]any) answer {
	w.t.Helper()
	got := w.rest(full(w), "list_posts", args, "")
	link := got.header.Get("Link")
	cursor := got.text("page.cursor")
	if cursor == "" {
		if link != "" {
			w.t.Errorf("a Link without a page: %s", link)
		}
		return got
	}
	address, rel, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	next := must.Get(url.Parse(address))(w.t)
	want := url.Values{"cursor": {cursor}}
	for name, value := range args {
		if name != "cursor" {
			want.Set(name, fmt.Sprint(value))
		}
	}
	if rel != `; rel="next"` || !strings.HasPrefix(address, w.base+"/posts?") || next.Query().Encode() != want.Encode() {
		w.t.Errorf("Link: %s, want the query %s", link, want.Encode())
	}
	return got
}

func byTool(w *env, args map[string]any) answer {
	w.t.Helper()
	return w.tool(full(w), "list_posts", args, "")
}

// ids reads all pages of a list and returns the IDs. It calls between after the first page.
func (w *env) ids(page pager, args map[string]any, between func()) []string {
	w.t.Helper()
	out := []string{}
	for pages := 0; ; pages++ {
		got := page(w, args)
		got.mustBe(w.t, http.StatusOK)
		items := got.list("data.posts")
		for i := range items {
			out = append(out, got.text(fmt.Sprintf("data.posts.%d.id", i)))
		}
		if got.at("page") == nil {
			return out
		}
		if got.at("page.has_more") != true || len(items) == 0 || pages > 50 {
			w.t.Fatalf("a page without a usable cursor: %s", got.raw)
		}
		if pages == 0 && between != nil {
			between()
		}
		args = mergeArgs(args, map[string]any{"cursor": got.text("page.cursor")})
	}
}

// For every page size and filter, the pages of a list contain each item once, in order. New items do not shift the
// pages.
func TestPaging(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		for i := range 7 {
			id := w.draft(fmt.Sprint("post ", i), w.accounts[:1+i%2]...)
			if i != 3 { // three posts have the same time, so their IDs determine the order
				w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(time.Duration(48+i/3) * time.Hour)})
			}
		}
		for name, filter := range map[string]map[string]any{
			"all": {}, "a status": {"status": "scheduled"}, "an account": {"account_id": w.accounts[1]},
			"an account and a status": {"account_id": w.accounts[0], "status": "scheduled"},
			"from":                    {"from": ahead(time.Hour)}, "to": {"to": ahead(99 * time.Hour)},
			"both":                {"from": ahead(48 * time.Hour), "to": ahead(50 * time.Hour)},
			"an account and from": {"account_id": w.accounts[1], "from": ahead(0)}, "a date": {"from": ahead(0)[:10]},
		} {
			whole := w.ids(byREST, mergeArgs(filter, map[string]any{"limit": 50}), nil)
			if unique := slices.Compact(slices.Sorted(slices.Values(whole))); len(whole) < 2 || len(unique) != len(whole) {
				t.Fatalf("%s: %v", name, whole)
			}
			for _, limit := range []int{1, 2, 3, len(whole)} {
				for _, page := range []pager{byREST, byTool} {
					if got := w.ids(page, mergeArgs(filter, map[string]any{"limit": limit}), nil); !slices.Equal(got, whole) {
						t.Errorf("%s with limit %d: %v, want %v", name, limit, got, whole)
					}
				}
			}
			added := func() { w.schedulePost("in between", 200*time.Hour) }
			if got := w.ids(byREST, mergeArgs(filter, map[string]any{"limit": 2}), added); !slices.Equal(got, whole) {
				t.Errorf("%s while a post is added: %v, want %v", name, got, whole)
			}
			w.exec("DELETE FROM post_targets WHERE post_id IN (SELECT id FROM posts WHERE caption = 'in between')")
			w.exec("DELETE FROM posts WHERE caption = 'in between'")
		}
	})
}

// Paging continues after the last item, even if that item was removed or changed.
func TestPagingAfterRemovedItem(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		ids := []string{}
		for i := range 4 {
			ids = append(ids, w.schedulePost(fmt.Sprint("post ", i), time.Duration(48+i)*time.Hour))
		}
		for _, filter := range []map[string]any{{"limit": 2}, {"limit": 2, "from": ahead(0)}, {"limit": 2, "status": "scheduled"}} {
			got := w.ids(byREST, filter, func() { w.full("cancel_post", map[string]any{"post_id": ids[2]}) })
			if want := []string{ids[3], ids[2], ids[1], ids[0]}; !slices.Equal(got, want) {
				t.Errorf("%v: %v, want %v", filter, got, want)
			}
			w.full("schedule_post", map[string]any{"post_id": ids[2], "scheduled_at": ahead(50 * time.Hour)})
		}
	})
}

// A cursor is valid only for its team, operation and filters; the page size may change.
func TestCursors(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		for range 3 {
			w.draft("a draft", w.accounts...)
		}
		other := w.stranger()
		other.draft("another")
		cursor := w.full("list_posts", map[string]any{"limit": 1, "status": "draft"}).text("page.cursor")
		accounts := w.full("list_social_accounts", map[string]any{"limit": 1}).text("page.cursor")
		if cursor == "" || accounts == "" {
			t.Fatal("no cursor")
		}
		for _, edge := range []func(credential, tool string, args map[string]any, idem string) answer{w.rest, w.tool} {
			for _, limit := range []int{1, 2, 50} {
				got := edge(full(w), "list_posts", map[string]any{"limit": limit, "status": "draft", "cursor": cursor}, "")
				if got.mustBe(t, http.StatusOK); len(got.list("data.posts")) != min(limit, 2) {
					t.Errorf("limit %d: %s", limit, got.raw)
				}
			}
			// An explicit default selects the same list.
			edge(full(w), "list_social_accounts", map[string]any{"cursor": accounts, "active_only": true}, "").mustBe(t, http.StatusOK)
			for name, call := range map[string]func() answer{
				"without its filter": func() answer { return edge(full(w), "list_posts", map[string]any{"cursor": cursor}, "") },
				"with another filter": func() answer {
					return edge(full(w), "list_posts", map[string]any{"cursor": cursor, "status": "scheduled"}, "")
				},
				"with one filter more": func() answer {
					return edge(full(w), "list_posts", map[string]any{"cursor": cursor, "status": "draft",
						"account_id": w.accounts[0]}, "")
				},
				"with a bound": func() answer {
					return edge(full(w), "list_posts", map[string]any{"cursor": cursor, "status": "draft", "from": ahead(0)}, "")
				},
				"of another team": func() answer {
					return edge(full(other), "list_posts", map[string]any{"cursor": cursor, "status": "draft"}, "")
				},
				"of another list": func() answer { return edge(full(w), "list_posts", map[string]any{"cursor": accounts}, "") },
				"of the other list": func() answer {
					return edge(full(w), "list_social_accounts", map[string]any{"cursor": cursor}, "")
				},
				"changed": func() answer {
					return edge(full(w), "list_posts", map[string]any{"cursor": swapCharacters(cursor), "status": "draft"}, "")
				},
				"cut off": func() answer {
					return edge(full(w), "list_posts", map[string]any{"cursor": cursor[:len(cursor)-2], "status": "draft"}, "")
				},
			} {
				got := call()
				got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "invalid_cursor")
				if t.Failed() {
					t.Fatalf("cursor %s", name)
				}
			}
			edge(full(w), "list_posts", map[string]any{"cursor": strings.Repeat("a", 1001)}, "").
				mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "too_long")
		}
	})
}

// swapCharacters returns a text with two characters in the middle swapped.
func swapCharacters(text string) string {
	middle := len(text) / 2
	other := "A"
	if text[middle] == 'A' {
		other = "B"
	}
	return text[:middle] + other + text[middle+1:]
}

// callOnForeignItem calls every operation that takes an item, on another team's item and on a nonexistent item. It
// returns the number of operations.
func (w *env) callOnForeignItem(theirs map[string]any) int {
	w.t.Helper()
	tried := 0
	for _, op := range w.Registry().All() {
		for _, name := range op.InPath {
			if name == "type" {
				continue // has no item
			}
			missing, foreign, idem := w.sample(op), w.sample(op), ""
			foreign[name] = theirs[name]
			if strings.HasPrefix(op.Path, "/reports") {
				foreign[name] = theirs["report"]
			}
			if op.Tool == "get_brand_voice" {
				foreign[name] = theirs["voice"]
			}
			if name == "list_id" {
				foreign[name] = theirs["list"]
			}
			if op.IsPaid() {
				idem = "k"
			}
			if op.Tool == "schedule_post" {
				missing["scheduled_at"], foreign["scheduled_at"] = ahead(time.Hour), ahead(time.Hour)
			}
			if a, b := w.rest(full(w), op.Tool, missing, idem), w.rest(full(w), op.Tool, foreign,
				idem); comparableText(a) != comparableText(b) || a.code() != "not_found" {
				w.t.Errorf("%s:\n%s\n\n%s", op.Tool, comparableText(a), comparableText(b))
			}
			tried++
		}
	}
	return tried
}

// Another team's item and a missing item get the same answer, byte for byte.
func TestItemOfOtherTeam(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		other := w.stranger()
		grantThousand(other)
		reported := other.report(nil)
		theirs := map[string]any{"id": other.note("post"), "post_id": other.note("post"), "account_id": other.accounts[0]}
		theirs["job_id"] = other.publish(other.note("post")).text("data.job_id")
		theirs["report"] = reported
		twoVoices(other)
		theirs["voice"] = other.noteID("first")
		theirs["list"] = other.addHashtagList([]any{"harbour"})
		tried := w.callOnForeignItem(theirs)
		if tried < 15 {
			t.Errorf("only %d operations were tested", tried)
		}
		ofOthers := w.rest(full(w), "create_post", map[string]any{"caption": "x", "account_ids": other.accounts}, "")
		ofNobody := w.rest(full(w), "create_post", map[string]any{"caption": "x", "account_ids": []int64{999999999}}, "")
		if comparableText(ofOthers) != comparableText(ofNobody) || ofOthers.code() != "not_found" {
			t.Errorf("an account:\n%s\n\n%s", comparableText(ofOthers), comparableText(ofNobody))
		}
	})
}
