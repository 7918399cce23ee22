// Package pds gives tests a genuine Bluesky server to talk to: the network's own personal data server with
// throw-away data, on loopback, run by Node.js from test/bluesky-server.
//
// A test package needs no TestMain for it: the server stops when its standard input closes, and the system
// closes that when the test binary ends, however it ends.
package pds

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Server is a running server.
type Server struct {
	URL    string // base URL, without a slash at its end
	secret string // what its tokens are signed with
}

var shared = sync.OnceValues(func() (*process, error) { return launch(os.Environ()) })

// Start gives the server that all tests of this process share. Without Node.js or its packages the test is
// skipped, and with CI=true in the environment it fails.
func Start(tb testing.TB) *Server {
	tb.Helper()
	demand(tb)
	running, err := shared()
	if err != nil {
		tb.Fatalf("starting the Bluesky server: %v", err)
	}
	return running.server
}

// StartLimited gives a server of the test's own, which keeps the genuine rate limits and stops with the test.
func StartLimited(tb testing.TB) *Server {
	tb.Helper()
	demand(tb)
	running, err := launch(append(os.Environ(), "PDS_LIMITS=1"))
	if err != nil {
		tb.Fatalf("starting the Bluesky server: %v", err)
	}
	tb.Cleanup(func() {
		if err := running.stop(); err != nil {
			tb.Errorf("stopping the Bluesky server: %v", err)
		}
	})
	return running.server
}

// demand ends the test where the server cannot be run here.
func demand(tb testing.TB) {
	tb.Helper()
	err := ready()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("this test needs a genuine Bluesky server: %v; run: make test-tools", err)
	}
	tb.Skipf("skipped, as this test needs a genuine Bluesky server: %v; run: make test-tools", err)
}

func ready() error {
	if _, err := exec.LookPath("node"); err != nil {
		return fmt.Errorf("finding Node.js: %w", err)
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@atproto", "pds")); err != nil {
		return fmt.Errorf("finding the server's packages: %w", err)
	}
	return nil
}

// folder is test/bluesky-server of the module that the test belongs to.
func folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "test", "bluesky-server"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("finding go.mod above the working folder: %w", os.ErrNotExist)
		}
		dir = parent
	}
}
