package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/platform/backup"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// allNetworks lists the networks of the test.
var allNetworks = []string{"bluesky", "facebook", "instagram", "linkedin", "pinterest", "threads", "tiktok", "x", "youtube"}

// incompleteListers lists the networks that do not list all posts. For posts that they do not list, a person has to
// decide.
var incompleteListers = []string{"tiktok", "youtube"}

// A backup of a running installation is restored elsewhere. The restored installation returns the same data and
// publishes nothing. After resume, it publishes only the posts that the original has not published, each once.
func TestRestored(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
		if w.clock.Now().In(zone).Hour() == 23 {
			w.clock.Advance(time.Hour) // midnight would change the analytics between the two requests
		}
		first := w.start(w.config(url, testkit.Blobs(t)))
		all, some := first.home(allNetworks...), first.home("bluesky", "threads")
		day := first.addPosts(all, some)
		first.awaitAnalytics(all)
		first.awaitAnalytics(some)

		folder := filepath.Join(t.TempDir(), "backup")
		busy := first.traffic(all)
		_, err := server.Backup(t.Context(), first.cfg, folder, backup.Options{})
		busy()
		must.NoError(t, err)
		before, beforeToo := first.reads(all), first.reads(some)
		again := must.Get(server.Backup(t.Context(), first.cfg, folder, backup.Options{}))(t)
		if again.Files < 5 || again.Copied >= again.Files || len(again.Damaged) > 0 {
			t.Errorf("a second backup copies %d of %d files, damaged %v", again.Copied, again.Files, again.Damaged)
		}

		// After the backup, the original continues until it is killed.
		w.clock.Advance(15 * time.Minute)
		for _, id := range day.soon {
			first.awaitStatus(all, id, "published")
		}
		first.publish(some, day.ahead)
		first.awaitStatus(some, day.ahead, "published")
		first.awaitStatus(some, day.under, "published")
		first.stop()

		found, err := server.VerifyBackup(t.Context(), first.cfg, folder)
		if must.NoError(t, err); len(found.Findings) > 0 {
			t.Fatalf("the backup is incomplete: %v", found.Findings)
		}
		cfg := w.config(empty(t, url), testkit.Blobs(t))
		must.Get(server.Restore(t.Context(), cfg, folder))(t)
		second := w.start(cfg)
		wantSameAnswers(t, before, second.reads(all))
		wantSameAnswers(t, beforeToo, second.reads(some))
		second.checkHeld(all, day)

		w.clock.Advance(10 * time.Minute) // later posts are due too
		second.resumeAll(all, some, day)
	})
}

// wantSameAnswers compares the answers of each path.
func wantSameAnswers(t *testing.T, before, after map[string]string) {
	t.Helper()
	if len(before) < 20 || len(before) != len(after) {
		t.Errorf("%d paths were read before, %d after", len(before), len(after))
	}
	for path, want := range before {
		if got := after[path]; got != want {
			t.Errorf("GET %s: original:\n%s\nrestored:\n%s", path, want, got)
		}
	}
}

// day has the posts to publish.
type day struct {
	soon  map[string]string // by network: published by the original after the backup
	later map[string]string // by network: unpublished when the original dies
	ahead string            // published early by a person after the backup
	under string            // is being published during the backup
	next  string            // due in some days
}

func (h *installation) addPosts(all, some *home) day {
	h.t.Helper()
	d := day{soon: map[string]string{}, later: map[string]string{}}
	for _, platform := range allNetworks {
		d.soon[platform] = h.schedule(all, platform, "Fresh bread, soon, on "+platform, 10*time.Minute)
		d.later[platform] = h.schedule(all, platform, "Fresh fish, later, on "+platform, 20*time.Minute)
	}
	stood := h.draft(some, "bluesky", "Stood before")
	h.publish(some, stood)
	h.awaitStatus(some, stood, "published")
	d.ahead = h.schedule(some, "threads", "A person was early", 48*time.Hour)
	d.next = h.schedule(some, "threads", "In some days", 72*time.Hour)
	h.draft(some, "bluesky", "Only a draft")
	list := h.call(all, http.MethodPost, "/hashtag-lists", map[string]any{"name": "Harbour", "hashtags": []string{"harbour", "coffee"}})
	if list.Status != http.StatusCreated {
		h.t.Fatalf("a list: %v", list.Body)
	}
	d.under = h.draft(some, "bluesky", "Under way [sandbox:slow=60]")
	h.publish(some, d.under)
	must.Eventually(h.t, waitLimit, "the expected state", func() bool {
		var n int
		must.NoError(h.t, h.db.QueryRow(context.Background(),
			`SELECT COUNT(*) FROM deliveries WHERE post_id = ? AND phase = 'committing'`, d.under).Scan(&n))
		return n == 1
	})
	return d
}

// awaitAnalytics waits until every account has metrics, which are collected once.
func (h *installation) awaitAnalytics(of *home) {
	h.t.Helper()
	for _, id := range of.accounts {
		must.Eventually(h.t, waitLimit, "analytics", func() bool {
			return h.get(of, fmt.Sprintf("/social-accounts/%d/analytics", id))["measured_at"] != nil
		})
	}
}

// traffic creates drafts, uploads files and publishes a post until the returned function is called.
func (h *installation) traffic(of *home) func() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	begun := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ctx.Err() == nil; n++ {
			h.draft(of, "bluesky", fmt.Sprint("Traffic ", n))
			if n%5 == 0 {
				h.upload(of, "more.jpg", fixture.JPEG(h.t, uint8(100+n%100)))
			}
			if n == 5 {
				close(begun)
			}
		}
	}()
	<-begun
	return func() { cancel(); <-ended }
}

// reads returns the responses of every read operation, without meta and without members that change with every call.
func (h *installation) reads(of *home) map[string]string {
	h.t.Helper()
	out := map[string]string{}
	ask := func(path string) map[string]any {
		got := h.call(of, http.MethodGet, path, nil)
		delete(got.Body, "meta")
		for _, anew := range []string{"free_calls_left_today", "period", "capabilities"} {
			delete(got.Data(), anew)
		}
		raw := must.Get(json.Marshal(got.Body))(h.t)
		out[path] = fmt.Sprint(got.Status, " ", string(raw))
		return got.Data()
	}
	for _, path := range []string{"/me", "/credits", "/limits", "/reports", "/brand-voices", "/media?limit=50"} {
		ask(path)
	}
	for _, a := range items(ask("/social-accounts"), "social_accounts") {
		ask(fmt.Sprintf("/social-accounts/%.0f/analytics", a["id"]))
	}
	for _, l := range items(ask("/hashtag-lists?limit=50"), "hashtag_lists") {
		ask(fmt.Sprintf("/hashtag-lists/%.0f", l["id"]))
	}
	for _, p := range items(ask("/posts?limit=50"), "posts") {
		ask(fmt.Sprintf("/posts/%v", p["id"]))
		ask(fmt.Sprintf("/posts/%v/validation", p["id"]))
	}
	jobs := must.Get(h.db.Query(context.Background(), `SELECT id FROM jobs WHERE team_id = ? AND finished_at > 0 ORDER BY id`, of.id))(h.t)
	defer jobs.Close()
	for jobs.Next() {
		var id string
		must.NoError(h.t, jobs.Scan(&id))
		ask("/jobs/" + id)
	}
	must.NoError(h.t, jobs.Err())
	return out
}

func items(data map[string]any, name string) []map[string]any {
	list, _ := data[name].([]any)
	out := make([]map[string]any, len(list))
	for i, one := range list {
		out[i], _ = one.(map[string]any)
	}
	return out
}

// checkHeld checks that due posts are not published, that the reason is shown, and that reading and drafting still
// work.
func (h *installation) checkHeld(of *home, d day) {
	h.t.Helper()
	var last int64
	must.NoError(h.t, h.db.QueryRow(context.Background(), `SELECT COALESCE(MAX(id), 0) FROM river_job`).Scan(&last))
	// A heartbeat is sent only after due posts were released.
	must.Eventually(h.t, waitLimit, "the queue to process a heartbeat", func() bool {
		var n int
		must.NoError(h.t, h.db.QueryRow(context.Background(),
			`SELECT COUNT(*) FROM river_job WHERE state = 'completed' AND id > ?`, last).Scan(&n))
		return n >= 1
	})
	for platform, id := range d.soon {
		if is := h.status(of, id); is != "scheduled" {
			h.t.Errorf("%s: status during the hold = %s", platform, is)
		}
	}
	id := h.draft(of, "bluesky", "Drafted while held")
	for _, call := range []fixture.Response{
		h.call(of, http.MethodPost, "/posts/"+id+"/publish", nil),
		h.call(of, http.MethodPost, "/posts/"+id+"/schedule", map[string]any{"scheduled_at": "2031-01-01T10:00:00Z"}),
	} {
		if call.Status != http.StatusForbidden || call.Code() != "connection_suspended" ||
			!strings.Contains(fmt.Sprint(call.Body["detail"]), "operator") {
			h.t.Errorf("publishing during the hold: %d %v", call.Status, call.Body)
		}
	}
	response := httptest.NewRecorder()
	h.MetricsHandler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if response.Code != http.StatusOK || !strings.Contains(response.Body.String(), `"publishing":"on hold since`) {
		h.t.Errorf("readyz: %d %s", response.Code, response.Body)
	}
}

// countOutcomes counts the outcomes of a resumption.
func countOutcomes(r delivery.ResumeReport) map[delivery.Outcome]int {
	return map[delivery.Outcome]int{
		delivery.OutcomePublished: r.Published, delivery.OutcomeUnconfirmed: r.Unconfirmed, delivery.OutcomeSendLate: r.Late,
		delivery.OutcomeMissed: r.Missed,
	}
}

// resumeAll lets the restored copy publish after a dry run.
func (h *installation) resumeAll(all, some *home, d day) {
	h.t.Helper()
	want := map[delivery.Outcome]int{
		delivery.OutcomePublished: len(d.soon) + 2, delivery.OutcomeUnconfirmed: len(incompleteListers),
		delivery.OutcomeSendLate: len(d.later) - len(incompleteListers), delivery.OutcomeMissed: 0,
	}
	tried := must.Get(h.Resume(h.t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour, DryRun: true}))(h.t)
	if diff := cmp.Diff(want, countOutcomes(tried)); diff != "" || tried.Resumed || tried.Cause != restoreguard.Restored {
		raw, _ := json.MarshalIndent(tried, "", " ")
		h.t.Fatalf("dry run: %s\n%s", diff, raw)
	}
	late := must.Get(h.Resume(h.t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Minute, DryRun: true}))(h.t)
	if late.Late != 0 || late.Missed != len(d.later)-len(incompleteListers) {
		h.t.Errorf("with a limit of one minute: %v", countOutcomes(late))
	}
	done := must.Get(h.Resume(h.t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour}))(h.t)
	if diff := cmp.Diff(want, countOutcomes(done)); diff != "" || !done.Resumed {
		h.t.Errorf("resume: %s", diff)
	}
	for platform, id := range d.soon {
		h.awaitStatus(all, id, "published")
		h.wantPosts(platform, "Fresh bread, soon, on "+platform, 1)
	}
	h.awaitStatus(some, d.ahead, "published")
	h.awaitStatus(some, d.under, "published")
	h.wantPosts("threads", "A person was early", 1)
	h.wantPosts("bluesky", "Under way", 1)
	for platform, id := range d.later {
		if slices.Contains(incompleteListers, platform) {
			h.awaitStatus(all, id, "failed")
			h.wantPosts(platform, "Fresh fish, later, on "+platform, 0)
			continue
		}
		h.awaitStatus(all, id, "published")
		h.wantPosts(platform, "Fresh fish, later, on "+platform, 1)
	}
	if may := fmt.Sprint(h.get(all, "/me")["capabilities"]); may != "[read write publish spend]" {
		h.t.Errorf("capabilities of a key after resume = %s", may)
	}
	if is := h.status(some, d.next); is != "scheduled" {
		h.t.Errorf("status of the post due in some days = %s", is)
	}
	if _, err := h.Resume(h.t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour}); err == nil ||
		!strings.Contains(err.Error(), "nothing is on hold") {
		h.t.Errorf("second resume: %v", err)
	}
}

func (h *installation) wantPosts(platform, text string, want int) {
	h.t.Helper()
	if n := h.w.countPosts(platform, text); n != want {
		h.t.Errorf("%s has %d posts %q, want %d", platform, n, text, want)
	}
}
