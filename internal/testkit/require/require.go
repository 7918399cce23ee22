// Package require ends a test if an external program is missing. In CI the test fails, elsewhere it is skipped.
package require

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Missing fails the test in CI, or skips it elsewhere, because it needs what, which make test-tools installs.
func Missing(tb testing.TB, program string) {
	tb.Helper()
	message := "this test needs " + program + "; run: make test-tools"
	if os.Getenv("CI") == "true" {
		tb.Fatal(message)
	}
	tb.Skip(message)
}

// Program returns the path of the first program that exists. The names are alternatives.
func Program(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, strings.Join(names, " or "))
	return ""
}

// NodePackage requires Node.js and an npm package, or a file of one, that is installed in a folder.
func NodePackage(tb testing.TB, folder, name string) {
	tb.Helper()
	Program(tb, "node")
	if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
		Missing(tb, "the npm packages of "+folder)
	}
}
