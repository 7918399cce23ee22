package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// parts returns the states of the thread's parts after the post itself.
func (s *env) parts(t failer) string {
	t.Helper()
	data := s.do(t, "get_post", map[string]any{"id": s.post})
	states := []string{}
	for _, part := range data["accounts"].([]any)[0].(map[string]any)["parts"].([]any) {
		states = append(states, part.(map[string]any)["state"].(string))
	}
	return strings.Join(states, "/")
}

// eachThread runs a test with a thread of three parts on both databases.
func eachThread(t *testing.T, n scriptedNetwork, test func(t *testing.T, s *env)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		own := n
		test(t, newEnv(t, testkit.Open(t, url, clock), clock, &own, "second", "third"))
	})
}

// The parts are published in order, each as a reply to the part before it.
func TestThread(t *testing.T) {
	t.Parallel()
	eachThread(t, scriptedNetwork{}, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.parts(t) != "published/published" || s.net.posts != 3 {
			t.Fatalf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
		var texts []string
		var replies []network.Reply
		for _, i := range s.net.plans {
			texts = append(texts, i.Content.Text)
			if i.Reply != nil {
				replies = append(replies, *i.Reply)
			}
			if !i.FirstSubmittedAt.Equal(s.net.plans[0].FirstSubmittedAt) {
				t.Errorf("the first submission of %s is at %v", i.Seed, i.FirstSubmittedAt)
			}
		}
		if diff := cmp.Diff([]string{"hello", "second", "third"}, texts); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]network.Reply{{Root: "1", Parent: "1"}, {Root: "1", Parent: "2"}}, replies); diff != "" {
			t.Error(diff)
		}
		data := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
		last := data["parts"].([]any)[1].(map[string]any)
		if data["permalink"] != "https://example.test/1" || last["permalink"] != "https://example.test/3" {
			t.Errorf("account %v", data)
		}
		r := must.Get(s.posts.Load(t.Context(), s.call.TeamID, s.post))(t)
		if r.Targets[0].NetworkID != "1" || r.Targets[0].Parts[0].NetworkID != "2" {
			t.Errorf("target %+v", r.Targets[0])
		}
	})
}

// A rejected part stops the rest. A retry continues the thread and publishes nothing twice.
func TestThreadContinuesAfterRejection(t *testing.T) {
	t.Parallel()
	eachThread(t, scriptedNetwork{commits: []step{{}, {class: network.Rejected}}}, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		want := outcome{"failed", "rejected_content", "partially_published", "partially_succeeded", "rejected_content"}
		if got := s.outcome(t); got != want || s.parts(t) != "failed/pending" || s.net.posts != 1 {
			t.Fatalf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
		data := s.do(t, "get_post", map[string]any{"id": s.post})
		account := data["accounts"].([]any)[0].(map[string]any)
		const explanation = "The thread is incomplete: 1 part is published. The network rejected the content."
		if account["explanation"] != explanation || account["permalink"] != "https://example.test/1" || data["published_at"] == nil {
			t.Errorf("post %v", data)
		}
		if _, _, err := s.posts.Replace(t.Context(), s.call.Actor, s.post); err == nil {
			t.Error("an edited copy can publish the first part again")
		}
		s.clock.Advance(time.Minute)
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.parts(t) != "published/published" || s.net.posts != 3 {
			t.Errorf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
	})
}

// If the response to a part is lost, the part is looked up, and the thread continues.
func TestThreadContinuesAfterLostResponse(t *testing.T) {
	t.Parallel()
	n := scriptedNetwork{commits: []step{{}, lostButSent, {}}, resolves: []step{{verdict: network.Published}}}
	eachThread(t, n, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.parts(t) != "published/published" || s.net.posts != 3 {
			t.Errorf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
	})
}

// An unconfirmed part stops the thread. If a later lookup finds the part, the thread is not continued without a person,
// because its job has ended.
func TestThreadStopsAtUnconfirmedPart(t *testing.T) {
	t.Parallel()
	n := scriptedNetwork{commits: []step{{}, lostButSent}, resolves: append(repeatStep(maxLookups, unknownAnswer),
		step{verdict: network.Published})}
	eachThread(t, n, func(t *testing.T, s *env) {
		s.deliver(t, 40*time.Second)
		if got := s.outcome(t); got.state != "unconfirmed" || got.status != "partially_published" || s.parts(t) != "unconfirmed/pending" {
			t.Fatalf("%+v, parts %s", got, s.parts(t))
		}
		s.deliver(t, time.Hour)
		want := outcome{"failed", threadInterrupted, "partially_published", "partially_succeeded", threadInterrupted}
		if got := s.outcome(t); got != want || s.parts(t) != "published/failed" || s.net.posts != 2 {
			t.Fatalf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
		}
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.net.posts != 3 {
			t.Errorf("%+v, %d posts", got, s.net.posts)
		}
	})
}

// After a person has decided that a part is published, its ID is unknown, so the next part cannot reply to it.
func TestThreadAfterDecision(t *testing.T) {
	t.Parallel()
	for name, published := range map[string]bool{"published": true, "not published": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := scriptedNetwork{commits: []step{{}, lostNotSent}, resolves: repeatStep(maxLookups, unknownAnswer)}
			eachThread(t, n, func(t *testing.T, s *env) {
				s.deliver(t, 40*time.Second)
				data := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
				must.NoError(t, s.Decide(t.Context(), s.call.PersonID, s.call.TeamID, s.post, int64(data["id"].(float64)),
					Decision{Published: published}))
				s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
				s.deliver(t, time.Minute)
				want, posts, parts := publishedOutcome, 3, "published/published"
				if published {
					want = outcome{"failed", threadInterrupted, "partially_published", "failed", threadInterrupted}
					posts, parts = 1, "published/failed"
				}
				if got := s.outcome(t); got != want || s.net.posts != posts || s.parts(t) != parts {
					t.Errorf("%+v, parts %s, %d posts", got, s.parts(t), s.net.posts)
				}
			})
		})
	}
}

// The permalinks of the parts are looked up like that of the post, while the thread continues.
func TestThreadPermalinks(t *testing.T) {
	t.Parallel()
	eachThread(t, scriptedNetwork{commits: repeatStep(3, step{noPermalink: true})}, func(t *testing.T, s *env) {
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.net.permalinkCalls != 3 {
			t.Fatalf("%+v, %d calls", got, s.net.permalinkCalls)
		}
		r := must.Get(s.posts.Load(t.Context(), s.call.TeamID, s.post))(t)
		for i, permalink := range []string{r.Targets[0].Permalink, r.Targets[0].Parts[0].Permalink, r.Targets[0].Parts[1].Permalink} {
			if permalink != "https://example.test/late" {
				t.Errorf("part %d: %q", i, permalink)
			}
		}
	})
}

// If the database was copied before a thread was published, the other installation may have published the parts after a
// part that is found. They are not sent without a person.
func TestResumeThread(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := newHeldEnv(t, url, nil)
		c.schedulePost(t, noon.Add(-time.Minute))
		c.exec(t, `UPDATE posts SET thread = '["second"]'`)
		c.complete.posts = []network.CollectedPost{{ID: "7", URL: "https://example.test/7", Text: "hello", PostedAt: noon}}
		c.checkResume(t, "bluesky ended not_confirmed", "x ended ", "x ended not_confirmed")
		// A person found the first part, which this installation did not send. A retry must not send it.
		var id string
		must.NoError(t, c.db.QueryRow(t.Context(), `SELECT id FROM posts`).Scan(&id))
		call := c.calls[0]
		must.NoError(t, c.Decide(t.Context(), call.PersonID, call.TeamID, id, c.ids[0][0], Decision{Published: true}))
		p := must.Get(c.posts.Load(t.Context(), call.TeamID, id))(t)
		if got := p.Targets[0]; got.PublishedPartCount() != 1 || got.ErrorCode != threadInterrupted {
			t.Errorf("%d published parts, error %q", got.PublishedPartCount(), got.ErrorCode)
		}
	})
}

// A network's list of posts may lack replies, so a missing part counts as unknown.
func TestResumePartOfThread(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := newHeldEnv(t, url, nil)
		id := c.schedulePost(t, noon.Add(-time.Minute))
		account := c.ids[0][1]
		c.exec(t, `UPDATE posts SET thread = '["second"]', status = 'processing', scheduled_at = 0`)
		c.exec(t, fmt.Sprintf(`UPDATE post_targets SET state = 'published', published_at = 1, network_id = '1'
			WHERE account_id <> %d`, account))
		c.exec(t, fmt.Sprintf(`UPDATE post_targets SET state = 'sending', published_at = 1, network_id = '1'
			WHERE account_id = %d`, account))
		c.exec(t, fmt.Sprintf(`INSERT INTO jobs (id, team_id, type, state, subject, created_at)
			VALUES ('j', %d, 'social_post', 'running', '%s', 1)`, c.calls[0].TeamID, id))
		c.exec(t, fmt.Sprintf(`INSERT INTO deliveries (id, team_id, post_id, account_id, part, job_id, phase, first_at, created_at)
			VALUES ('d', %d, '%s', %d, 1, 'j', 'planned', 1, 1)`, c.calls[0].TeamID, id, account))
		c.checkResume(t, "x ended not_confirmed")
	})
}
