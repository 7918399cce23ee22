// Package tools tests the MCP server of the built program with the MCP Inspector and the MCP conformance suite.
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

// requireProgram skips the test if Node.js or a package is missing, or fails it in CI.
func requireProgram(t *testing.T, program string) {
	t.Helper()
	end := t.Skip
	if os.Getenv("CI") == "true" {
		end = t.Fatal
	}
	if testing.Short() {
		end("external programs are slow")
	}
	if _, err := exec.LookPath("node"); err != nil {
		end("Node.js is missing: run make test-tools")
	}
	if _, err := os.Stat(program); err != nil {
		end("the packages of test/tools are missing: run make test-tools")
	}
}

// greeting is the first line of quickstart --json.
type greeting struct {
	AppURL string `json:"app_url"`
	MCPURL string `json:"mcp_url"`
	Keys   struct {
		ReadOnly string `json:"read_only"`
		Drafts   string
		Full     string
	}
	PID int // process ID of the program, set by the test
}

// quickstart runs the program until the test ends.
func quickstart(tb testing.TB) greeting {
	tb.Helper()
	var g greeting
	cmd := program.Quickstart(tb, &g, []string{fmt.Sprintf("GOMAXPROCS=%d", processors), "GOGC=", "GOMEMLIMIT="},
		"--data", filepath.Join(tb.TempDir(), "data"), "--addr", "127.0.0.1:0")
	g.PID = cmd.Process.Pid
	return g
}
