package s3

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/testkit/program"
)

const module = "github.com/versity/versitygw"

var build = sync.OnceValues(buildOnce)

// serverProgram returns the path of the server's program. Without it, the test fails in CI and is skipped elsewhere.
func serverProgram(tb testing.TB) string {
	tb.Helper()
	path, err := build()
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("this test needs a server of S3: %v", err)
	}
	tb.Skipf("skipped, as this test needs a server of S3: %v", err)
	return ""
}

// buildOnce builds the program into build/, once per version. Other test processes wait meanwhile.
func buildOnce() (string, error) {
	root, err := program.ModuleRoot()
	if err != nil {
		return "", err
	}
	version, err := tool(root, "list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "build", "versitygw-"+version)
	unlock, err := program.Lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := tool(root, "build", "-o", path+".new", module+"/cmd/versitygw"); err != nil {
		return "", err
	}
	if err := os.Rename(path+".new", path); err != nil { // so that an incomplete program is never used
		return "", fmt.Errorf("storing the program: %w", err)
	}
	return path, nil
}

// tool runs the go command in tools/s3 and returns what it says.
func tool(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(root, "tools", "s3")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
