package postgres

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startLimit   = 30 * time.Second
	pollInterval = 10 * time.Millisecond
)

// shellScript runs a server and prints its process ID on the first line. It kills the server when the shell's input
// closes, which the system does when the test binary ends.
const shellScript = `exec 3<&0; "$@" >&2 & server=$!; echo $server
{ read -r _ <&3; kill -QUIT $server; } >/dev/null 2>&1 & wait $server; kill $!`

// process is a running server: the postmaster and a child for each connection.
type process struct {
	server int // the postmaster's process ID
	input  io.Closer
	output bytes.Buffer  // its output; complete once it has exited
	exited chan struct{} // closed once the postmaster has exited
}

// launch starts a server and waits until it accepts connections.
func launch(s *Server) (*process, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, fmt.Errorf("reading the address: %w", err)
	}
	cmd := exec.Command("sh", "-c", shellScript, "sh", filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", port,
		"-k", s.dir, "-c", "listen_addresses="+host, "-c", "max_connections=400", "-c", "shared_buffers=64MB")
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.owner}
	p := &process{exited: make(chan struct{})}
	if err := p.begin(cmd); err != nil {
		return nil, err
	}
	if err := p.await(s.DSN()); err != nil {
		p.end(syscall.SIGKILL)
		return nil, fmt.Errorf("%w: %s", err, p.output.String())
	}
	return p, nil
}

func (p *process) begin(cmd *exec.Cmd) error {
	cmd.Stderr = &p.output
	input, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("creating the server's input: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("creating the server's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a shell: %w", err)
	}
	p.input = input
	line, _ := bufio.NewReader(output).ReadString('\n') // empty if the shell ended first
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // The result does not matter.
	}()
	if p.server, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		_ = input.Close()
		<-p.exited
		return fmt.Errorf("the server printed no process ID: %s", p.output.String())
	}
	return nil
}

// await waits until the server accepts connections. After a kill, this includes recovery.
func (p *process) await(dsn string) error {
	server, err := sql.Open("pgx", dsn)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer server.Close()
	limit := time.After(startLimit)
	for {
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		err := server.PingContext(ctx)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return errors.New("the server ended immediately")
		case <-limit:
			return fmt.Errorf("the server did not respond within %v: %w", startLimit, err)
		case <-time.After(pollInterval):
		}
	}
}

// end sends a signal to the postmaster, and waits for it and its children. SIGKILL is sent to the children too.
func (p *process) end(sig syscall.Signal) {
	children := p.children()
	if sig != syscall.SIGKILL { // Resume a paused server, because it cannot shut down.
		_ = p.signal(syscall.SIGCONT)
	}
	_ = syscall.Kill(p.server, sig)
	if sig == syscall.SIGKILL {
		_ = p.signalAll(sig, children)
	}
	<-p.exited
	_ = p.input.Close()
	for _, child := range children {
		for syscall.Kill(child, 0) == nil { // The children exit when they notice that the postmaster has exited.
			time.Sleep(time.Millisecond) //nolint:forbidigo // there is no event for the end of a grandchild
		}
	}
}

// signal sends a signal to the server and to all of its connections.
func (p *process) signal(sig syscall.Signal) error {
	if err := syscall.Kill(p.server, sig); err != nil { // Signal the postmaster first, so that it forks no more children.
		return fmt.Errorf("to the postmaster %d: %w", p.server, err)
	}
	return p.signalAll(sig, p.children())
}

func (*process) signalAll(sig syscall.Signal, children []int) error {
	for _, child := range children {
		if err := syscall.Kill(child, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("to process %d: %w", child, err)
		}
	}
	return nil
}

// children returns the running child processes of the postmaster.
func (p *process) children() []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	var pids []int
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // The process has just ended.
		}
		// The format is: pid (name) state parent …. A name may contain parentheses.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(p.server) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // The pattern matches only numbers.
			pids = append(pids, child)
		}
	}
	return pids
}

// folder returns a folder for a server, in memory if there is space, because tests make many commits.
func folder(tb testing.TB) string {
	tb.Helper()
	base := ""
	var memory syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &memory); err == nil && memory.Bavail*uint64(memory.Bsize) > 1<<30 {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "pressroom-pg-") //nolint:usetesting // other users cannot enter TempDir
	if err != nil {
		tb.Fatalf("creating PostgreSQL's folder: %v", err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// owner returns the user that runs the server, or nil for the current user. PostgreSQL refuses to run as root, so
// root uses the user postgres.
func owner(tb testing.TB) *syscall.Credential {
	tb.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		tb.Fatalf("finding the user that PostgreSQL runs as: %v", err)
	}
	uid, _ := strconv.ParseUint(postgres.Uid, 10, 32) // the system's own numbers
	gid, _ := strconv.ParseUint(postgres.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
