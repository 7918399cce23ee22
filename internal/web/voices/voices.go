// Package voices is where people say how their team writes: its brand voices, what each says, which of them is the
// default, and what a voice was researched from.
package voices

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/voice"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"time": shell.Time})

// Part is these pages.
type Part struct {
	*shell.Frame

	voices *voice.Service
}

// New makes them.
func New(f *shell.Frame, voices *voice.Service) *Part { return &Part{f, voices} }

// Routes are their addresses. What a voice was researched from is for those who may write alone.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /voices", For: shell.Members, Do: p.list},
		{Pattern: "GET /voices/new", For: shell.Writers, Do: p.newPage},
		{Pattern: "POST /voices/new", For: shell.Writers, Do: p.create, Resumes: true},
		{Pattern: "GET /voices/{id}", For: shell.Members, Do: p.page},
		{Pattern: "GET /voices/{id}/edit", For: shell.Writers, Do: p.of(p.editPage)},
		{Pattern: "POST /voices/{id}/edit", For: shell.Writers, Do: p.of(p.change), Resumes: true},
		{Pattern: "POST /voices/{id}/default", For: shell.Writers, Do: p.of(p.makeDefault)},
		{Pattern: "GET /voices/{id}/delete", For: shell.Writers, Do: p.of(p.deletePage)},
		{Pattern: "POST /voices/{id}/delete", For: shell.Writers, Do: p.of(p.delete)},
		{Pattern: "GET /voices/{id}/material", For: shell.Writers, Do: p.of(p.materialPage)},
		{Pattern: "POST /voices/{id}/material", For: shell.Writers, Do: p.of(p.addMaterial), Resumes: true},
		{Pattern: "GET /voices/{id}/material/{material}", For: shell.Writers, Do: p.of(p.pieceOf(p.onePage))},
		{Pattern: "POST /voices/{id}/material/{material}/remove", For: shell.Writers, Do: p.of(
			p.pieceOf(p.removeMaterial))},
	}
}

// asked is a request about one voice.
type asked struct {
	*http.Request

	call  operation.Call
	voice int64
	piece int64 // of its material, where the address names one
}

// of reads which voice an address is about, and who asks.
func (p *Part) of(do func(http.ResponseWriter, asked)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.IDIn(r, "id")
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		call, err := p.Acting(r, "brand_voices")
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		do(w, asked{Request: r, call: call, voice: id})
	}
}

// pieceOf reads which piece of material an address is about.
func (p *Part) pieceOf(do func(http.ResponseWriter, asked)) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, a asked) {
		var err error
		if a.piece, err = shell.IDIn(a.Request, "material"); err != nil {
			p.Refuse(w, a.Request, err)
			return
		}
		do(w, a)
	}
}

// elsewhere shows a voice of another of the person's teams, in that team.
func (p *Part) elsewhere(w http.ResponseWriter, r *http.Request, err error, id int64) {
	p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return p.voices.Home(ctx, id, teams)
	})
}

// pathOf is where a voice is shown.
func pathOf(id int64) string { return "/voices/" + strconv.FormatInt(id, 10) }

// inZone is an instant as the team reads it.
func inZone(call operation.Call, at time.Time) time.Time { return at.In(call.Zone) }
