// Package docsite renders the guides in docs/ for the program and for the static site. It renders a page at its
// first request.
package docsite

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Options configure a site.
type Options struct {
	Suffix string // appended to links between pages: ".html" for files, or none
	// ExternalURL returns the address of a file of the repository that is not in docs/, or "" for no link.
	ExternalURL func(file string) string
}

// Site is all pages of a folder.
type Site struct {
	Sections []Section

	pages map[string]*Page
}

// Section is a group of pages.
type Section struct {
	ID, Title string
	Pages     []*Page // in navigation order
}

// Page is a guide.
type Page struct {
	Name    string // path of the file without .md, such as networks/x
	Title   string
	Summary string // one line; empty if the title suffices
	Section string
	Content func() (*Content, error)
}

// Content is a rendered page.
type Content struct {
	HTML  template.HTML
	Parts []Part
	Links []string // relative links, as in the source
}

// Part is a heading with the text up to the next heading.
type Part struct {
	ID, Title string
	Level     int
	Text      string
}

// sectionOrder lists the sections. In each section, the files in first come first. The other files of its folder
// follow, sorted by name.
var sectionOrder = []struct {
	id, title, folder string
	first             []string
}{
	{"use", "Using pressroom", ".", []string{
		"app", "publishing", "threads", "options", "capabilities", "media", "analytics", "reports", "scoring", "hashtags",
		"voices", "assistants", "tools", "clients", "errors", "idempotency", "limits",
	}},
	{"operation", "Operation", "", []string{
		"deploy", "running", "security", "backup", "upgrading", "scaling", "delivery", "troubleshooting", "sources", "bridge",
	}},
	{"networks", "Networks", "networks", []string{"networks"}},
	{"project", "Project", "", []string{"storm", "releases"}},
	{"decisions", "Design decisions", "adr", nil},
}

// summaries holds the summaries of guides by name.
var summaries = map[string]string{
	"app":             "Roles, invitations, approvals, posts and settings.",
	"publishing":      "How a post goes live, and what to do if it fails.",
	"first-comments":  "Comment on a post as soon as it is published.",
	"threads":         "Publish a post in several parts, each as a reply.",
	"options":         "Polls, quotes, link cards and who can reply, for each network.",
	"capabilities":    "What works on which network, and a comparison with other products.",
	"media":           "Formats, sizes, uploads, links and alt text.",
	"analytics":       "What is measured, how often, and for how long it is kept.",
	"reports":         "Analyze, track and share any public profile or hashtag.",
	"scoring":         "How each score is computed.",
	"hashtags":        "Lists, searches and how hashtags are measured.",
	"voices":          "How a team writes, for people and assistants.",
	"assistants":      "Connect Claude, ChatGPT and other assistants.",
	"tools":           "Every tool that assistants can call.",
	"clients":         "Go, TypeScript and Python packages, and the command line.",
	"errors":          "Codes, statuses and what to do about them.",
	"idempotency":     "Repeat a request without doing the work twice.",
	"limits":          "Rate limits, daily limits and prices.",
	"glossary":        "The words of the app and the API.",
	"deploy":          "Docker, Kubernetes, systemd and a reverse proxy.",
	"running":         "Flags, accounts, email, metrics and daily work.",
	"security":        "What is protected, against whom and how.",
	"backup":          "Create, verify and restore a backup.",
	"upgrading":       "Install a new version, or go back.",
	"scaling":         "Several nodes, load and measured limits.",
	"delivery":        "Why a post is never published twice.",
	"troubleshooting": "Find a symptom and fix its cause.",
	"sources":         "Services that provide public metrics and media.",
	"bridge":          "Build a provider of public metrics yourself.",
	"storm":           "Publish under failures and check that nothing is lost.",
	"releases":        "How versions are built, signed and checked.",

	"networks":           "Settings, rules and limits of all networks.",
	"networks/bluesky":   "App passwords, videos and limits.",
	"networks/facebook":  "Your app, reviews by Meta and limits.",
	"networks/instagram": "Kinds of accounts, your app and limits.",
	"networks/linkedin":  "Products, your app and limits.",
	"networks/pinterest": "Your app, what works before approval and limits.",
	"networks/threads":   "Your app, testers and limits.",
	"networks/tiktok":    "Your app, what works before the audit and limits.",
	"networks/x":         "Your app, costs and limits.",
	"networks/youtube":   "Your app, what works before the audit and limits.",
}

// New returns the site of the Markdown files of a folder. It reads only their titles.
func New(files fs.FS, o Options) (*Site, error) {
	s := &Site{pages: map[string]*Page{}}
	isListed := map[string]bool{}
	for _, section := range sectionOrder {
		for _, name := range section.first {
			isListed[name] = true
		}
	}
	for _, section := range sectionOrder {
		names := slices.Clone(section.first)
		if section.folder != "" {
			found, err := fs.Glob(files, path.Join(section.folder, "*.md"))
			if err != nil {
				return nil, fmt.Errorf("listing the guides in %s: %w", section.folder, err)
			}
			for _, file := range found {
				if name := strings.TrimSuffix(file, ".md"); !isListed[name] {
					names = append(names, name)
				}
			}
		}
		result := Section{ID: section.id, Title: section.title}
		for _, name := range names {
			p, err := newPage(files, name, o)
			if err != nil {
				return nil, err
			}
			p.Section = section.title
			result.Pages = append(result.Pages, p)
			s.pages[name] = p
		}
		s.Sections = append(s.Sections, result)
	}
	return s, nil
}

// newPage returns the page of a file.
func newPage(files fs.FS, name string, o Options) (*Page, error) {
	source, err := fs.ReadFile(files, name+".md")
	if err != nil {
		return nil, fmt.Errorf("reading a guide: %w", err)
	}
	line, _, _ := bytes.Cut(source, []byte("\n"))
	title, ok := strings.CutPrefix(string(line), "# ")
	if !ok {
		return nil, fmt.Errorf("%s.md: no title", name)
	}
	p := &Page{Name: name, Title: strings.TrimSpace(title), Summary: summaries[name]}
	p.Content = sync.OnceValues(func() (*Content, error) {
		source, err := fs.ReadFile(files, name+".md") // not kept in memory
		if err != nil {
			return nil, fmt.Errorf("reading a guide: %w", err)
		}
		return render(name, source, o)
	})
	return p, nil
}

// Page returns a page by its name, or nil.
func (s *Site) Page(name string) *Page { return s.pages[name] }

// Result is a part of a page that matches a search.
type Result struct {
	Page  *Page
	Part  Part   // zero if the result is the whole page
	Text  string // excerpt around the first word of the query
	score int
}

const (
	maxResults     = 30
	maxPageResults = 3 // maximum results from one page
)

// Search returns the parts with all words of a query, those with the words in their titles first.
func (s *Site) Search(query string) ([]Result, error) {
	separates := func(r rune) bool { return unicode.IsSpace(r) || r == '-' }
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(query), "'", "’"), separates)
	if len(words) == 0 {
		return nil, nil
	}
	var out []Result
	for _, section := range s.Sections {
		for _, p := range section.Pages {
			content, err := p.Content()
			if err != nil {
				return nil, err
			}
			out = append(out, p.search(content, words)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Result) int { return cmp.Compare(b.score, a.score) })
	return out[:min(len(out), maxResults)], nil
}

// search returns the best parts of a page with all words, or the page if the words are in different parts.
func (p *Page) search(content *Content, words []string) []Result {
	title := strings.ToLower(p.Title)
	var out []Result
	var pageText strings.Builder
	for _, part := range content.Parts {
		heading, text := strings.ToLower(part.Title), strings.ToLower(part.Text)
		pageText.WriteString(heading + " " + text + " ")
		if score := scorePart(words, title, heading, text); score > 0 {
			out = append(out, Result{p, part, excerpt(part.Text, words[0]), score})
		}
	}
	if len(out) == 0 && scorePart(words, title, "", pageText.String()) > 0 {
		return []Result{{p, Part{}, excerpt(content.Parts[0].Text, ""), 1}}
	}
	slices.SortStableFunc(out, func(a, b Result) int { return cmp.Compare(b.score, a.score) })
	return out[:min(len(out), maxPageResults)]
}

// scorePart returns a part's score, or 0 if it lacks a word. Matches in titles, and matches of the whole query, score
// higher.
func scorePart(words []string, title, heading, text string) int {
	score := scorePhrase(strings.Join(words, " "), title, heading, text)
	for _, word := range words {
		weight := scorePhrase(word, title, heading, text)
		if weight == 0 {
			return 0
		}
		score += weight
	}
	return score
}

func scorePhrase(phrase, title, heading, text string) int {
	weight := min(strings.Count(text, phrase), 5)
	if strings.Contains(heading, phrase) {
		weight += 8
	}
	if weight > 0 && strings.Contains(title, phrase) {
		weight += 8
	}
	return weight
}

// excerptLength is the maximum length of an excerpt in bytes.
const excerptLength = 160

// excerpt returns the text around a word, or the beginning of the text if it lacks the word.
func excerpt(text, word string) string {
	at := strings.Index(strings.ToLower(text), word)
	if at < 0 || at > len(text) {
		at = 0
	}
	if at > 40 {
		at = strings.LastIndexByte(text[:at-40], ' ') + 1
	} else {
		at = 0
	}
	text = text[at:]
	if len(text) > excerptLength {
		if end := strings.LastIndexByte(text[:excerptLength], ' '); end > 0 {
			text = text[:end] + " …"
		}
	}
	if at > 0 {
		text = "… " + text
	}
	return text
}
