// Package prism runs Prism, a proxy that validates requests and responses against an OpenAPI document. Node.js runs it from
// test/contract. Prism does not change responses. It reports violations in a header.
//
// The proxy stops when its standard input closes. The system closes it when the test binary ends.
package prism

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const program = "node_modules/@stoplight/prism-cli/dist/index.js"

// Start runs the proxy until the test ends, and returns the URL to use instead of upstreamURL. Without Node.js or Prism, the
// test is skipped, or fails if CI=true.
func Start(tb testing.TB, specPath, upstreamURL string) string {
	tb.Helper()
	dir := requirePrism(tb)
	spec, err := filepath.Abs(specPath)
	if err != nil {
		tb.Fatalf("resolving the path of the OpenAPI document: %v", err)
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

// requirePrism returns the path of test/contract. Without Prism, the test is skipped, or fails if CI=true.
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
