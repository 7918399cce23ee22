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

// process is the process of a server. It runs until its standard input closes.
type process struct {
	server *Server
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan error
}

// launch starts a server and waits until it is ready.
func launch(env []string) (*process, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "serve.js")
	cmd.Dir, cmd.Env = dir, env
	var stderr tail
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("creating the server's input: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("creating the server's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting node: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, exited: make(chan error, 1)}
	p.server, err = p.await(stdout)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errors.Join(err, p.stop()), stderr.String())
	}
	return p, nil
}

// await reads the line that the server prints when it is ready, and discards the rest.
func (p *process) await(stdout io.Reader) (*Server, error) {
	lines := make(chan string, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		line, _ := reader.ReadString('\n') // empty if the process ends first
		lines <- line
		_, _ = io.Copy(io.Discard, reader)
		p.exited <- p.cmd.Wait() // Wait must be called after all output was read.
	}()
	select {
	case line := <-lines:
		var ready struct {
			PDS    string `json:"pds"`
			Secret string `json:"jwt_secret"`
		}
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			return nil, fmt.Errorf("reading the server's first line %q: %w", line, err)
		}
		return &Server{URL: ready.PDS, secret: ready.Secret}, nil
	case <-time.After(startLimit):
		return nil, fmt.Errorf("the server did not start within %v", startLimit)
	}
}

// stop stops the server, and kills it if that takes too long.
func (p *process) stop() error {
	_ = p.stdin.Close() // It may already be closed.
	select {
	case err := <-p.exited:
		return err
	case <-time.After(stopLimit):
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
	return fmt.Errorf("the server did not stop within %v", stopLimit)
}

// tail stores the last tailSize bytes written to it.
type tail struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

const tailSize = 4 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer.Write(text)
	if over := t.buffer.Len() - tailSize; over > 0 {
		t.buffer.Next(over)
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buffer.String()
}
