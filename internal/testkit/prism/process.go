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

// process is a running Prism. Its standard input has to stay open as long as it should run.
type process struct {
	url   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	gone  chan error
}

// launch starts Prism on a free port and returns once it listens.
func launch(dir, spec, upstream string) (*process, error) {
	cmd := exec.Command("node", "--require", "./stop-with-input.js", program, "proxy", spec, upstream,
		"--host", "127.0.0.1", "--port", "0", "--multiprocess=false", "--cors=false")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "FORCE_COLOR=0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making its input: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("making its output: %w", err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting node: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin, gone: make(chan error, 1)}
	if p.url, err = p.await(stdout); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// await reads what Prism prints up to its address, and throws away what comes after it.
func (p *process) await(stdout io.Reader) (string, error) {
	type said struct {
		url string
		err error
	}
	heard := make(chan said, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		url, err := address(reader)
		heard <- said{url, err}
		_, _ = io.Copy(io.Discard, reader)
		p.gone <- p.cmd.Wait() // only after all its output has been read
	}()
	select {
	case s := <-heard:
		return s.url, s.err
	case <-time.After(startLimit):
		return "", fmt.Errorf("it did not listen within %v", startLimit)
	}
}

// address finds the line that Prism prints once it listens. Where none comes, the error holds the others.
func address(reader *bufio.Reader) (string, error) {
	var others strings.Builder
	for {
		line, err := reader.ReadString('\n')
		if _, url, found := strings.Cut(line, "Prism is listening on "); found {
			return strings.TrimSpace(url), nil
		}
		others.WriteString(line)
		if err != nil {
			return "", fmt.Errorf("it ended without listening: %s", others.String())
		}
	}
}

// stop asks Prism to stop and does not take no for an answer.
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
