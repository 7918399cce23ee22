package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folders lists the folders with npm packages, which are for tests, tools, clients, an example and an integration. The
// program contains none of these packages.
var folders = []string{
	"test/bluesky-server", "test/browser", "test/contract", "test/tools", "clients/typescript", "examples/import-pictures",
	"integrations/n8n-nodes-pressroom",
}

// lockFile holds the relevant parts of a package-lock.json (version 3).
type lockFile struct {
	Version  int `json:"lockfileVersion"`
	Packages map[string]struct {
		Version   string
		Integrity string
		Link      bool
	}
}

// packages checks that the lock files pin each package by its SHA-512, and that the installed packages match the lock
// files.
func packages(to io.Writer, root string) error {
	var found []error
	for _, folder := range folders {
		dir := filepath.Join(root, folder)
		raw, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
		if err != nil {
			return fmt.Errorf("reading the lock file of %s: %w", folder, err)
		}
		var lock lockFile
		if err := json.Unmarshal(raw, &lock); err != nil {
			return fmt.Errorf("reading the lock file of %s: %w", folder, err)
		}
		installed, wrong := lock.check(dir)
		for _, err := range wrong {
			found = append(found, fmt.Errorf("%s: %w", folder, err))
		}
		fmt.Fprintf(to, "packages: %s: %d pinned, %d installed\n", folder, len(lock.Packages)-1, installed)
	}
	return errors.Join(found...)
}

func (l lockFile) check(dir string) (int, []error) {
	var wrong []error
	if l.Version < 3 || len(l.Packages) < 2 {
		wrong = append(wrong, errors.New("the lock file is empty or has an unknown version"))
	}
	installed := 0
	for path, p := range l.Packages {
		if path == "" || p.Link || strings.HasPrefix(path, "../") { // The folder itself, or another folder of this repository.
			continue
		}
		if !strings.HasPrefix(p.Integrity, "sha512-") {
			wrong = append(wrong, fmt.Errorf("%s is not pinned by its SHA-512", path))
		}
		version, err := versionIn(filepath.Join(dir, path))
		switch {
		case errors.Is(err, os.ErrNotExist): // The package is for another system, or not installed.
		case err != nil:
			wrong = append(wrong, err)
		case version != p.Version:
			wrong = append(wrong, fmt.Errorf("%s has version %s instead of %s", path, version, p.Version))
		default:
			installed++
		}
	}
	for _, path := range topPackages(filepath.Join(dir, "node_modules")) {
		if _, known := l.Packages["node_modules/"+path]; !known {
			wrong = append(wrong, fmt.Errorf("%s is installed but not in the lock file", path))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return installed, wrong
}

func versionIn(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", fmt.Errorf("reading a package: %w", err)
	}
	var p struct{ Version string }
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", fmt.Errorf("reading %s: %w", dir, err)
	}
	return p.Version, nil
}

// topPackages returns the packages directly in a folder, including scoped packages.
func topPackages(dir string) []string {
	var out []string
	entries, _ := os.ReadDir(dir) // The folder does not exist if nothing is installed.
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.HasPrefix(name, "."):
		case strings.HasPrefix(name, "@"):
			below, _ := os.ReadDir(filepath.Join(dir, name))
			for _, scoped := range below {
				out = append(out, name+"/"+scoped.Name())
			}
		default:
			out = append(out, name)
		}
	}
	return out
}
