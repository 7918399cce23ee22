package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// The parts of a CycloneDX 1.6 document in a bill of materials.
type (
	billDocument struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		Purl       string     `json:"purl,omitempty"`
		Licences   []licensed `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	licensed struct {
		Licence struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn,omitempty"`
	}
)

// bill returns the bill of materials of a program as CycloneDX (ECMA-424) JSON, from the build information in the
// executable. It has no time or serial number, so it depends only on the program.
func bill(path string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the build information of %s: %w", path, err)
	}
	var env []string
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED"}, s.Key) {
			env = append(env, s.Key+"="+s.Value)
		}
	}
	modules, err := modulesOf(".", env, "./cmd/...")
	if err != nil {
		return nil, err
	}
	dirs := map[string]module{}
	for _, m := range modules {
		dirs[m.Path] = m
	}
	main := component{
		Type: "application", Ref: "pkg:golang/" + info.Main.Path, Name: info.Main.Path, Version: info.Main.Version,
		Properties: settings(info),
	}
	main.Licences = []licensed{spdx("Apache-2.0")}
	doc := billDocument{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main}}
	on := dependency{Ref: main.Ref}
	for _, m := range append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...) {
		if m.Replace != nil && strings.HasPrefix(m.Replace.Path, "./") {
			continue // a module of this repository
		}
		c, err := componentOf(m, dirs)
		if err != nil {
			return nil, err
		}
		doc.Components = append(doc.Components, c)
		on.On = append(on.On, c.Ref)
	}
	doc.Dependencies = []dependency{on}
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the bill: %w", err)
	}
	return append(raw, '\n'), nil
}

func componentOf(m *debug.Module, dirs map[string]module) (component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	ref := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{Type: "library", Ref: ref, Name: m.Path, Version: m.Version, Purl: ref}
	name := "BSD-3-Clause" // Go's standard library
	if m.Path != "std" {
		c.Properties = []property{{"go:sum", m.Sum}}
		known, ok := dirs[m.Path]
		if !ok {
			return c, fmt.Errorf("the program contains %s, which the module does not require", m.Path)
		}
		var err error
		if name, err = known.licence(); err != nil {
			return c, err
		}
	}
	c.Licences = []licensed{spdx(name)}
	return c, nil
}

func spdx(name string) licensed {
	var l licensed
	l.Licence.ID = name
	return l
}

// settings returns the build settings that affect the result.
func settings(info *debug.BuildInfo) []property {
	out := []property{{"go:version", info.GoVersion}}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || strings.HasPrefix(s.Key, "CGO_E") || strings.HasPrefix(s.Key, "vcs.") || s.Key == "-tags" {
			out = append(out, property{"go:build:" + s.Key, s.Value})
		}
	}
	return out
}
