package clients

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/testkit/require"
)

const typescriptDir = "../../clients/typescript"

// needsTypeScript skips the test if Node.js or the compiler is missing. In CI the test fails instead.
func needsTypeScript(t *testing.T) {
	t.Helper()
	require.NodePackage(t, typescriptDir, "typescript")
	require.NodePackage(t, filepath.Join(examplesDir, "import-pictures"), "typescript")
	if out, err := compiled(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// compiled compiles the TypeScript client and its tests with the strictest options.
var compiled = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("node", "node_modules/typescript/bin/tsc", "-p", ".")
	cmd.Dir = typescriptDir
	out, err := cmd.CombinedOutput()
	return string(out), err
})

// The TypeScript client's own tests run against the program.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=tap", "dist/test/")
	cmd.Dir, cmd.Env = typescriptDir, g.environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := g.countPosts(t, "typed-once"); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
}
