package s3

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

const (
	startLimit  = 20 * time.Second
	answerLimit = 5 * time.Second
	askAgain    = 10 * time.Millisecond
)

// under runs a server that is killed when our end of the shell's input closes, which the system does when the test
// binary ends, however it ends.
const under = `exec 3<&0; "$@" & server=$!
{ read -r _ <&3; kill -KILL $server; } >/dev/null 2>&1 & wait $server; kill $!`

// process is a running server.
type process struct {
	input io.Closer
	said  bytes.Buffer // complete once it is gone
	gone  chan struct{}
}

// launch starts a server on a free port and returns once it answers.
func launch(program string, s *Server) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	health := "/" + rand.Text() // so that no other server on the port is taken for this one
	cmd := exec.Command("sh", "-c", under, "sh", program, "--port", port, "--region", Region, "--health", health,
		"--quiet", "--keep-alive", "posix", s.folder)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+s.ID, "ROOT_SECRET_ACCESS_KEY="+s.Secret)
	p := &process{gone: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	if p.input, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("making its input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a shell: %w", err)
	}
	go func() {
		defer close(p.gone)
		_ = cmd.Wait() // it was killed
	}()
	s.Endpoint = "http://" + port
	if err := p.await(s.Endpoint + health); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %s", err, p.said.String())
	}
	return p, nil
}

// await waits until the server answers.
func (p *process) await(url string) error {
	client := &http.Client{Timeout: answerLimit}
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
		case <-p.gone:
			return errors.New("it ended at once")
		case <-limit:
			return fmt.Errorf("it did not answer within %v: %w", startLimit, err)
		case <-time.After(askAgain):
		}
	}
}

func (p *process) kill() {
	_ = p.input.Close() // nobody else closes it
	<-p.gone
}

// freePort finds an address whose port is below those that the system hands out, so that nobody is given it meanwhile.
func freePort() (string, error) {
	for {
		address := "127.0.0.1:" + strconv.Itoa(20_000+mathrand.IntN(6_000))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return "", fmt.Errorf("listening: %w", err)
		}
	}
}
