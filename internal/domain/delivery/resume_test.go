package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// lister is a network that lists an account's posts.
type lister struct {
	*memoryNetwork

	posts     []network.CollectedPost
	err       error
	onCollect func() // called by Collect
}

func (l *lister) Collect(context.Context, network.Grant, time.Time, int) (network.Collection, error) {
	if l.onCollect != nil {
		l.onCollect()
	}
	return network.Collection{Posts: l.posts}, l.err
}

// partialLister is a lister whose list may lack posts.
type partialLister struct{ *lister }

func (partialLister) ListsPartially() {}

// heldEnv is a test environment in which the restore guard holds the database as a copy.
type heldEnv struct {
	*multiEnv
	guard    *restoreguard.Service
	complete *lister // the second network; the first may list posts only partially
	clock    *testkit.Clock
}

// newHeldEnv returns a heldEnv. If first is nil, the first network is a partial lister for Bluesky.
func newHeldEnv(t *testing.T, url string, first network.Network) *heldEnv {
	t.Helper()
	if first == nil {
		first = partialLister{&lister{memoryNetwork: &memoryNetwork{platform: "bluesky"}}}
	}
	clock := testkit.NewClock(noon)
	d := testkit.Open(t, url, clock)
	c := &heldEnv{guard: restoreguard.New(d, restoreguard.Options{Log: slog.New(slog.DiscardHandler)}),
		complete: &lister{memoryNetwork: &memoryNetwork{platform: "x"}}, clock: clock}
	c.multiEnv = newMultiEnv(t, d, 1, DefaultOptions, first, c.complete)
	if state, err := c.guard.HoldCopy(t.Context(), ""); err != nil || state.Cause != restoreguard.Copied {
		t.Fatalf("held: %+v %v", state, err)
	}
	return c
}

// schedulePost schedules a post to both networks and returns its ID.
func (c *heldEnv) schedulePost(t *testing.T, at time.Time) string {
	t.Helper()
	raw := fmt.Appendf(nil, `{"caption":"hello","account_ids":[%d,%d]}`, c.ids[0][0], c.ids[0][1])
	must.NoError(t, c.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		call := c.calls[0]
		call.Now, call.Tx = tx.Now(), tx
		create := c.tools["create_post"]
		if _, err := create.Run(ctx, call, raw); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE posts SET status = 'scheduled', scheduled_at = ? WHERE status = 'draft'`,
			db.Micros(at))
		return err
	}))
	var id string
	must.NoError(t, c.db.QueryRow(t.Context(), `SELECT id FROM posts`).Scan(&id))
	return id
}

// statuses returns the platform, phase and error code of each delivery, by platform.
func (c *heldEnv) statuses(t *testing.T) []string {
	t.Helper()
	out := must.Get(db.All(t.Context(), c.db, scanText, `SELECT a.platform || ' ' || d.phase || ' ' || d.error_code
		FROM deliveries d JOIN social_accounts a ON a.id = d.account_id ORDER BY a.platform`))(t)
	return out
}

func (c *heldEnv) checkResume(t *testing.T, want ...string) {
	t.Helper()
	done, err := c.Resume(t.Context(), ResumeOptions{NoWait: true, MaxLateness: time.Hour})
	if err != nil || !done.Resumed {
		t.Fatalf("resuming: %+v %v", done, err)
	}
	if diff := cmp.Diff(want, c.statuses(t)); diff != "" {
		t.Error(diff)
	}
}

// Resume handles both accounts of an overdue post. It sends the post only if its team and client allowed it when it was
// due.
func TestResumeSendsOnlyAllowedPosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late  time.Duration
		setup func(t *testing.T, c *heldEnv)
		want  string
	}{
		"allowed": {late: 20 * time.Minute, want: "x planned "},
		"waiting for the client": {20 * time.Minute, func(t *testing.T, c *heldEnv) {
			t.Helper()
			c.exec(t, `UPDATE posts SET approval = 'waiting'`)
		}, "x ended missed_waiting_approval"},
		"paused team": {72 * time.Hour, func(t *testing.T, c *heldEnv) {
			t.Helper()
			people := team.New(c.db, nil, plan.Default())
			must.NoError(t, people.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.calls[0].TeamID,
				Action: access.PausePublishing}))
		}, "x ended missed_while_held"},
		"closed team": {20 * time.Minute, func(t *testing.T, c *heldEnv) {
			t.Helper()
			c.exec(t, `UPDATE teams SET closed_at = 1`)
		}, "x ended missed_while_held"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				held := newHeldEnv(t, url, nil)
				held.schedulePost(t, noon.Add(-c.late))
				if c.setup != nil {
					c.setup(t, held)
				}
				held.checkResume(t, "bluesky ended not_confirmed", c.want)
			})
		})
	}
}

func (c *heldEnv) exec(t *testing.T, statement string) {
	t.Helper()
	must.NoError(t, c.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	}))
}

// Resume reports future posts that may have been published early because a network cannot list them. If the failure may
// be temporary, Resume keeps the hold unless AllowUnreachable is set.
func TestResumeReportsUncertainFuturePosts(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := newHeldEnv(t, url, nil)
		c.schedulePost(t, noon.Add(24*time.Hour))
		c.complete.err = &network.Error{Class: network.Transient, Err: errors.New("cut off")}
		out, err := c.Resume(t.Context(), ResumeOptions{NoWait: true, MaxLateness: time.Hour})
		if err == nil || !strings.Contains(err.Error(), "x (account ") || strings.Contains(err.Error(), "bluesky") ||
			out.Resumed {
			t.Errorf("with an unreachable network: %+v %v", out, err)
		}
		if state, err := c.guard.State(t.Context()); err != nil || !state.IsHeld() {
			t.Errorf("after that: %+v %v", state, err)
		}
		out, err = c.Resume(t.Context(), ResumeOptions{NoWait: true, MaxLateness: time.Hour, AllowUnreachable: true})
		if err != nil || !out.Resumed || out.UncertainFuture != 2 || len(out.Accounts) != 2 {
			t.Fatalf("with AllowUnreachable: %+v %v", out, err)
		}
		for _, a := range out.Accounts {
			if a.Outcome != OutcomePending || a.Reason == "" {
				t.Errorf("reported: %+v", a)
			}
		}
		if got := c.statuses(t); len(got) > 0 {
			t.Errorf("a future post has deliveries: %v", got)
		}
	})
}

// If one account has a post before its time, a person published it. The other account is then unconfirmed if its
// network cannot list all posts.
func TestResumeSettlesPostsPublishedEarly(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := newHeldEnv(t, url, nil)
		c.schedulePost(t, noon.Add(24*time.Hour))
		c.complete.posts = []network.CollectedPost{{ID: "1", URL: "https://example.test/1", Text: "hello", PostedAt: noon}}
		c.checkResume(t, "bluesky ended not_confirmed", "x ended ")
	})
}

// Resume changes nothing if the hold was lifted or replaced while it ran.
func TestResumeStopsIfHoldChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(ctx context.Context, tx *db.Tx) error
		wantErr   string
	}{
		"lifted": {func(ctx context.Context, tx *db.Tx) error { return restoreguard.Lift(ctx, tx, nil) }, "lifted"},
		"held again": {func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hold SET why = 'failed_over'`)
			return err
		}, "new hold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				held := newHeldEnv(t, url, nil)
				held.schedulePost(t, noon.Add(-20*time.Minute))
				held.complete.onCollect = func() {
					if err := held.db.InTx(context.WithoutCancel(t.Context()), "test", c.meanwhile); err != nil {
						t.Error(err)
					}
				}
				out, err := held.Resume(t.Context(), ResumeOptions{NoWait: true, MaxLateness: time.Hour})
				if err == nil || !strings.Contains(err.Error(), c.wantErr) || out.Resumed {
					t.Errorf("hold changed: %+v %v", out, err)
				}
				if got := held.statuses(t); len(got) > 0 {
					t.Errorf("deliveries created: %v", got)
				}
			})
		})
	}
}

// Posts published right before a hold may not be listed yet. Resume fails for three minutes unless NoWait is set.
func TestResumeWaitsForLateListings(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := newHeldEnv(t, url, nil)
		c.schedulePost(t, noon.Add(24*time.Hour))
		left, err := c.ResumableIn(t.Context())
		if err != nil || left <= 0 || left > 3*time.Minute {
			t.Fatalf("resumable in %v, %v", left, err)
		}
		if _, err := c.Resume(t.Context(), ResumeOptions{MaxLateness: time.Hour, DryRun: true}); err != nil {
			t.Errorf("dry run: %v", err)
		}
		c.clock.Advance(left - time.Second)
		if _, err := c.Resume(t.Context(), ResumeOptions{MaxLateness: time.Hour}); err == nil ||
			!strings.Contains(err.Error(), "try again in 2 seconds") {
			t.Errorf("too soon: %v", err)
		}
		if state, err := c.guard.State(t.Context()); err != nil || !state.IsHeld() {
			t.Errorf("after that: %+v %v", state, err)
		}
		c.clock.Advance(time.Second)
		if done, err := c.Resume(t.Context(), ResumeOptions{MaxLateness: time.Hour}); err != nil || !done.Resumed {
			t.Errorf("after the wait: %+v %v", done, err)
		}
	})
}
