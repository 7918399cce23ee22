package web_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/templatecheck"
	"pressroom.example/pressroom/internal/web/shell"
)

// TestPagesCanBeParsed parses all pages, which are otherwise parsed on first use.
func TestPagesCanBeParsed(t *testing.T) {
	t.Parallel()
	read := 0
	for name, page := range shell.EachPage {
		for _, l := range locale.All() {
			if page.Parse(l).Lookup("main") == nil {
				t.Errorf("%s has no block main in %s", name, l.Name)
			}
		}
		read++
	}
	if read < 50 {
		t.Errorf("only %d pages were named", read)
	}
}

// The pages use only fields, methods and functions that the types of their data have.
func TestPagesFitTheirData(t *testing.T) {
	t.Parallel()
	for name, page := range shell.EachPage {
		parsed := page.Parse(locale.English)
		for block, data := range page.DataTypes() {
			var errs []error
			if block == "" {
				body := templatecheck.Field{Struct: shell.LayoutType, Name: "Body", Type: data}
				errs = templatecheck.Check(parsed, shell.LayoutType, body)
			} else if found := parsed.Lookup(block); found == nil {
				t.Errorf("page %s has no block %s", name, block)
			} else {
				errs = templatecheck.Check(found, data)
			}
			for _, err := range errs {
				t.Errorf("page %s %s: %v", name, block, err)
			}
		}
	}
}

// Every icon in the sprite is used, so that browsers do not load unused icons.
func TestIconsUsed(t *testing.T) {
	t.Parallel()
	var sources bytes.Buffer
	must.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && (ext == ".go" || ext == ".html") {
			sources.Write(must.Get(os.ReadFile(path))(t))
		}
		return err
	}))
	icons := must.Get(os.ReadFile("shell/assets/icons.svg"))(t)
	for _, found := range regexp.MustCompile(`<symbol id="([^"]+)"`).FindAllSubmatch(icons, -1) {
		name := string(found[1])
		if !strings.HasPrefix(name, "net-") && !bytes.Contains(sources.Bytes(), []byte(`"`+name+`"`)) {
			t.Errorf("%s is not used", name)
		}
	}
}
