package prism

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	startLimit = 60 * time.Second
	stopLimit  = 10 * time.Second
)

// process is the process of Prism. It runs until its standard input closes.
type process struct {
	url    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan error
}

// launch starts Prism on a free port and waits until it listens.
func launch(dir, spec, upstream string) (*process, error) {
	cmd := exec.Command("node", "--require", "./stop-with-input.js", cli, "proxy", spec, upstream,
		"--host", "127.0.0.1", "--port", "0", "--multiprocess=false", "--cors=false")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "FORCE_COLOR=0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("creating Prism's input: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("creating Prism's output: %w", err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting node: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, exited: make(chan error, 1)}
	if p.url, err = p.await(stdout); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// await reads Prism's output up to its address, and discards the rest.
func (p *process) await(stdout io.Reader) (string, error) {
	type result struct {
		url string
		err error
	}
	results := make(chan result, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		url, err := address(reader)
		results <- result{url, err}
		_, _ = io.Copy(io.Discard, reader)
		p.exited <- p.cmd.Wait() // Wait must be called after all output was read.
	}()
	select {
	case r := <-results:
		return r.url, r.err
	case <-time.After(startLimit):
		return "", fmt.Errorf("prism did not start within %v", startLimit)
	}
}

// address returns the address that Prism prints when it is ready. If Prism ends first, the error contains its output.
func address(reader *bufio.Reader) (string, error) {
	var others strings.Builder
	for {
		line, err := reader.ReadString('\n')
		if _, url, found := strings.Cut(line, "Prism is listening on "); found {
			return strings.TrimSpace(url), nil
		}
		others.WriteString(line)
		if err != nil {
			return "", fmt.Errorf("prism ended before it was ready: %s", others.String())
		}
	}
}

// stop stops Prism, and kills it if that takes too long.
func (p *process) stop() error {
	_ = p.stdin.Close() // It may already be closed.
	select {
	case err := <-p.exited:
		return err
	case <-time.After(stopLimit):
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
	return fmt.Errorf("prism did not stop within %v", stopLimit)
}
