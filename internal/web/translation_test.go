package web_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/testkit/must"
)

// english are the folders that are not translated: the page of components is for developers, the reference is generated
// from the API description, and the guides are in English.
var english = []string{"components", "guides", "reference"}

// isTranslated reports whether a file below internal/web must be translated.
func isTranslated(path string) bool {
	folder, _, nested := strings.Cut(filepath.ToSlash(path), "/")
	if !nested {
		folder = "."
	}
	return !slices.Contains(english, folder)
}

// template functions that translate their first text argument, and those with a number and two forms.
var (
	translates = []string{"t", "th"}
	counts     = []string{"n", "nh"}
)

// templateTexts calls use for each string in the actions of a template: with key set if it is translated.
func templateTexts(t *testing.T, path string, use func(text string, key bool)) {
	t.Helper()
	trees := map[string]*parse.Tree{}
	tree := parse.New(path)
	tree.Mode = parse.SkipFuncCheck
	must.Get(tree.Parse(string(must.Get(os.ReadFile(path))(t)), "", "", trees))(t)
	for _, one := range trees {
		if one.Root != nil {
			walkTemplate(one.Root, use)
		}
	}
}

// notShown are functions whose text arguments are not displayed.
var notShown = []string{
	"icon", "asset", "eq", "ne", "and", "template", "spriteIcon", "spriteLogo", "sprite", "index", "state", "logo", "network",
}

func walkTemplate(node parse.Node, use func(text string, key bool)) {
	each := func(list *parse.ListNode) {
		if list != nil {
			for _, n := range list.Nodes {
				walkTemplate(n, use)
			}
		}
	}
	branch := func(b parse.BranchNode) {
		walkTemplate(b.Pipe, use)
		each(b.List)
		each(b.ElseList)
	}
	switch n := node.(type) {
	case *parse.ListNode:
		each(n)
	case *parse.IfNode:
		branch(n.BranchNode)
	case *parse.RangeNode:
		branch(n.BranchNode)
	case *parse.WithNode:
		branch(n.BranchNode)
	case *parse.ActionNode:
		walkTemplate(n.Pipe, use)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			walkTemplate(n.Pipe, use)
		}
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			walkCommand(c, use)
		}
	}
}

// walkCommand handles a command of a pipeline. A text alone, {{"OpenAPI"}}, is the same in all languages.
func walkCommand(c *parse.CommandNode, use func(text string, key bool)) {
	name := ""
	if id, ok := c.Args[0].(*parse.IdentifierNode); ok {
		name = id.Ident
	}
	for i, arg := range c.Args {
		text, ok := arg.(*parse.StringNode)
		switch {
		case !ok:
			walkTemplate(arg, use)
		case slices.Contains(translates, name):
			use(text.Text, i == 1)
		case slices.Contains(counts, name):
			if i != 2 {
				use(text.Text, i == 3)
			}
		case len(c.Args) == 1, slices.Contains(notShown, name), name == "bundle" && i%2 == 1:
		default:
			use(text.Text, false)
		}
	}
}

var (
	action    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	tag       = regexp.MustCompile(`(?s)<[^<>]*>`)
	entity    = regexp.MustCompile(`&\w+;`)
	attribute = regexp.MustCompile(`\s[a-z-]+="[^"<>\n]*"(?: autofocus)?`) // in a block for the inside of a tag
	letter    = regexp.MustCompile(`\pL`)
	readAloud = regexp.MustCompile(`\s(?:aria-label|placeholder|title|alt)="([^"]*)"`)
	pressed   = regexp.MustCompile(`<input[^<>]*type="(?:submit|button)"[^<>]*\svalue="([^"]*)"`)
	sentence  = regexp.MustCompile(`\pL \pL|^\p{Lu}\p{Ll}`)
)

// All texts in templates are translated.
func TestTemplatesTranslated(t *testing.T) {
	t.Parallel()
	eachTemplate(t, func(path string) {
		if !isTranslated(path) {
			return
		}
		source := action.ReplaceAllStringFunc(string(must.Get(os.ReadFile(path))(t)), func(found string) string {
			return "{" + strings.Repeat("\n", strings.Count(found, "\n")) + "}"
		})
		for _, found := range append(readAloud.FindAllStringSubmatch(source, -1), pressed.FindAllStringSubmatch(source, -1)...) {
			if letter.MatchString(found[1]) {
				t.Errorf("%s: the attribute %s is not translated", path, strings.TrimSpace(found[0]))
			}
		}
		for i, line := range strings.Split(tag.ReplaceAllStringFunc(source, func(found string) string {
			return "{}" + strings.Repeat("\n", strings.Count(found, "\n"))
		}), "\n") {
			line = attribute.ReplaceAllString(line, "")
			for _, text := range strings.FieldsFunc(line, func(c rune) bool { return c == '{' || c == '}' }) {
				if letter.MatchString(entity.ReplaceAllString(text, "")) && strings.TrimSpace(text) != "pressroom" {
					t.Errorf("%s:%d: %q is not translated", path, i+1, strings.TrimSpace(text))
				}
			}
		}
		templateTexts(t, path, func(text string, key bool) {
			if !key && sentence.MatchString(text) {
				t.Errorf("%s: the argument %q is not translated", path, text)
			}
		})
	})
}

// listed is a package as go list shows it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

// goKeys returns the texts in Go code that are translated, with the folders below internal that use them.
func goKeys(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", "../...")
	out, err := cmd.Output()
	must.NoError(t, err)
	exports, keys := map[string]string{}, map[string][]string{}
	var users []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if err == io.EOF {
			break
		}
		must.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if slices.Contains(p.Imports, "pressroom.example/pressroom/internal/locale") ||
			strings.HasPrefix(p.ImportPath, "pressroom.example/pressroom/internal/web") {
			users = append(users, p)
		}
	}
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range users {
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			parsed = append(parsed, must.Get(parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0))(t))
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		must.Get((&types.Config{Importer: from}).Check(p.ImportPath, files, parsed, info))(t)
		for _, file := range parsed {
			ast.Inspect(file, func(n ast.Node) bool {
				return noteKey(n, info, strings.TrimPrefix(p.ImportPath, "pressroom.example/pressroom/internal/"), keys)
			})
		}
	}
	return keys
}

// pluralArgs returns the arguments of a call that chooses between the singular and the plural of a text, or nil.
func pluralArgs(node ast.Node, info *types.Info) []ast.Expr {
	call, ok := node.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 {
		return nil
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "N" && f.Sel.Name != "NH" || !isKey(info.Types[call.Args[1]].Type) {
		return nil
	}
	return call.Args
}

// noteKey adds the key at a node, and reports whether nodes below it can have keys. The singular of a plural text is
// not a key.
func noteKey(node ast.Node, info *types.Info, folder string, keys map[string][]string) bool {
	if args := pluralArgs(node, info); args != nil {
		for _, arg := range slices.Delete(slices.Clone(args), 1, 2) {
			ast.Inspect(arg, func(n ast.Node) bool { return noteKey(n, info, folder, keys) })
		}
		return false
	}
	expr, ok := node.(ast.Expr)
	if !ok {
		return true
	}
	found := info.Types[expr]
	if found.Value == nil || !isKey(found.Type) {
		return true
	}
	if text := constant.StringVal(found.Value); text != "" {
		keys[text] = append(keys[text], folder)
	}
	return false
}

func isKey(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Key" && named.Obj().Pkg() != nil &&
		named.Obj().Pkg().Path() == "pressroom.example/pressroom/internal/locale"
}

// literals returns all texts in Go code below internal, for the details of errors.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	must.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		ast.Inspect(must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t), func(n ast.Node) bool {
			expr, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := joinLiterals(expr)
			if ok {
				out[text] = true
			}
			return !ok
		})
		return nil
	}))
	return out
}

// joinLiterals returns a text that may consist of several literals.
func joinLiterals(expr ast.Expr) (string, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, ok := joinLiterals(e.X)
		b, also := joinLiterals(e.Y)
		return a + b, ok && also
	case *ast.ParenExpr:
		return joinLiterals(e.X)
	}
	return "", false
}

// Every text has a German translation, and every translation is used.
func TestTranslationsComplete(t *testing.T) {
	t.Parallel()
	used := literals(t)
	eachTemplate(t, func(path string) {
		templateTexts(t, path, func(text string, key bool) {
			if !key {
				return
			}
			if used[text] = true; isTranslated(path) && !locale.German.Has(locale.Key(text)) {
				t.Errorf("%s: %q has no German translation", path, text)
			}
		})
	})
	keys := goKeys(t)
	if len(keys) < 100 {
		t.Errorf("only %d texts were found in Go code", len(keys))
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		used[key] = true
		needed := slices.IndexFunc(keys[key], func(folder string) bool {
			below, inWeb := strings.CutPrefix(folder+"/x.go", "web/")
			return !inWeb || isTranslated(below)
		})
		if needed >= 0 && !locale.German.Has(locale.Key(key)) {
			t.Errorf("%s: %q has no German translation", keys[key][needed], key)
		}
	}
	for _, key := range locale.German.Catalog() {
		if !used[string(key)] {
			t.Errorf("the German translation of %q is not used", key)
		}
	}
}
