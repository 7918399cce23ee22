package money

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
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
	"pressroom/test/money/standin"
)

// programs are the built programs: the one that serves with the operations that stand in, and the operator's.
type programs struct{ dir, serve, admin string }

// built builds both with their crash points, once. TestMain takes them away.
var built = sync.OnceValues(func() (programs, error) {
	dir, err := os.MkdirTemp("", "pressroom-money-")
	if err != nil {
		return programs{}, err
	}
	p := programs{dir, filepath.Join(dir, "cmd"), filepath.Join(dir, "pressroom")}
	// Without what debuggers need, as that is most of the time that linking takes.
	out, err := exec.Command("go", "build", "-tags", "crashpoints", "-ldflags=-s -w", "-o", dir,
		"pressroom/test/money/standin/cmd", "pressroom/cmd/pressroom").CombinedOutput()
	if err != nil {
		return p, fmt.Errorf("building: %w\n%s", err, out)
	}
	return p, nil
})

var dirs struct {
	sync.Mutex
	programs programs
}

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"test.parallel": "4", // most of these tests wait most of the time
		// What follows rapid takes from its flags alone. Failures are found again by their seed.
		"rapid.checks": "35", "rapid.steps": "60", "rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(dirs.programs.dir)
	os.Exit(status)
}

func build(t *testing.T) programs {
	t.Helper()
	p, err := built()
	dirs.Lock()
	dirs.programs = p
	dirs.Unlock()
	must(t, err)
	return p
}

// outside is a database with programs on it that are processes of their own, which a test can kill.
type outside struct {
	programs
	url, sealing string
	controls     standin.Controls
	db           *db.DB         // a second look into the database
	admin        *server.Server // the operator's
	nodes        []*process
	allowed      int64 // free calls a day
}

// newOutside prepares a database for so many nodes and starts none.
func newOutside(t *testing.T, url string, nodes int, allowed int64) *outside {
	t.Helper()
	sealing, err := tokencrypt.NewKey()
	must(t, err)
	o := &outside{programs: build(t), url: url, sealing: sealing, controls: standin.Controls{Dir: t.TempDir()}, allowed: allowed}
	o.look(t)
	for range nodes {
		p := &process{outside: o, ended: make(chan struct{})}
		close(p.ended)
		o.nodes = append(o.nodes, p)
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
	var err error
	o.admin, err = server.Open(context.Background(), server.Config{
		Version: "test", PublicURL: root, Database: o.url, SealingKey: o.sealing, Role: server.RoleAPI, Workers: 1,
		Blobs: "file:" + filepath.Join(o.controls.Dir, "media"),
		Terms: standin.Terms(o.allowed), Log: slog.New(slog.DiscardHandler), Now: o.controls.Now,
	})
	must(t, err)
	o.db, err = db.Open(context.Background(), o.url, db.Options{Now: o.controls.Now})
	must(t, err)
	t.Cleanup(func() { _, _ = o.db.Close(), o.admin.Close() })
}

// newTeam makes a team with keys, each with its daily limit.
func newTeam(t *testing.T, s *server.Server, zone string, limit int64, keys ...int64) *modelTeam {
	t.Helper()
	ctx := context.Background()
	owner, err := s.Teams.AddPerson(ctx, "Ada", fmt.Sprintf("ada%d@harbour.example", rand.Int64()), "")
	must(t, err)
	made, err := s.Teams.AddTeam(ctx, team.Team{Name: "Harbour", Timezone: zone, Language: "en", Plan: "agency"}, owner.ID)
	must(t, err)
	must(t, s.Teams.SetDailyCredits(ctx, made.ID, &limit))
	m := &modelTeam{id: made.ID, zone: location(zone), limit: limit}
	for _, of := range keys {
		k, value, err := s.Teams.AddKey(ctx, team.NewKey{Team: made.ID, Name: "test", Level: access.Full, DailyCredits: &of})
		must(t, err)
		m.keys = append(m.keys, newKey(k.ID, value, of))
	}
	return m
}

// grant gives a team credits.
func grant(t *testing.T, s *server.Server, m *modelTeam, credits int64, reference string) {
	t.Helper()
	_, err := s.Credits.Grant(context.Background(), m.id, credits, reference, "")
	must(t, err)
	m.balance, m.granted = m.balance+credits, m.granted+credits
}

// process is one program of its own.
type process struct {
	*outside
	mu    sync.Mutex
	addr  string
	cmd   *exec.Cmd
	log   *bytes.Buffer
	ended chan struct{} // closed while it does not run
	at    string        // where it kills itself
}

// start starts the process, which kills itself at a point; nowhere where that is empty.
func (p *process) start(at, trace string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addr == "" {
		var err error
		if p.addr, err = testkit.FreeAddr(); err != nil {
			return err
		}
	}
	p.at, p.log, p.ended = at, &bytes.Buffer{}, make(chan struct{})
	p.cmd = exec.Command(p.serve, "-addr", p.addr, "-database", p.url, "-sealing-key", p.sealing, "-controls",
		p.controls.Dir, "-free-calls", fmt.Sprint(p.allowed))
	p.cmd.Env = append(os.Environ(), "PRESSROOM_CRASH_AT="+at, "PRESSROOM_CRASH_TRACE="+trace)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		close(p.ended)
		return fmt.Errorf("starting: %w", err)
	}
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // killed is how it is to end
		close(ended)
	}(p.cmd, p.ended)
	return nil
}

// gone is closed once the process has ended.
func (p *process) gone() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *process) running() bool {
	select {
	case <-p.gone():
		return false
	default:
		return true
	}
}

// serves waits until the process answers; false where it ends instead.
func (p *process) serves(ctx context.Context) bool {
	answers := false
	until(ctx, func() bool {
		_, _, _, err := send(get(p.root(), "/openapi.json", "").WithContext(ctx))
		answers = err == nil
		return answers || !p.running()
	})
	return answers
}

func (p *process) kill() { p.end(syscall.SIGKILL) }

// stop lets what is under way end.
func (p *process) stop() { p.end(syscall.SIGTERM) }

func (p *process) end(by os.Signal) {
	p.mu.Lock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(by) // it may be dead already
	}
	p.mu.Unlock()
	<-p.gone()
}

func (p *process) root() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.addr
}

// said is what the process logged.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		return ""
	}
	return p.log.String()
}

// client gives up where something hangs, instead of the whole test run.
var client = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}

// ask makes one request; an error means that no answer came.
func ask(ctx context.Context, root string, key *modelKey, o order, tool bool) (answer, error) {
	a, _, err := asked(ctx, root, key, o, tool)
	return a, err
}

// asked is ask that also tells how often somebody was reached: the HTTP client asks again by itself where a
// connection that it had kept is broken.
func asked(ctx context.Context, root string, key *modelKey, o order, tool bool) (answer, int64, error) {
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

// show reads data; false where no answer came.
func show(ctx context.Context, root string, key *modelKey, path string, data any) (bool, error) {
	status, header, raw, err := send(get(root, path, key.value).WithContext(ctx))
	if err != nil {
		return false, nil //nolint:nilerr // no answer is no fault
	}
	a, err := read(status, header, raw)
	if err != nil || status != http.StatusOK {
		return true, fmt.Errorf("%s: %d %s", path, status, raw)
	}
	return true, json.Unmarshal(a.Data, data)
}

const patience = 60 * time.Second

// until waits for something that the program does by itself.
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
