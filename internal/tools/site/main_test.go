package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := write(out); err != nil {
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
