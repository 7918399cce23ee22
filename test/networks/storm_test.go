package networks

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// stormVariable sets the number of posts of a storm.
const stormVariable = "PRESSROOM_STORM_POSTS"

const (
	stormPosts  = 60              // the default
	stormBegins = 4 * time.Second // from scheduling to the first due post
	stormRate   = 25              // posts that fall due in a second
	killEvery   = 3 * time.Second // between two kills of a server
	stuckAfter  = 5 * time.Minute // of real time without progress
	settledLook = 500 * time.Millisecond
)

// TestStorm publishes while servers are killed and networks fail and lose responses. In the end, the states of posts
// must match the networks.
func TestStorm(t *testing.T) {
	binary := program.Build(t, program.Pressroom, "")
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		many := stormPosts
		if text := os.Getenv(stormVariable); text != "" {
			many = must.Get(strconv.Atoi(text))(t)
		}
		s := &storm{env: newEnvAs(t, database, server.RoleAPI, 300*time.Millisecond), binary: binary}
		s.schedule(many)
		s.runServers(strings.HasPrefix(database, "sqlite:"))
		s.checkStates()
	})
}

// storm has posts that are published by separate processes.
type storm struct {
	*env

	binary   string
	settings string // file of the networks' settings
	posts    []sent
}

// schedule schedules posts for each network in turn, which become due one after another.
func (s *storm) schedule(many int) {
	s.t.Helper()
	due := time.Now().Add(stormBegins + time.Duration(many)*15*time.Millisecond)
	for n := range many {
		platform := s.networks[n%len(s.networks)]
		media := s.least(platform)
		if n%3 == 0 {
			media = s.mediaWithImage(platform)
		}
		post := s.draft(platform, usual, fmt.Sprintf("storm %d of %s.", n, platform), media)
		at := due.Add(time.Duration(n) * time.Second / stormRate).UTC().Format(time.RFC3339Nano)
		s.ok(http.MethodPost, "/posts/"+post.id+"/schedule", map[string]any{"scheduled_at": at})
		s.posts = append(s.posts, post)
	}
}

// runServers runs the servers, and kills and restarts them in turn, until every post is final. With SQLite, there is
// only one server.
func (s *storm) runServers(alone bool) {
	s.t.Helper()
	s.settings = filepath.Join(s.t.TempDir(), "networks.json")
	must.NoError(s.t, os.WriteFile(s.settings, []byte(server.SandboxSettings(s.box.URL)), 0o600))
	programs := 4
	if alone {
		programs = 1
		must.NoError(s.t, s.node.Stop())
	}
	running := make([]*program.Process, programs)
	addrs := make([]string, programs)
	for i := range running {
		addr := must.Get(testkit.FreeAddr())(s.t)
		addrs[i] = addr
		running[i] = s.launch(addrs[i], alone)
	}
	s.proxy.storm(func(platform string) {
		if err := s.box.ExpireTokens(context.Background(), platform); err != nil {
			s.t.Error(err)
		}
	})
	left, since := s.countOpen(), time.Now()
	for killed := time.Now(); left > 0; <-time.After(settledLook) {
		if time.Since(killed) > killEvery && s.hasUnsubmitted() {
			i := rand.IntN(programs)
			running[i].Kill()
			running[i], killed = s.launch(addrs[i], alone), time.Now()
		}
		if now := s.countOpen(); now < left {
			left, since = now, time.Now()
		}
		if time.Since(since) > stuckAfter {
			s.t.Fatalf("%d accounts are stuck", left)
		}
	}
	s.proxy.release()
	for _, p := range running {
		p.Kill()
	}
	if alone {
		s.node = fixture.Serve(s.t, s.cfg)
	}
}

func (s *storm) launch(addr string, alone bool) *program.Process {
	s.t.Helper()
	public, role := s.node.URL, "worker"
	if alone {
		public, role = "http://"+addr, "all"
	}
	cmd := exec.Command(s.binary, "serve", "--addr", addr, "--public-url", public, "--role", role, "--database", s.cfg.Database,
		"--sealing-key", s.cfg.SealingKey, "--blobs", s.cfg.Blobs, "--metrics-addr", "", "--lease", "2s", "--log-level", "error",
		"--networks", s.settings, "--bluesky-servers", s.box.URL+"/bluesky")
	cmd.Env = os.Environ()
	for _, name := range []string{
		"THREADS", "INSTAGRAM", "INSTAGRAM_FACEBOOK", "FACEBOOK", "TIKTOK", "TIKTOK_BUSINESS", "YOUTUBE", "LINKEDIN", "X", "PINTEREST",
	} {
		cmd.Env = append(cmd.Env, "PRESSROOM_"+name+"_CLIENT_SECRET=sandbox")
	}
	p := must.Get(program.Start(cmd))(s.t)
	s.t.Cleanup(func() {
		p.Kill()
		if s.t.Failed() {
			s.t.Logf("server log: %.2000s", p.Log)
		}
	})
	return p
}

// countOpen counts accounts that have no outcome yet.
func (s *storm) countOpen() int { return s.count(`state IN ('pending', 'sending')`) }

// hasUnsubmitted reports whether some posts are not submitted yet. Kills stop when all are submitted.
func (s *storm) hasUnsubmitted() bool { return s.count(`state = 'pending'`) > 0 }

func (s *storm) count(which string) int {
	s.t.Helper()
	var n int
	must.NoError(s.t, s.db.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM post_targets WHERE `+which).Scan(&n))
	return n
}

// checkStates compares the posts' states with the networks.
func (s *storm) checkStates() {
	s.t.Helper()
	said := map[string]string{}
	rows := must.Get(db.All(s.t.Context(), s.db, func(rows *sql.Rows, r *[3]string) error { return rows.Scan(&r[0], &r[1], &r[2]) },
		`SELECT post_id, state, error_code FROM post_targets`))(s.t)
	for _, r := range rows {
		said[r[0]] = strings.TrimSpace(r[1] + " " + r[2])
	}
	counts := map[string]int{}
	for _, post := range s.posts {
		state := said[post.id]
		counts[post.platform+": "+state]++
		n, _ := s.postsOn(post.platform, post.text)
		// A grant is lost if a server is killed between receiving a new grant and storing it.
		right := state == "unconfirmed not_confirmed" && n <= 1 && s.isGrantLost(post.platform) ||
			state == "published" && n == 1 || strings.HasPrefix(state, "failed") && n == 0
		if !right {
			s.t.Errorf("%q: %d posts on the network, state %s", post.text, n, state)
		}
	}
	for _, line := range sortedLines(counts) {
		s.t.Log(line)
	}
}

// isGrantLost reports whether the account of a network must be reconnected.
func (s *storm) isGrantLost(platform string) bool {
	s.t.Helper()
	g := must.Get(s.node.Accounts.Grant(s.t.Context(), s.accounts[platform][usual]))(s.t)
	return g.Lost
}

func sortedLines(counts map[string]int) []string {
	var out []string
	for name, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(out)
	return out
}
