package backup

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/program"
)

// A killed backup leaves the previous backup intact, and the next backup is complete. A killed restore leaves no usable
// installation and can be repeated.
func TestKilledDuringBackup(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program with crash points")
	}
	binary := program.Build(t, program.Pressroom, program.CrashPoints)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, folder := w.newSmallBackup(url, testkit.Blobs(t))
		run := func(at string, of server.Config, args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), binary,
				append([]string{"admin"},
					append(args, "--database", of.Database, "--blobs", of.Blobs, "--sealing-key", of.SealingKey)...)...)
			cmd.Env = program.CrashEnv(at, "")
			var said bytes.Buffer
			cmd.Stderr = &said
			died, killed := errors.AsType[*exec.ExitError](cmd.Run())
			if killed != (at != "") || killed && died.Exited() {
				t.Fatalf("%v at %q: %v %s", args, at, died, said.String())
			}
		}
		whole := func(when string) {
			t.Helper()
			found, err := server.VerifyBackup(t.Context(), cfg, folder)
			if err != nil || len(found.Findings) > 0 {
				t.Fatalf("killed %s: incomplete backup: %v %v", when, err, found.Findings)
			}
		}
		fresh := filepath.Join(t.TempDir(), "fresh")
		for _, at := range []string{"after backup dump", "after backup files"} {
			run(at, cfg, "backup", folder)
			whole("killed " + at)
			run(at, cfg, "backup", fresh)
			if _, err := server.VerifyBackup(t.Context(), cfg, fresh); err == nil {
				t.Errorf("killed %s: the first backup appears complete", at)
			}
		}
		run("after backup manifest", cfg, "backup", folder)
		whole("killed after its manifest")
		run("", cfg, "backup", folder)
		whole("made again")
		if left, err := filepath.Glob(filepath.Join(folder, "database-*")); err != nil || len(left) != 1 {
			t.Errorf("partial files remain: %v %v", left, err)
		}
		target := w.config(empty(t, url), testkit.Blobs(t))
		for _, at := range []string{"before restore files", "before restore database", "before restore end"} {
			run(at, target, "restore", folder)
			if path, ok := strings.CutPrefix(target.Database, "sqlite:"); ok {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("killed %s: the restored database exists", at)
				}
			}
		}
		run("", target, "restore", folder)
		if why := w.holdCause(target); why != "restored" {
			t.Errorf("the restored installation is held for %q", why)
		}
	})
}
