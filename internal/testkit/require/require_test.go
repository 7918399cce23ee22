package require_test

import (
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/require"
)

// recorder records how a test ends.
type recorder struct {
	testing.TB
	failed, skipped bool
}

func (r *recorder) Helper()      {}
func (r *recorder) Fatal(...any) { r.failed = true }
func (r *recorder) Skip(...any)  { r.skipped = true }

// A missing program fails a test in CI, and skips it elsewhere.
func TestMissing(t *testing.T) {
	for _, ci := range []string{"true", ""} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		require.Program(r, "no-such-program", "nor-this-one")
		if r.failed != (ci == "true") || !r.failed && !r.skipped {
			t.Errorf("CI=%q: failed %t, skipped %t", ci, r.failed, r.skipped)
		}
	}
}

func TestNodePackage(t *testing.T) {
	require.Program(t, "node")
	t.Setenv("CI", "")
	dir := t.TempDir()
	r := &recorder{TB: t}
	require.NodePackage(r, dir, "one")
	if !r.skipped {
		t.Error("a missing package does not skip the test")
	}
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	r = &recorder{TB: t}
	require.NodePackage(r, dir, "one")
	if r.skipped || r.failed {
		t.Error("an installed package ends the test")
	}
}
