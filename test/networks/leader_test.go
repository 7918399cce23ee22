package networks

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// leaderlessFor is the maximum lateness of a due post after the queue's leader was killed. Either the leader's lease
// must expire, or another node's sweep must find the post.
const leaderlessFor = 20 * time.Second

// If the queue's leader is killed, the other node becomes the leader. Posts due in the meantime are published once.
func TestLeaderKilled(t *testing.T) {
	binary := program.Build(t, program.Pressroom, "")
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		if strings.HasPrefix(database, "sqlite:") {
			return // SQLite has only one node
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
			t.Fatalf("the second node became the leader too early: %s after %s", now, led)
		}
		first.Kill()
		must.Eventually(s.t, time.Minute, "the posts to leave", func() bool { return s.countOpen() == 0 })
		r := &rush{env: s.env}
		for _, post := range s.posts {
			r.ids = append(r.ids, post.id)
		}
		late := slices.Max(r.late())
		t.Logf("maximum lateness: %v", late.Round(time.Millisecond))
		if late > leaderlessFor {
			t.Errorf("maximum lateness = %v", late)
		}
		s.leader(led)
		s.checkStates()
	})
}

// leader waits until the queue has a leader other than before and returns its ID.
func (s *storm) leader(before string) string {
	s.t.Helper()
	leads := before
	must.Eventually(s.t, time.Minute, "a leader of the queue", func() bool {
		err := s.db.QueryRow(s.t.Context(), `SELECT leader_id FROM river_leader WHERE expires_at > now()`).Scan(&leads)
		return err == nil && leads != before
	})
	return leads
}
