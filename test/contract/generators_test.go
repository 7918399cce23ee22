// Package contract checks that generators of clients accept the OpenAPI document and that their clients compile.
package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

// run runs a command in a folder and returns its output, standard error included.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// absolute returns the absolute path of a file of the repository.
func absolute(t *testing.T, parts ...string) string {
	t.Helper()
	return must.Get(filepath.Abs(filepath.Join(append([]string{"..", ".."}, parts...)...)))(t)
}

// Limits on the output of the generators. oapi-codegen generates 84 types for the operations and the client, and one
// type for each component.
const (
	maxTypes    = 268
	maxWarnings = 5
)

// TestGoGenerators checks the default output of oapi-codegen and ogen.
func TestGoGenerators(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds two generators")
	}
	tools, document, module := absolute(t, "tools", "generators"), absolute(t, "api", "openapi.json"), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} { // require the modules that the generated packages import
		must.NoError(t, os.WriteFile(filepath.Join(module, name), must.Get(os.ReadFile(filepath.Join(tools, name)))(t), 0o600))
	}
	must.NoError(t, os.Mkdir(filepath.Join(module, "oapi"), 0o700))
	run(t, tools, "go", "tool", "-n", "oapi-codegen") // downloads and compiles it, with messages
	if out := run(t, tools, "go", "tool", "oapi-codegen", "-package", "oapi",
		"-o", filepath.Join(module, "oapi", "client.go"), document); out != "" {
		t.Errorf("oapi-codegen warns: %s", out)
	}
	client := string(must.Get(os.ReadFile(filepath.Join(module, "oapi", "client.go")))(t))
	if n := strings.Count("\n"+client, "\ntype "); n > maxTypes {
		t.Errorf("oapi-codegen makes %d types, want at most %d", n, maxTypes)
	}
	out := run(t, tools, "go", "tool", "ogen", "--target", filepath.Join(module, "ogen"), "--package", "ogen", "--clean", document)
	if n := strings.Count(out, "WARN"); n > maxWarnings {
		t.Errorf("ogen warns %d times, want at most %d:\n%s", n, maxWarnings, out)
	}
	run(t, module, "go", "build", "./...")
}

// TestTypeScriptGenerators checks the output of openapi-typescript and hey-api with strict types.
func TestTypeScriptGenerators(t *testing.T) {
	t.Parallel()
	require.NodePackage(t, ".", "openapi-typescript")
	here, document, out := absolute(t, "test", "contract"), absolute(t, "api", "openapi.json"), t.TempDir()
	program := func(path string) string { return filepath.Join(here, "node_modules", filepath.FromSlash(path)) }
	run(t, out, "node", program("openapi-typescript/bin/cli.js"), document, "-o", "types.ts")
	run(t, out, "node", program("@hey-api/openapi-ts/bin/run.js"), "-i", document, "-o", "hey", "--no-log-file")
	must.NoError(t, os.WriteFile(filepath.Join(out, "use.ts"), []byte(`import type { components } from "./types";
export function permalinks(job: components["schemas"]["Job"]): (string | undefined)[] {
  return job.type === "social_post" ? (job.result?.accounts ?? []).map((a) => a.permalink) : [];
}
`), 0o600))
	run(t, out, "node", program("typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
		"--module", "es2022", "--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable", "use.ts",
		"hey/index.ts", "hey/sdk.gen.ts", "hey/client.gen.ts")
}
