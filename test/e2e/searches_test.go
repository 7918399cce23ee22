package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Of fifty concurrent searches for one keyword, in several spellings and with several keys, one is charged. All return
// the same result, on one node and on two nodes.
func TestConcurrentSearches(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		_, root := h.start(options{}, server.RoleAll)
		for name, bases := range map[string][]string{"one node": {h.base}, "two nodes": {h.base, root + "/api/v1"}} {
			t.Run(name, func(t *testing.T) {
				w := h.newEnv(t, options{accounts: 1})
				grantThousand(w)
				keys := []string{full(w)}
				for range 4 {
					_, key := w.newKey(w.team, access.Full, time.Time{})
					keys = append(keys, key)
				}
				queries := []string{"summer beach", "beach summer", "Summer BEACH", "#summer #beach"}
				charged, jobs := int64(0), map[string]bool{}
				for _, got := range w.callConcurrently(50, func(i int) (answer, error) {
					return w.tryRest(bases[i%len(bases)], keys[i%len(keys)], "search_hashtags",
						map[string]any{"query": queries[i%len(queries)]}, fmt.Sprint("call ", i))
				}) {
					got.mustBe(t, http.StatusAccepted)
					charged += got.number("billing.credits_charged")
					jobs[got.text("data.job_id")] = true
				}
				found := map[string]bool{}
				for id := range jobs {
					job := w.awaitJob(id)
					job.mustHave(t, map[string]any{"data.state": "succeeded"})
					found[job.text("data.result.hashtags")] = true
				}
				if reserved := w.count("reservations WHERE team_id = ?", w.team); charged != searchPrice ||
					reserved != 1 || len(found) != 1 {
					t.Errorf("%d credits charged by %d reservations, %d different results", charged, reserved, len(found))
				}
				w.full("get_credits", nil).
					mustHave(t,
						map[string]any{
							"data.balance": 1000 - searchPrice, "data.used_today.team": searchPrice, "data.reserved_today.team": 0,
						})
			})
		}
	})
}

// Lists created concurrently on two nodes do not exceed the plan's limit.
func TestConcurrentLists(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		_, root := h.start(options{}, server.RoleAPI)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, options{plan: smallPlan, accounts: 1})
		addList(nil)(w)
		made := 0
		for _, got := range w.callConcurrently(20, func(i int) (answer, error) {
			return w.tryRest(bases[i%2], full(w), "create_hashtag_list",
				map[string]any{"name": fmt.Sprint("list ", i), "hashtags": []any{"harbour"}}, "")
		}) {
			if got.status == http.StatusCreated {
				made++
				continue
			}
			got.mustReject(t, http.StatusForbidden, "plan_limit_reached", "")
		}
		if n := w.count("hashtag_lists WHERE team_id = ?", w.team); made != 2 || n != 3 {
			t.Errorf("%d lists were created and %d stored, want 3", made, n)
		}
	})
}

// Hashtags added concurrently on two nodes are stored once and do not exceed the plan's limit.
func TestConcurrentAdd(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		_, root := h.start(options{}, server.RoleAPI)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, options{plan: smallPlan, accounts: 1})
		addList(map[string]any{"hashtags": numberedTags(1, 490)})(w)
		added, full500 := map[string]int{}, 0
		for _, got := range w.callConcurrently(30, func(i int) (answer, error) {
			return w.tryRest(bases[i%2], full(w), "add_hashtags",
				notedList(map[string]any{"hashtags": []any{"same", fmt.Sprint("other_", i)}})(w), "")
		}) {
			got.mustBe(t, http.StatusOK)
			for _, tag := range got.list("data.added") {
				added[fmt.Sprint(tag)]++
			}
			full500 += len(got.list("data.refused"))
			for i := range got.list("data.refused") {
				got.mustHave(t, map[string]any{fmt.Sprintf("data.refused.%d.reason", i): "list_full"})
			}
		}
		opened := w.full("get_hashtag_list", notedList(nil)(w))
		if n := len(opened.list("data.hashtags")); n != 500 || opened.number("data.size") != 500 || len(added) != 10 ||
			added["same"] != 1 || full500 != 21 {
			t.Errorf("%d hashtags, %d said to be added, %d rejected, one of them %d times", n, len(added), full500, added["same"])
		}
	})
}

// For every filter, the pages contain each list once, even while lists are created. The Link header has the next page.
func TestHashtagListPages(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for i := range 5 {
			args := map[string]any{"name": fmt.Sprint("list ", i)}
			if i%2 == 1 {
				args["platform"] = "tiktok"
			}
			w.full("create_hashtag_list", args)
		}
		for name, filter := range map[string]map[string]any{
			"all": nil, "own": {"scope": "own"}, "ready-made": {"scope": "system"}, "TikTok's": {"platform": "tiktok"},
			"own for Instagram": {"scope": "own", "platform": "instagram"},
		} {
			whole := w.pages(t, "list_hashtag_lists", "hashtag_lists", "id", mergeArgs(filter, map[string]any{"limit": 50}), nil)
			if len(whole) < 3 || len(slices.Compact(slices.Sorted(slices.Values(whole)))) != len(whole) {
				t.Errorf("%s: %v", name, whole)
			}
			for _, limit := range []int{1, 3, len(whole)} {
				made := int64(0)
				more := func() { made = w.addHashtagList(nil) }
				got := w.pages(t, "list_hashtag_lists", "hashtag_lists", "id", mergeArgs(filter, map[string]any{"limit": limit}), more)
				if !slices.Equal(got, whole) {
					t.Errorf("%s with limit %d: %v, want %v", name, limit, got, whole)
				}
				w.exec("DELETE FROM hashtag_lists WHERE id = ?", made)
			}
		}
		cursor := w.full("list_hashtag_lists", map[string]any{"limit": 1, "scope": "own"}).text("page.cursor")
		for name, args := range map[string]map[string]any{
			"without its scope": {}, "of another scope": {"scope": "system"}, "with a platform": {"scope": "own", "platform": "tiktok"},
		} {
			got := w.rest(full(w), "list_hashtag_lists", mergeArgs(args, map[string]any{"cursor": cursor}), "")
			if got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "invalid_cursor"); t.Failed() {
				t.Fatalf("a cursor %s", name)
			}
		}
	})
}

// pages reads all pages of a collection by the Link header and returns a member of each item. It calls more after
// the first page.
func (w *env) pages(t *testing.T, tool, collection, member string, args map[string]any, more func()) []string {
	t.Helper()
	var out []string
	got := w.full(tool, args)
	for {
		for i := range got.list("data." + collection) {
			out = append(out, plain(got.at(fmt.Sprintf("data.%s.%d.%s", collection, i, member))))
		}
		link := got.header.Get("Link")
		if (got.at("page.has_more") == true) != (link != "") || len(out) > 500 {
			t.Fatalf("Link: %s: %s", link, got.raw)
		}
		if link == "" {
			return out
		}
		if more != nil {
			more()
			more = nil
		}
		next, rel, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		to := must.Get(url.Parse(next))(t)
		if rel != `; rel="next"` || to.Query().Get("cursor") != got.text("page.cursor") || to.Query().Get("limit") != plain(args["limit"]) {
			t.Errorf("Link: %s", link)
		}
		if got = w.raw(http.MethodGet, next, bearer(full(w)), nil); got.status != http.StatusOK {
			t.Fatalf("the next page: %d %s", got.status, got.raw)
		}
	}
}

// The job of a search has pages that contain each hashtag once and are otherwise equal.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		makePaidSearch(map[string]any{"query": "summer beach travel"})(w)
		job := map[string]any{"job_id": w.note("job"), "limit": 50}
		whole := w.pages(t, "get_job", "result.hashtags", "hashtag", job, nil)
		if len(whole) < 5 || len(slices.Compact(slices.Sorted(slices.Values(whole)))) != len(whole) {
			t.Fatalf("found %q", whole)
		}
		for _, limit := range []int{1, 2, 20} {
			if got := w.pages(t, "get_job", "result.hashtags", "hashtag", mergeArgs(job, map[string]any{"limit": limit}),
				nil); !slices.Equal(got, whole) {
				t.Errorf("limit %d: %q, want %q", limit, got, whole)
			}
		}
		one := w.full("get_job", mergeArgs(job, map[string]any{"limit": 1}))
		one.mustHave(t,
			map[string]any{
				"data.result.related": w.full("get_job", job).at("data.result.related"), "data.result.credits_charged": searchPrice,
			})
		for _, limit := range []int{0, 51} {
			w.rest(full(w), "get_job", mergeArgs(job, map[string]any{"limit": limit}), "").
				mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "out_of_range")
		}
		again := w.rest(full(w), "search_hashtags", map[string]any{"query": "travel beach summer"}, "another")
		if n := len(again.list("data.result.hashtags")); n != len(whole) || again.at("page") != nil {
			t.Errorf("a free repeat of the search returns %d of %d hashtags: %s", n, len(whole), again.raw)
		}
	})
}

// A new list has a Location. Its hashtags get metrics in the background, even without a platform.
func TestListGetsMetrics(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for _, more := range []map[string]any{{"platform": "instagram"}, {"platform": "tiktok"}, {}} {
			made := w.rest(full(w), "create_hashtag_list", listArgs(mergeArgs(more, map[string]any{"hashtags": []any{"slipway"}}))(w), "")
			made.mustBe(t, http.StatusCreated)
			if where := made.header.Get("Location"); where != w.base+"/hashtag-lists/"+number(made.number("data.id")) {
				t.Fatalf("it leads to %q", where)
			}
			w.until("metrics", func() bool {
				got := w.raw(http.MethodGet, made.header.Get("Location"), bearer(full(w)), nil)
				return got.at("data.hashtags.0.posts.count") != nil
			})
			got := w.full("get_hashtag_list", map[string]any{"list_id": made.number("data.id")})
			count, _ := got.at("data.hashtags.0.posts.count").(float64)
			got.mustHave(t, map[string]any{"data.hashtags.0.hashtag": "slipway", "data.hashtags.0.tier": tierOf(count)})
			if basis := got.text("data.hashtags.0.posts.basis"); basis != "measured" && basis != "estimated" {
				t.Errorf("unexpected basis: %s", got.raw)
			}
			if tied := more["platform"] != nil; tied == (got.at("data.hashtags.0.platform") != nil) {
				t.Errorf("unexpected platform of the metrics: %s", got.raw)
			}
		}
		if n := w.count("reservations WHERE team_id = ?", w.team); n != 0 {
			t.Errorf("%d reservations", n)
		}
	})
}

// Hashtags banned by the operator are rejected in lists of their network and in lists without one.
func TestBannedHashtags(t *testing.T) {
	t.Parallel()
	banning := ampleCatalog()
	banning.BannedHashtags = map[string][]string{"instagram": {"#Beware"}, "tiktok": {}}
	withEnv(t, options{accounts: 1, catalog: banning}, func(t *testing.T, w *env) {
		for platform, rejected := range map[any]bool{"instagram": true, "tiktok": false, nil: true} {
			args := map[string]any{"name": "Harbour", "hashtags": []any{"#BEWARE", "harbour"}}
			if platform != nil {
				args["platform"] = platform
			}
			for _, call := range []edgeCall{w.rest, w.tool} {
				got := call(full(w), "create_hashtag_list", args, "")
				if want := map[bool]string{true: "banned", false: ""}[rejected]; got.text("data.refused.0.reason") != want {
					t.Errorf("%v: %s", platform, got.raw)
				}
			}
		}
	})
}

// A free or refunded search counts as a daily free call. A charged search and a repeat do not.
func TestFreeSearchesCounted(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, catalog: ampleCatalog()}
	dailyPlans(o.catalog)
	ahead := &fixture.Clock{}
	ahead.Advance(time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour))) // no midnight passes
	o.now = ahead.Now
	withEnv(t, o, func(t *testing.T, w *env) {
		w.setPlan("few")
		grantThousand(w)
		search := func(query, key string) answer {
			return w.rest(full(w), "search_hashtags", map[string]any{"query": query}, key)
		}
		w.awaitJob(search("summer beach", "1").text("data.job_id"))
		w.mustLeave(3, "one that is charged")
		w.awaitJob(search("beach summer", "2").text("data.job_id"))
		w.mustLeave(2, "one that is paid for")
		search("beach summer", "2").mustBe(t, http.StatusAccepted)
		w.mustLeave(2, "a repeat")
		w.awaitJob(search("missingharbour", "3").text("data.job_id"))
		w.mustLeave(1, "one that is refunded")
		w.awaitJob(search("summer  beach", "4").text("data.job_id"))
		search("SUMMER beach", "5").mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		w.awaitJob(search("winter beach", "6").text("data.job_id")).mustHave(t,
			map[string]any{"data.result.credits_charged": searchPrice})
	})
}

// After a charged search, searches for the keyword are free during the data window. They do not extend the window.
func TestSearchWindow(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, catalog: ampleCatalog()}
	o.catalog.Limits.HashtagDays = 2
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		ahead := &fixture.Clock{}
		o := o
		o.now = ahead.Now
		w := newInstance(t, url, o).newEnv(t, o)
		grantThousand(w)
		costs := func(n int) int64 {
			got := w.rest(full(w), "search_hashtags", searchArgs(nil)(w), fmt.Sprint("call ", n))
			w.awaitJob(got.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
			return got.number("billing.credits_charged")
		}
		for n, step := range []struct {
			after time.Duration
			costs int64
		}{{0, searchPrice}, {47 * time.Hour, 0}, {30 * time.Minute, 0}, {time.Hour, searchPrice}, {47 * time.Hour, 0}, {
			2 * time.Hour, searchPrice,
		}} {
			ahead.Advance(step.after)
			if got := costs(n); got != step.costs {
				t.Errorf("%v later: price %d, want %d", step.after, got, step.costs)
			}
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000 - 3*searchPrice})
	})
}

// If some metrics of a keyword are not available, the available metrics are returned and charged. The missing metrics
// are requested later without a charge. If no provider has any metrics, the job's error says so and the search is
// refunded.
func TestSearchWithPartialMetrics(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		for i, charged := range []int{searchPrice, 0} {
			got := w.rest(full(w), "search_hashtags", map[string]any{"query": "jetty errorjetty"}, fmt.Sprint(i))
			got.mustHave(t, map[string]any{"billing.credits_charged": charged})
			job := w.awaitJob(got.text("data.job_id"))
			job.mustHave(t,
				map[string]any{
					"data.state": "partially_succeeded", "data.error.code": "source_unavailable", "data.result.credits_charged": charged,
				})
			w.mustShowMetrics(job)
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000 - searchPrice, "data.reserved_today.team": 0})
	})
	offered := ampleCatalog()
	dailyPlans(offered)
	withEnv(t, options{accounts: 1, unjoined: true, catalog: offered}, func(t *testing.T, w *env) {
		grantThousand(w)
		w.setPlan(dryPlan) // a search without results is free, and requires a free call
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "search_hashtags", searchArgs(nil)(w), "k").
				mustReject(t, http.StatusTooManyRequests, "daily_call_limit_reached", "")
		}
		w.setPlan("few")
		got := w.rest(full(w), "search_hashtags", searchArgs(nil)(w), "k")
		w.awaitJob(got.text("data.job_id")).
			mustHave(t,
				map[string]any{
					"data.state": "failed", "data.error.code": "not_offered", "data.result.hashtags": "[]",
					"data.result.credits_charged": 0,
				})
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000, "data.used_today.team": 0})
		w.mustLeave(2, "a search without a result")
	})
}

// A ready-made list without metrics has a note with the reason.
func TestReadyMadeListsWithoutMetricsNote(t *testing.T) {
	t.Parallel()
	for _, unjoined := range []bool{false, true} {
		withEnv(t, options{accounts: 1, unjoined: unjoined}, func(t *testing.T, w *env) {
			want := "hashtags have no metrics yet"
			if unjoined {
				want = "no provider is configured"
			}
			for _, call := range []edgeCall{w.rest, w.tool} {
				got := call(readOnly(w), "get_hashtag_list", map[string]any{"list_id": 1}, "")
				if notes := got.list("notes"); len(notes) != 1 || !strings.Contains(fmt.Sprint(notes[0]), want) {
					t.Errorf("unjoined %v: the notes are %v", unjoined, notes)
				}
			}
		})
	}
}
