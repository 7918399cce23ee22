package money

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/test/money/standin"
)

// programs are the paths of the built programs: serve is cmd/standin, admin is pressroom.
type programs struct{ serve, admin string }

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"test.parallel": "4", // these tests mostly wait
		// Options that rapid reads only from flags. A failure is reproduced by its seed.
		"rapid.checks": "35", "rapid.steps": "60", "rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func build(t *testing.T) programs {
	t.Helper()
	return programs{
		program.Build(t, "pressroom.example/pressroom/test/money/cmd/standin", program.CrashPoints),
		program.Build(t, program.Pressroom, program.CrashPoints),
	}
}

// outOfProcess is a database with servers in separate processes, which a test can kill.
type outOfProcess struct {
	programs
	url, sealing string
	controls     standin.Controls
	db           *db.DB         // a second connection to the database
	admin        *server.Server // in the test process, for setup and audits
	nodes        []*process
	freeCalls    int64 // free calls per day
}

// newOutOfProcess prepares a database and the given number of nodes, which are not started.
func newOutOfProcess(t *testing.T, url string, nodes int, allowed int64) *outOfProcess {
	t.Helper()
	sealing := must.Get(tokencrypt.NewKey())(t)
	o := &outOfProcess{programs: build(t), url: url, sealing: sealing, controls: standin.Controls{Dir: t.TempDir()}, freeCalls: allowed}
	o.openDatabase(t)
	for range nodes {
		o.nodes = append(o.nodes, &process{outOfProcess: o})
	}
	t.Cleanup(func() {
		for _, p := range o.nodes {
			p.kill()
		}
	})
	return o
}

// openDatabase opens the database in the test process.
func (o *outOfProcess) openDatabase(t *testing.T) {
	t.Helper()
	o.admin = must.Get(server.Open(context.Background(), server.Config{
		Version: "test", PublicURL: baseURL, Database: o.url, SealingKey: o.sealing, Role: server.RoleAPI, Workers: 1,
		Blobs:   "file:" + filepath.Join(o.controls.Dir, "media"),
		Catalog: standin.Catalog(o.freeCalls), Log: slog.New(slog.DiscardHandler), Now: o.controls.Now,
	}))(t)
	o.db = must.Get(db.Open(context.Background(), o.url, db.Options{Now: o.controls.Now}))(t)
	t.Cleanup(func() { _, _ = o.db.Close(), o.admin.Close() })
}

// newTeam creates a team with a daily limit, and one key for each daily limit in keys.
func newTeam(t *testing.T, s *server.Server, zone string, limit int64, keys ...int64) *modelTeam {
	t.Helper()
	id, _ := fixture.AddTeam(t, s, team.Team{Timezone: zone})
	must.NoError(t, s.Teams.SetDailyCredits(context.Background(), id, &limit))
	m := &modelTeam{id: id, zone: location(zone), limit: limit}
	for _, keyLimit := range keys {
		key, value := fixture.AddKey(t, s, team.NewKey{Team: id, Level: access.Full, DailyCredits: &keyLimit})
		m.keys = append(m.keys, newKey(key, value, keyLimit))
	}
	return m
}

// grant gives a team credits.
func grant(t *testing.T, s *server.Server, m *modelTeam, credits int64, reference string) {
	t.Helper()
	must.Get(s.Credits.Grant(context.Background(), m.id, credits, reference, ""))(t)
	m.balance, m.granted = m.balance+credits, m.granted+credits
}

// process is a program that a test starts and kills repeatedly.
type process struct {
	*outOfProcess
	mu        sync.Mutex
	addr      string
	run       *program.Process // the last run; nil before the first
	killPoint string           // the point at which the process kills itself; may be empty
}

// start starts the program, which kills itself at the given point, if any.
func (p *process) start(at, trace string) error {
	return p.launch(at, trace, p.serve, "-database", p.url, "-sealing-key", p.sealing, "-controls", p.controls.Dir, "-free-calls",
		fmt.Sprint(p.freeCalls), "-addr")
}

// launch starts a program and appends the address to its arguments.
func (p *process) launch(at, trace, name string, args ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addr == "" {
		var err error
		if p.addr, err = testkit.FreeAddr(); err != nil {
			return err
		}
	}
	cmd := exec.Command(name, append(args, p.addr)...)
	cmd.Env = program.CrashEnv(at, trace)
	run, err := program.Start(cmd)
	if err == nil {
		p.run, p.killPoint = run, at
	}
	return err
}

// lastRun returns the last run, or nil.
func (p *process) lastRun() *program.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// ended returns a channel that is closed when the process has ended. The process must have been started.
func (p *process) ended() chan struct{} { return p.lastRun().Ended }

func (p *process) running() bool { return p.lastRun() != nil && p.lastRun().Running() }

// awaitReady waits until the process answers requests. It reports false if the process ends first.
func (p *process) awaitReady(ctx context.Context) bool {
	answers := false
	poll(ctx, func() bool {
		_, _, _, err := send(newGetRequest(p.baseURL(), "/readyz", "").WithContext(ctx))
		answers = err == nil
		return answers || !p.running()
	})
	return answers
}

func (p *process) kill() { p.signal(syscall.SIGKILL) }

// stop stops the process gracefully.
func (p *process) stop() { p.signal(syscall.SIGTERM) }

func (p *process) signal(by os.Signal) {
	if run := p.lastRun(); run != nil {
		run.End(by)
	}
}

func (p *process) baseURL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.addr
}

// logText returns the log of the last run.
func (p *process) logText() string {
	if run := p.lastRun(); run != nil {
		return run.Log.String()
	}
	return ""
}

// client has a timeout so that a hanging call does not block the test run.
var client = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}

// call makes one call. An error means that there was no response.
func call(ctx context.Context, root string, key *modelKey, o apiCall, tool bool) (answer, error) {
	a, _, err := callCounting(ctx, root, key, o, tool)
	return a, err
}

// callCounting is like call and also returns the number of connections that it used. The HTTP client repeats a
// request if a reused connection is broken.
func callCounting(ctx context.Context, root string, key *modelKey, o apiCall, tool bool) (answer, int64, error) {
	var reached atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Add(1) }})
	r := o.restRequest(root, key.value)
	if tool {
		r = o.toolRequest(root, key.value)
	}
	status, header, raw, err := send(r.WithContext(ctx))
	if err != nil {
		return answer{}, reached.Load(), err
	}
	var a answer
	if tool {
		a, err = parseToolResult(o, status, header, raw)
	} else {
		a, err = parseREST(status, header, raw)
	}
	return a, reached.Load(), err
}

func send(r *http.Request) (int, http.Header, []byte, error) {
	resp, err := client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, raw, err
}

// readData decodes the data of a GET response into data. It reports false if there was no response.
func readData(ctx context.Context, root string, key *modelKey, path string, data any) (bool, error) {
	status, header, raw, err := send(newGetRequest(root, path, key.value).WithContext(ctx))
	if err != nil {
		return false, nil //nolint:nilerr // the caller retries
	}
	a, err := parseREST(status, header, raw)
	if err != nil || status != http.StatusOK {
		return true, fmt.Errorf("%s: %d %s", path, status, raw)
	}
	return true, json.Unmarshal(a.Data, data)
}

const timeout = 3 * time.Minute

// poll polls done until it returns true. It reports false after a timeout.
func poll(ctx context.Context, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
