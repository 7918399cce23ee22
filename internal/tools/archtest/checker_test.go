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

const module = "pressroom"

// rule forbids who, but for notWho, to import what, but for notWhat. Test files are free unless inTests.
type rule struct {
	who, notWho   []string
	what, notWhat []string
	inTests       bool
	why           string
}

// exception allows one package one import against the rules.
type exception struct{ from, to, why string }

// arrow is one import of one file. Packages of ours are named from the module's root.
type arrow struct {
	from, to, file string
	test           bool
	words          bool // of net/http only the names of methods and statuses are used
}

// graph is the module as it is written, whatever the build constraints.
type graph struct {
	packages map[string]bool
	arrows   []arrow
}

func names(n ...string) []string { return n }

// read reads every Go file below the module's root, but for those of other modules and of testdata.
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
	own, _ := filepath.Glob(filepath.Join(dir, "go.mod")) // the pattern is well formed
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
		g.arrows = append(g.arrows, arrow{from: from, to: to, file: rel, test: strings.HasSuffix(rel, "_test.go"),
			words: path.Base(rel) == "operations.go" && to == "net/http" && onlyWords(parsed)})
	}
	return nil
}

// onlyWords tells whether a file uses only methods and statuses of package http.
func onlyWords(file *ast.File) bool {
	only := true
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" && !strings.HasPrefix(s.Sel.Name,
			"Method") && !strings.HasPrefix(s.Sel.Name, "Status") {
			only = false
		}
		return true
	})
	return only
}

// check gives a complaint for every arrow that is forbidden, and for everything in the rules that has gone stale.
func check(g graph, rooms map[string][]string, rules []rule, exceptions []exception) []string {
	c := checker{graph: g, rooms: rooms, used: map[exception]bool{}}
	c.furnish()
	for _, r := range rules {
		c.namesStand(r)
		c.follow(r, exceptions)
	}
	for _, e := range exceptions {
		if !c.used[e] {
			c.complainf("the exception %s -> %s is not used any more: take it away", e.from, e.to)
		}
	}
	slices.Sort(c.complaints)
	return slices.Compact(c.complaints)
}

type checker struct {
	graph
	rooms      map[string][]string
	used       map[exception]bool
	complaints []string
}

func (c *checker) complainf(format string, args ...any) {
	c.complaints = append(c.complaints, fmt.Sprintf(format, args...))
}

// furnish sees that each package below internal/ is in one room, and that the rooms hold nothing else.
func (c *checker) furnish() {
	room := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.rooms)) {
		for _, p := range c.rooms[name] {
			if room[p] != "" {
				c.complainf("%s is in two rooms, %s and %s", p, room[p], name)
			}
			if !c.packages[p] {
				c.complainf("the room %s names %s, which does not exist any more", name, p)
			}
			room[p] = name
		}
	}
	for p := range c.packages {
		if strings.HasPrefix(p, "internal/") && room[p] == "" {
			c.complainf("%s is in no room: say in rooms where it belongs", p)
		}
	}
}

// namesStand sees that a rule names nothing that is gone: it would forbid nothing then.
func (c *checker) namesStand(r rule) {
	if r.why == "" {
		c.complainf("the rule against %v -> %v has no reason", r.who, r.what)
	}
	for _, name := range slices.Concat(r.who, r.notWho, r.what, r.notWhat) {
		_, isRoom := c.rooms[name]
		known := isRoom || c.packages[name]
		for p := range c.packages {
			known = known || c.names(name, p)
		}
		for _, a := range c.arrows {
			known = known || c.names(name, a.to)
		}
		if !known {
			c.complainf("a rule names %s, which does not exist any more", name)
		}
	}
}

func (c *checker) follow(r rule, exceptions []exception) {
	for _, a := range c.arrows {
		switch {
		case a.from == a.to || a.words || a.test && !r.inTests:
		case !c.any(r.who, a.from) || c.any(r.notWho, a.from) || !c.any(r.what, a.to) || c.any(r.notWhat, a.to):
		case c.excepted(a, exceptions):
		default:
			c.complainf("%s imports %s: %s", a.file, a.to, r.why)
		}
	}
}

func (c *checker) excepted(a arrow, exceptions []exception) bool {
	for _, e := range exceptions {
		if e.from == a.from && c.names(e.to, a.to) && e.why != "" {
			c.used[e] = true
			return true
		}
	}
	return false
}

func (c *checker) any(list []string, p string) bool {
	return slices.ContainsFunc(list, func(name string) bool { return c.names(name, p) })
}

// names tells whether a name of the rules means a package.
func (c *checker) names(name, p string) bool {
	if members, ok := c.rooms[name]; ok {
		return slices.Contains(members, p)
	}
	if name == "ours" {
		return c.packages[p]
	}
	if folder, ok := strings.CutSuffix(name, "/..."); ok {
		return p == folder || strings.HasPrefix(p, folder+"/")
	}
	// A module of others stands for all its packages.
	return p == name || strings.Contains(strings.SplitN(name, "/", 2)[0], ".") && strings.HasPrefix(p, name+"/")
}
