package voices

import (
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/web/shell"
)

// listView lists the team's voices.
type listView struct {
	Voices []voice.BrandVoiceEntry // default first
	First  *voice.BrandVoice       // the default
	Writes bool
	Full   bool // the team has the maximum number of voices
}

func (p *Handlers) list(w http.ResponseWriter, r *http.Request) {
	outcome, err := p.Do(r, "list_brand_voices", nil)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	found, err := shell.Result[voice.BrandVoiceList](outcome)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	slices.SortStableFunc(found.BrandVoices, func(a, b voice.BrandVoiceEntry) int {
		switch {
		case a.Default == b.Default:
			return 0
		case a.Default:
			return -1
		}
		return 1
	})
	p.Show(w, r, http.StatusOK, pages["list"], "Brand voices",
		listView{found.BrandVoices, found.DefaultVoice, shell.VisitorOf(r.Context()).
			Is(shell.Writers), len(found.BrandVoices) >= voice.MaxVoices})
}

// view is the page of a voice.
type view struct {
	voice.BrandVoice

	Writes bool
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	outcome, err := p.Do(r, "get_brand_voice", operation.Arguments{"id": id})
	if err != nil {
		p.elsewhere(w, r, err, id)
		return
	}
	found, err := shell.Result[voice.BrandVoice](outcome)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	p.ShowTitled(w, r, http.StatusOK, pages["voice"], found.Name, view{found, shell.VisitorOf(r.Context()).Is(shell.Writers)})
}

func (p *Handlers) makeDefault(w http.ResponseWriter, a asked) {
	if err := p.voices.MakeDefault(a.Context(), a.call, a.voice); err != nil {
		p.ShowError(w, a.Request, err)
		return
	}
	p.Flash(a.Request, "This is now the default voice for new texts.")
	shell.Redirect(w, a.Request, pathOf(a.voice))
}

// deleteView is the page that confirms deleting a voice.
type deleteView struct {
	ID       int64
	Name     string
	Material int
}

func (p *Handlers) deletePage(w http.ResponseWriter, a asked) {
	d, err := p.voices.Draft(a.Context(), a.call, a.voice)
	if err != nil {
		p.elsewhere(w, a.Request, err, a.voice)
		return
	}
	material, err := p.voices.Materials(a.Context(), a.call, a.voice)
	if err != nil {
		p.ShowError(w, a.Request, err)
		return
	}
	p.Show(w, a.Request, http.StatusOK, pages["delete"], "Delete a brand voice",
		deleteView{a.voice, d.Name, len(material)})
}

func (p *Handlers) delete(w http.ResponseWriter, a asked) {
	if err := p.voices.Delete(a.Context(), a.call, a.voice); err != nil {
		p.ShowError(w, a.Request, err)
		return
	}
	p.Flash(a.Request, "The brand voice was deleted.")
	shell.Redirect(w, a.Request, "/voices")
}
