package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// samples returns the document's code samples in a language by operation.
func samples(t *testing.T, lang string) map[string]string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			ID      string                          `json:"operationId"`   //nolint:tagliatelle // OpenAPI's name
			Samples []struct{ Lang, Source string } `json:"x-codeSamples"` //nolint:tagliatelle // as above
		}
	}
	must.NoError(t, json.Unmarshal(must.Get(os.ReadFile("../../api/openapi.json"))(t), &document))
	out := map[string]string{}
	for _, path := range document.Paths {
		for _, o := range path {
			for _, s := range o.Samples {
				if s.Lang == lang {
					out[o.ID] = s.Source
				}
			}
			if out[o.ID] == "" {
				t.Errorf("%s has no sample in %s", o.ID, lang)
			}
		}
	}
	return out
}

// join returns a program with a function for each sample. The format has the operation's name and its sample.
func join(head, format string, of map[string]string) []byte {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		head += fmt.Sprintf(format, name, strings.ReplaceAll(of[name], "\n", "\n\t"))
	}
	return []byte(head)
}

func TestSamplesInGo(t *testing.T) {
	t.Parallel()
	var g installation
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "samples.go"), join(
		"package samples\n\nimport (\n\t\"context\"\n\n\t\"pressroom.example/pressroom/client\"\n)\n",
		"\nfunc %s(ctx context.Context, c *client.Client) {\n\t%s\n\t_, _ = answer, err\n}\n", samples(t, "Go")), 0o600))
	g.must(t, dir, nil, "gofmt", "-e", "-l", ".")
	g.must(t, dir, nil, "go", "mod", "init", "samples")
	g.must(t, dir, nil, "go", "mod", "edit", "-require", "pressroom.example/pressroom/client@v0.0.0",
		"-replace", "pressroom.example/pressroom/client="+must.Get(filepath.Abs("../../client"))(t))
	g.must(t, dir, []string{"GOFLAGS=-mod=readonly", "GOPROXY=off"}, "go", "build", ".")
}

func TestSamplesInTypeScript(t *testing.T) {
	t.Parallel()
	needsTypeScript(t)
	dir := consumer(t)
	must.NoError(t, os.WriteFile(filepath.Join(dir, "import.ts"), join(
		"import type { Pressroom } from \"pressroom-client\";\n\ndeclare const pressroom: Pressroom;\n",
		"\nexport async function %s(): Promise<unknown> {\n\t%s\n\treturn answer;\n}\n", samples(t, "TypeScript")), 0o600))
	var g installation
	g.must(t, dir, nil, "npm", "run", "build")
}

func TestSamplesInPython(t *testing.T) {
	t.Parallel()
	python := requirePython(t)
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "samples.py"), join(
		"from pressroom import Pressroom\n",
		"\n\ndef %s(pressroom: Pressroom) -> object:\n\t%s\n\treturn response\n", samples(t, "Python")), 0o600))
	var g installation
	g.must(t, dir, []string{"MYPYPATH=" + must.Get(filepath.Abs(filepath.Join(pythonDir, "src")))(t)},
		python, "-m", "mypy", "--strict", "--cache-dir", t.TempDir(), "samples.py")
}

// The service accepts the request of every curl sample, except for nonexistent items and times in the past.
func TestSamplesWithCurl(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	dir := t.TempDir()
	of := samples(t, "Shell")
	must.NoError(t, os.WriteFile(filepath.Join(dir, "samples.sh"), join(
		"uuidgen() { cat /proc/sys/kernel/random/uuid; }\ncurl() { command curl -sS -o \"$name\" -w '%{exitcode}' \"$@\"; }\n",
		"name=%s\n%s\n", of), 0o600))
	g.must(t, dir, nil, "bash", "-eu", "samples.sh")
	for name := range of {
		var answer struct {
			Data    any
			Code    string
			Context struct{ Reason string }
		}
		raw := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		must.NoError(t, json.Unmarshal(raw, &answer))
		if answer.Data == nil && answer.Code != "not_found" && answer.Context.Reason != "in_the_past" {
			t.Errorf("%s: %s", name, raw)
		}
	}
}
