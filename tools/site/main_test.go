package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each relative link leads to a file of the repository, and to a heading if it names one.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := read(os.DirFS(filepath.Join(root, "docs")))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	ids := map[string][]string{}
	for _, p := range pages {
		if ids[p.Path] = p.IDs; p.Title == "" {
			t.Errorf("%s has no title", p.Path)
		}
	}
	for _, p := range pages {
		for _, link := range p.Links {
			file, fragment, _ := strings.Cut(link, "#")
			target := path.Join(path.Dir(p.Path), file)
			if file == "" {
				target = p.Path
			} else if _, err := os.Stat(filepath.Join(root, "docs", target)); err != nil {
				t.Errorf("%s: no file %s", p.Path, link)
			}
			if target = strings.TrimSuffix(target, ".md"); file != "" {
				target += ".html"
			}
			if known, ok := ids[target]; ok && fragment != "" && !slices.Contains(known, fragment) {
				t.Errorf("%s: no heading %s", p.Path, link)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	out := t.TempDir()
	if err := write(os.DirFS(filepath.Join("..", "..", "docs")), out); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"networks/x.html": `<a href="../clients.html">Clients</a>`,
		"clients.html":    `href="https://pressroom.example/pressroom/api/openapi.json"`,
		"app.html":        `href="running.html`, "index.json": `"path":"adr/0001-`,
		"style.css": "main", "search.js": "index.json", "index.html": "app.html",
	} {
		raw, err := os.ReadFile(filepath.Join(out, file))
		if err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s (%v)", file, want, err)
		}
	}
}
