package pds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

const (
	startLimit = 30 * time.Second
	stopLimit  = 10 * time.Second
)

// process is a server's own process. Its standard input has to stay open as long as it should run.
type process struct {
	server *Server
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	gone   chan error
}

// launch starts a server and returns when it answers.
func launch(env []string) (*process, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "serve.js")
	cmd.Dir, cmd.Env = dir, env
	var complaints tail
	cmd.Stderr = &complaints
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making its input: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("making its output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting node: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, gone: make(chan error, 1)}
	p.server, err = p.await(stdout)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errors.Join(err, p.stop()), complaints.String())
	}
	return p, nil
}

// await reads the line that the server prints when it answers, and throws away what comes after it.
func (p *process) await(stdout io.Reader) (*Server, error) {
	lines := make(chan string, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		line, _ := reader.ReadString('\n') // empty when the process ends first, which is no JSON
		lines <- line
		_, _ = io.Copy(io.Discard, reader)
		p.gone <- p.cmd.Wait() // only after all its output has been read
	}()
	select {
	case line := <-lines:
		var said struct {
			PDS    string `json:"pds"`
			Secret string `json:"jwt_secret"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			return nil, fmt.Errorf("reading its first line %q: %w", line, err)
		}
		return &Server{URL: said.PDS, secret: said.Secret}, nil
	case <-time.After(startLimit):
		return nil, fmt.Errorf("it did not answer within %v", startLimit)
	}
}

// stop asks the server to stop and does not take no for an answer.
func (p *process) stop() error {
	_ = p.stdin.Close() // closed twice at worst
	select {
	case err := <-p.gone:
		return err
	case <-time.After(stopLimit):
	}
	_ = p.cmd.Process.Kill()
	<-p.gone
	return fmt.Errorf("it did not stop within %v", stopLimit)
}

// tail keeps the end of what was written to it.
type tail struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

const tailSize = 4 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(text)
	if over := t.kept.Len() - tailSize; over > 0 {
		t.kept.Next(over)
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}
