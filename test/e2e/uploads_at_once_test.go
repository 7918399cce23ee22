package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/server"
)

// Of the secrets that concurrent repeats return, only the last one works. All repeats return the same batch.
func TestConcurrentRepeatedUploads(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		f := aPNG("a.png")
		links, jobs := map[link]bool{}, map[string]bool{}
		for _, got := range w.callConcurrently(30, func(int) (answer, error) {
			return w.tryRest(w.base, full(w), "create_uploads", uploadArgs(nil, f), "order 7")
		}) {
			if got.status != http.StatusCreated {
				got.mustReject(t, http.StatusConflict, "idempotency_key_in_progress", "")
				continue
			}
			links[got.linkOf(0)], jobs[got.text("data.job_id")] = true, true
		}
		taken := 0
		for to := range links {
			if got := w.put(to, f); got.status == http.StatusCreated {
				taken++
			} else {
				got.mustReject(t, http.StatusUnauthorized, "unauthorized", "")
			}
		}
		if taken != 1 || len(jobs) != 1 {
			t.Errorf("%d of %d secrets of %d batches work", taken, len(links), len(jobs))
		}
	})
}

// Batches opened concurrently on two nodes do not exceed the limits of open batches and storage.
func TestConcurrentBatchesWithinLimits(t *testing.T) {
	t.Parallel()
	few := ampleCatalog()
	few.Limits.OpenUploadBatches = 3
	tight, _ := few.Plan("agency")
	tight.ID, tight.StorageBytes = "tight", 700
	few.Plans = append(few.Plans, tight)
	o := options{catalog: few, accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		_, root := h.start(o, server.RoleAPI)
		bases := []string{h.base, root + "/api/v1"}
		for plan, c := range map[string]struct {
			places int
			code   string
		}{"agency": {3, "rate_limited"}, "tight": {2, "plan_limit_reached"}} {
			w := h.newEnv(t, options{plan: plan, accounts: 1})
			opened := 0
			for _, got := range w.callConcurrently(12, func(i int) (answer, error) {
				return w.tryRest(bases[i%2], full(w), "create_uploads", map[string]any{"files": []any{fileOfSize(i, 300)}}, "")
			}) {
				if got.status == http.StatusCreated {
					opened++
				} else if got.code() != c.code {
					t.Errorf("%s: %d %s", plan, got.status, got.raw)
				}
			}
			if opened != c.places {
				t.Errorf("%s: %d batches were opened, want %d", plan, opened, c.places)
			}
		}
	})
}

// fileOfSize returns the description of a file of the given size. Each n has a different hash.
func fileOfSize(n, bytes int) map[string]any {
	return map[string]any{"sha256": fmt.Sprintf("%064x", n), "size_bytes": bytes}
}

// A file that is uploaded concurrently through several links is stored and counted once.
func TestConcurrentUploadsOfFile(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		f := aPNG("a.png")
		jobs, links := []string{}, []link{}
		for range 5 {
			job, to := w.openUpload(f)
			jobs, links = append(jobs, job), append(links, to)
		}
		for range 5 {
			jobs = append(jobs, w.full("import_media", importArgs("/files/a.png", nil)(w)).text("data.job_id"))
		}
		for _, got := range w.callConcurrently(5, func(i int) (answer, error) {
			return w.tryPut(links[i], f.mime,
				bytes.NewReader(f.bytes))
		}) {
			got.mustBe(t, http.StatusCreated)
		}
		for _, job := range jobs {
			w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		}
		w.full("list_media", nil).
			mustHave(t, map[string]any{"data.media.0.name": "a", "data.media.1": nil, "data.storage.used_bytes": len(f.bytes)})
		w.mustBeSound()
	})
}

// Opening links and importing use free calls. Uploading files and repeating a call do not.
func TestLibraryFreeCalls(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		before := w.left()
		w.rest(full(w), "create_uploads", uploadArgs(nil, aPNG("a.png")), "k").mustBe(t, http.StatusCreated)
		w.mustLeave(before-1, "opening links")
		got := w.rest(full(w), "create_uploads", uploadArgs(nil, aPNG("a.png")), "k")
		w.put(got.linkOf(0), aPNG("a.png")).mustBe(t, http.StatusCreated)
		w.mustLeave(before-1, "a repeat and a file")
		w.full("import_media", importArgs("/files/b.png", nil)(w))
		w.mustLeave(before-2, "an import")
		w.full("list_media", nil)
		w.mustLeave(before-3, "a list")
		w.rest(full(w), "import_media", map[string]any{"url": "https://localhost/a.png"}, "").
			mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "not_allowed_value")
		w.mustLeave(before-3, "a rejection")
	})
}
