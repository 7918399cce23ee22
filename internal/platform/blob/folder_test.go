package blob

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stageIn tells a copy of the test binary which folder it is to receive a file in.
const stageIn = "PRESSROOM_TEST_STAGE_IN"

// TestKilled kills a process that has received half a file: nothing of it is left.
func TestKilled(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(stageIn); dir != "" {
		stageForEver(t, dir)
	}
	dir := filepath.Join(t.TempDir(), "files")
	if !folderIn(open(t, "file:"+dir, Options{})).unnamed {
		t.Log("the file system for temporary files keeps no files without names")
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), stageIn+"="+dir)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || line != "half\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	if n := countFiles(t, dir); n > 0 {
		t.Errorf("%d files are left", n)
	}
}

func stageForEver(t *testing.T, dir string) {
	t.Helper()
	staged := stage(t, open(t, "file:"+dir, Options{}), noise(bufferSize*3/2))
	staged.Sum()
	os.Stdout.WriteString("half\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until we are killed, or whoever should have done it has gone
	os.Exit(0)
}

func folderIn(s Store) *folder { return s.(checked).Store.(*folder) }

// TestOpenSweeps takes away what nobody has written to for a day, and nothing else.
func TestOpenSweeps(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	s := open(t, "file:"+dir, Options{})
	put(t, s, key, []byte("kept"))
	yesterday := time.Now().Add(-abandoned - time.Minute)
	for name, at := range map[string]time.Time{"incoming/old": yesterday, "incoming/new": time.Now(), key: yesterday} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, "file:"+dir, Options{})
	if n := countFiles(t, dir); n != 2 || string(get(t, s, key)) != "kept" {
		t.Errorf("%d files are there, want the blob and the new one", n)
	}
}

// TestFolderIsPrivate looks at modes, and at files that are none of ours.
func TestFolderIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	s := open(t, "file://"+dir, Options{})
	put(t, s, key, []byte("Ada"))
	for path, want := range map[string]os.FileMode{
		"": 0o700 | os.ModeDir, "12": 0o700 | os.ModeDir, "12/ab": 0o700 | os.ModeDir, "incoming": 0o700 | os.ModeDir, key: 0o600,
	} {
		if got := mustStat(t, filepath.Join(dir, path)).Mode(); got != want {
			t.Errorf("%q has the mode %v, want %v", path, got, want)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "12", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "12/link"); err == nil {
		t.Error("it opens what a link leads to")
	}
	for _, foreign := range []string{"lost+found", "12/.DS_Store"} {
		if err := os.Mkdir(filepath.Join(dir, foreign), 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(t, s, ""); len(got) != 1 {
		t.Errorf("it lists %v", got)
	}
}

// TestFolderGoesOn takes folders away while the store is open.
func TestFolderGoesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	s := open(t, "file:"+dir, Options{})
	put(t, s, key, []byte("Ada"))
	if err := os.RemoveAll(filepath.Join(dir, "12")); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), key, stage(t, s, nil)); err == nil {
		t.Error("it was put into a folder that is not there")
	}
	put(t, s, key, []byte("Bea"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("the store is gone, and that is said so: %v", err)
	}
}
