// Package program builds and runs this module's commands as processes. Only tests import it.
package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Pressroom is the import path of the pressroom command, which most tests run.
const Pressroom = "pressroom.example/pressroom/cmd/pressroom"

// CrashPoints is the build tag for programs that kill themselves at the failpoint in PRESSROOM_CRASH_AT.
const CrashPoints = "crashpoints"

var builds sync.Map // builds of this process, by command and tags

// Build builds a command with build tags and returns the path of the program in build/test. All tests share the
// program.
func Build(tb testing.TB, command, tags string) string {
	tb.Helper()
	once, _ := builds.LoadOrStore(command+" "+tags, sync.OnceValues(func() (string, error) { return build(command, tags) }))
	return must.Get(once.(func() (string, error))())(tb)
}

func build(command, tags string) (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, "build", "test", strings.ReplaceAll(command, "/", "-")+tags)
	file := filepath.Join(folder, path.Base(command)) // Scripts find the program by its name.
	unlock, err := Lock(filepath.Join(folder, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	// Omit debug information: writing it takes half of the linking time.
	cmd := exec.Command("go", "build", "-tags", tags, "-ldflags=-s -w", "-o", file, command)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", command, err, out)
	}
	return file, nil
}

// Lock waits for an exclusive lock on a file and returns a function that releases it. It creates the file if necessary.
func Lock(file string) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("locking %s: %w", file, err)
	}
	return func() { _ = lock.Close() }, nil
}

// ModuleRoot returns the folder of the module that the test belongs to.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir, err = parent, nil
		}
	}
	return "", fmt.Errorf("finding go.mod above the working folder: %w", err)
}

// Log is a buffer that a test can read while a process writes to it.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Process is a program started by Start. It may have ended.
type Process struct {
	*exec.Cmd

	Log   *Log          // standard error
	Ended chan struct{} // closed when the process has ended
}

// Start starts a program with its standard error in Log. The caller must end the process.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd, &Log{}, make(chan struct{})}
	cmd.Stderr = p.Log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // A killed process is not an error.
		close(p.Ended)
	}()
	return p, nil
}

// End sends a signal and waits until the process has ended.
func (p *Process) End(sig os.Signal) {
	_ = p.Process.Signal(sig) // The process may have ended.
	<-p.Ended
}

// Kill kills the process and waits until it has ended.
func (p *Process) Kill() { p.End(syscall.SIGKILL) }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.Ended:
		return false
	default:
		return true
	}
}

// CrashEnv returns this process's environment with settings for failpoints: at is the name of the failpoint at which
// the program kills itself, and trace is a file to which it appends the name of each failpoint that it reaches. Empty
// arguments have no effect.
func CrashEnv(at, trace string) []string {
	return append(os.Environ(), "PRESSROOM_CRASH_AT="+at, "PRESSROOM_CRASH_TRACE="+trace)
}

// Admin runs an admin command of a program and returns its JSON output.
func Admin(tb testing.TB, file, stdin string, args ...string) map[string]any {
	tb.Helper()
	cmd := exec.Command(file, append([]string{"admin", "--json"}, args...)...)
	cmd.Stdin = bytes.NewBufferString(stdin)
	var log bytes.Buffer
	cmd.Stderr = &log
	raw, err := cmd.Output()
	if err != nil {
		tb.Fatalf("admin %v: %v\n%s", args, err, log.String())
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		tb.Fatalf("admin %v: %v: %s", args, err, raw)
	}
	return out
}

// Quickstart runs pressroom quickstart --json with args until the test ends. It decodes the first line of output into
// v.
func Quickstart(tb testing.TB, v any, env []string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.Command(Build(tb, Pressroom, ""), append([]string{"quickstart", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = tb.Output()
	out := must.Get(cmd.StdoutPipe())(tb)
	must.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	must.NoError(tb, json.Unmarshal(must.Get(bufio.NewReader(out).ReadBytes('\n'))(tb), v))
	return cmd
}

// Do sends a request, decodes the JSON response into v, and returns the status.
func Do(r *http.Request, v any) (int, error) {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	return resp.StatusCode, err
}
