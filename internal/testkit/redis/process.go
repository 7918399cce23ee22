package redis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startLimit      = 10 * time.Second
	responseTimeout = 5 * time.Second
	pausedTimeout   = 50 * time.Millisecond // a server that does not respond in this time is paused
	pollInterval    = 5 * time.Millisecond
)

// shellScript runs a server and prints its process ID on the first line. It kills the server when the shell's input
// closes, which the system does when the test binary ends.
const shellScript = `exec 3<&0; "$@" >&2 & server=$!; echo $server
{ read -r _ <&3; kill -KILL $server; } >/dev/null 2>&1 & wait $server; kill $!`

// process is a running server.
type process struct {
	addr     string
	password string
	server   int // process ID
	input    io.Closer
	output   bytes.Buffer // its output; complete once it has exited
	exited   chan struct{}
}

// launch starts a server at an address and waits until it responds.
func launch(program, password, addr, dir string) (*process, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("reading the address: %w", err)
	}
	cmd := exec.Command("sh", "-c", shellScript, "sh", program, "--port", port, "--bind", host,
		"--requirepass", password, "--save", "", "--appendonly", "no", "--dir", dir)
	p := &process{addr: addr, password: password, exited: make(chan struct{})}
	cmd.Stderr = &p.output
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("creating the server's input: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("creating the server's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a shell: %w", err)
	}
	p.input = input
	line, _ := bufio.NewReader(output).ReadString('\n') // empty if the shell ended first
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // The process was killed.
	}()
	if p.server, err = strconv.Atoi(strings.TrimSpace(line)); err == nil {
		err = p.await()
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, p.output.String())
	}
	return p, nil
}

// await waits until the server responds.
func (p *process) await() error {
	limit := time.After(startLimit)
	for {
		answer, err := sendCommand(p.addr, p.password, "PING", responseTimeout)
		if err == nil && answer == "+PONG" {
			return nil
		}
		select {
		case <-p.exited:
			return errors.New("the server ended immediately")
		case <-limit:
			return fmt.Errorf("the server did not respond within %v: %s, %w", startLimit, answer, err)
		case <-time.After(pollInterval):
		}
	}
}

// kill kills the server, even a paused one.
func (p *process) kill() {
	_ = p.input.Close() // Closing the input kills the server.
	<-p.exited
}

// pause stops the process and waits until it no longer responds, because signals are asynchronous.
func (p *process) pause() error {
	if err := syscall.Kill(p.server, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stopping process %d: %w", p.server, err)
	}
	for range int(startLimit / pausedTimeout) {
		if !p.isResponding() {
			return nil
		}
	}
	return errors.New("the server still responds")
}

func (p *process) isResponding() bool {
	_, err := sendCommand(p.addr, p.password, "PING", pausedTimeout)
	return err == nil
}

func (p *process) resume() error {
	if err := syscall.Kill(p.server, syscall.SIGCONT); err != nil {
		return fmt.Errorf("continuing process %d: %w", p.server, err)
	}
	return p.await()
}

// sendCommand sends the password and a command, and returns the first line of the response.
func sendCommand(address, password, command string, timeout time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return "", fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return "", fmt.Errorf("setting the deadline: %w", err)
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\n%s\r\n", password, command); err != nil {
		return "", fmt.Errorf("sending: %w", err)
	}
	lines := bufio.NewReader(conn)
	if line, err := lines.ReadString('\n'); err != nil || line != "+OK\r\n" {
		return "", fmt.Errorf("authenticating: %s %w", line, err)
	}
	line, err := lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading the response: %w", err)
	}
	return strings.TrimSuffix(line, "\r\n"), nil
}
