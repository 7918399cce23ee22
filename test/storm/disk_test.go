package storm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

// disk is a preloaded C library that simulates a full or slow disk (testdata/disk.c). It affects writes of SQLite
// and PostgreSQL, but not of Go code.
type disk struct{ library, control string }

// newDisk builds the library in a world-readable folder. Without gcc, the test is skipped, or fails in CI.
func newDisk(t *testing.T, dir string) disk {
	t.Helper()
	compiler := require.Program(t, "gcc")
	d := disk{filepath.Join(dir, "disk.so"), filepath.Join(dir, "disk.control")}
	if out, err := exec.CommandContext(t.Context(), compiler, "-O2", "-shared", "-fPIC", "-o", d.library,
		"testdata/disk.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("building the disk's library: %v\n%s", err, out)
	}
	must.NoError(t, os.WriteFile(d.control, []byte("-"), 0o644))
	return d
}

func (d disk) env() []string { return []string{"LD_PRELOAD=" + d.library, "DISK_CONTROL=" + d.control} }

// set makes the disk full ('f'), slow ('s') or normal ('-').
func (d disk) set(state byte) error {
	f, err := os.OpenFile(d.control, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt([]byte{state}, 0) // Write in place, because the programs have mapped the file.
	return err
}
