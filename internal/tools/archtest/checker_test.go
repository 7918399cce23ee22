package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "pressroom.example/pressroom"

// rule forbids packages in from, except notFrom, to import packages in to, except notTo. It covers test files only
// if inTests is true.
type rule struct {
	from, notFrom []string
	to, notTo     []string
	inTests       bool
	reason        string
}

// exception permits an import that a rule forbids.
type exception struct{ from, to, reason string }

// dependency is an import of a file. Packages of this module have paths relative to its root.
type dependency struct {
	from, to, file string
	test           bool
	constants      bool // of net/http, only constants for methods and statuses are used
}

// graph has the packages and imports of the module, regardless of build constraints.
type graph struct {
	packages map[string]bool
	imports  []dependency
}

func names(n ...string) []string { return n }

// read returns the graph of all Go files below the module's root, except other modules and testdata.
func read(root string) (graph, error) {
	g := graph{packages: map[string]bool{}}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && outside(file, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return g.add(file, filepath.ToSlash(rel))
	})
	return g, err
}

func outside(dir, name string) bool {
	own, _ := filepath.Glob(filepath.Join(dir, "go.mod")) // The pattern is valid.
	return len(own) > 0 || name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".")
}

func (g *graph) add(file, rel string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading %s: %w", rel, err)
	}
	from := path.Dir(rel)
	g.packages[from] = true
	for _, spec := range parsed.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("reading %s: %w", rel, err)
		}
		to = strings.TrimPrefix(to, module+"/")
		g.imports = append(g.imports, dependency{from: from, to: to, file: rel, test: strings.HasSuffix(rel, "_test.go"),
			constants: path.Base(rel) == "operations.go" && to == "net/http" && onlyConstants(parsed)})
	}
	return nil
}

// onlyConstants reports whether a file uses only methods and statuses of package http.
func onlyConstants(file *ast.File) bool {
	only := true
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" &&
			!strings.HasPrefix(s.Sel.Name, "Method") && !strings.HasPrefix(s.Sel.Name, "Status") {
			only = false
		}
		return true
	})
	return only
}

// check returns all forbidden imports, and all names and exceptions in the rules that are out of date.
func check(g graph, layers map[string][]string, rules []rule, exceptions []exception) []string {
	c := checker{graph: g, layers: layers, used: map[exception]bool{}}
	c.checkLayers()
	for _, r := range rules {
		c.checkNames(r)
		c.checkImports(r, exceptions)
	}
	for _, e := range exceptions {
		if !c.used[e] {
			c.addf("the exception %s -> %s is unused: remove it", e.from, e.to)
		}
	}
	slices.Sort(c.violations)
	return slices.Compact(c.violations)
}

type checker struct {
	graph
	layers     map[string][]string
	used       map[exception]bool
	violations []string
}

func (c *checker) addf(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

// checkLayers checks that each package below internal/ is in one layer, and that all packages of the layers exist.
func (c *checker) checkLayers() {
	layerOf := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.layers)) {
		for _, p := range c.layers[name] {
			if layerOf[p] != "" {
				c.addf("%s is in two layers, %s and %s", p, layerOf[p], name)
			}
			if !c.packages[p] {
				c.addf("the layer %s has %s, which does not exist", name, p)
			}
			layerOf[p] = name
		}
	}
	for p := range c.packages {
		if strings.HasPrefix(p, "internal/") && layerOf[p] == "" {
			c.addf("%s is in no layer: add it to layers", p)
		}
	}
}

// checkNames checks that all names in a rule exist, because a rule with an unknown name would forbid nothing.
func (c *checker) checkNames(r rule) {
	if r.reason == "" {
		c.addf("the rule against %v -> %v has no reason", r.from, r.to)
	}
	for _, name := range slices.Concat(r.from, r.notFrom, r.to, r.notTo) {
		_, isLayer := c.layers[name]
		known := isLayer || c.packages[name]
		for p := range c.packages {
			known = known || c.names(name, p)
		}
		for _, a := range c.imports {
			known = known || c.names(name, a.to)
		}
		if !known {
			c.addf("a rule names %s, which does not exist", name)
		}
	}
}

func (c *checker) checkImports(r rule, exceptions []exception) {
	for _, a := range c.imports {
		switch {
		case a.from == a.to || a.constants || a.test && !r.inTests:
		case !c.any(r.from, a.from) || c.any(r.notFrom, a.from) || !c.any(r.to, a.to) || c.any(r.notTo, a.to):
		case c.isAllowed(a, exceptions):
		default:
			c.addf("%s imports %s: %s", a.file, a.to, r.reason)
		}
	}
}

func (c *checker) isAllowed(a dependency, exceptions []exception) bool {
	for _, e := range exceptions {
		if e.from == a.from && c.names(e.to, a.to) && e.reason != "" {
			c.used[e] = true
			return true
		}
	}
	return false
}

func (c *checker) any(list []string, p string) bool {
	return slices.ContainsFunc(list, func(name string) bool { return c.names(name, p) })
}

// names reports whether a name in the rules includes a package.
func (c *checker) names(name, p string) bool {
	if members, ok := c.layers[name]; ok {
		return slices.Contains(members, p)
	}
	if name == "ours" {
		return c.packages[p]
	}
	if folder, ok := strings.CutSuffix(name, "/..."); ok {
		return p == folder || strings.HasPrefix(p, folder+"/")
	}
	// Another module includes all its packages.
	return p == name || strings.Contains(strings.SplitN(name, "/", 2)[0], ".") && strings.HasPrefix(p, name+"/")
}
