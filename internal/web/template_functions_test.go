package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

var (
	literal    = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	identifier = regexp.MustCompile(`(?:^|[^.$\w])([a-z]\w*)`)
)

// Every function of a package's templates is used in one of them. The functions of the shell are for all packages.
func TestTemplateFunctionsUsed(t *testing.T) {
	t.Parallel()
	used := map[string]map[string]bool{}
	eachTemplate(t, func(path string) {
		for _, folder := range []string{filepath.Dir(filepath.Dir(path)), "shell"} {
			if used[folder] == nil {
				used[folder] = map[string]bool{}
			}
			for _, found := range action.FindAllString(string(must.Get(os.ReadFile(path))(t)), -1) {
				for _, name := range identifier.FindAllStringSubmatch(literal.ReplaceAllString(found, ""), -1) {
					used[folder][name[1]] = true
				}
			}
		}
	})
	for _, folder := range slices.Sorted(maps.Keys(used)) {
		files := must.Get(filepath.Glob(filepath.Join(folder, "*.go")))(t)
		for _, path := range files {
			for _, name := range templateFunctions(t, path) {
				if !used[folder][name] {
					t.Errorf("%s: no template uses the function %s", path, name)
				}
			}
		}
	}
}

// templateFunctions returns the keys of each template.FuncMap in a file.
func templateFunctions(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	ast.Inspect(must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t), func(n ast.Node) bool {
		funcs, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := funcs.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "FuncMap" {
			return true
		}
		for _, entry := range funcs.Elts {
			if pair, ok := entry.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.BasicLit); ok {
					out = append(out, must.Get(strconv.Unquote(key.Value))(t))
				}
			}
		}
		return true
	})
	return out
}
