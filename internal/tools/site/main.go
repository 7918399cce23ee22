// Command site writes the guides in docs/ as a static site with navigation and search:
//
//	go run ./internal/tools/site build/site
package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"pressroom.example/pressroom/docs"
	"pressroom.example/pressroom/internal/docsite"
)

//go:embed page.html style.css search.js
var files embed.FS

// defaultSource is the URL of the repository's files, for links to files outside docs/. SITE_SOURCE overrides it.
const defaultSource = "https://pressroom.example/pressroom"

var layout = template.Must(template.ParseFS(files, "page.html"))

const suffix = ".html"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site OUT")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// entry is a page in the search index.
type entry struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// write writes the site to a folder.
func write(out string) error {
	site, err := docsite.New(docs.Files, docsite.Options{Suffix: suffix, ExternalURL: func(file string) string {
		return cmp.Or(os.Getenv("SITE_SOURCE"), defaultSource) + "/" + file
	}})
	if err != nil {
		return err
	}
	var index []entry
	for _, section := range site.Sections {
		for _, p := range section.Pages {
			e, err := writePage(out, site, p)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			index = append(index, e)
		}
	}
	raw, err := json.Marshal(index)
	if err != nil {
		return fmt.Errorf("encoding the index: %w", err)
	}
	for name, content := range map[string][]byte{
		"index.html": []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>pressroom</title>` +
			`<meta http-equiv="refresh" content="0; url=app.html">`),
		"index.json": raw, "style.css": must(files.ReadFile("style.css")), "search.js": must(files.ReadFile("search.js")),
	} {
		if err := writeFile(out, name, content); err != nil {
			return err
		}
	}
	return nil
}

// writePage writes a page and returns its entry for the search index.
func writePage(out string, site *docsite.Site, p *docsite.Page) (entry, error) {
	content, err := p.Content()
	if err != nil {
		return entry{}, err
	}
	var html bytes.Buffer
	if err := layout.Execute(&html, map[string]any{
		"Page": p, "Body": content.HTML, "Sections": site.Sections, "Root": strings.Repeat("../", strings.Count(p.Name, "/")),
	}); err != nil {
		return entry{}, fmt.Errorf("executing the layout for %s: %w", p.Name, err)
	}
	e := entry{Path: p.Name + suffix, Title: p.Title}
	for _, part := range content.Parts {
		e.Text += part.Title + " " + part.Text + " "
	}
	return e, writeFile(out, e.Path, html.Bytes())
}

func must(content []byte, err error) []byte {
	if err != nil {
		panic(err) // the files are embedded
	}
	return content
}

func writeFile(out, name string, content []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a web server reads the site
		return fmt.Errorf("writing the site: %w", err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // a web server reads the site
		return fmt.Errorf("writing the site: %w", err)
	}
	return nil
}
