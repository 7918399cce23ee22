package docsite_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"pressroom.example/pressroom/docs"
	"pressroom.example/pressroom/internal/docsite"
	"pressroom.example/pressroom/internal/testkit/must"
)

// noLinks replaces links to files outside docs/ by their text.
var noLinks = docsite.Options{ExternalURL: func(string) string { return "" }}

// Each relative link refers to a file of the repository, and any fragment to one of its headings. Each file is a
// page.
func TestLinks(t *testing.T) {
	t.Parallel()
	site := must.Get(docsite.New(docs.Files, noLinks))(t)
	ids, pages := map[string]map[string]bool{}, 0
	each(site, func(p *docsite.Page) {
		pages++
		ids[p.Name] = map[string]bool{}
		for _, part := range must.Get(p.Content())(t).Parts {
			ids[p.Name][part.ID] = true
		}
	})
	for _, section := range site.Sections[:2] {
		for _, p := range section.Pages {
			if p.Summary == "" {
				t.Errorf("%s has no summary", p.Name)
			}
		}
	}
	files := append(must.Get(filepath.Glob("../../docs/*.md"))(t), must.Get(filepath.Glob("../../docs/*/*.md"))(t)...)
	if pages != len(files) {
		t.Errorf("%d pages of %d files", pages, len(files))
	}
	each(site, func(p *docsite.Page) {
		for _, link := range must.Get(p.Content())(t).Links {
			file, fragment, _ := strings.Cut(link, "#")
			target := path.Join(path.Dir(p.Name), file)
			if file == "" {
				target = p.Name
			} else if _, err := os.Stat(filepath.Join("..", "..", "docs", target)); err != nil {
				t.Errorf("%s: no file %s", p.Name, link)
			}
			if known, ok := ids[strings.TrimSuffix(target, ".md")]; ok && fragment != "" && !known[fragment] {
				t.Errorf("%s: no heading %s", p.Name, link)
			}
		}
	})
}

func each(site *docsite.Site, use func(*docsite.Page)) {
	for _, section := range site.Sections {
		for _, p := range section.Pages {
			use(p)
		}
	}
}

var (
	code     = regexp.MustCompile(`(?s)<code.*?</code>`)
	straight = regexp.MustCompile(`.{0,20}\p{L}(?:'|&#39;|&apos;).{0,10}`)
)

// Boxes that scroll are reachable by keyboard. There are no inline styles.
func TestRender(t *testing.T) {
	t.Parallel()
	site := must.Get(docsite.New(docs.Files, noLinks))(t)
	html := string(must.Get(site.Page("networks").Content())(t).HTML)
	for _, want := range []string{
		`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`,
		`<th scope="col">`, `<th scope="col">Network`, `<h2 id="`,
		`href="networks/x"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	each(site, func(p *docsite.Page) {
		html := string(must.Get(p.Content())(t).HTML)
		if found := straight.FindString(code.ReplaceAllString(html, "")); found != "" {
			t.Errorf("%s has a straight apostrophe: %s", p.Name, found)
		}
		for _, wrong := range []string{" style=", "<script", "raw HTML omitted", "href=\"\"", ".md\"", "<pre>"} {
			if strings.Contains(html, wrong) {
				t.Errorf("%s has %s", p.Name, wrong)
			}
		}
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()
	site := must.Get(docsite.New(docs.Files, noLinks))(t)
	for query, want := range map[string]string{
		"backup": "backup", "Rate LIMITS": "limits", "sealing key": "running", "idempotency-key": "idempotency", "nosuchword": "",
	} {
		found := must.Get(site.Search(query))(t)
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || found[0].Page.Name != want) {
			t.Errorf("%s: %d results", query, len(found))
			for _, r := range found {
				t.Log(r.Page.Name, r.Part.Title, r.Text)
			}
		}
		if len(found) > 30 {
			t.Errorf("%s: %d results", query, len(found))
		}
	}
	if found := must.Get(site.Search(" "))(t); found != nil {
		t.Errorf("no query: %d results", len(found))
	}
}

func TestInvalidFiles(t *testing.T) {
	t.Parallel()
	if _, err := docsite.New(fstest.MapFS{}, noLinks); err == nil {
		t.Error("a folder without the guides is accepted")
	}
}
