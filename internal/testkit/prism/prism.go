// Package prism puts Prism, a proxy that knows a server by its OpenAPI description alone, between a test and that
// server. It is run by Node.js from test/contract and changes no answer; in a header it tells what in the
// request or the answer the description does not allow.
//
// The proxy stops when its standard input closes, so none outlives the test binary, however that ends.
package prism

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const program = "node_modules/@stoplight/prism-cli/dist/index.js"

// Start runs the proxy until the test ends and returns its URL, which stands in place of the upstream's: the
// paths of the description begin at both. Without Node.js or its packages the test is skipped, and with CI=true
// in the environment it fails.
func Start(tb testing.TB, specPath, upstreamURL string) string {
	tb.Helper()
	dir := demand(tb)
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

// demand gives test/contract, or ends the test where Prism cannot be run here.
func demand(tb testing.TB) string {
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
		tb.Skipf("skipped, as this test needs Prism: %v; %s", err, remedy)
	}
	return dir
}

// folder is test/contract of the module that the test belongs to.
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
