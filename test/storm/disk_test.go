package storm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// disk is a preloaded C library that simulates a full or slow disk (testdata/disk.c). It affects the writes of SQLite and
// PostgreSQL, but not those of Go code.
type disk struct{ library, control string }

// newDisk builds the library in a world-readable folder. Without a C compiler, the disk never fails.
func newDisk(t *testing.T, dir string) disk {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the storm needs gcc to simulate a full disk")
		}
		return disk{}
	}
	d := disk{filepath.Join(dir, "disk.so"), filepath.Join(dir, "disk.control")}
	if out, err := exec.CommandContext(t.Context(), compiler, "-O2", "-shared", "-fPIC", "-o", d.library,
		"testdata/disk.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("building the disk's library: %v\n%s", err, out)
	}
	must.NoError(t, os.WriteFile(d.control, []byte("-"), 0o644))
	return d
}

func (d disk) isBuilt() bool { return d.library != "" }

func (d disk) env() []string {
	if !d.isBuilt() {
		return nil
	}
	return []string{"LD_PRELOAD=" + d.library, "DISK_CONTROL=" + d.control}
}

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
