// Command language checks the style of Go code: doc comments, function names that are past participles, the length of
// lines, files and packages, and phrases that CONTRIBUTING.md forbids in comments.
//
// Usage: language [-limits] [-wide NUMBER] FOLDER...
//
// It prints its findings and a summary. With -limits, it exits with status 1 if a limit is exceeded.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The minimum and maximum shares apply to all folders combined. The other limits apply to each line, file or package.
const (
	minReturns      = 0.15 // minimum share of function doc comments that begin with "returns" or "reports"
	maxParticiples  = 0.01 // maximum share of function names that are past participles
	maxLine         = 140
	preferredLine   = 120
	maxFileLines    = 400
	maxPackageLines = 5000
)

// phrases matches the phrases that must not occur in comments.
var phrases = regexp.MustCompile(
	`(?i)\b(tells? whether|says whether|tells? which|who(so)?ever|whatever|where (none|nil|0|not)\b|that is ` +
		`none|for want of|goes by|is no more)\b`)

// irregular lists past participles that do not end in -ed.
const irregular = `|begun|bound|broken|brought|built|bought|chosen|come|cut|done|drawn|driven|fallen|fed|felt|found|forgotten|` +
	`given|gone|gotten|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|put|read|run|` +
	`said|seen|sent|set|shown|shut|spent|split|spoken|stood|stolen|struck|stuck|sold|sought|taken|taught|thought|` +
	`thrown|told|torn|understood|woken|won|worn|written|`

// fine lists words that look like participles but are allowed because they are also imperatives, nouns or adjectives.
const fine = `|come|cut|feed|found|lead|left|put|read|run|set|shut|split|embed|exceed|need|proceed|seed|feed|shed|speed|` +
	`succeed|bed|red|led|hundred|fixed|id|bid|embed|unmixed|`

type counts struct {
	docs, returns, funcs, participles, lines, wide, wished, phrases, longFiles, longPackages int

	maxWide int // maximum number of lines longer than maxLine columns
}

func main() {
	limits := flag.Bool("limits", false, "exit with status 1 if a limit is exceeded")
	maxWide := flag.Int("wide", 20, "maximum `NUMBER` of lines longer than 140 columns")
	flag.Parse()
	c := counts{maxWide: *maxWide}
	for _, root := range flag.Args() {
		if err := c.folder(root); err != nil {
			fmt.Fprintln(os.Stderr, "language:", err)
			os.Exit(1)
		}
	}
	if exceeded := c.report(); exceeded && *limits {
		os.Exit(1)
	}
}

// folder measures every Go file below root.
func (c *counts) folder(root string) error {
	packages := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		lines, err := c.file(path)
		if !strings.HasSuffix(path, "_test.go") {
			packages[filepath.Dir(path)] += lines
		}
		return err
	})
	for dir, lines := range packages {
		if lines > maxPackageLines {
			c.longPackages++
			fmt.Printf("%s: package has %d lines\n", dir, lines)
		}
	}
	return err
}

// file measures one file and returns its number of lines. It skips generated files and returns 0 for them.
func (c *counts) file(path string) (int, error) {
	src, err := os.ReadFile(path) //nolint:gosec // the caller chooses the files
	if err != nil {
		return 0, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		return 0, err
	}
	if ast.IsGenerated(file) {
		return 0, nil
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			for _, phrase := range phrases.FindAllString(comment.Text, -1) {
				c.phrases++
				fmt.Printf("%s: comment contains the forbidden phrase %q\n", set.Position(comment.Pos()), phrase)
			}
		}
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			c.function(set, fn)
		}
	}
	return c.width(path, string(src)), nil
}

func (c *counts) function(set *token.FileSet, fn *ast.FuncDecl) {
	name := fn.Name.Name
	c.funcs++
	if participle(name) {
		c.participles++
		fmt.Printf("%s: function name %s is a participle\n", set.Position(fn.Pos()), name)
	}
	doc := fn.Doc.Text()
	if doc == "" {
		return
	}
	c.docs++
	if rest, ok := strings.CutPrefix(doc,
		name+" "); ok && (strings.HasPrefix(rest, "returns") || strings.HasPrefix(rest, "reports")) {
		c.returns++
	}
}

// participle reports whether name is a past participle without any other word.
func participle(name string) bool {
	word := strings.ToLower(name)
	if name == "" || strings.ToLower(name[1:]) != name[1:] || strings.Contains(fine, "|"+word+"|") {
		return false
	}
	return strings.HasSuffix(word, "ed") || strings.Contains(irregular, "|"+word+"|")
}

// width counts the lines and the long lines of a file, and returns the number of lines.
func (c *counts) width(path, src string) int {
	n := 0
	for line := range strings.Lines(src) {
		n++
		wide := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "))
		if wide > preferredLine {
			c.wished++
		}
		if wide > maxLine {
			c.wide++
			fmt.Printf("%s:%d: line has %d columns\n", path, n, wide)
		}
	}
	c.lines += n
	if n > maxFileLines {
		c.longFiles++
		fmt.Printf("%s: file has %d lines\n", path, n)
	}
	return n
}

// report prints the summary and reports whether a limit is exceeded.
func (c *counts) report() bool {
	returns, participles := share(c.returns, c.docs), share(c.participles, c.funcs)
	fmt.Printf("%d functions: %d names are participles (%.1f%%, maximum %.0f%%)\n", c.funcs, c.participles,
		100*participles, 100*maxParticiples)
	fmt.Printf("%d function doc comments: %d begin with \"returns\" or \"reports\" (%.1f%%, minimum %.0f%%)\n", c.docs,
		c.returns, 100*returns, 100*minReturns)
	fmt.Printf("%d lines: %d longer than %d columns (maximum %d), %d longer than %d columns (%.1f%%)\n",
		c.lines, c.wide, maxLine, c.maxWide, c.wished, preferredLine, 100*share(c.wished, c.lines))
	fmt.Printf("%d forbidden phrases, %d files longer than %d lines, %d packages longer than %d lines (maximum 0 each)\n",
		c.phrases, c.longFiles, maxFileLines, c.longPackages, maxPackageLines)
	return returns < minReturns || participles > maxParticiples || c.wide > c.maxWide ||
		c.phrases+c.longFiles+c.longPackages > 0
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}
