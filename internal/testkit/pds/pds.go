// Package pds runs Bluesky's personal data server for tests, with temporary data and on loopback. Node.js runs it from
// test/bluesky-server.
//
// The server stops when its standard input closes. The system closes it when the test binary ends, so tests need no
// TestMain.
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
	URL    string // base URL, without a trailing slash
	secret string // key of its tokens
}

var shared = sync.OnceValues(func() (*process, error) { return launch(os.Environ()) })

// Start returns the server that all tests of this process share. Without Node.js or the server's packages, the test is
// skipped, or fails if CI=true.
func Start(tb testing.TB) *Server {
	tb.Helper()
	requireServer(tb)
	running, err := shared()
	if err != nil {
		tb.Fatalf("starting the Bluesky server: %v", err)
	}
	return running.server
}

// StartLimited returns a server for this test only, with the real rate limits.
func StartLimited(tb testing.TB) *Server {
	tb.Helper()
	requireServer(tb)
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

// requireServer skips or fails the test if the server cannot run here.
func requireServer(tb testing.TB) {
	tb.Helper()
	err := checkInstalled()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("this test needs a real Bluesky server: %v; run: make test-tools", err)
	}
	tb.Skipf("this test needs a real Bluesky server: %v; run: make test-tools", err)
}

func checkInstalled() error {
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

// folder returns test/bluesky-server of the test's module.
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
