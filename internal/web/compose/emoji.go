package compose

import (
	"net/http"

	"pressroom.example/pressroom/internal/web/emoji"
	"pressroom.example/pressroom/internal/web/shell"
)

// emoji serves the emoji picker to the page's script. It depends only on the language, so browsers may cache it.
func (p *Handlers) emoji(w http.ResponseWriter, r *http.Request) {
	l := p.Language(r)
	picker, err := pages["compose"].RenderBlock(l, "emoji", emoji.In(l))
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=3600")
	shell.WriteHTML(w, r, http.StatusOK, picker)
}
