// Command site writes the Markdown files in docs/ as a static site with navigation and search:
//
//	go -C tools/site run . ../../docs ../../build/site
package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	stdhtml "html"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html style.css search.js
var files embed.FS

// defaultSource is the address of the repository's files, for links that leave docs/. SITE_SOURCE replaces it.
const defaultSource = "https://pressroom.example/pressroom"

var layout = template.Must(template.ParseFS(files, "page.html"))

// page is a page of the site.
type page struct {
	Path    string // of the HTML file, with slashes
	Title   string
	Section string
	Body    template.HTML
	Text    string // for the search
	IDs     []string
	Links   []string // relative ones, as in the source
}

// sections are the folders of docs/ in the order of the navigation.
var sections = []struct{ folder, title string }{{".", "Guides"}, {"networks", "Networks"}, {"adr", "Decisions"}}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site DOCS OUT")
		os.Exit(2)
	}
	if err := write(os.DirFS(os.Args[1]), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the site to a folder.
func write(docs fs.FS, out string) error {
	pages, err := read(docs)
	if err != nil {
		return err
	}
	var index []map[string]string
	for _, p := range pages {
		root := strings.Repeat("../", strings.Count(p.Path, "/"))
		var html bytes.Buffer
		if err := layout.Execute(&html, map[string]any{"Page": p, "Pages": pages, "Root": root}); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if err := writeFile(out, p.Path, html.Bytes()); err != nil {
			return err
		}
		index = append(index, map[string]string{"path": p.Path, "title": p.Title, "text": p.Text})
	}
	raw, err := json.Marshal(index)
	if err != nil {
		return fmt.Errorf("encoding the index: %w", err)
	}
	for name, content := range map[string][]byte{
		"index.html": []byte(`<!doctype html><meta charset="utf-8"><title>pressroom</title>` +
			`<meta http-equiv="refresh" content="0; url=app.html">`),
		"index.json": raw, "style.css": must(files.ReadFile("style.css")), "search.js": must(files.ReadFile("search.js")),
	} {
		if err := writeFile(out, name, content); err != nil {
			return err
		}
	}
	return nil
}

func must(content []byte, err error) []byte {
	if err != nil {
		panic(err) // the files are embedded
	}
	return content
}

func writeFile(out, name string, content []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// read returns the pages in the order of the navigation.
func read(docs fs.FS) ([]page, error) {
	var pages []page
	for _, s := range sections {
		names, err := fs.Glob(docs, path.Join(s.folder, "*.md"))
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			source, err := fs.ReadFile(docs, name)
			if err != nil {
				return nil, err
			}
			p, err := render(name, source)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			p.Section = s.title
			pages = append(pages, p)
		}
	}
	return pages, nil
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// render returns the page of a Markdown file. Links between files lead to pages.
func render(name string, source []byte) (page, error) {
	p := page{Path: strings.TrimSuffix(name, ".md") + ".html"}
	tree := markdown.Parser().Parse(text.NewReader(source))
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			raw, _ := id.([]byte)
			p.IDs = append(p.IDs, string(raw))
			if n.Level == 1 && p.Title == "" {
				p.Title = string(n.Lines().Value(source))
			}
		case *ast.Link:
			n.Destination = []byte(p.link(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return p, err
	}
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, tree); err != nil {
		return p, err
	}
	p.Body = template.HTML(html.String()) //nolint:gosec // from the repository
	p.Text = strings.Join(strings.Fields(stdhtml.UnescapeString(tags.ReplaceAllString(html.String(), " "))), " ")
	return p, nil
}

// link returns the link of the site for a link of the source, which it records.
func (p *page) link(to string) string {
	if scheme.MatchString(to) {
		return to
	}
	p.Links = append(p.Links, to)
	file, fragment, _ := strings.Cut(to, "#")
	if outside, ok := strings.CutPrefix(path.Join(path.Dir(p.Path), file), "../"); ok {
		return cmp.Or(os.Getenv("SITE_SOURCE"), defaultSource) + "/" + outside
	}
	if name, ok := strings.CutSuffix(file, ".md"); ok {
		file = name + ".html"
	}
	if fragment != "" {
		file += "#" + fragment
	}
	return file
}
