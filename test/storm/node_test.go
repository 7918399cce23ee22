package storm

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the sandbox logs incomplete requests
	os.Exit(m.Run())
}

// node runs a program in a separate process and restarts it whenever it ends.
type node struct {
	*site

	name, addr string
	clock      string // file with the offset of its clock
	roles      []string

	mu          sync.Mutex
	cmd         *exec.Cmd
	served      bool   // whether the current run has responded
	endExpected bool   // whether the end of the current run is expected
	crashAt     string // failpoint at which it kills itself; may be empty
	hangAt      string // failpoint at which it hangs; may be empty
	log         *program.Log
	over        bool
	hung        atomic.Bool   // whether it hangs at its failpoint
	ended       chan struct{} // closed once it is no longer restarted
}

// newNode starts a node. Each start uses a random one of the roles.
func (s *site) newNode(name string, roles ...string) *node {
	s.t.Helper()
	addr := must.Get(testkit.FreeAddr())(s.t)
	n := &node{
		site: s, name: name, addr: addr, clock: filepath.Join(s.dir, name+".clock"), roles: roles, log: &program.Log{},
		ended: make(chan struct{}),
	}
	must.NoError(s.t, os.WriteFile(n.clock, []byte("0s"), 0o600))
	s.gate.addNode(addr)
	go n.supervise()
	return n
}

// supervise restarts the node whenever it ends.
func (n *node) supervise() {
	defer close(n.ended)
	for {
		n.mu.Lock()
		if n.over {
			n.mu.Unlock()
			return
		}
		n.crashAt, n.hangAt = n.nextFailpoint()
		cmd := n.command()
		err := cmd.Start()
		n.cmd, n.served, n.endExpected = cmd, false, false
		n.mu.Unlock()
		if err != nil {
			n.book.complainf("died", "%s cannot be started: %v", n.name, err)
			return
		}
		n.watch(cmd)
		<-time.After(restartAfter)
	}
}

const (
	restartAfter = 100 * time.Millisecond
	answersEvery = 20 * time.Millisecond
)

// watch waits for the end of a run and reports an unexpected end.
func (n *node) watch(cmd *exec.Cmd) {
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	tick := time.NewTicker(answersEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-gone:
			n.mu.Lock()
			served, endExpected, crashAt := n.served, n.endExpected, n.crashAt
			n.mu.Unlock()
			point, _, _ := strings.Cut(crashAt, "#")
			switch {
			case endExpected:
			case crashAt != "" && wasKilled(cmd):
				n.book.fault("a node killed itself " + point)
			case served:
				n.book.complainf("died", "%s ended by itself: %v", n.name, err)
			default:
				n.book.fault("a node could not start")
			}
			return
		case <-tick.C:
			if n.hangAt != "" { // A node can also hang before its first response.
				n.revive(cmd)
			}
			if n.isReady() {
				n.mu.Lock()
				n.served = true
				n.mu.Unlock()
				tick.Reset(time.Second)
			}
		}
	}
}

// wasKilled reports whether a run was ended by SIGKILL.
func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// crashPoints are failpoints at which a node may kill itself.
var crashPoints = []string{
	"before replay.once", "after replay.once", "after prepare call", "before delivery.commit", "after delivery.commit",
	"after commit call", "before delivery.published", "after delivery.published",
	"before post.release", "after post.release", "after resolve call", "before delivery.later", "after delivery.later",
	"before report.measured", "after report.measured", "before search.end", "after search.end",
	"before media.add", "after media.add", "after media put", "before media.download_end", "after media.download_end",
	"before job.claim", "after job.claim", "before delivery.claim", "after delivery.claim",
	"before social.refreshed", "after social.refreshed", "before limit.lease_calls", "after limit.lease_calls",
	"before team.by_hand", "after team.by_hand",
}

// hangPoints are failpoints at which a node may hang. Other nodes can then take over its work.
var hangPoints = []string{
	"before commit call", "before prepare call", "before resolve call", "after commit call", "after delivery.commit",
	"after job.claim", "before report.measured", "before search.end", "before delivery.published",
}

// nextFailpoint returns the failpoint at which the next run kills itself or hangs. If faults are on, two of three
// runs have one.
func (n *node) nextFailpoint() (string, string) {
	if !n.transport.injecting.Load() {
		return "", ""
	}
	switch n.dice(3) {
	case 0:
		return fmt.Sprint(crashPoints[n.dice(len(crashPoints))], "#", 1+n.dice(20)), ""
	case 1:
		return "", fmt.Sprint(hangPoints[n.dice(len(hangPoints))], "#", 1+n.dice(20))
	}
	return "", ""
}

// revive continues a hanging run after other nodes have had time to take over its work.
func (n *node) revive(cmd *exec.Cmd) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	if err != nil || !strings.Contains(string(raw), ") T ") {
		return
	}
	n.book.fault("a node hung " + strings.TrimRight(n.hangAt, "#0123456789"))
	n.hung.Store(true)
	defer n.hung.Store(false)
	<-time.After(n.hangs())
	n.signal(syscall.SIGCONT)
}

var asking = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// isReady reports whether the node is ready.
func (n *node) isReady() bool { return n.unready() == "" }

// unready returns why the node is not ready, or "".
func (n *node) unready() string {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+n.addr+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	resp, err := asking.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusOK {
		return ""
	}
	return string(said)
}

func (n *node) command() *exec.Cmd {
	role := n.roles[n.dice(len(n.roles))]
	cmd := exec.Command(n.binary, "serve", "--addr", n.addr, "--public-url", n.gate.url(), "--role", role, "--database", n.database,
		"--blobs", n.blobs, "--plans", n.catalog, "--redis", n.redis.URL(), "--bridge", n.front.URL+"/vendor",
		"--import-allow", "127.0.0.1",
		"--networks", n.settings, "--bluesky-servers", n.front.URL+"/bluesky", "--metrics-addr", "", "--lease", "2s",
		"--log-level", "error", "--log-format", "text")
	cmd.Env = append(os.Environ(), "PRESSROOM_SEALING_KEY="+n.sealing, "PRESSROOM_CRASH_CLOCK="+n.clock,
		"PRESSROOM_CRASH_AT="+n.crashAt, "PRESSROOM_CRASH_HANG="+n.hangAt)
	cmd.Env = append(cmd.Env, n.disk.env()...)
	for _, name := range []string{
		"THREADS", "INSTAGRAM", "INSTAGRAM_FACEBOOK", "FACEBOOK", "TIKTOK", "TIKTOK_BUSINESS", "YOUTUBE", "LINKEDIN", "X", "PINTEREST",
	} {
		cmd.Env = append(cmd.Env, "PRESSROOM_"+name+"_CLIENT_SECRET=sandbox")
	}
	cmd.Stderr = n.log
	return cmd
}

// end ends the current run with a signal. The node is then restarted.
func (n *node) end(by os.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil && n.cmd.Process != nil {
		n.endExpected = true
		_ = n.cmd.Process.Signal(by) // The process may have ended.
	}
}

// signal stops or continues the current run.
func (n *node) signal(what os.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil && n.cmd.Process != nil {
		_ = n.cmd.Process.Signal(what) // The process may have ended.
	}
}

// stop ends the node permanently.
func (n *node) stop() {
	n.mu.Lock()
	n.over = true
	n.mu.Unlock()
	n.end(syscall.SIGKILL)
	<-n.ended
}

// setClockOffset sets how far the node's clock is ahead of the machine's.
func (n *node) setClockOffset(d time.Duration) {
	temporary := n.clock + ".new"
	if os.WriteFile(temporary, []byte(d.String()), 0o600) == nil {
		_ = os.Rename(temporary, n.clock) // Replace it atomically, because a node may be reading it.
	}
}

// panicText returns the part of a log that shows a crash or internal error.
func (n *node) panicText() string {
	said := n.log.String()
	for _, word := range []string{"panic:", "fatal error:", "DATA RACE"} {
		if at := strings.Index(said, word); at >= 0 {
			return said[at:min(len(said), at+2000)]
		}
	}
	return ""
}
