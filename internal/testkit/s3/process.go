package s3

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	"pressroom.example/pressroom/internal/testkit"
)

const (
	startLimit      = 20 * time.Second
	responseTimeout = 5 * time.Second
	pollInterval    = 10 * time.Millisecond
)

// shellScript runs a server and kills it when the shell's input closes, which the system does when the test binary
// ends.
const shellScript = `exec 3<&0; "$@" & server=$!
{ read -r _ <&3; kill -KILL $server; } >/dev/null 2>&1 & wait $server; kill $!`

// process is a running server.
type process struct {
	input  io.Closer
	output bytes.Buffer // its output; complete once it has exited
	exited chan struct{}
}

// launch starts a server on a free port and waits until it responds.
func launch(program string, s *Server) (*process, error) {
	addr, err := testkit.FreeAddr()
	if err != nil {
		return nil, err
	}
	health := "/" + rand.Text() // random, to detect another server on the port
	cmd := exec.Command("sh", "-c", shellScript, "sh", program, "--port", addr, "--region", Region, "--health", health,
		"--quiet", "--keep-alive", "posix", s.folder)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+s.ID, "ROOT_SECRET_ACCESS_KEY="+s.Secret)
	p := &process{exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if p.input, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("creating the server's input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a shell: %w", err)
	}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // The process was killed.
	}()
	s.Endpoint = "http://" + addr
	if err := p.await(s.Endpoint + health); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, p.output.String())
	}
	return p, nil
}

// await waits until the server responds.
func (p *process) await(url string) error {
	client := &http.Client{Timeout: responseTimeout}
	limit := time.After(startLimit)
	for {
		response, err := client.Get(url)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
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

func (p *process) kill() {
	_ = p.input.Close() // Closing the input kills the server.
	<-p.exited
}
