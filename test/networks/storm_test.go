package networks

import (
	"bytes"
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

	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// stormVariable says of how many posts a storm is.
const stormVariable = "PRESSROOM_STORM_POSTS"

const (
	stormPosts  = 60              // where nobody asks for more
	stormBegins = 4 * time.Second // from scheduling to the first due post
	stormRate   = 25              // posts that fall due in a second
	killEvery   = 3 * time.Second // one of the programs
	stuckAfter  = 5 * time.Minute // of real time, in which nothing more is settled
	settledLook = 500 * time.Millisecond
)

// TestStorm publishes through programs that are killed, over networks that lose answers and fail. What the posts say
// afterwards has to be what the networks hold.
func TestStorm(t *testing.T) {
	binary := build(t)
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		many := stormPosts
		if text := os.Getenv(stormVariable); text != "" {
			n, err := strconv.Atoi(text)
			must(t, err)
			many = n
		}
		s := &storm{world: newWorldAs(t, database, server.RoleAPI, 300*time.Millisecond), binary: binary}
		s.schedule(many)
		s.blow(strings.HasPrefix(database, "sqlite:"))
		s.reckon()
	})
}

func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pressroom")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "pressroom/cmd/pressroom").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return path
}

// storm is a world whose posts are published by programs of their own.
type storm struct {
	*world

	binary   string
	settings string // file of the networks' settings
	posts    []sent
}

// schedule makes posts for each network in turn, and lets them fall due one after the other.
func (s *storm) schedule(many int) {
	s.t.Helper()
	due := time.Now().Add(stormBegins + time.Duration(many)*15*time.Millisecond)
	for n := range many {
		platform := s.networks[n%len(s.networks)]
		media := s.least(platform)
		if n%3 == 0 {
			media = s.rich(platform)
		}
		post := s.draft(platform, usual, fmt.Sprintf("storm %d of %s.", n, platform), media)
		at := due.Add(time.Duration(n) * time.Second / stormRate).UTC().Format(time.RFC3339Nano)
		s.ok(http.MethodPost, "/posts/"+post.id+"/schedule", map[string]any{"scheduled_at": at})
		s.posts = append(s.posts, post)
	}
}

// blow runs the programs, kills them one by one and starts them again, until every post is settled. With SQLite there
// is one, which nobody else may serve beside.
func (s *storm) blow(alone bool) {
	s.t.Helper()
	s.settings = filepath.Join(s.t.TempDir(), "networks.json")
	must(s.t, os.WriteFile(s.settings, []byte(server.SandboxSettings(s.front.URL)), 0o600))
	programs := 4
	if alone {
		programs = 1
		must(s.t, s.node.stop())
	}
	running := make([]*exec.Cmd, programs)
	addrs := make([]string, programs)
	for i := range running {
		addr, err := testkit.FreeAddr()
		must(s.t, err)
		addrs[i] = addr
		running[i] = s.launch(addrs[i], alone)
	}
	s.wire.storm(func(platform string) {
		if err := s.box.ExpireTokens(context.Background(), platform); err != nil {
			s.t.Error(err)
		}
	})
	left, since := s.unsettled(), time.Now()
	for killed := time.Now(); left > 0; <-time.After(settledLook) {
		if time.Since(killed) > killEvery && s.moving() {
			i := rand.IntN(programs)
			end(running[i])
			running[i], killed = s.launch(addrs[i], alone), time.Now()
		}
		if now := s.unsettled(); now < left {
			left, since = now, time.Now()
		}
		if time.Since(since) > stuckAfter {
			s.t.Fatalf("%d accounts are stuck", left)
		}
	}
	s.wire.release()
	for _, program := range running {
		end(program)
	}
	if alone {
		s.node = s.start()
	}
}

func (s *storm) launch(addr string, alone bool) *exec.Cmd {
	s.t.Helper()
	public, role := strings.TrimSuffix(s.node.base, "/api/v1"), "worker"
	if alone {
		public, role = "http://"+addr, "all"
	}
	cmd := exec.Command(s.binary, "serve", "--addr", addr, "--public-url", public, "--role", role, "--database", s.cfg.Database,
		"--sealing-key", s.cfg.SealingKey, "--blobs", s.cfg.Blobs, "--metrics-addr", "", "--lease", "2s", "--log-level", "error",
		"--networks", s.settings, "--bluesky-servers", s.front.URL+"/bluesky")
	cmd.Env = os.Environ()
	for _, name := range []string{
		"THREADS", "INSTAGRAM", "INSTAGRAM_FACEBOOK", "FACEBOOK", "TIKTOK", "TIKTOK_BUSINESS", "YOUTUBE", "LINKEDIN", "X", "PINTEREST",
	} {
		cmd.Env = append(cmd.Env, "PRESSROOM_"+name+"_CLIENT_SECRET=sandbox")
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		end(cmd)
		if s.t.Failed() {
			s.t.Logf("a program said: %.2000s", said.String())
		}
	})
	return cmd
}

// end kills a program that may be dead already.
func end(program *exec.Cmd) {
	_ = program.Process.Kill()
	_ = program.Wait()
}

// unsettled counts accounts that have no outcome yet.
func (s *storm) unsettled() int { return s.count(`state IN ('pending', 'sending')`) }

// moving tells whether the storm is in the middle of its posts: it has to end some time.
func (s *storm) moving() bool { return s.count(`state = 'pending'`) > 0 }

func (s *storm) count(which string) int {
	s.t.Helper()
	var n int
	must(s.t, s.looks.QueryRow(s.t.Context(), `SELECT COUNT(*) FROM post_targets WHERE `+which).Scan(&n))
	return n
}

// reckon compares what the posts say with what the networks hold.
func (s *storm) reckon() {
	s.t.Helper()
	said := map[string]string{}
	rows, err := db.All(s.t.Context(), s.looks, func(rows *sql.Rows, r *[3]string) error { return rows.Scan(&r[0], &r[1], &r[2]) },
		`SELECT post_id, state, error_code FROM post_targets`)
	must(s.t, err)
	for _, r := range rows {
		said[r[0]] = strings.TrimSpace(r[1] + " " + r[2])
	}
	counts := map[string]int{}
	for _, post := range s.posts {
		state := said[post.id]
		counts[post.platform+": "+state]++
		n, _ := s.held(post.platform, post.text)
		// A grant is lost for good where a program is killed between the network's answer with a new one and its own
		// disk.
		right := state == "unconfirmed not_confirmed" && n <= 1 && s.lost(post.platform) ||
			state == "published" && n == 1 || strings.HasPrefix(state, "failed") && n == 0
		if !right {
			s.t.Errorf("%q is held %d times and said to be %s", post.text, n, state)
		}
	}
	for _, line := range sorted(counts) {
		s.t.Log(line)
	}
}

// lost tells whether the account of a network has to be connected again.
func (s *storm) lost(platform string) bool {
	s.t.Helper()
	g, err := s.node.Accounts.Grant(s.t.Context(), s.accounts[platform][usual])
	must(s.t, err)
	return g.Lost
}

func sorted(counts map[string]int) []string {
	var out []string
	for name, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(out)
	return out
}
