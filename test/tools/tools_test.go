// Package tools checks the tools for assistants with the protocol's own programs and the built program.
package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/program"
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

// quickstart runs the program until the test ends.
func quickstart(tb testing.TB) greeting {
	tb.Helper()
	var g greeting
	cmd := program.Quickstart(tb, &g, []string{fmt.Sprintf("GOMAXPROCS=%d", processors), "GOGC=", "GOMEMLIMIT="}, // as users run it
		"--data", filepath.Join(tb.TempDir(), "data"), "--addr", "127.0.0.1:0")
	g.PID = cmd.Process.Pid
	return g
}
