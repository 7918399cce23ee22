package networks

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/program"
)

// leaderlessFor is how late a due post may be after the node that leads the queue was killed. The leader has a lease;
// each node's sweep wakes posts without it.
const leaderlessFor = 20 * time.Second

// Of two nodes that work, the one that leads the queue is killed: what falls due then leaves all the same, once, and
// the other leads.
func TestLeaderKilled(t *testing.T) {
	binary := program.Build(t, program.Pressroom, "")
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		if strings.HasPrefix(database, "sqlite:") {
			return // one node has it
		}
		t.Parallel()
		s := &storm{env: newEnvAs(t, database, server.RoleAPI, 300*time.Millisecond), binary: binary}
		s.settings = filepath.Join(t.TempDir(), "networks.json")
		must.NoError(t, os.WriteFile(s.settings, []byte(server.SandboxSettings(s.box.URL)), 0o600))

		first := s.launch(must.Get(testkit.FreeAddr())(t), false)
		led := s.leader("")
		second := must.Get(testkit.FreeAddr())(t)
		s.launch(second, false)
		must.Eventually(s.t, time.Minute, "the second node", func() bool {
			resp, err := http.Get("http://" + second + "/readyz")
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
		s.schedule(9)
		if now := s.leader(""); now != led {
			t.Fatalf("the second node leads by itself: %s after %s", now, led)
		}
		first.Kill()
		must.Eventually(s.t, time.Minute, "the posts to leave", func() bool { return s.countOpen() == 0 })
		r := &rush{env: s.env}
		for _, post := range s.posts {
			r.ids = append(r.ids, post.id)
		}
		late := slices.Max(r.late())
		t.Logf("the latest left %v late", late.Round(time.Millisecond))
		if late > leaderlessFor {
			t.Errorf("the latest post left %v late", late)
		}
		s.leader(led)
		s.reckon()
	})
}

// leader returns the ID of the queue's leader once it differs from the former one.
func (s *storm) leader(before string) string {
	s.t.Helper()
	leads := before
	must.Eventually(s.t, time.Minute, "a leader of the queue", func() bool {
		err := s.db.QueryRow(s.t.Context(), `SELECT leader_id FROM river_leader WHERE expires_at > now()`).Scan(&leads)
		return err == nil && leads != before
	})
	return leads
}
