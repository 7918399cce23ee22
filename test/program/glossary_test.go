package program

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGlossaryNamesRealPackages checks that every package in the last column of docs/glossary.md exists.
func TestGlossaryNamesRealPackages(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("`[^`]+`")
	terms := 0
	for line := range strings.Lines(read(t, "docs/glossary.md")) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "term" {
			continue
		}
		terms++
		for _, name := range quoted.FindAllString(cells[3], -1) {
			dir := strings.TrimSuffix(strings.Trim(name, "`"), "/NAME")
			if _, err := os.Stat(filepath.Join("..", "..", "internal", dir)); err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(cells[1]), err)
			}
		}
	}
	if terms < 60 {
		t.Errorf("found %d terms, want at least 60", terms)
	}
}
