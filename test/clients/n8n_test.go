package clients

import (
	"os/exec"
	"testing"

	"pressroom.example/pressroom/internal/testkit/require"
)

const n8nDir = "../../integrations/n8n-nodes-pressroom"

// The nodes for n8n compile, and n8n runs their operations and the trigger against the program.
func TestN8N(t *testing.T) {
	t.Parallel()
	require.NodePackage(t, n8nDir, "n8n-core")
	g := quickstart(t)
	for _, args := range [][]string{
		{"node_modules/typescript/bin/tsc", "-p", "."}, {"copy-assets.mjs"}, {"--test", "--test-reporter=tap", "test/run.cjs"},
	} {
		cmd := exec.CommandContext(t.Context(), "node", args...)
		cmd.Dir, cmd.Env = n8nDir, g.environment("N8N_USER_FOLDER="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for text, times := range map[string]int{"From a workflow": 1, "the trigger sees this": 1} {
		if n := g.countPosts(t, text); n != times {
			t.Errorf("%q was published %d times, want %d", text, n, times)
		}
	}
}
