package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scripts/module-path replaces the path in all files. The result is formatted, and its packages import each other.
func TestModulePath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "copy")
	run := func(dir string, words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
		return string(out)
	}
	run("../..", "git", "clone", "--quiet", "--no-hardlinks", ".", dir)
	run(".", "cp", "../../scripts/module-path", filepath.Join(dir, "scripts"))
	run(dir, "scripts/module-path", "forge.example/press/room")
	if files, err := exec.CommandContext(t.Context(), "git", "-C", dir, "grep", "-lF", "pressroom.example/pressroom").Output(); err == nil {
		t.Errorf("files with the old path:\n%s", files)
	}
	if diff := run(dir, "gofmt", "-l", "client", "cmd", "internal", "tools"); diff != "" {
		t.Errorf("not formatted:\n%s", diff)
	}
	packages := run(dir, "go", "list", "-deps", "./cmd/pressroom")
	if !strings.Contains(packages, "forge.example/press/room/internal/core/pipeline\n") {
		t.Error("the program does not import the renamed packages")
	}
	invalid := exec.CommandContext(t.Context(), "scripts/module-path", "pressroom")
	invalid.Dir = dir
	if out, err := invalid.CombinedOutput(); err == nil || !strings.Contains(string(out), "begins with a domain") {
		t.Errorf("a path without domain: %v, %s", err, out)
	}
}
