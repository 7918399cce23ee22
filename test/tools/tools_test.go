// Package tools checks the tools for assistants by the protocol's own programs, in front of the program as it is built.
package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const (
	inspectorProgram = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	suiteProgram     = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
)

// needs ends the test where Node.js or a package is missing: in CI as failed.
func needs(t *testing.T, program string) {
	t.Helper()
	lacks := t.Skip
	if os.Getenv("CI") == "true" {
		lacks = t.Fatal
	}
	if testing.Short() {
		lacks("outside programs take their time")
	}
	if _, err := exec.LookPath("node"); err != nil {
		lacks("Node.js is missing: run make test-tools")
	}
	if _, err := os.Stat(program); err != nil {
		lacks("the packages of test/tools are missing: run make test-tools")
	}
}

// greeting is what quickstart --json prints first.
type greeting struct {
	AppURL string `json:"app_url"`
	MCPURL string `json:"mcp_url"`
	Keys   struct {
		ReadOnly string `json:"read_only"`
		Drafts   string
		Full     string
	}
	PID int // of the program, which the test adds
}

// built is the program, built once. TestMain takes it away.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pressroom-tools-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	binary := filepath.Join(dir, "pressroom")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "pressroom/cmd/pressroom").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return binary, nil
})

var buildDir string

func TestMain(m *testing.M) {
	status := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(status)
}

// quickstart runs the program until the test ends.
func quickstart(tb testing.TB) greeting {
	tb.Helper()
	binary, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(binary, "quickstart", "--data", filepath.Join(tb.TempDir(), "data"), "--addr", "127.0.0.1:0", "--json")
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", processors), "GOGC=", "GOMEMLIMIT=") // as it is run
	cmd.Stderr = tb.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		tb.Fatal(err)
	}
	var g greeting
	if err := json.Unmarshal(line, &g); err != nil {
		tb.Fatal(err)
	}
	g.PID = cmd.Process.Pid
	return g
}
