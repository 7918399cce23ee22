package delivery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// A post that the network has but hides fails with its permalink. Each retry continues with the draft that names the
// post, even after a retry that failed for another reason.
func TestRetryHiddenPost(t *testing.T) {
	t.Parallel()
	locked := step{class: network.AppNotApproved, hidden: true}
	atLookup := step{verdict: network.Absent, class: network.AppNotApproved, hidden: true}
	for name, n := range map[string]*scriptedNetwork{
		"found by the commit":         {commits: []step{locked}},
		"found by a lookup":           {commits: []step{lostNotSent}, resolves: []step{atLookup}},
		"found while it is uncertain": {commits: []step{lostNotSent}, resolves: append(repeatStep(maxLookups, unknownAnswer), atLookup)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				t.Parallel()
				network := *n
				clock := testkit.NewClock(noon)
				s := newEnv(t, testkit.Open(t, url, clock), clock, &network)
				s.deliver(t, time.Hour)
				s.wantHidden(t)
				network.preparedDrafts, network.prepares = nil, []step{locked, {class: "rejected"}}
				s.retry(t)
				s.wantHidden(t)
				s.retry(t)
				if got := s.outcome(t); got.code != "rejected_content" {
					t.Fatalf("%+v", got)
				}
				s.retry(t)
				if got := s.outcome(t); got.state != "published" {
					t.Errorf("%+v", got)
				}
				if !slices.Equal(network.preparedDrafts, []string{`"hidden"`, `"hidden"`, `"hidden"`}) {
					t.Errorf("drafts %v", network.preparedDrafts)
				}
			})
		})
	}
}

// retry retries the failed post and delivers it.
func (s *env) retry(t *testing.T) {
	t.Helper()
	s.clock.Advance(time.Hour)
	s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
	s.deliver(t, time.Hour)
}

func (s *env) wantHidden(t *testing.T) {
	t.Helper()
	account := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
	explanation, _ := account["explanation"].(string)
	if account["error_code"] != "app_not_approved" || account["permalink"] != "https://example.test/1" ||
		!strings.Contains(explanation, "does not send it again") {
		t.Fatalf("account %v", account)
	}
}
