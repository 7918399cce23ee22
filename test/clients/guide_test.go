package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

const guide = "../../docs/clients.md"

// snippet returns a page's example program in a language.
func snippet(t *testing.T, page, language string) []byte {
	t.Helper()
	raw := must.Get(os.ReadFile(page))(t)
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(raw, -1)
	if len(found) != 1 {
		t.Fatalf("%s has %d programs in %s", page, len(found), language)
	}
	return found[0][1]
}

// The programs in the guide work. The Go program is a separate module that requires only the client module.
func TestGuideInGo(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	must.NoError(t, os.WriteFile(file, snippet(t, guide, "go"), 0o600))
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
	must.NoError(t, os.WriteFile(filepath.Join(dir, "import.ts"), snippet(t, guide, "ts"), 0o600))
	g.must(t, dir, nil, "npm", "run", "build")
	g.must(t, dir, nil, "node", filepath.Join(dir, "dist/import.js"))
	if n := g.countPosts(t, "Open from nine."); n != 1 {
		t.Errorf("the post was published %d times, want 1", n)
	}
}

// The packed package works without the rest of the repository, as its README shows.
func TestTypeScriptPackage(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	dir := consumer(t)
	source := must.Get(filepath.Abs(typescriptDir))(t)
	modules := filepath.Join(dir, "node_modules")
	must.NoError(t, os.Remove(modules))
	must.NoError(t, os.MkdirAll(filepath.Join(modules, "pressroom-client"), 0o700))
	for _, name := range []string{"typescript", "@types", "undici-types"} {
		must.NoError(t, os.Symlink(filepath.Join(source, "node_modules", name), filepath.Join(modules, name)))
	}
	g.must(t, source, nil, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", dir)
	packed := must.Get(filepath.Glob(filepath.Join(dir, "pressroom-client-*.tgz")))(t)
	g.must(t, dir, nil, "tar", "-xzf", packed[0], "-C", filepath.Join(modules, "pressroom-client"), "--strip-components=1")

	must.NoError(t, os.WriteFile(filepath.Join(dir, "import.ts"), snippet(t, filepath.Join(typescriptDir, "README.md"), "ts"), 0o600))
	g.must(t, dir, nil, "node", filepath.Join(modules, "typescript/bin/tsc"), "-p", ".")
	if out := g.must(t, dir, nil, "node", "dist/import.js"); out != "succeeded\n" {
		t.Errorf("the program printed %q", out)
	}
}
