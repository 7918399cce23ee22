package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// propagationTime is the time until a change of a key applies on every node.
const propagationTime = time.Second

// A change of a key by another process applies to every request that starts a second later.
func TestKeyChangePropagation(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		elsewhere := team.New(testkit.Open(t, h.url, nil), nil, plan.Default())
		for name, c := range map[string]struct {
			change func(w *env, key int64) error
			call   string
			args   map[string]any
			after  int
		}{
			"revoked": {func(w *env, key int64) error {
				return elsewhere.RevokeKey(w.t.Context(), key)
			}, "get_identity", nil, http.StatusUnauthorized},
			"lowered": {func(w *env, key int64) error {
				return elsewhere.SetKeyLevel(w.t.Context(), key, access.ReadOnly)
			}, "cancel_post", nil, http.StatusForbidden},
			"of a team that is closed": {func(w *env, _ int64) error {
				return elsewhere.Close(w.t.Context(), w.team)
			}, "get_identity", nil, http.StatusForbidden},
			"paused": {func(w *env, key int64) error {
				return elsewhere.Pause(w.t.Context(), team.Pause{Scope: team.ForKey, Target: key, Action: access.PauseEverything})
			}, "get_identity", nil, http.StatusForbidden},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				args := map[string]any{}
				if c.call == "cancel_post" {
					args["post_id"] = w.draft("a draft")
				}
				key, value := w.newKey(w.team, access.Drafts, time.Time{})
				w.rest(value, c.call, args, "").mustBe(t, http.StatusOK)
				must.NoError(t, c.change(w, key))
				changed := time.Now()
				w.until("the change to hold", func() bool {
					asked := time.Now()
					got := w.rest(value, c.call, args, "")
					if got.status != c.after && asked.Sub(changed) > propagationTime {
						t.Fatalf("%v after the change: %d", asked.Sub(changed), got.status)
					}
					return got.status == c.after
				})
				w.rest(value, c.call, args, "").mustBe(t, c.after)
				w.tool(value, c.call, args, "").mustBe(t, c.after)
			})
		}
	})
}

// A raised key level applies on other nodes within a second. A new key works immediately.
func TestKeyChangesOnOtherNode(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		elsewhere := team.New(testkit.Open(t, w.url, nil), nil, plan.Default())
		_, value, err := elsewhere.AddKey(t.Context(), team.NewKey{Team: w.team, Name: "made elsewhere", Level: access.ReadOnly})
		must.NoError(t, err)
		w.rest(value, "get_identity", nil, "").mustHave(t, map[string]any{"data.key.level": "read_only",
			"data.key.name": "made elsewhere"})
		must.NoError(t, elsewhere.SetKeyLevel(t.Context(), w.keyIDs[access.ReadOnly], access.Full))
		changed := time.Now()
		w.until("the key to be raised", func() bool {
			asked := time.Now()
			level := w.rest(w.keys[access.ReadOnly], "get_identity", nil, "").text("data.key.level")
			if level != "full" && asked.Sub(changed) > propagationTime {
				t.Fatalf("%v after the change the level is %s", asked.Sub(changed), level)
			}
			return level == "full"
		})
	})
}

// A key expires on time, even if it is cached.
func TestKeyExpires(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := &fixture.Clock{}
		w := newInstance(t, url, options{now: clock.Now}).newEnv(t, options{accounts: 1})
		_, value := w.newKey(w.team, access.Full, clock.Now().Add(time.Hour))
		w.rest(value, "get_identity", nil, "").mustBe(t, http.StatusOK)
		clock.Advance(time.Hour - 10*time.Second)
		w.rest(value, "get_identity", nil, "").mustBe(t, http.StatusOK)
		clock.Advance(10 * time.Second)
		for i := range 2 {
			got := w.rest(value, "get_identity", nil, "")
			if got.mustReject(t, http.StatusUnauthorized, "unauthorized", ""); t.Failed() {
				t.Fatal(fmt.Sprint("call ", i))
			}
		}
	})
}
