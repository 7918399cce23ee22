package redis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startLimit  = 10 * time.Second
	answerLimit = 5 * time.Second
	hangsAfter  = 50 * time.Millisecond // without an answer
	askAgain    = 5 * time.Millisecond
)

// under runs a server that is killed when our end of the shell's input closes, which the system does when the test
// binary ends, however it ends. The first line tells the server's process.
const under = `exec 3<&0; "$@" >&2 & server=$!; echo $server
{ read -r _ <&3; kill -KILL $server; } >/dev/null 2>&1 & wait $server; kill $!`

// process is a running server.
type process struct {
	port     int
	password string
	server   int // its process id
	input    io.Closer
	said     bytes.Buffer // complete once it is gone
	gone     chan struct{}
}

// launch starts a server on a port and returns once it answers.
func launch(program, password string, port int, dir string) (*process, error) {
	cmd := exec.Command("sh", "-c", under, "sh", program, "--port", strconv.Itoa(port), "--bind", "127.0.0.1",
		"--requirepass", password, "--save", "", "--appendonly", "no", "--dir", dir)
	p := &process{port: port, password: password, gone: make(chan struct{})}
	cmd.Stderr = &p.said
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making its input: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("making its output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a shell: %w", err)
	}
	p.input = input
	line, _ := bufio.NewReader(output).ReadString('\n') // empty where the shell ended first, which is no number
	go func() {
		defer close(p.gone)
		_ = cmd.Wait() // it was killed
	}()
	if p.server, err = strconv.Atoi(strings.TrimSpace(line)); err == nil {
		err = p.await()
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, p.said.String())
	}
	return p, nil
}

// await waits until the server answers.
func (p *process) await() error {
	limit := time.After(startLimit)
	for {
		answer, err := ask(address(p.port), p.password, "PING", answerLimit)
		if err == nil && answer == "+PONG" {
			return nil
		}
		select {
		case <-p.gone:
			return errors.New("it ended at once")
		case <-limit:
			return fmt.Errorf("it did not answer within %v: %s, %w", startLimit, answer, err)
		case <-time.After(askAgain):
		}
	}
}

// kill ends the server, even one that hangs.
func (p *process) kill() {
	_ = p.input.Close() // nobody else closes it
	<-p.gone
}

// pause makes the server hang and returns once it does: a signal takes its time.
func (p *process) pause() error {
	if err := syscall.Kill(p.server, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stopping process %d: %w", p.server, err)
	}
	for range int(startLimit / hangsAfter) {
		if !p.answers() {
			return nil
		}
	}
	return errors.New("it goes on answering")
}

func (p *process) answers() bool {
	_, err := ask(address(p.port), p.password, "PING", hangsAfter)
	return err == nil
}

func (p *process) resume() error {
	if err := syscall.Kill(p.server, syscall.SIGCONT); err != nil {
		return fmt.Errorf("continuing process %d: %w", p.server, err)
	}
	return p.await()
}

// ask says a password and a command and reads the first line of the answer.
func ask(address, password, command string, within time.Duration) (string, error) {
	conn, err := net.DialTimeout("tcp", address, within)
	if err != nil {
		return "", fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", fmt.Errorf("bounding the time: %w", err)
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\n%s\r\n", password, command); err != nil {
		return "", fmt.Errorf("asking: %w", err)
	}
	lines := bufio.NewReader(conn)
	if line, err := lines.ReadString('\n'); err != nil || line != "+OK\r\n" {
		return "", fmt.Errorf("saying the password: %s %w", line, err)
	}
	line, err := lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSuffix(line, "\r\n"), nil
}

// freePort finds a port below those that the system hands out, so that nobody is given it meanwhile.
func freePort() (int, error) {
	for {
		port := 14_000 + rand.IntN(6_000)
		l, err := net.Listen("tcp", address(port))
		if err == nil {
			return port, l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, fmt.Errorf("listening: %w", err)
		}
	}
}
