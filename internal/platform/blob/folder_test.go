package blob

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// stageIn is the environment variable that names the folder in which a copy of the test binary stages a file.
const stageIn = "PRESSROOM_TEST_STAGE_IN"

// A process that is killed while it stages a file leaves no file.
func TestKilledWhileStaging(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(stageIn); dir != "" {
		stageUntilKilled(t, dir)
	}
	dir := filepath.Join(t.TempDir(), "files")
	if !innerFolder(open(t, "file:"+dir, Options{})).unnamed {
		t.Log("the file system for temporary files does not support unnamed files")
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWhileStaging$")
	cmd.Env = append(os.Environ(), stageIn+"="+dir)
	output := must.Get(cmd.StdoutPipe())(t)
	input := must.Get(cmd.StdinPipe())(t)
	defer input.Close()
	must.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || line != "half\n" {
		t.Errorf("it printed %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it exited before it was killed")
	}
	if n := countFiles(t, dir); n > 0 {
		t.Errorf("%d files are left", n)
	}
}

func stageUntilKilled(t *testing.T, dir string) {
	t.Helper()
	staged := stage(t, open(t, "file:"+dir, Options{}), noise(bufferSize*3/2))
	staged.Sum()
	os.Stdout.WriteString("half\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the process is killed or its parent has exited
	os.Exit(0)
}

func innerFolder(s Store) *folder { return s.(keyChecker).Store.(*folder) }

// Opening a folder removes only staged files that were not written to for a day.
func TestOpenRemovesAbandoned(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	s := open(t, "file:"+dir, Options{})
	put(t, s, key, []byte("kept"))
	yesterday := time.Now().Add(-abandonedAge - time.Minute)
	for name, at := range map[string]time.Time{"incoming/old": yesterday, "incoming/new": time.Now(), key: yesterday} {
		path := filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, []byte("kept"), 0o600))
		must.NoError(t, os.Chtimes(path, at, at))
	}
	s = open(t, "file:"+dir, Options{})
	if n := countFiles(t, dir); n != 2 || string(get(t, s, key)) != "kept" {
		t.Errorf("%d files are there, want the blob and the new file", n)
	}
}

// Only the user can read the folder, and files of others in it are ignored.
func TestFolderPrivate(t *testing.T) {
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
	must.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "12", "link")))
	if _, err := s.Open(t.Context(), "12/link"); err == nil {
		t.Error("the store follows a link")
	}
	for _, foreign := range []string{"lost+found", "12/.DS_Store"} {
		must.NoError(t, os.Mkdir(filepath.Join(dir, foreign), 0))
	}
	if got := list(t, s, ""); len(got) != 1 {
		t.Errorf("it lists %v", got)
	}
}

// The store recovers after a folder was removed while it was open.
func TestRemovedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	s := open(t, "file:"+dir, Options{})
	put(t, s, key, []byte("Ada"))
	must.NoError(t, os.RemoveAll(filepath.Join(dir, "12")))
	if err := s.Put(t.Context(), key, stage(t, s, nil)); err == nil {
		t.Error("Put into a missing folder succeeded")
	}
	put(t, s, key, []byte("Bea"))
	must.NoError(t, os.RemoveAll(dir))
	if err := s.Ping(t.Context()); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("pinging a removed store: %v", err)
	}
}
