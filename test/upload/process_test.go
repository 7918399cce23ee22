// Package upload tests uploads to the built program: large files, concurrent uploads, and uploads while the program is
// killed.
package upload

import (
	"bytes"
	"context"
	"crypto/rand"
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

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(floorVariable); dir != "" {
		serveFloor(dir)
		return
	}
	os.Exit(m.Run())
}

// site is a folder with a database, its sealing key and its files, and an API key.
type site struct {
	binary, dir, key string
}

// newSite creates a site on disk with a team and high limits.
func newSite(tb testing.TB, binary string) site {
	tb.Helper()
	s := site{binary: binary, dir: tb.TempDir()}
	catalog := plan.Default().ScaleRates(10_000)
	for n := range catalog.Plans {
		if catalog.Plans[n].FreeCallsPerDay = 1_000_000; catalog.Plans[n].ID == fullPlan {
			catalog.Plans[n].StorageBytes, catalog.Plans[n].APIKeys = 0, true
		}
	}
	raw := must.Get(json.Marshal(catalog))(tb)
	must.NoError(tb, os.WriteFile(filepath.Join(s.dir, "plans.json"), raw, 0o600))
	owner := s.admin(tb, "people", "add", "--name", "Ada", "--email", "ada@example.com")
	team := s.admin(tb, "teams", "add", "--name", "Harbour", "--plan", "team", "--owner", fmt.Sprint(owner["id"]))
	s.key = s.admin(tb, "keys", "add", "--team", fmt.Sprint(team["id"]), "--level", "full")["key"].(string)
	return s
}

// fullPlan is a plan without storage.
const fullPlan = "free"

func (s site) flags(more ...string) []string {
	return append(more, "--database", s.database(), "--plans", filepath.Join(s.dir, "plans.json"))
}

func (s site) database() string { return "sqlite:" + filepath.Join(s.dir, "p.db") }

// files returns the folder of the program's blobs.
func (s site) files() string { return filepath.Join(s.dir, "p.db.media") }

// admin runs an admin command and returns its output.
func (s site) admin(tb testing.TB, args ...string) map[string]any {
	tb.Helper()
	return program.Admin(tb, s.binary, "", s.flags(args...)...)
}

// process is one run of the program.
type process struct {
	site
	*program.Process

	base string
}

// start starts the program and waits until it is ready or has ended. The program kills itself at the failpoint at,
// unless at is empty.
func (s site) start(tb testing.TB, at, trace string) *process {
	tb.Helper()
	addr := must.Get(testkit.FreeAddr())(tb)
	cmd := exec.Command(s.binary, s.flags("serve", "--addr", addr, "--metrics-addr", "", "--log-level", "warn")...)
	cmd.Env = program.CrashEnv(at, trace)
	p := &process{s, must.Get(program.Start(cmd))(tb), "http://" + addr}
	tb.Cleanup(p.Kill)
	p.until(tb, func() bool {
		resp, err := http.Get(p.base + "/readyz")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return p
}

// until calls done until it returns true or the process ends.
func (p *process) until(tb testing.TB, done func() bool) {
	tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(time.Minute)
	for !done() {
		select {
		case <-p.Ended:
			return
		case <-timeout:
			tb.Fatalf("timeout after one minute: %s", p.Log)
		case <-tick.C:
		}
	}
}

// link is an upload link for one file.
type link struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	State   string            `json:"state"`
}

// batch is the response that opens a batch of uploads.
type batch struct {
	Data struct {
		JobID  string `json:"job_id"`
		Upload struct {
			Uploads []link `json:"uploads"`
		} `json:"upload"`
	} `json:"data"`
}

// open opens a batch. It returns an error if there was no response.
func (p *process) open(ctx context.Context, key string, files ...file) (batch, error) {
	var in struct {
		Files []map[string]any `json:"files"`
	}
	for _, f := range files {
		in.Files = append(in.Files, map[string]any{"sha256": f.digest, "size_bytes": f.size})
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return batch{}, err
	}
	var out batch
	status, err := p.call(ctx, http.MethodPost, "/uploads", bytes.NewReader(raw),
		map[string]string{"Idempotency-Key": key, "Content-Type": "application/json"}, &out)
	if err == nil && len(out.Data.Upload.Uploads) != len(files) {
		err = fmt.Errorf("opening a batch: %d, %+v", status, out)
	}
	return out, err
}

// mustOpen opens a batch and fails the test on an error.
func (p *process) mustOpen(tb testing.TB, files ...file) batch {
	tb.Helper()
	return must.Get(p.open(tb.Context(), rand.Text(), files...))(tb)
}

func (p *process) call(ctx context.Context, method, path string, body io.Reader, headers map[string]string, into any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+"/api/v1"+path, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return program.Do(req, into)
}

// put uploads a body with an upload link, which may be from an earlier process.
func (p *process) put(ctx context.Context, l link, body io.Reader, size int64) (int, error) {
	_, path, _ := strings.Cut(l.URL, "/uploads/")
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.base+"/uploads/"+path, body)
	if err != nil {
		return 0, err
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", "application/octet-stream")
	for name, value := range l.Headers {
		req.Header.Set(name, value)
	}
	var response map[string]any
	return program.Do(req, &response)
}
