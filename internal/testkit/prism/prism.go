// Package prism runs Prism, a proxy that validates requests and responses against an OpenAPI document. Node.js runs it
// from test/contract. Prism does not change responses. It reports violations in a header.
//
// The proxy stops when its standard input closes. The system closes it when the test binary ends.
package prism

import (
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/internal/testkit/require"
)

const cli = "node_modules/@stoplight/prism-cli/dist/index.js"

// Start runs the proxy until the test ends, and returns the URL to use instead of upstreamURL. Without Node.js or
// Prism, the test is skipped, or fails if CI=true.
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
	dir := filepath.Join(must.Get(program.ModuleRoot())(tb), "test", "contract")
	require.NodePackage(tb, dir, "@stoplight/prism-cli")
	return dir
}
