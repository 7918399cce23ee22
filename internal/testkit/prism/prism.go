// Package prism runs Prism, a proxy that validates requests and responses against an OpenAPI document, between a test
// and a server. It is run by Node.js from test/contract. It changes no response, and reports violations in a header.
//
// The proxy stops when its standard input closes, which the system does when the test binary ends.
package prism

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const program = "node_modules/@stoplight/prism-cli/dist/index.js"

// Start runs the proxy until the test ends, and returns its URL, which replaces that of the upstream. Without Node.js
// or its packages it skips the test, or fails it if CI=true is in the environment.
func Start(tb testing.TB, specPath, upstreamURL string) string {
	tb.Helper()
	dir := requirePrism(tb)
	spec, err := filepath.Abs(specPath)
	if err != nil {
		tb.Fatalf("finding the description: %v", err)
	}
	running, err := launch(dir, spec, upstreamURL)
	if err != nil {
		tb.Fatalf("starting Prism: %v", err)
	}
	tb.Cleanup(func() {
		if err := running.stop(); err != nil {
			tb.Errorf("stopping Prism: %v", err)
		}
	})
	return running.url
}

// requirePrism returns test/contract. It skips or fails the test if Prism cannot run here.
func requirePrism(tb testing.TB) string {
	tb.Helper()
	dir, err := folder()
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, program))
	}
	const remedy = "run: npm --prefix test/contract run setup"
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		tb.Fatalf("this test needs Prism: %v; %s", err, remedy)
	default:
		tb.Skipf("this test needs Prism: %v; %s", err, remedy)
	}
	return dir
}

// folder returns test/contract of the test's module.
func folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "test", "contract"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("finding go.mod above the working folder: %w", os.ErrNotExist)
		}
		dir = parent
	}
}
