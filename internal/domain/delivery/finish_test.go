package delivery

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var bothSteps = []string{"thumbnail", "playlist"}

// A published post stays published if setting its thumbnail or playlist fails. A step that succeeded is not repeated,
// and a step that finally failed becomes a warning.
func TestFinishSteps(t *testing.T) {
	t.Parallel()
	transient, rejected := step{class: network.Transient}, step{class: network.Rejected}
	for name, c := range map[string]struct {
		net      scriptedNetwork
		finished string
		warnings []any
		renewed  int
	}{
		"success": {scriptedNetwork{finishSteps: bothSteps}, "thumbnail playlist", nil, 0},
		"success after a lookup": {scriptedNetwork{finishSteps: bothSteps, commits: []step{lostButSent}, truthful: true},
			"thumbnail playlist", nil, 0},
		"step rejected": {scriptedNetwork{finishSteps: bothSteps, finishScripts: map[string][]step{"thumbnail": {rejected}}},
			"thumbnail playlist", []any{"thumbnail_not_set"}, 0},
		"transient errors": {scriptedNetwork{finishSteps: bothSteps, finishScripts: map[string][]step{
			"thumbnail": {rejected}, "playlist": {transient, transient},
		}}, "thumbnail" + strings.Repeat(" playlist", 3), []any{"thumbnail_not_set"}, 0},
		"permanent errors": {scriptedNetwork{finishSteps: bothSteps[1:], finishScripts: map[string][]step{
			"playlist": repeatStep(20, transient),
		}},
			strings.TrimSpace(strings.Repeat("playlist ", maxFinishTries)), []any{"playlist_not_set"}, 0},
		"rate limited": {scriptedNetwork{finishSteps: bothSteps[1:], finishScripts: map[string][]step{
			"playlist": {{class: network.RateLimited, after: time.Minute}},
		}}, "playlist playlist", nil, 0}, //nolint:dupword // two calls
		"token expired": {scriptedNetwork{finishSteps: bothSteps, finishScripts: map[string][]step{"thumbnail": {refresh}}},
			"thumbnail thumbnail playlist", nil, 1}, //nolint:dupword // two calls
		"token expired, refresh rejected": {scriptedNetwork{finishSteps: bothSteps[1:],
			refreshes:     []step{{class: network.ReconnectRequired}},
			finishScripts: map[string][]step{"playlist": {refresh}}}, "playlist", []any{"playlist_not_set"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, database string) {
				clock := testkit.NewClock(noon)
				net := c.net
				net.finishScripts = map[string][]step{}
				maps.Copy(net.finishScripts, c.net.finishScripts)
				s := newEnv(t, testkit.Open(t, database, clock), clock, &net)
				s.deliver(t, time.Hour)
				if got := s.outcome(t); got != publishedOutcome {
					t.Errorf("%+v", got)
				}
				if diff := cmp.Diff(c.finished, strings.Join(net.finishCalls, " ")); diff != "" {
					t.Errorf("calls: %s", diff)
				}
				if diff := cmp.Diff(c.warnings, s.warnings(t)); diff != "" {
					t.Errorf("warnings: %s", diff)
				}
				if net.commitCalls != 1 || net.posts != 1 || net.refreshCalls != c.renewed || s.deliverDue(t) != 0 {
					t.Errorf("%d commits, %d posts, %d refreshes", net.commitCalls, net.posts, net.refreshCalls)
				}
			})
		})
	}
}

// warnings returns the codes of the account's warnings.
func (s *env) warnings(t *testing.T) []any {
	t.Helper()
	account, _ := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
	listed, _ := account["warnings"].([]any)
	var codes []any
	for _, item := range listed {
		warning, _ := item.(map[string]any)
		if text, _ := warning["message"].(string); !strings.HasPrefix(text, "The ") {
			t.Errorf("message %q", text)
		}
		codes = append(codes, warning["code"])
	}
	return codes
}

// If the account is disconnected after the publication, the steps are not called and become warnings.
func TestFinishWithoutGrant(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	d := testkit.Open(t, testkit.SQLite(t), clock)
	net := scriptedNetwork{finishSteps: bothSteps[:1]}
	s := newEnv(t, d, clock, &net)
	s.deliverDue(t)
	if next := must.Get(s.NextSteps(t.Context(), s.call.TeamID, s.post))(t); len(next) != 1 || next[0].Step != StepFinish {
		t.Errorf("next steps %+v", next)
	}
	must.NoError(t, d.InTx(t.Context(), "test.lost", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE social_accounts SET connection_state = 'lost'`)
		return err
	}))
	s.deliver(t, time.Hour)
	if diff := cmp.Diff([]any{"thumbnail_not_set"}, s.warnings(t)); diff != "" || len(net.finishCalls) != 0 {
		t.Errorf("calls %v; warnings: %s", net.finishCalls, diff)
	}
	if got := s.outcome(t); got.state != "published" {
		t.Errorf("%+v", got)
	}
}

// If a person decides that a post is published, its steps are called if the permalink contains the post's ID. Otherwise
// each step becomes a warning.
func TestFinishAfterDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps    []string
		decision Decision
		finished []string
		warnings []any
	}{
		"with a permalink":    {bothSteps, publishedDecision, bothSteps, nil},
		"without a permalink": {bothSteps, Decision{Published: true}, nil, []any{"thumbnail_not_set", "playlist_not_set"}},
		"no steps":            {nil, publishedDecision, nil, nil},
		"not published":       {bothSteps, unpublishedDecision, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, database string) {
				s, n, _ := unconfirmedPost(t, database, lostButSent)
				n.finishSteps = c.steps
				must.NoError(t, s.decide(t, c.decision))
				s.deliver(t, time.Hour)
				if diff := cmp.Diff(c.finished, n.finishCalls); diff != "" || len(n.finishCalls) > 0 && n.finishedPostID != "1" {
					t.Errorf("post %q, calls: %s", n.finishedPostID, diff)
				}
				if diff := cmp.Diff(c.warnings, s.warnings(t)); diff != "" {
					t.Errorf("warnings: %s", diff)
				}
				if n.commitCalls != 1 || s.deliverDue(t) != 0 {
					t.Errorf("%d commits", n.commitCalls)
				}
			})
		})
	}
}

// finishingLister is a lister with a step after the publication.
type finishingLister struct {
	*lister

	calls []string
}

func (*finishingLister) FinishSteps(d network.Draft) []string {
	if len(d) == 0 {
		return nil
	}
	return bothSteps[:1]
}

func (*finishingLister) PostID(network.Draft, string) string { return "" }

func (l *finishingLister) Finish(_ context.Context, _ network.Grant, _ network.Draft, id, step string, _ network.Files) error {
	l.calls = append(l.calls, step+" "+id)
	return nil
}

// If Resume finds a post on the network, the steps after its publication are still called.
func TestFinishAfterResume(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		finisher := &finishingLister{lister: &lister{memoryNetwork: &memoryNetwork{platform: "youtube"}}}
		c := newHeldEnv(t, database, finisher)
		c.schedulePost(t, noon.Add(-20*time.Minute))
		found := network.CollectedPost{ID: "v1", URL: "https://example.test/v1", Text: "hello", PostedAt: noon.Add(-20 * time.Minute)}
		c.complete.posts, finisher.posts = []network.CollectedPost{found}, []network.CollectedPost{found}
		c.checkResume(t, "x ended ", "youtube finishing ")
		for _, id := range must.Get(db.All(t.Context(), c.db, scanText, `SELECT id FROM deliveries WHERE phase = 'finishing'`))(t) {
			must.NoError(t, c.Deliver(t.Context(), id))
		}
		if diff := cmp.Diff([]string{"thumbnail v1"}, finisher.calls); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"x ended ", "youtube ended "}, c.statuses(t)); diff != "" {
			t.Error(diff)
		}
	})
}
