// Package pds runs Bluesky's personal data server for tests, with temporary data and on loopback. Node.js runs it from
// test/bluesky-server.
//
// The server stops when its standard input closes. The system closes it when the test binary ends, so tests need no
// TestMain.
package pds

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/internal/testkit/require"
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
	dir, err := folder()
	must.NoError(tb, err)
	require.NodePackage(tb, dir, "@atproto/pds")
}

// folder returns test/bluesky-server of the test's module.
func folder() (string, error) {
	root, err := program.ModuleRoot()
	return filepath.Join(root, "test", "bluesky-server"), err
}
