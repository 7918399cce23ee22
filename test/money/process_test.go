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

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/fixture"
	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/program"
	"pressroom/test/money/standin"
)

// programs are the built programs: cmd/standin, and pressroom for admin commands.
type programs struct{ serve, admin string }

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"test.parallel": "4", // most of these tests wait most of the time
		// What follows rapid takes only from its flags. Failures are found again by their seed.
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
		program.Build(t, "pressroom/test/money/cmd/standin", program.CrashPoints), program.Build(t, program.Pressroom, program.CrashPoints),
	}
}

// outside is a database with programs in separate processes that a test can kill.
type outside struct {
	programs
	url, sealing string
	controls     standin.Controls
	db           *db.DB         // a second connection to the database
	admin        *server.Server // the operator's
	nodes        []*process
	allowed      int64 // free calls a day
}

// newOutside prepares a database for so many nodes and starts none.
func newOutside(t *testing.T, url string, nodes int, allowed int64) *outside {
	t.Helper()
	sealing := must.Get(tokencrypt.NewKey())(t)
	o := &outside{programs: build(t), url: url, sealing: sealing, controls: standin.Controls{Dir: t.TempDir()}, allowed: allowed}
	o.look(t)
	for range nodes {
		o.nodes = append(o.nodes, &process{outside: o})
	}
	t.Cleanup(func() {
		for _, p := range o.nodes {
			p.kill()
		}
	})
	return o
}

// look opens the database for the test itself.
func (o *outside) look(t *testing.T) {
	t.Helper()
	o.admin = must.Get(server.Open(context.Background(), server.Config{
		Version: "test", PublicURL: root, Database: o.url, SealingKey: o.sealing, Role: server.RoleAPI, Workers: 1,
		Blobs: "file:" + filepath.Join(o.controls.Dir, "media"),
		Terms: standin.Terms(o.allowed), Log: slog.New(slog.DiscardHandler), Now: o.controls.Now,
	}))(t)
	o.db = must.Get(db.Open(context.Background(), o.url, db.Options{Now: o.controls.Now}))(t)
	t.Cleanup(func() { _, _ = o.db.Close(), o.admin.Close() })
}

// newTeam makes a team with keys, each with its daily limit.
func newTeam(t *testing.T, s *server.Server, zone string, limit int64, keys ...int64) *modelTeam {
	t.Helper()
	id, _ := fixture.AddTeam(t, s, team.Team{Timezone: zone})
	must.NoError(t, s.Teams.SetDailyCredits(context.Background(), id, &limit))
	m := &modelTeam{id: id, zone: location(zone), limit: limit}
	for _, of := range keys {
		key, value := fixture.AddKey(t, s, team.NewKey{Team: id, Level: access.Full, DailyCredits: &of})
		m.keys = append(m.keys, newKey(key, value, of))
	}
	return m
}

// grant gives a team credits.
func grant(t *testing.T, s *server.Server, m *modelTeam, credits int64, reference string) {
	t.Helper()
	must.Get(s.Credits.Grant(context.Background(), m.id, credits, reference, ""))(t)
	m.balance, m.granted = m.balance+credits, m.granted+credits
}

// process is a program that is started again and again.
type process struct {
	*outside
	mu   sync.Mutex
	addr string
	run  *program.Process // the last run; nil before the first
	at   string           // the point at which it kills itself; may be empty
}

// start starts the program. It kills itself at a point, unless that is empty.
func (p *process) start(at, trace string) error {
	return p.launch(at, trace, p.serve, "-database", p.url, "-sealing-key", p.sealing, "-controls", p.controls.Dir, "-free-calls",
		fmt.Sprint(p.allowed), "-addr")
}

// launch starts a program with arguments, to which it appends the address.
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
		p.run, p.at = run, at
	}
	return err
}

// last returns the last run, or nil.
func (p *process) last() *program.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// exit returns a channel that is closed when the process has ended. The process must have been started.
func (p *process) exit() chan struct{} { return p.last().Ended }

func (p *process) running() bool { return p.last() != nil && p.last().Running() }

// serves waits until the process answers; it reports false if the process ends instead.
func (p *process) serves(ctx context.Context) bool {
	answers := false
	until(ctx, func() bool {
		_, _, _, err := send(get(p.root(), "/readyz", "").WithContext(ctx))
		answers = err == nil
		return answers || !p.running()
	})
	return answers
}

func (p *process) kill() { p.end(syscall.SIGKILL) }

// stop lets running work end.
func (p *process) stop() { p.end(syscall.SIGTERM) }

func (p *process) end(by os.Signal) {
	if run := p.last(); run != nil {
		run.End(by)
	}
}

func (p *process) root() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.addr
}

// logText returns the log of the last run.
func (p *process) logText() string {
	if run := p.last(); run != nil {
		return run.Log.String()
	}
	return ""
}

// client has a timeout, so that a hanging call does not block the whole test run.
var client = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}

// ask makes one request; an error means that there was no answer.
func ask(ctx context.Context, root string, key *modelKey, o order, tool bool) (answer, error) {
	a, _, err := askCounting(ctx, root, key, o, tool)
	return a, err
}

// askCounting is ask and also returns the number of connections, because the HTTP client repeats a request if a kept
// connection is broken.
func askCounting(ctx context.Context, root string, key *modelKey, o order, tool bool) (answer, int64, error) {
	var reached atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Add(1) }})
	r := o.rest(root, key.value)
	if tool {
		r = o.asTool(root, key.value)
	}
	status, header, raw, err := send(r.WithContext(ctx))
	if err != nil {
		return answer{}, reached.Load(), err
	}
	var a answer
	if tool {
		a, err = readTool(o, status, header, raw)
	} else {
		a, err = read(status, header, raw)
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

// show reads data; it reports false if there was no answer.
func show(ctx context.Context, root string, key *modelKey, path string, data any) (bool, error) {
	status, header, raw, err := send(get(root, path, key.value).WithContext(ctx))
	if err != nil {
		return false, nil //nolint:nilerr // a missing answer is not an error
	}
	a, err := read(status, header, raw)
	if err != nil || status != http.StatusOK {
		return true, fmt.Errorf("%s: %d %s", path, status, raw)
	}
	return true, json.Unmarshal(a.Data, data)
}

const patience = 3 * time.Minute

// until waits for the program to do something.
func until(ctx context.Context, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
