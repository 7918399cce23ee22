package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callConcurrently makes n concurrent calls and returns their answers.
func (w *env) callConcurrently(n int, call func(i int) (answer, error)) []answer {
	w.t.Helper()
	out, errs := make([]answer, n), make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			out[i], errs[i] = call(i)
		})
	}
	close(start)
	wg.Wait()
	must.NoError(w.t, errors.Join(errs...))
	return out
}

// mustBeOneDraft checks the answers to repeats of a call that creates a draft.
func (w *env) mustBeOneDraft(answers []answer) {
	w.t.Helper()
	first, ids := 0, map[string]int{}
	for _, got := range answers {
		switch got.status {
		case http.StatusCreated:
			ids[got.text("data.id")]++
			if got.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		case http.StatusConflict:
			got.mustReject(w.t, http.StatusConflict, "idempotency_key_in_progress", "")
		default:
			w.t.Errorf("got %d %s", got.status, got.raw)
		}
	}
	if first != 1 || len(ids) != 1 {
		w.t.Errorf("%d answers are not replays, drafts %v", first, ids)
	}
	if n := w.count("posts WHERE team_id = ?", w.team); n != 1 {
		w.t.Errorf("%d drafts are stored", n)
	}
	if n := w.count("events WHERE team_id = ? AND kind = 'post.created'", w.team); n != 1 {
		w.t.Errorf("%d events of the creation", n)
	}
}

// Of 200 concurrent calls with one key, one creates the draft, on one node and on two nodes.
func TestConcurrentRepeats(t *testing.T) {
	t.Parallel()
	withInstance(t, options{maxCalls: 1000}, func(t *testing.T, h *instance) {
		_, root := h.start(options{maxCalls: 1000}, server.RoleAPI)
		for name, bases := range map[string][]string{"one node": {h.base}, "two nodes": {h.base, root + "/api/v1"}} {
			t.Run(name, func(t *testing.T) {
				w := h.newEnv(t, options{})
				args := map[string]any{"caption": "once", "account_ids": w.accounts}
				w.mustBeOneDraft(w.callConcurrently(200, func(i int) (answer, error) {
					return w.tryRest(bases[i%len(bases)], full(w), "create_post", args, "a key")
				}))
			})
		}
	})
}

// Concurrent publish calls with one key submit the post once.
func TestConcurrentRepeatsOfPublish(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		id := w.draft("once for all", w.accounts...)
		jobs := map[string]bool{}
		for _, got := range w.callConcurrently(50, func(int) (answer, error) {
			return w.tryRest(w.base, full(w), "publish_post", map[string]any{"post_id": id}, "a key")
		}) {
			if got.status == http.StatusAccepted {
				jobs[got.text("data.job_id")] = true
				got.mustHave(t, map[string]any{"data.already_submitted": false})
			} else {
				got.mustReject(t, http.StatusConflict, "idempotency_key_in_progress", "")
			}
		}
		if len(jobs) != 1 {
			t.Fatalf("jobs %v", jobs)
		}
		for job := range jobs {
			w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		}
		if held := w.accountsWith("once for all"); len(held) != 2 {
			t.Errorf("held: %v", held)
		}
	})
}

// Idempotency keys are stored per API key for a day. They are valid on every node, over REST and MCP.
func TestIdempotencyKeyRemembered(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := &fixture.Clock{}
		h := newInstance(t, url, options{now: clock.Now})
		w := h.newEnv(t, options{})
		_, root := h.start(options{now: clock.Now}, server.RoleAPI)
		other := root + "/api/v1"
		args := map[string]any{"caption": "remembered", "account_ids": w.accounts}
		first := w.rest(full(w), "create_post", args, "a key")
		first.mustBe(t, http.StatusCreated)
		same := func(what string, got answer) {
			t.Helper()
			if got.status != http.StatusCreated || got.text("data.id") != first.text("data.id") {
				t.Errorf("%s: %d %s", what, got.status, got.raw)
			}
			if replayed := got.header.Get("Idempotent-Replayed"); got.header.Get("Location") != "" && replayed != "true" {
				t.Errorf("%s: Idempotent-Replayed = %q", what, replayed)
			}
		}
		same("at once", w.rest(full(w), "create_post", args, "a key"))
		same("quoted", w.rest(full(w), "create_post", args, `"a key"`))
		same("by another node", w.restAt(other, full(w), "create_post", args, "a key"))
		same("as a tool", w.tool(full(w), "create_post", args, "a key"))
		clock.Advance(24*time.Hour - time.Minute)
		same("a minute before the day is over", w.restAt(other, full(w), "create_post", args, "a key"))
		w.rest(full(w), "create_post", map[string]any{"caption": "other", "account_ids": w.accounts}, "a key").
			mustReject(t, 422, "idempotency_key_reused", "")
		w.rest(w.keys[access.Drafts], "create_post", args, "a key").mustBe(t, http.StatusCreated)
		clock.Advance(2 * time.Minute)
		again := w.rest(full(w), "create_post", args, "a key")
		if again.mustBe(t, http.StatusCreated); again.text("data.id") == first.text("data.id") ||
			again.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("the key is still known after a day: %s", again.raw)
		}
		same2 := w.tool(full(w), "create_post", args, "a key")
		if same2.text("data.id") != again.text("data.id") {
			t.Errorf("the reused key is not stored: %s", same2.raw)
		}
		if n := w.count("posts WHERE team_id = ?", w.team); n != 3 {
			t.Errorf("%d drafts, want 3", n)
		}
	})
}

// A repeat returns the first answer, even if the item has changed.
func TestReplayKeepsFirstAnswer(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		args := map[string]any{"caption": "first", "account_ids": w.accounts}
		first := w.rest(full(w), "create_post", args, "a key")
		id := first.text("data.id")
		w.full("update_post", map[string]any{"id": id, "caption": "second"})
		w.publish(id)
		again := w.rest(full(w), "create_post", args, "a key")
		if fmt.Sprint(again.at("data")) != fmt.Sprint(first.at("data")) || again.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("the answers differ:\n%s\n%s", first.raw, again.raw)
		}
		if again.text("meta.request_id") == first.text("meta.request_id") {
			t.Error("both responses have the same request ID")
		}
	})
}

// A repeat has a note if the post has changed since the first answer, over REST and MCP.
func TestRepeatsReportChanges(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for name, call := range map[string]func(tool string, args map[string]any) answer{
			"REST": func(tool string, args map[string]any) answer { return w.rest(full(w), tool, args, tool) },
			"tool": func(tool string, args map[string]any) answer {
				return w.tool(full(w), tool, mergeArgs(args, map[string]any{"idempotency_key": tool + " by tool"}), "")
			},
		} {
			at := ahead(48 * time.Hour)
			aDraft(w)
			id := w.note("post")
			repeats := func(tool string, args map[string]any, note string) {
				t.Helper()
				got := call(tool, args)
				if notes := fmt.Sprint(got.at("notes")); note == "" && got.at("notes") != nil || !strings.Contains(notes, note) {
					t.Errorf("%s %s: notes %s, want %q: %s", name, tool, notes, note, got.raw)
				}
			}
			schedule, cancel := map[string]any{"post_id": id, "scheduled_at": at}, map[string]any{"post_id": id}
			repeats("schedule_post", schedule, "")
			repeats("schedule_post", schedule, "")
			repeats("cancel_post", cancel, "")
			repeats("schedule_post", schedule, "its status is now draft.")
			if got := call("schedule_post", schedule); got.text("data.status") != "scheduled" {
				t.Errorf("%s: differs from the first answer: %s", name, got.raw)
			}
			repeats("update_post", map[string]any{"id": id, "caption": "new"}, "")
			w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(72 * time.Hour)})
			repeats("cancel_post", cancel, "its status is now scheduled, for ")
			repeats("schedule_post", schedule, "its status is now scheduled, for ")
			repeats("update_post", map[string]any{"id": id, "caption": "new"}, "its status is now scheduled, for ")
			w.exec("DELETE FROM post_targets WHERE post_id = ?", id)
			w.exec("DELETE FROM posts WHERE id = ?", id)
			repeats("schedule_post", schedule, "The post has since been deleted.")
		}
	})
}

// A repeat can write the same time in a different format, over REST and MCP. A different time is a different request.
func TestRepeatWithTheSameInstant(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		day := time.Now().UTC().AddDate(0, 0, 40)
		at := time.Date(day.Year(), day.Month(), day.Day(), 10, 0, 0, 0, time.UTC)
		berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
		forms := []string{
			at.Format(time.RFC3339), at.Format("2006-01-02T15:04Z"), at.In(time.FixedZone("", 5*3600)).Format(time.RFC3339),
			at.In(berlin).Format("2006-01-02T15:04:05"), at.Format("2006-01-02T15:04:05.000+00:00"),
		}
		for tool, argument := range map[string]string{"schedule_post": "post_id", "update_post": "id"} {
			id := w.draft("same instant", w.accounts...)
			args := func(when string) map[string]any { return map[string]any{argument: id, "scheduled_at": when} }
			first := w.rest(full(w), tool, args(forms[0]), tool)
			first.mustBe(t, http.StatusOK)
			for _, form := range forms {
				again := w.rest(full(w), tool, args(form), tool)
				if again.status != http.StatusOK || again.header.Get("Idempotent-Replayed") != "true" ||
					fmt.Sprint(again.at("data")) != fmt.Sprint(first.at("data")) {
					t.Errorf("%s %s: %d %s", tool, form, again.status, again.raw)
				}
				if got := w.tool(full(w), tool, args(form), tool); fmt.Sprint(got.at("data")) != fmt.Sprint(first.at("data")) {
					t.Errorf("the tool %s %s: %s", tool, form, got.raw)
				}
			}
			later := args(at.Add(time.Second).Format(time.RFC3339))
			w.rest(full(w), tool, later, tool).mustReject(t, 422, "idempotency_key_reused", "")
			w.tool(full(w), tool, later, tool).mustReject(t, 422, "idempotency_key_reused", "")

			// A record from before the upgrade matches only its exact text.
			w.exec("UPDATE idempotency_records SET instant_hash = NULL WHERE key_id = ? AND key = ?", w.keyIDs[access.Full], tool)
			w.rest(full(w), tool, args(forms[0]), tool).mustBe(t, http.StatusOK)
			w.rest(full(w), tool, args(forms[1]), tool).mustReject(t, 422, "idempotency_key_reused", "")
		}
	})
}

// The note of a finished job says where a permalink will appear if the network has not provided it yet.
func TestLatePermalink(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("where it stands", w.accounts...)
		done := w.publish(id)
		if notes := done.at("notes"); notes != nil {
			t.Errorf("no permalink is missing, but the notes are %v", notes)
		}
		job := done.text("data.job_id")
		w.exec("UPDATE deliveries SET permalink = '' WHERE job_id = ?", job)
		for _, call := range []edgeCall{w.rest, w.tool} {
			got := call(full(w), "get_job", map[string]any{"job_id": job}, "")
			if !strings.Contains(fmt.Sprint(got.at("notes")), "permalink is missing") {
				t.Errorf("the notes are %v", got.at("notes"))
			}
		}
		w.post(id).mustHave(t, map[string]any{"data.status": "published", "data.accounts.0.retries_left": 0})
	})
}

// Only expired idempotency keys are deleted.
func TestSweepingKeys(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for i := range 3 {
			w.rest(full(w), "create_post", map[string]any{"caption": "x", "account_ids": w.accounts},
				fmt.Sprint("key ", i)).mustBe(t, http.StatusCreated)
		}
		w.exec("UPDATE idempotency_records SET expires_at = expires_at + 1000000000 WHERE key_id = ? AND key = 'key 2'",
			w.keyIDs[access.Full])
		swept := func(at time.Time) int64 {
			n := must.Get(idempotency.New(testkit.Open(t, w.url, testkit.NewClock(at))).Sweep(t.Context()))(t)
			return n
		}
		if n := swept(time.Now().Add(idempotency.Retention - time.Minute)); n != 0 {
			t.Errorf("swept %d valid keys", n)
		}
		if n := swept(time.Now().Add(idempotency.Retention)); n != 2 {
			t.Errorf("swept %d keys, want 2", n)
		}
		if n := w.count("idempotency_records WHERE key_id = ? AND key = 'key 2'", w.keyIDs[access.Full]); n != 1 {
			t.Error("swept a valid key")
		}
	})
}

// A repeat during the first call, on another node, gets a Retry-After. Later it gets a result.
func TestRepeatDuringFirstCall(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		if !w.db.Postgres() {
			return // SQLite has a single writer, so the repeat waits for the first call
		}
		args := map[string]any{"caption": "slow", "account_ids": w.accounts}
		stopped := errors.New("the first call is rolled back")
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			must.Get(tx.Exec(ctx,
				`INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at)
		VALUES (?, 'a key', 'create_post', ?, ?, ?)`,
				w.keyIDs[access.Full], []byte("x"), time.Now().UnixMicro(), time.Now().Add(time.Hour).UnixMicro()))(t)
			got := w.rest(full(w), "create_post", args, "a key")
			got.mustReject(t, http.StatusConflict, "idempotency_key_in_progress", "")
			if after := got.header.Get("Retry-After"); after != "1" || got.number("context.retry_after_seconds") != 1 {
				t.Errorf("Retry-After %q: %s", after, got.raw)
			}
			return stopped
		})
		if !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		w.mustBeOneDraft([]answer{w.rest(full(w), "create_post", args, "a key"), w.rest(full(w), "create_post", args, "a key")})
	})
}
