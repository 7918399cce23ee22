package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const examplesDir = "../../examples"

// run runs a program of an example and gives all that it said.
func (g greeting) run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = g.environment(append([]string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g greeting) must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := g.run(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// The page is written each time, and paid for once a day.
func TestNightlyReport(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	program := filepath.Join(t.TempDir(), "nightly-report")
	g.must(t, filepath.Join(examplesDir, "nightly-report"), nil, "go", "build", "-o", program, ".")
	dir := t.TempDir()
	before := balance(t, g.client(t))
	file := strings.TrimSpace(g.must(t, dir, nil, program, "-profile", "night.owl"))
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# night.owl on instagram", "Measured ", "Score: ", "- ", g.AppURL} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the page does not tell %q:\n%s", want, raw)
		}
	}
	once := before - balance(t, g.client(t))
	g.must(t, dir, nil, program, "-profile", "night.owl")
	if again := before - balance(t, g.client(t)); once == 0 || again != once {
		t.Errorf("the first run cost %d credits, both %d", once, again)
	}
	if out, err := g.run(t, dir, nil, program, "-profile", "missing.person"); err == nil || !strings.Contains(out, "profile_not_found") {
		t.Errorf("a profile that there is not: %v\n%s", err, out)
	}
}

// workflow is as much of a workflow as is run here: the commands of its steps.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Run string
			Env map[string]string
		}
	}
}

// The workflow's own commands publish what a push adds, once, however often they run.
func TestPublishFromRepository(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	source := filepath.Join(examplesDir, "publish-from-repository")
	repository := t.TempDir()
	if err := os.CopyFS(repository, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(repository, "publish.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, caption string) {
		t.Helper()
		text := fmt.Sprintf(`{"caption":%q,"account_ids":[1]}`, caption)
		if err := os.WriteFile(filepath.Join(repository, "posts", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(env ...string) string {
		t.Helper()
		identity := []string{"-c", "user.name=Ada", "-c", "user.email=ada@harbour.example"}
		g.must(t, repository, nil, "git", "add", "-A")
		g.must(t, repository, env, "git", append(identity, "commit", "-q", "-m", "Posts")...)
		return strings.TrimSpace(g.must(t, repository, nil, "git", "rev-parse", "HEAD"))
	}
	g.must(t, repository, nil, "git", "init", "-q")
	first := commit()
	if out, err := publish(t, g, repository, "0000000000000000000000000000000000000000", first); err != nil || !strings.Contains(out, "succeeded") {
		t.Fatalf("the first push: %v\n%s", err, out)
	}
	write("one two.json", "with a space in its name")
	write("worse.json", "not this [sandbox:reject@bluesky]")
	second := commit()
	for range 2 {
		if out, err := publish(t, g, repository, first, second); err == nil || !strings.Contains(out, "worse.json::") || strings.Contains(out, "two.json::") {
			t.Errorf("one of two is rejected: %v\n%s", err, out)
		}
	}
	if n, m := g.held(t, "Autumn hours"), g.held(t, "with a space"); n != 1 || m != 1 {
		t.Errorf("the networks hold the posts %d and %d times", n, m)
	}
	write("late.json", "too late")
	old := time.Now().Add(-48 * time.Hour).Format(time.RFC3339)
	if out, err := publish(t, g, repository, second, commit("GIT_COMMITTER_DATE="+old)); err == nil || !strings.Contains(out, "20 hours") || g.held(t, "too late") != 0 {
		t.Errorf("a commit of the day before yesterday: %v\n%s", err, out)
	}
}

// publish runs the steps of the workflow between two commits.
func publish(t *testing.T, g greeting, repository, before, after string) (string, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "publish.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(raw, &w); err != nil {
		t.Fatal(err)
	}
	said, steps := "", 0
	for _, step := range w.Jobs["publish"].Steps {
		if step.Run == "" {
			continue
		}
		steps++
		env := []string{}
		for name, value := range step.Env {
			switch value { // what is not ours the test's own environment has
			case "${{ github.event.before }}":
				env = append(env, name+"="+before)
			case "${{ github.sha }}":
				env = append(env, name+"="+after)
			}
		}
		out, err := g.run(t, repository, env, "bash", "-e", "-c", step.Run)
		said += out
		if err != nil {
			return said, err
		}
	}
	if steps == 0 {
		t.Fatal("the workflow has no commands")
	}
	return said, nil
}

// A folder is imported once, also where a run was cut off before it took its notes.
func TestImportPictures(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	g := quickstart(t)
	program := importer(t, g)
	folder := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("harbour.png", picture(t, 21, 12))
	write("harbour.txt", []byte("The harbour at six.\n"))
	write("roastery.png", picture(t, 22, 12))
	write("broken.png", []byte("no picture"))
	write("notes.md", []byte("not for the library"))
	out, err := g.run(t, folder, nil, "node", program, folder, "1", "2")
	if err == nil || !strings.Contains(out, "2 new, 1 failed") || !strings.Contains(out, "broken.png: validation_failed type_refused") {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(folder, "broken.png")); err != nil {
		t.Fatal(err)
	}
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "0 new") {
		t.Errorf("a second run: %s", out)
	}
	if err := os.Remove(filepath.Join(folder, "imported.json")); err != nil {
		t.Fatal(err)
	}
	if out := g.must(t, folder, nil, "node", program, folder, "1", "2"); !strings.Contains(out, "2 new, 0 failed") {
		t.Errorf("a run without notes: %s", out)
	}
	posts := g.call(t, "list_posts", "--limit", "50").out
	if n := strings.Count(posts, "The harbour at six."); n != 1 {
		t.Errorf("there are %d drafts", n)
	}
	if out, err := g.run(t, folder, nil, "node", program, folder, "one"); err == nil || !strings.Contains(out, "usage") {
		t.Errorf("an account that is no number: %v\n%s", err, out)
	}
}

// importer compiles the example.
func importer(t *testing.T, g greeting) string {
	t.Helper()
	dir := consumer(t, filepath.Join(examplesDir, "import-pictures"))
	g.must(t, dir, nil, "node", compiler(t), "-p", ".")
	return filepath.Join(dir, "dist/import.js")
}

// consumer is a copy of a folder, with the client's package in node_modules as its users have it.
func consumer(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	packages := filepath.Join(dir, "node_modules")
	if err := os.Mkdir(packages, 0o700); err != nil {
		t.Fatal(err)
	}
	client, err := filepath.Abs(typescriptDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"pressroom-client": client, "@types": filepath.Join(client, "node_modules/@types")} {
		if err := os.Symlink(target, filepath.Join(packages, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compiler is the path of the TypeScript compiler.
func compiler(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(typescriptDir, "node_modules/typescript/bin/tsc"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
