package voices

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// listView is the page that lists the team's voices.
type listView struct {
	Voices   []voice.BrandVoice // starting with the default voice
	CanWrite bool
	Full     bool // the team has the maximum number of voices
}

func (p *Handlers) list(w http.ResponseWriter, r *http.Request) {
	call, err := p.NewCall(r, "brand_voices")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	voices, err := p.voices.List(r.Context(), call)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["list"], "Brand voices",
		listView{voices, shell.VisitorOf(r.Context()).Is(shell.Writers), len(voices) >= voice.MaxVoices})
}

// view is the page of a voice.
type view struct {
	voice.BrandVoice

	CanWrite bool
	Pieces   int // number of pieces of source material; 0 if the visitor may not see them
}

// PointOfViewText returns the label of the point of view, or "".
func (v view) PointOfViewText() locale.Key { return labelOf(views, string(v.PointOfView)) }

// EmojiText returns the label of the emoji policy, or "".
func (v view) EmojiText() locale.Key { return labelOf(emoji, string(v.EmojiPolicy)) }

// labelOf returns the label of a value, or "" if the value is empty or unknown.
func labelOf(choices []choice, value string) locale.Key {
	for _, c := range choices {
		if c.Value == value && value != "" {
			return c.Text
		}
	}
	return ""
}

// Instructions returns the paragraphs of the custom instructions.
func (v view) Instructions() []string {
	return strings.FieldsFunc(v.CustomInstructions, func(r rune) bool { return r == '\n' })
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	outcome, err := p.Do(r, "get_brand_voice", operation.Arguments{"id": id})
	if err != nil {
		p.switchTeam(w, r, err, id)
		return
	}
	found, err := shell.Result[voice.BrandVoice](outcome)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	v := view{BrandVoice: found, CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers)}
	if v.CanWrite { // other roles may not see the material
		call, err := p.NewCall(r, "brand_voices")
		if err == nil {
			var material []voice.Material
			material, err = p.voices.Materials(r.Context(), call, id)
			v.Pieces = len(material)
		}
		if err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	p.ShowTitled(w, r, http.StatusOK, pages["voice"], found.Name, v)
}

func (p *Handlers) makeDefault(w http.ResponseWriter, req voiceRequest) {
	if err := p.voices.MakeDefault(req.Context(), req.call, req.voice); err != nil {
		p.ShowError(w, req.Request, err)
		return
	}
	p.Flash(req.Request, "This is now the default voice for new texts.")
	shell.Redirect(w, req.Request, pathOf(req.voice))
}

// deleteView is the page that asks for confirmation before a voice is deleted.
type deleteView struct {
	ID       int64
	Name     string
	Material int
}

func (p *Handlers) deletePage(w http.ResponseWriter, req voiceRequest) {
	d, err := p.voices.Draft(req.Context(), req.call, req.voice)
	if err != nil {
		p.switchTeam(w, req.Request, err, req.voice)
		return
	}
	material, err := p.voices.Materials(req.Context(), req.call, req.voice)
	if err != nil {
		p.ShowError(w, req.Request, err)
		return
	}
	p.Show(w, req.Request, http.StatusOK, pages["delete"], "Delete a brand voice",
		deleteView{req.voice, d.Name, len(material)})
}

func (p *Handlers) delete(w http.ResponseWriter, req voiceRequest) {
	if err := p.voices.Delete(req.Context(), req.call, req.voice); err != nil {
		p.ShowError(w, req.Request, err)
		return
	}
	p.Flash(req.Request, "The brand voice was deleted.")
	shell.Redirect(w, req.Request, "/voices")
}
