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

// Accepted licenses by SPDX identifier. Licenses of linked modules and tests must leave users free to run and change
// the program; a tool runs separately and has no such effect.
var (
	taken      = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "0BSD", "Unlicense", "CC0-1.0"}
	takenTools = append([]string{"GPL-3.0", "LGPL-3.0"}, taken...)
)

// unnamed are modules without a license file, with the license and the reason.
var unnamed = map[string]string{
	"github.com/golangci/gofmt": "BSD-3-Clause", // a copy of gofmt, as its files say
}

// licences holds every module that a package of ours needs, for tests too, against the list, and those of the tools.
func licences(to io.Writer) error {
	var found []error
	for _, set := range []struct {
		name, dir string
		args      []string
		taken     []string
	}{
		{"program and tests", ".", []string{"-test", "./..."}, taken},
		{"tools", "tools", []string{"tool"}, takenTools},
	} {
		modules, err := modulesOf(set.dir, set.args...)
		if err != nil {
			return err
		}
		counts := map[string]int{}
		for _, m := range modules {
			name, err := m.licence()
			if err == nil && !slices.Contains(set.taken, name) {
				err = fmt.Errorf("%s is under %s, which is not on the list", m.Path, name)
			}
			found = append(found, err)
			counts[name]++
		}
		fmt.Fprintf(to, "licences: %d modules of the %s: %v\n", len(modules), set.name, counts)
	}
	return errors.Join(found...)
}

// modulesOf returns the modules that packages need, without our own.
func modulesOf(dir string, args ...string) ([]module, error) {
	cmd := exec.Command("go",
		append([]string{
			"list", "-deps", "-f",
			`{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}` +
				`{"Path":"{{.Path}}","Version":"{{.Version}}","Dir":"{{.Dir}}"}{{end}}{{end}}`,
		}, args...)...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing modules: %w: %s", err, said.String())
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

// licence returns the name of a module's license: the first known one if there are several.
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
			return "", fmt.Errorf("reading the licence of %s: %w", m.Path, err)
		}
		if name := licenceOf(string(text)); name != "" {
			return name, nil
		}
	}
	if name, ok := unnamed[m.Path]; ok {
		return name, nil
	}
	return "", fmt.Errorf("the licence of %s is not known: read it", m.Path)
}

// titles are the beginnings of licenses, because some licenses mention others later.
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

// beginning is the number of bytes in which a license's title must be.
const beginning = 800

// marks are words of short licences, each less than those before it.
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
	head := text[:min(len(text), beginning)]
	for _, title := range titles {
		if strings.Contains(head, title.words) {
			return title.name
		}
	}
	for _, mark := range marks {
		if !slices.ContainsFunc(mark.has, func(words string) bool { return !strings.Contains(text, words) }) {
			return mark.name
		}
	}
	return ""
}
