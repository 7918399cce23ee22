// Package crash kills the program at every step of publishing and looks at what stands on a real network after.
package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom/internal/testkit"
)

// build builds the program with its crash points.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pressroom")
	out, err := exec.Command("go", "build", "-tags", "crashpoints", "-o", path, "pressroom/cmd/pressroom").CombinedOutput()
	if err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return path
}

// process is one run of the program.
type process struct {
	cmd    *exec.Cmd
	base   string
	log    *bytes.Buffer
	exited chan struct{}
}

// launch starts the program on a database; at is where it kills itself, empty for nowhere.
func (c *castle) launch(ctx context.Context, database, at, trace string) (*process, error) {
	addr, err := testkit.FreeAddr()
	if err != nil {
		return nil, err
	}
	p := &process{base: "http://" + addr + "/api/v1", log: &bytes.Buffer{}, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, c.binary, "serve", "--addr", addr, "--database", database, "--sealing-key",
		c.sealingKey, "--blobs", c.blobs, "--metrics-addr", "", "--terms", c.terms, "--lease", "2s", "--log-level", "warn")
	p.cmd.Env = append(os.Environ(), "PRESSROOM_CRASH_AT="+at, "PRESSROOM_CRASH_TRACE="+trace, "PRESSROOM_BLUESKY_SERVERS=http://localhost")
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // killed is how it is to end
		close(p.exited)
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be dead already
	<-p.exited
}

// call makes one request; an error means that no answer came.
func (p *process) call(ctx context.Context, key, method, path string, body any, idem string) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	var reader io.Reader
	if method != http.MethodGet {
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, reader)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", idem)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return resp.StatusCode, nil, err
	}
	return resp.StatusCode, out, nil
}

// put sends a file to an upload link; whether it arrived is asked for afterwards.
func (p *process) put(ctx context.Context, link, secret string, raw []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, link, bytes.NewReader(raw))
	if err != nil {
		return
	}
	req.Header.Set("Authorization", secret)
	req.Header.Set("Content-Type", "image/png")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

// admin runs an operator's command and gives its answer.
func (c *castle) admin(t *testing.T, database, stdin string, args ...string) map[string]any {
	t.Helper()
	cmd := exec.Command(c.binary,
		append([]string{"admin", "--json"}, append(args, "--database", database, "--sealing-key", c.sealingKey, "--blobs", c.blobs)...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("admin %v: %v\n%s", args, err, stderr.String())
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("admin %v: %v: %s", args, err, raw)
	}
	return out
}

// poll asks again and again until the answer is yes, the process is gone or the time is over.
func (p *process) poll(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-p.exited:
			return false
		case <-tick.C:
		}
	}
	return true
}
