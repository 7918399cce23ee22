// Package voices serves the pages for a team's brand voices and their source material.
package voices

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"delete": deleteView{}, "form": formView{}, "list": listView{}, "material": materialView{},
	"piece": piece{}, "voice": view{},
}, nil, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{"language": func(tag string) string {
		if name := settings.LanguageName(tag); name != "" {
			return l.T(name)
		}
		return tag
	}, "share": func(of float64) template.HTML { return plot.Share{Fraction: of}.Draw() }}
})

// Handlers serves the voice pages.
type Handlers struct {
	*shell.Shell

	voices *voice.Service
}

// New returns the handlers.
func New(sh *shell.Shell, voices *voice.Service) *Handlers { return &Handlers{sh, voices} }

// Routes returns the routes of the pages. Only people who may write can see the source material.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /voices", Audience: shell.Members, Handler: h.list},
		{Pattern: "GET /voices/new", Audience: shell.Writers, Handler: h.newPage},
		{Pattern: "POST /voices/new", Audience: shell.Writers, Handler: h.create, RestoresForm: true},
		{Pattern: "GET /voices/{id}", Audience: shell.Members, Handler: h.page},
		{Pattern: "GET /voices/{id}/edit", Audience: shell.Writers, Handler: h.withVoice(h.editPage)},
		{Pattern: "POST /voices/{id}/edit", Audience: shell.Writers, Handler: h.withVoice(h.update), RestoresForm: true},
		{Pattern: "POST /voices/{id}/default", Audience: shell.Writers, Handler: h.withVoice(h.makeDefault)},
		{Pattern: "GET /voices/{id}/delete", Audience: shell.Writers, Handler: h.withVoice(h.deletePage)},
		{Pattern: "POST /voices/{id}/delete", Audience: shell.Writers, Handler: h.withVoice(h.delete)},
		{Pattern: "GET /voices/{id}/material", Audience: shell.Writers, Handler: h.withVoice(h.materialPage)},
		{Pattern: "POST /voices/{id}/material", Audience: shell.Writers, Handler: h.withVoice(h.addMaterial),
			RestoresForm: true},
		{Pattern: "POST /voices/{id}/material/past-posts", Audience: shell.Writers, Handler: h.withVoice(h.addPastPosts)},
		{Pattern: "GET /voices/{id}/material/{material}", Audience: shell.Writers,
			Handler: h.withVoice(h.withMaterial(h.piecePage))},
		{Pattern: "POST /voices/{id}/material/{material}/remove", Audience: shell.Writers, Handler: h.withVoice(
			h.withMaterial(h.removeMaterial))},
	}
}

// voiceRequest is a request about one voice.
type voiceRequest struct {
	*http.Request

	call       operation.Call
	voiceID    int64
	materialID int64 // ID of the material in the path, or 0
}

// withVoice returns a handler that calls next with a voiceRequest for the voice in the path.
func (h *Handlers) withVoice(next func(http.ResponseWriter, voiceRequest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.PathID(r, "id")
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		call, err := h.NewCall(r, "brand_voices")
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		next(w, voiceRequest{Request: r, call: call, voiceID: id})
	}
}

// withMaterial returns a function that adds the ID of the material in the path to the request and calls next.
func (h *Handlers) withMaterial(next func(http.ResponseWriter, voiceRequest)) func(http.ResponseWriter, voiceRequest) {
	return func(w http.ResponseWriter, req voiceRequest) {
		var err error
		if req.materialID, err = shell.PathID(req.Request, "material"); err != nil {
			h.ShowError(w, req.Request, err)
			return
		}
		next(w, req)
	}
}

// switchTeam switches to the team of a voice and redirects to the voice. If the person does not belong to that team,
// it shows err.
func (h *Handlers) switchTeam(w http.ResponseWriter, r *http.Request, err error, id int64) {
	h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return h.voices.FindTeam(ctx, id, teams)
	})
}

// pathOf returns the path of a voice.
func pathOf(id int64) string { return "/voices/" + strconv.FormatInt(id, 10) }

// inZone converts a time to the person's time zone.
func inZone(call operation.Call, at time.Time) time.Time { return at.In(call.PersonZone) }
