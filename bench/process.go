package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
)

// publicURL is the base URL of both servers' links, so that both send the same bytes.
const publicURL = "http://press.example"

// process is a running server.
type process struct {
	name           string
	addr           string
	data           dataset
	startDuration  time.Duration // time from exec to the first response
	cmd            *exec.Cmd
	pausedWhenIdle bool // whether it is paused while another server is measured
}

// environment returns this process's environment, with the given settings for pressroom instead of its own.
func environment(binary, url, sealingKey string) []string {
	return append(cleanEnv(), "PRESSROOM_DATABASE="+url, "PRESSROOM_SEALING_KEY="+sealingKey,
		"PRESSROOM_BLOBS=file:"+filepath.Join(filepath.Dir(binary), "media"))
}

// cleanEnv returns this process's environment without settings for pressroom.
func cleanEnv() []string {
	var out []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PRESSROOM_") {
			out = append(out, pair)
		}
	}
	return out
}

// writeCatalog writes a plans file and returns its path. The limits in the file are too high for any measurement to
// reach, but pressroom still counts usage.
func writeCatalog(dir string) (string, error) {
	const speed, calls = 100_000, 1_000_000_000
	t := plan.Default().ScaleRates(speed)
	t.Limits.JobsInFlight = calls
	for i := range t.Plans {
		t.Plans[i].FreeCallsPerDay, t.Plans[i].DailyCredits = calls, -1
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("writing plans: %w", err)
	}
	path := filepath.Join(dir, "plans.json")
	return path, os.WriteFile(path, raw, 0o600)
}

// startPressroom starts pressroom in the way an operator does, and waits for its first response.
func startPressroom(ctx context.Context, binary, url string, d dataset, extraArgs ...string) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	plansFile, err := writeCatalog(filepath.Dir(binary))
	if err != nil {
		return nil, err
	}
	p := &process{name: "ours", addr: addr, data: d, pausedWhenIdle: true}
	p.cmd = exec.CommandContext(ctx, binary,
		slices.Concat([]string{
			"--log-level=warn", "serve", "--addr=" + addr, "--public-url=" + publicURL, "--plans=" + plansFile, "--metrics-addr=",
		}, extraArgs)...)
	p.cmd.Env, p.cmd.Stderr = environment(binary, url, d.SealingKey), os.Stderr
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting pressroom: %w", err)
	}
	if err := p.waitReady(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.startDuration = time.Since(began)
	return p, nil
}

// freeAddress returns a local address with a free port.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

const startTimeout = 30 * time.Second

// waitReady repeats a request until it succeeds.
func (p *process) waitReady(ctx context.Context) error {
	request := get(p, "/api/v1/me")
	for until := time.Now().Add(startTimeout); time.Now().Before(until) && ctx.Err() == nil; {
		if p.send(request) == nil {
			return nil
		}
		pause(ctx, time.Millisecond)
	}
	return fmt.Errorf("%s did not respond successfully within %v of its start", p.name, startTimeout)
}

// pause waits for a duration or the end of the context.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// send sends one request over a new connection. It returns an error unless the status is 200.
func (p *process) send(request []byte) error {
	c, err := dial(p.addr)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.net.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return fmt.Errorf("setting a deadline: %w", err)
	}
	status, _, err := c.do(request, false)
	if err == nil && status != 200 {
		err = fmt.Errorf("%s returned status %d", p.name, status)
	}
	return err
}

// startFloor starts the floor and waits for its first response.
func startFloor(ctx context.Context, url string, d dataset) (*process, error) {
	p, err := startSelf(ctx, "floor", "-serve-floor", url)
	if err != nil {
		return nil, err
	}
	p.data = d
	return p, p.waitReady(ctx)
}

// startSelf starts this program as a server, which prints its address.
func startSelf(ctx context.Context, name string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	p := &process{name: name, cmd: exec.CommandContext(ctx, self, args...)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the address of the %s: %w", name, err), p.stop())
	}
	p.addr = strings.TrimSpace(line)
	return p, nil
}

// pause suspends a server, so that its background jobs do not affect the server that is measured.
func (p *process) pause() error { return p.signal(syscall.SIGSTOP) }

func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) error {
	if !p.pausedWhenIdle {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signaling %s: %w", p.name, err)
	}
	return nil
}

const stopTimeout = 25 * time.Second

// stop stops a server.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // a paused process does not handle SIGTERM
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if the process has already ended
	killTimer := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer killTimer.Stop()
	var exitErr *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exitErr) {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	return nil
}

// resident returns the resident memory in MiB.
func (p *process) resident() (float64, error) { return p.memory("VmRSS:") }

// anonymousMemory returns the resident memory in MiB, excluding mapped files.
func (p *process) anonymousMemory() (float64, error) { return p.memory("RssAnon:") }

// peak returns the highest resident memory in MiB.
func (p *process) peak() (float64, error) { return p.memory("VmHWM:") }

func (p *process) memory(field string) (float64, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("reading the memory of %s: %w", p.name, err)
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, field); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 64)
			if err != nil {
				return 0, fmt.Errorf("reading the memory of %s: %w", p.name, err)
			}
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("the memory of %s is unknown", p.name)
}

// cpu returns the CPU time that all threads have used so far.
func (p *process) cpu() (time.Duration, error) {
	names, err := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/*/schedstat")
	if err != nil {
		return 0, fmt.Errorf("listing the threads of %s: %w", p.name, err)
	}
	var sum time.Duration
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread ended
		}
		if err != nil {
			return 0, fmt.Errorf("reading the CPU time of %s: %w", p.name, err)
		}
		text, _, _ := strings.Cut(string(raw), " ")
		spent, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the CPU time of %s: %w", p.name, err)
		}
		sum += time.Duration(spent)
	}
	return sum, nil
}
