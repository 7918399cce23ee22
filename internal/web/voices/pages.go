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

func (h *Handlers) list(w http.ResponseWriter, r *http.Request) {
	call, err := h.NewCall(r, "brand_voices")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	voices, err := h.voices.List(r.Context(), call)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["list"], "Brand voices",
		listView{voices, shell.VisitorOf(r.Context()).Is(shell.Writers), len(voices) >= voice.MaxVoices})
}

// view is the page of a voice.
type view struct {
	voice.BrandVoice

	CanWrite bool
	Pieces   int // number of pieces of source material; 0 if the visitor may not see them
}

// PointOfViewText returns the label of the point of view, or "".
func (v view) PointOfViewText() locale.Key { return labelOf(pointsOfView, string(v.PointOfView)) }

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

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	outcome, err := h.Do(r, "get_brand_voice", operation.Arguments{"id": id})
	if err != nil {
		h.switchTeam(w, r, err, id)
		return
	}
	brandVoice, err := shell.Result[voice.BrandVoice](outcome)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	v := view{BrandVoice: brandVoice, CanWrite: shell.VisitorOf(r.Context()).Is(shell.Writers)}
	if v.CanWrite { // other roles may not see the material
		call, err := h.NewCall(r, "brand_voices")
		if err == nil {
			var material []voice.Material
			material, err = h.voices.Materials(r.Context(), call, id)
			v.Pieces = len(material)
		}
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	h.ShowTitled(w, r, http.StatusOK, pages["voice"], brandVoice.Name, v)
}

func (h *Handlers) makeDefault(w http.ResponseWriter, req voiceRequest) {
	if err := h.voices.MakeDefault(req.Context(), req.call, req.voiceID); err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.Flash(req.Request, "This is now the default voice for new texts.")
	shell.Redirect(w, req.Request, pathOf(req.voiceID))
}

// deleteView is the page that asks for confirmation before a voice is deleted.
type deleteView struct {
	ID       int64
	Name     string
	Material int
}

func (h *Handlers) deletePage(w http.ResponseWriter, req voiceRequest) {
	d, err := h.voices.Draft(req.Context(), req.call, req.voiceID)
	if err != nil {
		h.switchTeam(w, req.Request, err, req.voiceID)
		return
	}
	material, err := h.voices.Materials(req.Context(), req.call, req.voiceID)
	if err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.Show(w, req.Request, http.StatusOK, pages["delete"], "Delete a brand voice",
		deleteView{req.voiceID, d.Name, len(material)})
}

func (h *Handlers) delete(w http.ResponseWriter, req voiceRequest) {
	if err := h.voices.Delete(req.Context(), req.call, req.voiceID); err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.Flash(req.Request, "The brand voice was deleted.")
	shell.Redirect(w, req.Request, "/voices")
}
