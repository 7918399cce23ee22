// Package reference is the API's reference in the app, for whoever wants to read it: made when the program starts, out
// of the same OpenAPI document that it gives to programs, so that nothing in it is written by hand a second time.
package reference

import (
	"embed"
	"html/template"
	"net/http"
	"strings"

	"pressroom/internal/web/frame"
)

//go:embed templates/*.html
var files embed.FS

var pages = frame.Parse(files, template.FuncMap{"spans": spans, "paragraphs": paragraphs})

// Part answers with the reference.
type Part struct {
	*frame.Frame

	doc      document
	chapters []chapter
	answers  []kind
}

// New makes the reference of an OpenAPI document. One that it cannot read is an error.
func New(f *frame.Frame, description []byte) (*Part, error) {
	doc, err := read(description)
	if err != nil {
		return nil, err
	}
	made, err := chapters(doc)
	if err != nil {
		return nil, err
	}
	return &Part{Frame: f, doc: doc, chapters: made, answers: answers(doc)}, nil
}

// Routes are for everybody: what the API can do is no secret.
func (p *Part) Routes() []frame.Route {
	out := []frame.Route{
		{Pattern: "GET /docs", For: frame.Anyone, Do: p.contents},
		{Pattern: "GET /docs/app", For: frame.Anyone, Do: p.app},
		{Pattern: "GET /docs/start", For: frame.Anyone, Do: p.start},
		{Pattern: "GET /docs/assistants", For: frame.Anyone, Do: p.assistants},
		{Pattern: "GET " + answersAt, For: frame.Anyone, Do: p.allAnswers},
	}
	for _, c := range p.chapters {
		out = append(out, frame.Route{Pattern: "GET " + c.At, For: frame.Anyone, Do: p.chapter(c)})
	}
	return out
}

// contents is what the first page shows.
type contents struct {
	About    string
	Version  string
	Chapters []chapter
}

func (p *Part) contents(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["contents"], "API reference", contents{p.doc.Info.Description, p.doc.Info.Version, p.chapters})
}

func (p *Part) chapter(c chapter) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.Show(w, r, http.StatusOK, pages["chapter"], c.Name+" · API reference", c)
	}
}

func (p *Part) allAnswers(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["answers"], "What every answer holds", p.answers)
}

// addresses are those that programs and assistants ask.
type addresses struct{ API, Tools, Public string }

func (p *Part) addresses() addresses {
	return addresses{p.doc.Servers[0].URL, p.PublicURL + "/mcp", p.PublicURL}
}

func (p *Part) start(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["start"], "Getting started with the API", p.addresses())
}

func (p *Part) app(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["app"], "Using the app", nil)
}

func (p *Part) assistants(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["assistants"], "Tools for assistants", p.addresses())
}

// span is a piece of a text, which may be code.
type span struct {
	Text string
	Code bool
}

// spans parts a text at its backticks.
func spans(text string) []span {
	var out []span
	for i, piece := range strings.Split(text, "`") {
		if piece != "" {
			out = append(out, span{piece, i%2 == 1})
		}
	}
	return out
}

// paragraphs parts a text at its empty lines.
func paragraphs(text string) []string { return strings.Split(text, "\n\n") }
