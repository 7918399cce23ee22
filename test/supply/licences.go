package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a dependency as listed by the go command.
type module struct{ Path, Version, Dir string }

// Accepted licenses by SPDX identifier. Licenses of linked modules and tests must let users run and change the
// program freely. Tools run separately and need no such license.
var (
	accepted      = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "0BSD", "Unlicense", "CC0-1.0"}
	acceptedTools = append([]string{"GPL-3.0", "LGPL-3.0"}, accepted...)
)

// withoutFile are the licenses of modules without a license file, with the reason.
var withoutFile = map[string]string{
	"github.com/golangci/gofmt": "BSD-3-Clause", // a copy of gofmt, as its files say
}

// licences checks the licenses of all modules of the program, the tests and the tools.
func licences(to io.Writer) error {
	var found []error
	for _, set := range []struct {
		name, dir string
		env, args []string
		accepted  []string
	}{
		{"program and tests", ".", nil, []string{"-test", "./..."}, accepted},
		{"released program", ".", []string{"CGO_ENABLED=0"}, []string{"./cmd/..."}, accepted},
		{"tools", "tools", nil, []string{"tool"}, acceptedTools},
	} {
		modules, err := modulesOf(set.dir, set.env, set.args...)
		if err != nil {
			return err
		}
		counts := map[string]int{}
		for _, m := range modules {
			name, err := m.licence()
			if err == nil && !slices.Contains(set.accepted, name) {
				err = fmt.Errorf("%s has the license %s, which is not accepted", m.Path, name)
			}
			found = append(found, err)
			counts[name]++
		}
		fmt.Fprintf(to, "licences: %d modules of the %s: %v\n", len(modules), set.name, counts)
	}
	return errors.Join(found...)
}

// modulesOf returns the modules that packages depend on, except modules of this repository. env has variables for
// the go command, because the operating system and cgo determine which modules are linked.
func modulesOf(dir string, env []string, args ...string) ([]module, error) {
	cmd := exec.Command("go",
		append([]string{
			"list", "-deps", "-f",
			`{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}` +
				`{"Path":"{{.Path}}","Version":"{{.Version}}","Dir":"{{.Dir}}"}{{end}}{{end}}`,
		}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing modules: %w: %s", err, stderr.String())
	}
	var modules []module
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		var m module
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, fmt.Errorf("reading a module: %w", err)
		}
		if !slices.Contains(modules, m) {
			modules = append(modules, m)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licence returns the name of a module's license. If there are several, it returns the first known one.
func (m module) licence() (string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return "", fmt.Errorf("%s is not in the module cache: %w", m.Path, err)
	}
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, entry.Name()))
		if err != nil {
			return "", fmt.Errorf("reading the license of %s: %w", m.Path, err)
		}
		if name := licenceOf(string(text)); name != "" {
			return name, nil
		}
	}
	if name, ok := withoutFile[m.Path]; ok {
		return name, nil
	}
	return "", fmt.Errorf("unknown license of %s: read it and add it", m.Path)
}

// titles are the beginnings of licenses. Only beginnings count, because some licenses mention others later.
var titles = []struct{ name, words string }{
	{"AGPL-3.0", "gnu affero general public license"},
	{"LGPL-3.0", "gnu lesser general public license"},
	{"GPL-3.0", "gnu general public license version 3"},
	{"GPL-2.0", "gnu general public license"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"SSPL-1.0", "server side public license"},
	{"BUSL-1.1", "business source license"},
	{"Apache-2.0", "apache license version 2.0"},
	{"Apache-2.0", "apache license, version 2.0"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

// maxTitle is the number of bytes from the start of a license that must contain its title.
const maxTitle = 800

// marks are words that identify licenses without a title. The order matters, because a license may contain all words
// of a later one.
var marks = []struct {
	name string
	has  []string
}{
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "may not be used to endorse or promote"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge", "substantial portions of the software"}},
	{"MIT-0", []string{"permission is hereby granted, free of charge"}},
	{"ISC", []string{
		"permission to use, copy, modify, and", "distribute this software for any purpose",
		"copyright notice and this permission notice appear",
	}},
	{"0BSD", []string{"permission to use, copy, modify, and/or distribute this software for any purpose"}},
}

// licenceOf returns the name of a license by its text, or "" if it is unknown.
func licenceOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	head := text[:min(len(text), maxTitle)]
	for _, title := range titles {
		if strings.Contains(head, title.words) {
			return title.name
		}
	}
	for _, m := range marks {
		if !slices.ContainsFunc(m.has, func(words string) bool { return !strings.Contains(text, words) }) {
			return m.name
		}
	}
	return ""
}
