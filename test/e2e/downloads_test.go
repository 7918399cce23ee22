package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// download downloads media of a profile and returns the finished job.
func (w *env) download(more map[string]any) answer {
	w.t.Helper()
	got := w.rest(full(w), "download_profile_media", profileArgs(more)(w), number(w.people.Add(1)))
	got.mustBe(w.t, http.StatusAccepted)
	return w.awaitJob(got.text("data.job_id"))
}

// itemsOf returns the network's IDs of the items of a download.
func (a answer) itemsOf() []string {
	out := []string{}
	for i := range a.list("data.result.items") {
		out = append(out, a.text(fmt.Sprintf("data.result.items.%d.item", i)))
	}
	return out
}

// Every type of profile media can be downloaded over REST and MCP. Only types with several pages have a cursor.
func TestProfileTypes(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for platform, types := range map[string]map[string]bool{
			"instagram": {"profile": true, "avatar": false, "posts": true, "reels": true, "stories": false, "highlights": false},
			"tiktok":    {"profile": true, "avatar": false, "posts": true, "playlists": false},
		} {
			t.Run(platform, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				w.grant(1000)
				for kind, pages := range types {
					for n, call := range []edgeCall{w.rest, w.tool} {
						got := call(full(w), "download_profile_media",
							profileArgs(map[string]any{"platform": platform, "type": kind, "limit": 3})(w), fmt.Sprint(kind, n))
						job := w.awaitJob(got.text("data.job_id"))
						job.mustHave(t,
							map[string]any{
								"data.type": "content_fetch", "data.state": "succeeded", "data.result.credits_charged": downloadPrice,
							})
						if items := len(job.itemsOf()); items > 3 || items == 0 && kind != "stories" ||
							kind == "avatar" && items != 1 || (job.text("data.result.next_cursor") != "") != pages {
							t.Errorf("%s: %s", kind, job.raw)
						}
						w.mustHideNetworkURLs(job)
					}
				}
				w.full("get_credits", nil).
					mustHave(t, map[string]any{"data.balance": 1000 - 2*downloadPrice*len(types), "data.reserved_today.team": 0})
			})
		}
	})
}

// A cursor is valid only for a finished download of the same profile.
func TestCursorsAcrossDownloads(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		whole := w.download(map[string]any{"limit": 6}).itemsOf()
		walked, first, cursor := []string{}, "", ""
		for range 3 {
			more := map[string]any{"limit": 2, "username": "@Harbour_Cafe"}
			if cursor != "" {
				more["cursor"] = cursor
			}
			got := w.download(more)
			walked, cursor = append(walked, got.itemsOf()...), got.text("data.result.next_cursor")
			if first == "" {
				first = cursor
			}
		}
		if !slices.Equal(walked, whole) || len(whole) != 6 {
			t.Errorf("items by cursor = %v, want %v", walked, whole)
		}
		avatar, failed := w.download(map[string]any{"type": "avatar"}), w.download(map[string]any{"username": "missing.harbour"})
		other := w.newEnv(t, options{accounts: 1})
		grantThousand(other)
		for name, c := range map[string]struct {
			by   *env
			more map[string]any
		}{
			"of another type":         {w, map[string]any{"cursor": first, "type": "reels"}},
			"of another profile":      {w, map[string]any{"cursor": first, "username": "harbour_bar"}},
			"of another platform":     {w, map[string]any{"cursor": first, "platform": "tiktok"}},
			"of a type without pages": {w, map[string]any{"cursor": first, "type": "stories"}},
			"of another team":         {other, map[string]any{"cursor": first}},
			"of a fetch that ended": {
				w, map[string]any{"type": "avatar", "cursor": "f1-" + avatar.text("data.job_id")[len("content_fetch:"):]},
			},
			"of a fetch that failed": {
				w, map[string]any{"username": "missing.harbour", "cursor": "f1-" + failed.text("data.job_id")[len("content_fetch:"):]},
			},
			"cut off":  {w, map[string]any{"cursor": first[:len(first)-1]}},
			"of a job": {w, map[string]any{"cursor": avatar.text("data.job_id")}}, "of SQL": {w, map[string]any{"cursor": "f1-%"}},
		} {
			for n, call := range []edgeCall{c.by.rest, c.by.tool} {
				got := call(full(c.by), "download_profile_media", profileArgs(c.more)(w), fmt.Sprint(name, n))
				got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "invalid_cursor")
				got.mustHave(t, map[string]any{"context.argument": "cursor"})
			}
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000 - 5*downloadPrice})
		other.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000})
	})
}

// Downloaded files are stored once in the folder Downloads, even if a profile is downloaded repeatedly.
func TestSavingProfiles(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		first := w.download(map[string]any{"save_to_library": true})
		used := w.usedBytes()
		again := w.download(map[string]any{"save_to_library": true, "limit": 3})
		for i := range 2 {
			path := fmt.Sprintf("data.result.items.%d.media_id", i)
			if first.number(path) < 1 || first.number(path) != again.number(path) {
				t.Errorf("item %d: %s\n%s", i, first.raw, again.raw)
			}
		}
		if n := w.count("media WHERE team_id = ?", w.team); n != 3 || used == 0 || w.usedBytes() <= used {
			t.Errorf("%d items, %d bytes and then %d", n, used, w.usedBytes())
		}
		listed := w.full("list_media", map[string]any{"folder_id": w.addFolder("Downloads")})
		if len(listed.list("data.media")) != 3 || len(listed.list("data.folders")) != 1 {
			t.Errorf("folder Downloads: %s", listed.raw)
		}
		w.mustBeSound()
	})
}

// Files that exceed the plan's storage are reported. The other files are stored, and the call is charged.
func TestProfileDownloadWithFullLibrary(t *testing.T) {
	t.Parallel()
	tight := ampleCatalog()
	p, _ := tight.Plan("agency")
	p.ID, p.StorageBytes = "tight", 1
	tight.Plans = append(tight.Plans, p)
	withEnv(t, options{accounts: 1, catalog: tight, plan: "tight"}, func(t *testing.T, w *env) {
		grantThousand(w)
		job := w.download(map[string]any{"type": "avatar", "save_to_library": true})
		job.mustHave(t,
			map[string]any{
				"data.state": "partially_succeeded", "data.error.code": "storage_full",
				"data.result.items.0.reason": "storage_full", "data.result.items.0.media_id": nil,
				"data.result.credits_charged": downloadPrice,
			})
		w.full("list_media", nil).mustHave(t, map[string]any{"data.media": "[]", "data.storage.used_bytes": 0})
		w.mustHideNetworkURLs(job)
		w.mustBeSound()
	})
}

// The items of a download are paged with the job's cursors.
func TestDownloadPages(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		job := w.download(map[string]any{"limit": 25})
		args := map[string]any{"job_id": job.text("data.job_id"), "limit": 50}
		whole := w.full("get_job", args)
		if len(whole.itemsOf()) != 25 || len(job.itemsOf()) != 20 ||
			job.text("data.result.next_cursor") != whole.text("data.result.next_cursor") {
			t.Errorf("%d items in total, %d by default", len(whole.itemsOf()), len(job.itemsOf()))
		}
		for _, call := range []edgeCall{w.rest, w.tool} {
			for _, limit := range []int{7, 24, 25} {
				if got := w.readPages(call, "get_job", mergeArgs(args, map[string]any{"limit": limit}), "data.result.items",
					"item", nil); !slices.Equal(got, whole.itemsOf()) {
					t.Errorf("limit %d: %v", limit, got)
				}
			}
		}
		page := w.full("get_job", mergeArgs(args, map[string]any{"limit": 2}))
		page.mustHave(t,
			map[string]any{"data.result.items.0.caption.untrusted": "u1", "untrusted_content.0.id": "u1", "untrusted_content.2": nil})
		second := w.download(nil)
		got := w.rest(full(w), "get_job", map[string]any{"job_id": second.text("data.job_id"), "cursor": page.text("page.cursor")}, "")
		got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "invalid_cursor")
	})
}

// A refunded download uses a daily free call. A charged download does not.
func TestRefundedDownloadsCount(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(_ *testing.T, w *env) {
		grantThousand(w)
		before := w.left()
		w.download(nil)
		w.download(map[string]any{"username": "empty.harbour"})
		w.mustLeave(before, "what was charged")
		for i, name := range []string{"missing.harbour", "private.harbour", "error.harbour"} {
			w.download(map[string]any{"username": name})
			w.mustLeave(before-int64(i)-1, name)
		}
	})
}

// Without a provider, downloads are rejected without a charge, and the idempotency key stays unused.
func TestDownloadWithoutProvider(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, unjoined: true}, func(t *testing.T, w *env) {
		grantThousand(w)
		before := w.footprint()
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "download_profile_media", profileArgs(nil)(w), paidKey).
				mustReject(t, http.StatusBadGateway, "provider_unavailable", "")
			call(full(w), "download_profile_media", profileArgs(map[string]any{"type": "playlists"})(w), paidKey).
				mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "not_allowed_value")
			call(drafts(w), "download_profile_media", profileArgs(nil)(w), paidKey).
				mustReject(t, http.StatusForbidden, "spend_not_allowed", "")
		}
		if effects := w.footprint().changesSince(before); effects != (rows{}) {
			t.Errorf("changed %+v", effects)
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000, "data.reserved_today.team": 0})
	})
}

// If no provider offers the metrics, the job's error says so and does not advise a retry. The call is refunded.
func TestMetricsNotOffered(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		grantThousand(w)
		never := func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/vendor/v1/instagram/") {
				return false
			}
			rw.WriteHeader(http.StatusNotFound)
			_, err := rw.Write([]byte(`{"error":"not_offered"}`))
			return err == nil
		}
		w.inject.Store(&never)
		report := func(more map[string]any) answer {
			got := w.rest(full(w), "create_report", reportArgs(more)(w), number(w.people.Add(1)))
			got.mustBe(t, http.StatusAccepted)
			return w.awaitJob(got.text("data.job_id"))
		}
		searched := w.awaitJob(w.rest(full(w), "search_hashtags", searchArgs(nil)(w), "k").text("data.job_id"))
		for name, job := range map[string]answer{
			"a search": searched, "a download": w.download(map[string]any{"type": "stories"}), "a report": report(nil),
			"a report of a hashtag": report(aHashtag),
		} {
			job.mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "not_offered", "data.result.credits_charged": 0})
			if strings.Contains(job.text("data.error.message"), "again") {
				t.Errorf("%s: %s", name, job.raw)
			}
		}
		w.full("get_credits", nil).
			mustHave(t, map[string]any{"data.balance": 1000, "data.used_today.team": 0, "data.reserved_today.team": 0})
	})
}

// Imports and downloads count as running jobs of the team. Upload batches that wait for files do not.
func TestMediaJobsInFlight(t *testing.T) {
	t.Parallel()
	o := options{catalog: jobLimit(1), accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		w := h.newEnv(t, o)
		grantThousand(w)
		w.openUpload(aPNG("waits.png"))
		w.openUpload(aPNG("waits too.png"))
		slow := w.full("import_media", map[string]any{"url": h.public.URL + "/slow/a.png"}).text("data.job_id")
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "import_media", importArgs("/files/b.png", nil)(w), "k").mustBeRateLimited(t, "jobs_in_flight", 5)
			call(full(w), "download_profile_media", profileArgs(nil)(w), paidKey).mustBeRateLimited(t, "jobs_in_flight", 5)
			call(full(w), "search_hashtags", searchArgs(nil)(w), paidKey).mustBeRateLimited(t, "jobs_in_flight", 5)
		}
		w.openUpload(aPNG("waits as well.png"))
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 1000, "data.reserved_today.team": 0})
		h.open()
		w.awaitJob(slow).mustHave(t, map[string]any{"data.state": "succeeded"})
		w.awaitJob(w.rest(full(w), "import_media", importArgs("/files/b.png", nil)(w), "k").text("data.job_id")).
			mustHave(t, map[string]any{"data.state": "succeeded"})
	})
}

// An import stops at the maximum file size, with or without Content-Length.
func TestOversizedImports(t *testing.T) {
	t.Parallel()
	bounded := ampleCatalog()
	bounded.Limits.MaxImageBytes, bounded.Limits.MaxVideoBytes = int64(len(aPNG("a.png").bytes)-1), 1000
	withEnv(t, options{accounts: 1, catalog: bounded}, func(t *testing.T, w *env) {
		for _, path := range []string{"/files/a.png", "/large.png", "/endless.png"} {
			got := w.awaitJob(w.full("import_media", importArgs(path, nil)(w)).text("data.job_id"))
			got.mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "too_large", "data.result": nil})
		}
		w.mustBeSound()
	})
}
