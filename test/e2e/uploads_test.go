package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
)

// A repeat with the same key returns the same batch with new secrets. The old secrets stop working. Uploaded files are
// marked as stored.
func TestRepeatedUploads(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, name := range []string{"REST", "tools"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				call := map[string]edgeCall{"REST": w.rest, "tools": w.tool}[name]
				one, two := aPNG("one.png"), aPNG("two.png")
				asked := func() answer { return call(full(w), "create_uploads", uploadArgs(nil, one, two), "order 7") }
				first := asked()
				again := asked()
				mustRenew(t, first, again)
				w.put(first.linkOf(0), one).mustReject(t, http.StatusUnauthorized, "unauthorized", "")
				w.put(again.linkOf(0), one).mustBe(t, http.StatusCreated)
				third := asked()
				third.mustHave(t,
					map[string]any{
						"data.job_id": first.text("data.job_id"), "data.finished": false,
						"data.upload.uploads.0.state": "stored", "data.upload.uploads.0.url": nil, "data.upload.uploads.0.headers": nil,
					})
				if third.number("data.upload.uploads.0.media_id") < 1 {
					t.Errorf("no media_id: %s", third.raw)
				}
				w.put(again.linkOf(1), two).mustReject(t, http.StatusUnauthorized, "unauthorized", "")
				w.put(third.linkOf(1), two).mustBe(t, http.StatusCreated)
				asked().
					mustHave(t,
						map[string]any{
							"data.finished": true, "data.state": "succeeded", "data.upload.uploads.1.state": "stored",
							"data.upload.uploads.1.url": nil,
						})
				call(full(w), "create_uploads", uploadArgs(nil, two, one), "order 7").
					mustReject(t, http.StatusUnprocessableEntity, "idempotency_key_reused", "")
				call(drafts(w), "create_uploads", uploadArgs(nil, one), "order 7").
					mustHave(t, map[string]any{"data.upload.uploads.0.state": "stored"})
				if n := w.count("upload_batches WHERE team_id = ?", w.team); n != 2 {
					t.Errorf("%d batches, want 2", n)
				}
			})
		}
	})
}

// mustRenew checks that a repeat equals the first answer, except for secrets.
func mustRenew(t *testing.T, first, again answer) {
	t.Helper()
	for _, same := range []string{
		"data.job_id", "data.upload_page_url", "data.upload.uploads.0.url", "data.upload.uploads.1.url",
		"data.upload.uploads.0.expires_at.utc", "data.upload.uploads.0.state",
	} {
		if first.text(same) == "" || first.text(same) != again.text(same) {
			t.Errorf("%s: %q, then %q", same, first.text(same), again.text(same))
		}
	}
	for n := range 2 {
		if !secretForm.MatchString(again.linkOf(n).authorization) || first.linkOf(n).authorization == again.linkOf(n).authorization {
			t.Errorf("no new secret of file %d", n)
		}
	}
	if location := first.header.Get("Location"); location != again.header.Get("Location") ||
		location != "" && again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("headers %v, then %v", first.header, again.header)
	}
}

func shippedLimits(*plan.Catalog) {}

// A link expires after an hour, and the batch's job names the missing files.
func TestUploadsExpire(t *testing.T) {
	t.Parallel()
	withClock(t, options{accounts: 1, plan: ""}, shippedLimits, func(t *testing.T, w *env, clock *testkit.Clock) {
		one, two := aPNG("one.png"), aPNG("two.png")
		asked := func() answer {
			return w.rest(full(w), "create_uploads", uploadArgs(nil, one, two), "order 7")
		}
		partly := asked()
		wholly := w.full("create_uploads", uploadArgs(nil, aPNG("three.png")))
		page := w.full("create_uploads", nil)
		partly.mustHave(t, map[string]any{"data.upload.uploads.0.expires_at.utc": testStart.Add(time.Hour).Format(time.RFC3339)})
		clock.Advance(time.Hour - time.Microsecond)
		w.put(partly.linkOf(0), one).mustBe(t, http.StatusCreated)
		clock.Advance(time.Microsecond)
		w.put(partly.linkOf(1), two).mustReject(t, http.StatusGone, "upload_link_closed", "")
		w.awaitJob(partly.text("data.job_id")).
			mustHave(t, map[string]any{"data.state": "partially_succeeded", "data.error.code": "upload_expired"})
		w.mustHaveFileStates(partly.text("data.job_id"), "stored", "expired")
		w.awaitJob(wholly.text("data.job_id")).mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "upload_expired"})
		w.mustHaveFileStates(wholly.text("data.job_id"), "expired")
		w.awaitJob(page.text("data.job_id")).mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "upload_expired"})
		for _, to := range []link{partly.linkOf(1), {partly.linkOf(1).url, ""}} {
			w.put(to, two).mustReject(t, http.StatusGone, "upload_link_closed", "")
		}
		again := asked()
		again.mustHave(t,
			map[string]any{
				"data.job_id": partly.text("data.job_id"), "data.finished": true,
				"data.upload.uploads.0.state": "stored", "data.upload.uploads.1.state": "expired", "data.upload.uploads.1.url": nil,
			})
		clock.Advance(24 * time.Hour)
		anew := asked()
		if anew.mustBe(t, http.StatusCreated); anew.text("data.job_id") == partly.text("data.job_id") {
			t.Error("after a day the key is still known")
		}
		w.mustHaveLink(anew, 1, two)
	})
}

// If two batches and three links may be open, a further request fails and says when the oldest batch expires.
func TestOpenUploads(t *testing.T) {
	t.Parallel()
	few := func(t *plan.Catalog) { t.Limits.OpenUploadBatches, t.Limits.OpenUploadLinks = 2, 3 }
	withClock(t, options{accounts: 1, plan: ""}, few, func(t *testing.T, w *env, clock *testkit.Clock) {
		files := []file{}
		for i := range 5 {
			files = append(files, aPNG(fmt.Sprint("file ", i)))
		}
		first := w.full("create_uploads", uploadArgs(nil, files[:2]...))
		clock.Advance(10 * time.Minute)
		for _, call := range []edgeCall{w.rest, w.tool} {
			got := call(full(w), "create_uploads", uploadArgs(nil, files[2:4]...), "a key")
			got.mustBeRateLimited(t, "open_upload_links", 3000)
		}
		second := w.full("create_uploads", uploadArgs(nil, files[2]))
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(drafts(w), "create_uploads", uploadArgs(nil, files[3]), "a key").mustBeRateLimited(t, "open_upload_batches", 3000)
			call(full(w), "create_uploads", map[string]any{}, "").mustBeRateLimited(t, "open_upload_batches", 3000)
		}
		if n := w.count("upload_batches WHERE team_id = ?", w.team); n != 2 {
			t.Errorf("%d batches", n)
		}
		// Open batches count per team. Used, replaced and expired batches do not count.
		w.stranger().full("create_uploads", uploadArgs(nil, files[0]))
		w.put(second.linkOf(0), files[2]).mustBe(t, http.StatusCreated)
		third := w.full("create_uploads", uploadArgs(nil, files[3]))
		w.full("create_uploads", uploadArgs(map[string]any{"replaces_batch": third.text("data.job_id")}, files[4]))
		w.rest(full(w), "create_uploads", nil, "").mustBeRateLimited(t, "open_upload_batches", 3000)
		w.full("create_uploads", uploadArgs(nil, files[2])).mustHave(t, map[string]any{"data.finished": true}) // needs no link
		clock.Advance(50 * time.Minute)
		w.awaitJob(first.text("data.job_id"))
		w.full("create_uploads", uploadArgs(nil, files[0], files[1]))
	})
}

// If too many upload pages are open, a further request replaces the key's oldest empty page. Pages of other keys and
// pages with files are kept.
func TestReplaceEmptyUploadPages(t *testing.T) {
	t.Parallel()
	few := func(t *plan.Catalog) { t.Limits.OpenUploadBatches = 2 }
	withClock(t, options{accounts: 1, plan: ""}, few, func(t *testing.T, w *env, clock *testkit.Clock) {
		for _, call := range []edgeCall{w.rest, w.tool} {
			w.exec("UPDATE upload_batches SET closed_at = 1 WHERE team_id = ?", w.team)
			others := call(drafts(w), "create_uploads", map[string]any{}, "").text("data.job_id")
			var pages []string
			for range 5 {
				clock.Advance(time.Second)
				got := call(full(w), "create_uploads", map[string]any{}, "")
				pages = append(pages, got.text("data.job_id"))
				if replaced := strings.Contains(fmt.Sprint(got.at("notes")),
					"An older upload page"); replaced != (len(pages) > 1) {
					t.Errorf("page %d: notes = %v", len(pages), got.at("notes"))
				}
			}
			w.full("get_job", map[string]any{"job_id": pages[3]}).
				mustHave(t, map[string]any{"data.finished": true, "data.state": "failed", "data.error.code": "upload_replaced"})
			w.full("get_job", map[string]any{"job_id": pages[4]}).mustHave(t, map[string]any{"data.finished": false})
			f := aPNG(fmt.Sprint("after pages ", pages[0]))
			got := call(full(w), "create_uploads", uploadArgs(nil, f), "")
			w.put(got.linkOf(0), f).mustBe(t, http.StatusCreated)
			w.full("get_job", map[string]any{"job_id": others}).mustHave(t, map[string]any{"data.finished": false})

			// Batches with files and pages of other keys are never replaced.
			call(full(w), "create_uploads", uploadArgs(nil, aPNG(fmt.Sprint("waits ", pages[0]))), "")
			call(full(w), "create_uploads", map[string]any{}, "").mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
		}
		if n := w.count("events WHERE team_id = ? AND kind = 'uploads.replaced'", w.team); n != 10 {
			t.Errorf("%d events of a replaced page", n)
		}
	})
}

// Open links reserve storage. Of two batches that together exceed the plan's storage, the second is rejected.
func TestOpenLinksReserveStorage(t *testing.T) {
	t.Parallel()
	one, two := aPNG("one.png"), aPNG("two.png")
	tight := func(t *plan.Catalog) {
		p, _ := t.Plan("agency")
		p.ID, p.StorageBytes = "tight", int64(len(one.bytes)+len(two.bytes)-1)
		t.Plans = append(t.Plans, p)
	}
	withClock(t, options{accounts: 1, plan: "tight"}, tight, func(t *testing.T, w *env, clock *testkit.Clock) {
		mustBeFull := func(call edgeCall) {
			t.Helper()
			got := call(full(w), "create_uploads", uploadArgs(nil, two), "a key")
			got.mustReject(t, http.StatusForbidden, "plan_limit_reached", "")
			got.mustHave(t, map[string]any{"context.limit": "storage_bytes"})
		}
		w.rest(full(w), "create_uploads", uploadArgs(nil, one, two), "").mustReject(t, http.StatusForbidden, "plan_limit_reached", "")
		first := w.full("create_uploads", uploadArgs(nil, one))
		mustBeFull(w.rest)
		mustBeFull(w.tool)
		w.full("list_media", nil).mustHave(t, map[string]any{"data.storage.used_bytes": 0}) // reserved storage is not used yet
		replacing := w.full("create_uploads", uploadArgs(map[string]any{"replaces_batch": first.text("data.job_id")}, two))
		clock.Advance(time.Hour)
		w.awaitJob(replacing.text("data.job_id"))
		again := w.full("create_uploads", uploadArgs(nil, one))
		w.put(again.linkOf(0), one).mustBe(t, http.StatusCreated)
		mustBeFull(w.rest)
		w.full("create_uploads", uploadArgs(nil, one)).mustHave(t, map[string]any{"data.state": "succeeded"}) // reserves nothing
		w.full("list_media", nil).mustHave(t, map[string]any{"data.storage.used_bytes": len(one.bytes)})
		w.mustBeSound()
	})
}

// After a downgrade, open links stay valid, but a file that exceeds the new plan's storage is rejected.
func TestOpenLinksAfterDowngrade(t *testing.T) {
	t.Parallel()
	f := aPNG("a.png")
	tight := func(t *plan.Catalog) {
		p, _ := t.Plan("agency")
		p.ID, p.StorageBytes = "tight", int64(len(f.bytes)-1)
		t.Plans = append(t.Plans, p)
	}
	withClock(t, options{accounts: 1, plan: ""}, tight, func(t *testing.T, w *env, _ *testkit.Clock) {
		job, to := w.openUpload(f)
		w.setPlan("tight")
		w.put(to, f).mustReject(t, http.StatusForbidden, "plan_limit_reached", "")
		w.mustBeEmpty(job)
		w.setPlan("agency")
		w.mustAcceptOnce(job, to, f)
	})
}

// The database never contains an upload secret in plain text.
func TestUploadSecretsNotStored(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		one, two := aPNG("one.png"), aPNG("two.png")
		secrets := []string{}
		opened := func(got answer) answer {
			for n := range got.list("data.upload.uploads") {
				_, text, _ := strings.Cut(got.linkOf(n).authorization, " ")
				secrets = append(secrets, text)
			}
			return got
		}
		used := opened(w.rest(full(w), "create_uploads", uploadArgs(nil, one, two), "order 7"))
		w.put(used.linkOf(0), one).mustBe(t, http.StatusCreated)
		opened(w.tool(full(w), "create_uploads", uploadArgs(nil, one, two), "order 7"))
		replaced := opened(w.full("create_uploads", uploadArgs(nil, two)))
		opened(w.full("create_uploads", uploadArgs(map[string]any{"replaces_batch": replaced.text("data.job_id")}, two)))
		rows := w.dumpTables()
		for _, kept := range []string{used.text("data.job_id"), "two.png", "order 7"} {
			if !strings.Contains(rows, kept) {
				t.Errorf("the check does not find %s", kept)
			}
		}
		secrets = slices.DeleteFunc(secrets, func(text string) bool { return text == "" })
		for _, text := range secrets {
			if strings.Contains(rows, text) || strings.Contains(rows, text[len("pru_"):]) {
				t.Errorf("the secret is stored")
			}
		}
		if len(secrets) != 5 {
			t.Errorf("%d secrets", len(secrets))
		}
	})
}

// dumpTables returns all rows of all tables as text.
func (w *env) dumpTables() string {
	w.t.Helper()
	tables := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if w.db.Postgres() {
		tables = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`
	}
	var out strings.Builder
	for table := range w.texts(tables) {
		for row := range w.texts("SELECT * FROM " + table) { //nolint:unqueryvet // every column
			out.WriteString(row + "\n")
		}
	}
	return out.String()
}

// Files are rejected while the free disk space is below the reserve. The link accepts the file when there is space
// again.
func TestUploadsBelowDiskReserve(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1, reserve: 1 << 60}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{accounts: 1})
		f := aPNG("a.png")
		_, to := w.openUpload(f)
		w.put(to, f).mustBeOverloaded(t, "disk_full")
		w.full("list_media", nil).mustHave(t, map[string]any{"data.media.0": nil})
		w.mustBeSound()
		_, root := h.start(options{accounts: 1}, server.RoleAll)
		to.url = root + strings.TrimPrefix(to.url, w.root)
		w.put(to, f).mustBe(t, http.StatusCreated)
	})
}
