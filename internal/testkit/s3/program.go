package s3

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const module = "github.com/versity/versitygw"

var build = sync.OnceValues(buildOnce)

// program gives the server's program, and ends the test where it cannot be had.
func program(tb testing.TB) string {
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

// buildOnce builds the program into build/ of the project, once for each version; other test processes wait meanwhile.
func buildOnce() (string, error) {
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	version, err := tool(root, "list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "build", "versitygw-"+version)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("making build/: %w", err)
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("opening the lock: %w", err)
	}
	defer lock.Close() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking the build: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := tool(root, "build", "-o", path+".new", module+"/cmd/versitygw"); err != nil {
		return "", err
	}
	if err := os.Rename(path+".new", path); err != nil { // half a program is never taken for one
		return "", fmt.Errorf("keeping the program: %w", err)
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

// projectRoot is the folder of the module that the test belongs to.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("finding go.mod above the working folder: %w", os.ErrNotExist)
		}
		dir = parent
	}
}
