// Package crash kills the program at every step of publishing and checks the posts on a Bluesky server.
package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/program"
)

// process is one run of the program.
type process struct {
	*program.Process
	base string
}

// launch starts the program on a database. The program kills itself at the given point, if any.
func (c *env) launch(ctx context.Context, database, at, trace string) (*process, error) {
	addr, err := testkit.FreeAddr()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.binary, "serve", "--addr", addr, "--database", database, "--sealing-key",
		c.sealingKey, "--blobs", c.blobs, "--metrics-addr", "", "--plans", c.catalog, "--lease", "2s", "--log-level", "warn")
	cmd.Env = append(program.CrashEnv(at, trace), "PRESSROOM_BLUESKY_SERVERS=http://localhost")
	p, err := program.Start(cmd)
	return &process{p, "http://" + addr + "/api/v1"}, err
}

// call makes one request. An error means that there was no response.
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
	var out map[string]any
	status, err := program.Do(req, &out)
	return status, out, err
}

// put uploads a file and ignores errors. The caller checks later whether the file has arrived.
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

// admin runs an admin command and returns its output.
func (c *env) admin(t *testing.T, database, stdin string, args ...string) map[string]any {
	t.Helper()
	return program.Admin(t, c.binary, stdin, append(args, "--database", database, "--sealing-key", c.sealingKey, "--blobs", c.blobs)...)
}

// poll calls done until it returns true. It reports false if the process ends or the context expires first.
func (p *process) poll(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-p.Ended:
			return false
		case <-tick.C:
		}
	}
	return true
}
