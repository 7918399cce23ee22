package e2e

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
)

// A draft created through the API is published once, and the job has the result.
func TestPublish(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		id := w.draft("hello from #pressroom", w.accounts...)
		job := w.publish(id)
		if job.text("data.state") != "succeeded" || job.text("data.result.post_id") != id {
			t.Fatalf("job: %s", job.raw)
		}
		post := w.post(id)
		if post.text("data.status") != "published" || post.text("data.accounts.0.permalink") == "" ||
			post.text("data.published_at.utc") == "" {
			t.Fatalf("post: %s", post.raw)
		}
		if held := w.accountsWith("hello from #pressroom"); len(held) != 2 {
			t.Fatalf("held: %v", held)
		}
		again := w.full("publish_post", map[string]any{"post_id": id})
		if again.at("data.already_submitted") != true || again.text("data.job_id") != job.text("data.job_id") {
			t.Fatalf("again: %s", again.raw)
		}
	})
}

// A due post is published within two seconds.
func TestScheduledPostPublishedInTime(t *testing.T) { // not parallel: it measures time
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newInstance(t, url, options{}).newEnv(t, options{})
		id := w.draft("due soon")
		due := time.Now().Add(2 * time.Second).Truncate(time.Second)
		w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": due.UTC().Format(time.RFC3339)})
		w.until("the post to be published", func() bool { return w.post(id).text("data.status") == "published" })
		if late := time.Since(due); late > 2*time.Second {
			t.Errorf("published %v after its scheduled time", late)
		} else {
			t.Logf("published %v after its scheduled time", late)
		}
		if held := w.accountsWith("due soon"); len(held) != 1 {
			t.Fatalf("held: %v", held)
		}
	})
}
