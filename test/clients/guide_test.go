package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

const guide = "../../docs/clients.md"

// snippet returns the guide's example program in a language.
func snippet(t *testing.T, language string) []byte {
	t.Helper()
	raw := must.Get(os.ReadFile(guide))(t)
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(raw, -1)
	if len(found) != 1 {
		t.Fatalf("the guide has %d programs in %s", len(found), language)
	}
	return found[0][1]
}

// The programs in the guide work. The Go program is a separate module that requires only the client's module.
func TestGuideInGo(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	must.NoError(t, os.WriteFile(file, snippet(t, "go"), 0o600))
	root := must.Get(filepath.Abs("../.."))(t)
	program := filepath.Join(dir, "guide")
	g.must(t, dir, nil, "go", "mod", "init", "guide")
	g.must(t, dir, nil, "go", "mod", "edit", "-require", "pressroom.example/pressroom/client@v0.0.0",
		"-replace", "pressroom.example/pressroom/client="+filepath.Join(root, "client"))
	g.must(t, dir, []string{"GOFLAGS=-mod=readonly", "GOPROXY=off"}, "go", "build", "-o", program, ".")
	g.must(t, dir, nil, program)
	if n := g.countPosts(t, "Open from eight."); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
}

func TestGuideInTypeScript(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	dir := consumer(t)
	must.NoError(t, os.WriteFile(filepath.Join(dir, "import.ts"), snippet(t, "ts"), 0o600))
	g.must(t, dir, nil, "npm", "run", "build")
	g.must(t, dir, nil, "node", filepath.Join(dir, "dist/import.js"))
	if n := g.countPosts(t, "Open from nine."); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
}
