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
	"pressroom.example/pressroom/internal/testkit/require"
)

const module = "github.com/versity/versitygw"

var build = sync.OnceValues(buildOnce)

// serverProgram returns the path of the server's program. Without it, the test fails in CI and is skipped elsewhere.
func serverProgram(tb testing.TB) string {
	tb.Helper()
	path, err := build()
	if err != nil {
		require.Missing(tb, "an S3 server: "+err.Error())
	}
	return path
}

// buildOnce builds the program into build/ unless this version is already there. Other test processes wait.
func buildOnce() (string, error) {
	root, err := program.ModuleRoot()
	if err != nil {
		return "", err
	}
	version, err := runGo(root, "list", "-m", "-f", "{{.Version}}", module)
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
	if _, err := runGo(root, "build", "-o", path+".new", module+"/cmd/versitygw"); err != nil {
		return "", err
	}
	if err := os.Rename(path+".new", path); err != nil { // Rename it, so that an incomplete program is never used.
		return "", fmt.Errorf("storing the program: %w", err)
	}
	return path, nil
}

// runGo runs the go command in tools/s3 and returns its output.
func runGo(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(root, "tools", "s3")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if exitErr, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, exitErr.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
