// Package tools tests the MCP server of the built program with the MCP Inspector and the MCP conformance suite.
package tools

import (
	"fmt"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/program"
)

const inspectorProgram = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

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
