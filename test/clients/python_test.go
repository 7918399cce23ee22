package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

const pythonDir = "../../clients/python"

// requirePython returns a Python interpreter with httpx and mypy, possibly the distribution's.
func requirePython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import httpx, mypy; from typing import NotRequired").Run() == nil {
			return python
		}
	}
	require.Missing(t, "Python 3.11 with httpx and mypy")
	return ""
}

// The Python client's types are strict, and its own tests pass against the program.
func TestPython(t *testing.T) {
	t.Parallel()
	python := requirePython(t)
	g := quickstart(t)
	for _, args := range [][]string{
		{"-m", "mypy", "--cache-dir", t.TempDir(), "src", "tests"},
		{"-B", "-m", "unittest", "discover", "-s", "tests"},
	} {
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Dir, cmd.Env = pythonDir, g.environment("PYTHONPATH=src", "PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if n := g.countPosts(t, "python-once"); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
}

// The programs in the guide and in the package's README publish a post and pass type checks.
func TestGuideInPython(t *testing.T) {
	t.Parallel()
	python := requirePython(t)
	g := quickstart(t)
	source := must.Get(filepath.Abs(filepath.Join(pythonDir, "src")))(t)
	for page, caption := range map[string]string{guide: "Open from ten.", filepath.Join(pythonDir, "README.md"): "Open from nine."} {
		dir := t.TempDir()
		must.NoError(t, os.WriteFile(filepath.Join(dir, "guide.py"), snippet(t, page, "python"), 0o600))
		more := []string{"PYTHONPATH=" + source, "MYPYPATH=" + source}
		g.must(t, dir, more, python, "-m", "mypy", "--strict", "guide.py")
		g.must(t, dir, more, python, "guide.py")
		if n := g.countPosts(t, caption); n != 1 {
			t.Errorf("%s: the post was published %d times, want 1", page, n)
		}
	}
}

func TestDraftsFromCSV(t *testing.T) {
	t.Parallel()
	python := requirePython(t)
	g := quickstart(t)
	program := must.Get(filepath.Abs(filepath.Join(examplesDir, "drafts-from-csv", "drafts_from_csv.py")))(t)
	more := []string{"PYTHONPATH=" + must.Get(filepath.Abs(filepath.Join(pythonDir, "src")))(t)}
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "harbour.png"), picture(t, 71, 5), 0o600))
	rows := "caption,accounts,time,files\nFrom a row.,1,2030-03-29T10:15,harbour.png\nWithout a file.,1,,missing.png\n"
	must.NoError(t, os.WriteFile(filepath.Join(dir, "posts.csv"), []byte(rows), 0o600))
	for range 2 { // the second run repeats only the row that failed
		out, err := g.run(t, dir, more, python, program, "posts.csv")
		if err == nil || !strings.Contains(out, "line 2: ") || !strings.Contains(out, "line 3: missing.png: ") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	posts := g.call(t, "list_posts", "--limit", "50").out
	if strings.Count(posts, "From a row.") != 1 || strings.Contains(posts, "Without a file.") {
		t.Errorf("posts after two runs: %s", posts)
	}
	if out, err := g.run(t, dir, more, python, program); err == nil || !strings.Contains(out, "usage") {
		t.Errorf("without a file: %v\n%s", err, out)
	}
}
