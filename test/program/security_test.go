package program

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// TestSecurityNamesRealTests checks that every test named in docs/security.md exists in the named package.
func TestSecurityNamesRealTests(t *testing.T) {
	t.Parallel()
	words := regexp.MustCompile("`[a-z0-9/]+`|\\bTest[A-Z][A-Za-z0-9]*")
	checked := 0
	for line := range strings.Lines(read(t, "docs/security.md")) {
		dir := ""
		for _, word := range words.FindAllString(line, -1) {
			if path, quoted := strings.CutPrefix(word, "`"); quoted {
				dir = strings.TrimSuffix(path, "`")
				continue
			}
			checked++
			if !hasTest(t, dir, word) {
				t.Errorf("docs/security.md names %q %s, which does not exist", dir, word)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d tests found in docs/security.md", checked)
	}
}

// hasTest reports whether a package, named by its path in the repository, has a test function of that name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join("..", "..", dir, "*_test.go")))(t)
	for _, file := range files {
		source := must.Get(os.ReadFile(file))(t)
		if strings.Contains(string(source), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
