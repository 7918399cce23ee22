package app

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// browser behaves like a browser without JavaScript: it keeps cookies, follows redirects and submits forms.
type browser struct {
	t    testing.TB
	root string
	http *http.Client
}

func (h *env) browser(tb testing.TB) *browser {
	tb.Helper()
	jar := must.Get(cookiejar.New(nil))(tb)
	return &browser{t: tb, root: h.root, http: &http.Client{Jar: jar, Transport: h.transport}}
}

// page is a complete response.
type page struct {
	b      *browser
	status int
	path   string // path and query after redirects
	header http.Header
	source string
	doc    *html.Node
}

func (b *browser) open(path string) *page { b.t.Helper(); return b.send(http.MethodGet, path, nil) }

// send sends a request with a form, which may be nil.
func (b *browser) send(method, path string, form url.Values) *page {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := must.Get(http.NewRequestWithContext(b.t.Context(), method, b.root+path, body))(b.t)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp := must.Get(b.http.Do(r))(b.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(b.t)
	doc := must.Get(html.Parse(strings.NewReader(string(raw))))(b.t)
	return &page{b, resp.StatusCode, resp.Request.URL.RequestURI(), resp.Header, string(raw), doc}
}

// text returns the visible text with single spaces.
func (p *page) text() string { return textOf(p.doc) }

func textOf(n *html.Node) string {
	var out []string
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out = append(out, d.Data)
		}
	}
	return strings.Join(strings.Fields(strings.Join(out, " ")), " ")
}

// shows checks the status and that the page shows the texts.
func (p *page) shows(status int, texts ...string) *page {
	p.b.t.Helper()
	if p.status != status {
		p.b.t.Fatalf("%s: %d, want %d: %s", p.path, p.status, status, p.text())
	}
	for _, text := range texts {
		if !strings.Contains(p.text(), text) {
			p.b.t.Errorf("%s does not show %q: %s", p.path, text, p.text())
		}
	}
	return p
}

// lacks checks that the page's source contains none of the texts.
func (p *page) lacks(texts ...string) *page {
	p.b.t.Helper()
	for _, text := range texts {
		if strings.Contains(p.source, text) {
			p.b.t.Errorf("%s contains %q", p.path, text)
		}
	}
	return p
}

// contains checks that the page's source contains the texts.
func (p *page) contains(texts ...string) *page {
	p.b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.source, text) {
			p.b.t.Errorf("%s does not contain %q", p.path, text)
		}
	}
	return p
}

// field returns the value of the field with an ID.
func (p *page) field(id string) string {
	p.b.t.Helper()
	for d := range p.doc.Descendants() {
		if d.Type == html.ElementNode && attribute(d, "id") == id {
			return attribute(d, "value")
		}
	}
	p.b.t.Fatalf("%s has no field %q: %s", p.path, id, p.text())
	return ""
}

// follow opens the link with the text.
func (p *page) follow(text string) *page {
	p.b.t.Helper()
	for d := range p.doc.Descendants() {
		if d.DataAtom == atom.A && (textOf(d) == text || attribute(d, "aria-label") == text) {
			return p.b.open(attribute(d, "href"))
		}
	}
	p.b.t.Fatalf("%s has no link %q: %s", p.path, text, p.text())
	return nil
}

// form is a form of a page and the values of its fields.
type form struct {
	p      *page
	node   *html.Node
	button *html.Node
	values url.Values
}

// form returns the form that has the submit button.
func (p *page) form(button string) *form {
	p.b.t.Helper()
	for d := range p.doc.Descendants() {
		if d.DataAtom != atom.Button || textOf(d) != button && attribute(d, "aria-label") != button {
			continue
		}
		for up := d.Parent; up != nil; up = up.Parent {
			if up.DataAtom == atom.Form {
				return &form{p, up, d, fields(up)}
			}
		}
	}
	p.b.t.Fatalf("%s has no form with the button %q: %s", p.path, button, p.text())
	return nil
}

// fields returns the values that an unchanged form sends.
func fields(n *html.Node) url.Values {
	out := url.Values{}
	for d := range n.Descendants() {
		name := attribute(d, "name")
		switch {
		case name == "":
		case d.DataAtom == atom.Textarea:
			out.Add(name, strings.TrimPrefix(raw(d), "\n"))
		case d.DataAtom == atom.Select:
			out[name] = append(out[name], selectedOptions(d)...)
		case d.DataAtom == atom.Input:
			kind := attribute(d, "type")
			if kind != "checkbox" && kind != "radio" || has(d, "checked") {
				out.Add(name, attribute(d, "value"))
			}
		}
	}
	return out
}

func raw(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

func selectedOptions(n *html.Node) []string {
	var first, out []string
	for d := range n.Descendants() {
		if d.DataAtom != atom.Option {
			continue
		}
		value := textOf(d)
		if has(d, "value") {
			value = attribute(d, "value")
		}
		first = append(first, value)
		if has(d, "selected") {
			out = append(out, value)
		}
	}
	if len(out) == 0 && len(first) > 0 && !has(n, "multiple") {
		return first[:1]
	}
	return out
}

// fill sets an existing field.
func (f *form) fill(name string, values ...string) *form {
	f.p.b.t.Helper()
	if !slices.ContainsFunc(slices.Collect(f.node.Descendants()), func(d *html.Node) bool { return attribute(d, "name") == name }) {
		f.p.b.t.Fatalf("the form of %s has no field %q", f.p.path, name)
	}
	f.values[name] = values
	return f
}

// press submits the form and returns the resulting page.
func (f *form) press() *page {
	f.p.b.t.Helper()
	if name := attribute(f.button, "name"); name != "" {
		f.values.Set(name, attribute(f.button, "value"))
	}
	to := attribute(f.node, "action")
	if has(f.button, "formaction") {
		to = attribute(f.button, "formaction")
	}
	if to == "" {
		to = f.p.path
	}
	if attribute(f.node, "enctype") == "multipart/form-data" {
		return f.sendFiles(to, map[string][]byte{"": nil})
	}
	if strings.EqualFold(attribute(f.node, "method"), "post") {
		return f.p.b.send(http.MethodPost, to, f.values)
	}
	to, _, _ = strings.Cut(to, "?")
	return f.p.b.open(to + "?" + f.values.Encode())
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
