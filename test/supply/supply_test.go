package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Every module has an accepted license. Texts of other licenses are not mistaken for accepted ones.
func TestLicenses(t *testing.T) {
	t.Chdir("../..")
	modules, err := modulesOf(".", nil, "-test", "./...")
	if err != nil || len(modules) < 50 {
		t.Fatalf("%d modules (%v)", len(modules), err)
	}
	for _, m := range modules {
		if name, err := m.licence(); err != nil || !slices.Contains(accepted, name) {
			t.Errorf("%s: %q (%v)", m.Path, name, err)
		}
	}
	for text, want := range map[string]string{
		"GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3": "AGPL-3.0",
		"GNU GENERAL PUBLIC LICENSE\n Version 3":        "GPL-3.0", "Business Source License 1.1": "BUSL-1.1",
		"Mozilla Public License Version 2.0 " + strings.Repeat("x",
			900) + " GNU Affero General Public License": "MPL-2.0", "All rights reserved.": "",
	} {
		if got := licenceOf(text); got != want || slices.Contains(accepted, got) != (want == "MPL-2.0") {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}

// A release is built without cgo and therefore uses another SQLite driver.
func TestModulesWithoutCgo(t *testing.T) {
	t.Chdir("../..")
	for value, driver := range map[string]string{"0": "modernc.org/sqlite", "1": "github.com/mattn/go-sqlite3"} {
		modules := must.Get(modulesOf(".", []string{"CGO_ENABLED=" + value}, "./cmd/..."))(t)
		if !slices.ContainsFunc(modules, func(m module) bool { return m.Path == driver }) {
			t.Errorf("CGO_ENABLED=%s: %s is missing", value, driver)
		}
	}
}

// A bill of materials lists every linked module with its license and checksum, and is reproducible.
func TestSBOM(t *testing.T) {
	t.Chdir("../..")
	program := filepath.Join(t.TempDir(), "pressroom")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/pressroom").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	raw := must.Get(bill(program))(t)
	if again, err := bill(program); err != nil || string(again) != string(raw) {
		t.Errorf("the second bill differs (%v)", err)
	}
	var doc billDocument
	must.NoError(t, json.Unmarshal(raw, &doc))
	out := must.Get(exec.Command("go", "version", "-m", program).Output())(t)
	linked := strings.Count(string(out), "\n\tdep\t") - strings.Count(string(out), "\n\t=>\t./")
	if len(doc.Components) != linked+1 || linked < 20 || len(doc.Dependencies[0].On) != linked+1 {
		t.Errorf("%d components, want %d modules and the standard library", len(doc.Components), linked)
	}
	for _, c := range doc.Components {
		if c.Version == "" || len(c.Licences) != 1 || !slices.Contains(accepted, c.Licences[0].Licence.ID) ||
			c.Name != "std" && !strings.HasPrefix(c.Properties[0].Value, "h1:") {
			t.Errorf("%+v", c)
		}
	}
	if _, err := componentOf(&debug.Module{Path: "elsewhere.example/x", Version: "v1.0.0"}, nil); err == nil {
		t.Error("an unknown module was accepted")
	}
}

// Packages are reported if they are not pinned, or if their installed version differs from the lock file.
func TestPackages(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package-lock.json": `{"lockfileVersion":3,"packages":{"":{},` +
			`"node_modules/a":{"version":"1.0.0","integrity":"sha512-x"},"node_modules/@b/c":{"version":"1.0.0",` +
			`"integrity":"sha1-x"},"../d":{"version":"1.0.0"},"node_modules/d":{"link":true}}}`,
		"node_modules/a/package.json":         `{"version":"1.0.1"}`,
		"node_modules/@b/c/package.json":      `{"version":"1.0.0"}`,
		"node_modules/d/package.json":         `{"version":"1.0.0"}`,
		"node_modules/stranger/package.json":  `{"version":"1.0.0"}`,
		"node_modules/.package-lock.json":     `{}`,
		"node_modules/@b/other/package.json":  `{"version":"1.0.0"}`,
		"node_modules/.bin/whatever/index.js": ``,
	} {
		path := filepath.Join(dir, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	raw := must.Get(os.ReadFile(filepath.Join(dir, "package-lock.json")))(t)
	var lock lockFile
	must.NoError(t, json.Unmarshal(raw, &lock))
	installed, wrong := lock.check(dir)
	if installed != 1 || len(wrong) != 4 {
		t.Errorf("%d installed, %v", installed, wrong)
	}
}
