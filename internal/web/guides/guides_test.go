package guides_test

import (
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"pressroom.example/pressroom/docs"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/guides"
	"pressroom.example/pressroom/internal/web/shell"
)

// serve returns the address of a server with the guides.
func serve(t *testing.T) string {
	t.Helper()
	f, err := shell.New(shell.Options{
		PublicURL: "https://press.example", DB: testkit.Open(t, testkit.SQLite(t), nil), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	f.Mount(mux, guides.New(f).Routes()...)
	server := httptest.NewServer(shell.SecurityHeaders(f.WithVisitor(mux)))
	t.Cleanup(server.Close)
	return server.URL
}

// get returns a response with its text. It follows no redirect.
func get(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp := must.Get(http.DefaultTransport.RoundTrip(r))(t)
	defer resp.Body.Close()
	return resp, string(must.Get(io.ReadAll(resp.Body))(t))
}

// attributes returns the ids and the links of a page.
func attributes(t *testing.T, text string) (map[string]int, []string) {
	t.Helper()
	ids, links := map[string]int{}, []string{}
	for n := range must.Get(html.Parse(strings.NewReader(text)))(t).Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				links = append(links, a.Val)
			}
		}
	}
	return ids, links
}

// Each file is a page within its size, and each link between the pages leads to a page and to one heading.
func TestPages(t *testing.T) {
	t.Parallel()
	root := serve(t)
	pages, links, todo := map[string]map[string]int{}, map[string][]string{}, []string{guides.Path}
	for len(todo) > 0 {
		at := todo[0]
		if todo = todo[1:]; pages[at] != nil {
			continue
		}
		resp, text := get(t, root+at)
		if resp.StatusCode != http.StatusOK || len(text) > 100_000 ||
			resp.Header.Get("Content-Security-Policy") != shell.ContentSecurityPolicy {
			t.Errorf("%s: %d, %d bytes", at, resp.StatusCode, len(text))
		}
		pages[at], links[at] = attributes(t, text)
		for _, link := range links[at] {
			to := must.Get(must.Get(url.Parse(at))(t).Parse(link))(t)
			if to.Host == "" && strings.HasPrefix(to.Path, guides.Path) {
				todo = append(todo, to.Path)
			}
		}
	}
	files := 0
	must.NoError(t, fs.WalkDir(docs.Files, ".", func(file string, _ fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(file, ".md"); ok {
			if files++; pages[guides.Path+"/"+name] == nil {
				t.Errorf("no page links to %s", name)
			}
		}
		return err
	}))
	if len(pages) != files+1 {
		t.Errorf("%d pages of %d files", len(pages), files)
	}
	for at, links := range links {
		for _, link := range links {
			to := must.Get(must.Get(url.Parse(at))(t).Parse(link))(t)
			if to.Fragment != "" && pages[to.Path] != nil && pages[to.Path][to.Fragment] != 1 {
				t.Errorf("%s links to %s, which exists %d times", at, link, pages[to.Path][to.Fragment])
			}
		}
	}
}

// No page has a key or a token.
func TestPagesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`\b(prk|prt|prs)_[A-Za-z0-9]{12,}|-----BEGIN|eyJ[A-Za-z0-9_-]{20,}`)
	must.NoError(t, fs.WalkDir(docs.Files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if found := secret.Find(must.Get(fs.ReadFile(docs.Files, file))(t)); found != nil {
			t.Errorf("%s has %s", file, found)
		}
		return nil
	}))
}

func TestSearch(t *testing.T) {
	t.Parallel()
	root := serve(t)
	for query, want := range map[string]string{
		"sealing+key": `<a href="/docs/guides/running#`, "nosuchword": "No guide matches “nosuchword”.",
		"%3Cb%3E": "No guide matches “&lt;b&gt;”.", strings.Repeat("long", 200): "No guide matches “" + strings.Repeat("long", 50) + "”",
		"": `<a href="/docs/guides/networks/x">`,
	} {
		if resp, text := get(t, root+guides.Path+"?q="+query); resp.StatusCode != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %s", query, resp.StatusCode, want)
		}
	}
}

// A browser keeps a page and asks whether it has changed.
func TestUnchangedPage(t *testing.T) {
	t.Parallel()
	address := serve(t) + guides.Path + "/backup"
	first, _ := get(t, address)
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("validator %q, caching %q", tag, first.Header.Get("Cache-Control"))
	}
	if again, text := get(t, address, "If-None-Match", `"x", `+tag); again.StatusCode != http.StatusNotModified || text != "" {
		t.Errorf("unchanged page: %d, %d bytes", again.StatusCode, len(text))
	}
	if other, _ := get(t, address, "If-None-Match", tag, "Accept-Language", "de"); other.StatusCode != http.StatusOK {
		t.Errorf("page in another language: %d", other.StatusCode)
	}
}

func TestUnknownPages(t *testing.T) {
	t.Parallel()
	root := serve(t)
	for from, to := range map[string]string{
		"/docs/running": "/docs/guides/running", "/docs/guides/": "/docs/guides", "/docs/guides/running.md": "/docs/guides/running",
		"/docs/networks/x.html": "/docs/guides/networks/x", "/docs/guides/running/": "/docs/guides/running", "/docs/": "/docs",
	} {
		if resp, _ := get(t, root+from); resp.StatusCode != http.StatusMovedPermanently || resp.Header.Get("Location") != to {
			t.Errorf("%s: %d to %q, want %s", from, resp.StatusCode, resp.Header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/docs/guides/nothing", "/docs/guides/docs", "/docs/%3Cb%3E", "/docs/guides/..%2fgo.mod"} {
		resp, text := get(t, root+path)
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(text, `href="/docs/app"`) ||
			!strings.Contains(text, `action="/docs/guides"`) || strings.Contains(text, "<b>") ||
			resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func BenchmarkAllPages(b *testing.B) {
	for b.Loop() {
		site := must.Get(guides.NewSite())(b)
		for _, section := range site.Sections {
			for _, p := range section.Pages {
				must.Get(p.Content())(b)
			}
		}
	}
}

func BenchmarkTitles(b *testing.B) {
	for b.Loop() {
		must.Get(guides.NewSite())(b)
	}
}

func BenchmarkSearch(b *testing.B) {
	site := must.Get(guides.NewSite())(b)
	for b.Loop() {
		must.Get(site.Search("sealing key"))(b)
	}
}
