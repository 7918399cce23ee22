package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// comment returns the result of the first comment, nil if there is none.
func (s *env) comment(t failer) map[string]any {
	t.Helper()
	data := s.do(t, "get_post", map[string]any{"id": s.post})
	result, _ := data["accounts"].([]any)[0].(map[string]any)["first_comment"].(map[string]any)
	return result
}

// eachCommented runs a test with a post that has a first comment on both databases.
func eachCommented(t *testing.T, n scriptedNetwork, test func(t *testing.T, s *env)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		own := n
		test(t, newEnvWith(t, testkit.Open(t, url, clock), clock, &own, map[string]any{
			"thread": []any{map[string]any{"caption": "second"}}, "first_comment": "#coffee",
		}))
	})
}

// The comment is sent once, as a reply to the post itself, after the last part of the thread.
func TestFirstComment(t *testing.T) {
	t.Parallel()
	eachCommented(t, scriptedNetwork{}, func(t *testing.T, s *env) {
		if got := s.comment(t); got != nil {
			t.Errorf("comment before publication: %v", got)
		}
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.parts(t) != "published" || s.net.posts != 3 {
			t.Fatalf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
		last := s.net.plans[len(s.net.plans)-1]
		if diff := cmp.Diff(&network.Reply{Root: "1", Parent: "1"}, last.Reply); diff != "" || last.Content.Text != "#coffee" {
			t.Errorf("%q: %s", last.Content.Text, diff)
		}
		got := s.comment(t)
		if got["state"] != "published" || got["permalink"] != "https://example.test/3" || got["published_at"] == nil {
			t.Errorf("comment %v", got)
		}
		data := s.do(t, "get_post", map[string]any{"id": s.post})
		if account := data["accounts"].([]any)[0].(map[string]any); account["permalink"] != "https://example.test/1" {
			t.Errorf("account %v", account)
		}
	})
}

// A rejected comment does not fail the post or its job. A retry sends only the comment.
func TestRejectedFirstComment(t *testing.T) {
	t.Parallel()
	eachCommented(t, scriptedNetwork{commits: []step{{}, {}, {class: network.Rejected}}}, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.net.posts != 2 {
			t.Fatalf("%+v, %d posts", got, s.net.posts)
		}
		want := map[string]any{"state": "failed", "error_code": "rejected_content",
			"explanation":  "The post is published, but not its first comment. The network rejected the content.",
			"retries_left": 3.0}
		got := s.comment(t)
		delete(got, "network_message")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		retry := s.do(t, "retry_post", map[string]any{"post_id": s.post})
		if got := s.comment(t)["state"]; got != "sending" || len(retry["skipped"].([]any)) != 0 {
			t.Errorf("state %v, retry %v", got, retry)
		}
		s.job = retry["job_id"].(string)
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.comment(t)["state"] != "published" || s.net.posts != 3 {
			t.Errorf("%+v, comment %v, %d posts", got, s.comment(t), s.net.posts)
		}
		again := s.do(t, "retry_post", map[string]any{"post_id": s.post})
		if skipped := again["skipped"].([]any); len(skipped) != 1 {
			t.Errorf("another retry: %v", again)
		}
	})
}

// A comment without a response is looked up and not sent again.
func TestFirstCommentAfterLostResponse(t *testing.T) {
	t.Parallel()
	n := scriptedNetwork{commits: []step{{}, {}, lostButSent}, resolves: []step{{verdict: network.Published}}}
	eachCommented(t, n, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.comment(t)["state"] != "published" || s.net.posts != 3 {
			t.Errorf("%+v, comment %v, %d posts", got, s.comment(t), s.net.posts)
		}
	})
}

// An unconfirmed comment leaves the post published. A person decides, and a decision against it allows a retry.
func TestUnconfirmedFirstComment(t *testing.T) {
	t.Parallel()
	n := scriptedNetwork{commits: []step{{}, {}, lostButSent}, resolves: repeatStep(maxLookups, unknownAnswer)}
	eachCommented(t, n, func(t *testing.T, s *env) {
		s.deliver(t, 40*time.Second)
		if got := s.outcome(t); got != publishedOutcome || s.comment(t)["state"] != "unconfirmed" {
			t.Fatalf("%+v, comment %v", got, s.comment(t))
		}
		target := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
		account := int64(target["id"].(float64))
		err := s.Decide(t.Context(), s.call.PersonID, s.call.TeamID, s.post, account, Decision{})
		if got := s.comment(t); err != nil || got["state"] != "failed" || got["error_code"] != "network_error" {
			t.Fatalf("comment %v, error %v", got, err)
		}
		kinds := must.Get(db.All(t.Context(), s.db, scanText, `SELECT kind FROM events WHERE kind LIKE 'post.%decided'`))(t)
		if diff := cmp.Diff([]string{"post.first_comment_decided"}, kinds); diff != "" {
			t.Error(diff) // An event of the account would announce that the post failed.
		}
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.comment(t)["state"] != "published" {
			t.Errorf("%+v, comment %v", got, s.comment(t))
		}
	})
}

// A post that turns out to be published only after its job ended does not get its comment without a person.
func TestFirstCommentOfLateOutcome(t *testing.T) {
	t.Parallel()
	n := scriptedNetwork{commits: []step{{}, lostButSent}, resolves: append(repeatStep(maxLookups, unknownAnswer),
		step{verdict: network.Published})}
	eachCommented(t, n, func(t *testing.T, s *env) {
		s.deliver(t, 40*time.Second)
		if got := s.outcome(t); got.state != "unconfirmed" || s.comment(t) != nil {
			t.Fatalf("%+v, comment %v", got, s.comment(t))
		}
		s.deliver(t, time.Hour)
		got := s.comment(t)
		if state := s.outcome(t).state; state != "published" || got["state"] != "failed" || got["error_code"] != threadInterrupted {
			t.Fatalf("account %s, comment %v", state, got)
		}
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, time.Minute)
		if s.comment(t)["state"] != "published" || s.net.posts != 3 {
			t.Errorf("comment %v, %d posts", s.comment(t), s.net.posts)
		}
		if part := s.net.plans[len(s.net.plans)-1]; part.Reply.Parent != "1" || comment.Part >= 0 {
			t.Errorf("reply %+v", part.Reply)
		}
	})
}
